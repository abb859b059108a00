/** Rules in TypeScript: `deny('no-drop', { tool: 'drop_*' }, { reason: 'Not from here' })`. */

import type { Effect } from '../model/action.ts'
import type { Rule, RuleMatch } from '../model/rule.ts'

type Rest = Omit<Rule, 'id' | 'effect' | 'match'>

const saying =
  (effect: Effect) =>
  (id: string, match: RuleMatch, rest: Rest = {}): Rule => ({ id, effect, match, ...rest })

/** Rules in TypeScript: `allow('read-notes', { server: 'notes', tool: 'read_*' })`. */
export const allow = saying('allow')
export const ask = saying('ask')
export const quarantine = saying('quarantine')
export const deny = saying('deny')
