/** Builders for rules in TypeScript. */

import type { Effect } from '../model/action.ts'
import type { Rule, RuleMatch } from '../model/rule.ts'

type Rest = Omit<Rule, 'id' | 'effect' | 'match'>

const builder =
  (effect: Effect) =>
  (id: string, match: RuleMatch, rest: Rest = {}): Rule => ({ id, effect, match, ...rest })

/**
 * A rule that allows matching actions without a question.
 *
 * @example
 * allow('read-notes', { server: 'notes', tool: 'read_*' })
 */
export const allow = builder('allow')

/**
 * A rule that asks the person about matching actions.
 *
 * @example
 * ask('confirm-send', { tool: 'send_*' })
 */
export const ask = builder('ask')

/**
 * A rule that puts matching actions in quarantine: they fail, and no answer of the person can allow them.
 *
 * @example
 * quarantine('new-servers', { tier: 'untrusted' })
 */
export const quarantine = builder('quarantine')

/**
 * A rule that denies matching actions.
 *
 * @example
 * deny('no-drop', { tool: 'drop_*' }, { reason: 'Tables are dropped by hand' })
 */
export const deny = builder('deny')
