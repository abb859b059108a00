/**
 * What a tool does, as far as it is known: what the operator asserts holds; what a server claims is believed only
 * when it speaks against the server, and a server that is not trusted is taken to be able to do anything.
 */

import type { Action } from '../model/action.ts'
import { DEFAULTS } from './defaults.ts'

type Weighed = 'destructiveHint' | 'openWorldHint'

/** Said in so many words, by the operator or by the server itself. */
export const isDeclared = ({ claimed, asserted }: Action, hint: Weighed): boolean => operatorSays(asserted, hint) ?? claimed[hint] === true

/** Said, or to be feared of a server that is not trusted. */
export const isPossible = (action: Action, hint: Weighed): boolean =>
  operatorSays(action.asserted, hint) ?? (action.claimed[hint] === true || action.server.tier !== 'trusted')

/**
 * Whether what a server claims, or that it is not trusted, speaks against a rule that would let its tool be called
 * without a question; says why. Where the operator has spoken, the rules have been written in that knowledge.
 */
export function hintsAgainst(action: Action, isForUntrusted: boolean): string | undefined {
  if (!DEFAULTS[action.kind].hasHints) return undefined
  const open = HINTS.filter((hint) => operatorSays(action.asserted, hint) === undefined)
  for (const hint of open) if (action.claimed[hint] === true) return `The server itself says that it ${IN_WORDS[hint]}`
  if (open.length === 0 || isForUntrusted || action.server.tier === 'trusted') return undefined
  return `The server is not trusted, and nobody but itself says whether this ${open.map((hint) => IN_WORDS[hint]).join(' or ')}; a rule that means it says "tier: untrusted"`
}

const HINTS: readonly Weighed[] = ['destructiveHint', 'openWorldHint']
const IN_WORDS: Record<Weighed, string> = {
  destructiveHint: 'changes or deletes things for good (destructiveHint)',
  openWorldHint: 'reaches out to the world (openWorldHint)',
}

function operatorSays(asserted: Action['asserted'], hint: Weighed): boolean | undefined {
  if (asserted[hint] !== undefined) return asserted[hint]
  return hint === 'destructiveHint' && asserted.readOnlyHint === true ? false : undefined
}
