/**
 * Weighs tool hints. Assertions of the operator count. Claims of a server count only where they are to its disadvantage, and an
 * untrusted server is assumed to be capable of anything.
 */

import type { Action } from '../model/action.ts'
import { DEFAULTS } from './defaults.ts'

type Weighed = 'destructiveHint' | 'openWorldHint'

/** Declared by the operator or by the server itself. */
export const isDeclared = ({ claimed, asserted }: Action, hint: Weighed): boolean => assertedHint(asserted, hint) ?? claimed[hint] === true

/** Declared, or possible because the server is untrusted. */
export const isPossible = (action: Action, hint: Weighed): boolean =>
  assertedHint(action.asserted, hint) ?? (action.claimed[hint] === true || action.server.tier !== 'trusted')

/**
 * Why a tool needs a question although a rule allows it: a claim of the server, or an untrusted server. Undefined without such a
 * reason. Hints that the operator asserted are not considered: the rules were written with them in mind.
 */
export function hintsAgainst(action: Action, isForUntrusted: boolean): string | undefined {
  if (!DEFAULTS[action.kind].hasHints) return undefined
  const open = HINTS.filter((hint) => assertedHint(action.asserted, hint) === undefined)
  const declared = declaredAgainst(action)
  if (declared !== undefined) return declared
  if (open.length === 0 || isForUntrusted || action.server.tier === 'trusted') return undefined
  return 'You have not marked this server as trusted, so the tool may do more than the server says'
}

/** A claim of the server that speaks against a call, in words. */
export function declaredAgainst(action: Action): string | undefined {
  if (!DEFAULTS[action.kind].hasHints) return undefined
  const found = HINTS.find((hint) => action.claimed[hint] === true && assertedHint(action.asserted, hint) === undefined)
  return found && `This tool can ${IN_WORDS[found]}, as its server says`
}

const HINTS: readonly Weighed[] = ['destructiveHint', 'openWorldHint']
const IN_WORDS: Record<Weighed, string> = {
  destructiveHint: 'delete or overwrite things',
  openWorldHint: 'reach the outside',
}

function assertedHint(asserted: Action['asserted'], hint: Weighed): boolean | undefined {
  if (asserted[hint] !== undefined) return asserted[hint]
  return hint === 'destructiveHint' && asserted.readOnlyHint === true ? false : undefined
}
