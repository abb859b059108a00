/** What the preset of a policy allows where no rule decides. Pins, denials, limits and forced questions come first. */

import { isAbsolute, relative, sep } from 'node:path'
import type { Action, Reason } from '../model/action.ts'
import { EGRESS, isPrivate } from '../model/label.ts'
import type { CompiledPolicy } from '../policy/compile-policy.ts'
import { isDeclared } from './hints.ts'
import { pathArguments } from './path-arguments.ts'

/** The reason to allow a call. Undefined: the default of its kind applies. */
export function presetReason({ preset }: Pick<CompiledPolicy, 'preset'>, action: Action): Reason | undefined {
  if (action.kind !== 'tool.call' || preset === 'cautious') return undefined
  if (isAcceptedUse(action)) return allow('accepted', 'You accepted this tool as read-only')
  if (preset === 'trusting' && isTrustedUse(action))
    return allow('trusting', 'You trust the server, and the tool is not destructive or open-world')
  return undefined
}

const allow = (id: string, text: string): Reason => ({ id, layer: 'built-in', effect: 'allow', text })

/**
 * The person believes that the tool only reads. It can still tell its server what it is asked for, so private data and text of other
 * servers must not go to an untrusted server. And it can still read anything, so paths must be in folders that the person granted.
 */
const isAcceptedUse = (action: Action): boolean =>
  action.primitive?.isAcceptedReadOnly === true &&
  !isDeclared(action, 'destructiveHint') &&
  !((action.labels.some(isPrivate) || action.hasTextOfOthers) && mayTellOthers(action)) &&
  hasGrantedPaths(action)

const mayTellOthers = ({ server }: Action): boolean => server.tier !== 'trusted' || server.labels.includes(EGRESS)

const isTrustedUse = (action: Action): boolean =>
  action.server.tier === 'trusted' && !isDeclared(action, 'destructiveHint') && !isDeclared(action, 'openWorldHint')

function hasGrantedPaths({ args, realPaths, server: { roots = [] } }: Action): boolean {
  const pointers = pathArguments(args)
  return pointers?.every((pointer) => isWithin(realPaths[pointer], roots)) ?? false
}

/** A path that could not be resolved is not within any folder. */
const isWithin = (path: string | undefined, folders: readonly string[]): boolean =>
  path !== undefined &&
  folders.some((folder) => {
    const rest = relative(folder, path)
    return rest === '' || (rest !== '..' && !rest.startsWith(`..${sep}`) && !isAbsolute(rest))
  })
