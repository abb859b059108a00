/** What the audit log keeps of an action, so that it can be decided about again: all but what it was done with. */

import { isObject } from '../../base/json.ts'
import { McpError } from '../../protocol/errors.ts'
import type { Action } from './action.ts'

/** Arguments and the paths in them are left to the log, which keeps a salted digest and a preview without secrets. */
export type ActionFacts = Omit<Action, 'args' | 'realPaths'>

export function factsOf(action: Action): ActionFacts {
  const { args: _args, realPaths: _realPaths, ...facts } = action
  return facts
}

/** @throws McpError ERR_AUDIT for what are no facts */
export function actionFrom(facts: unknown, args: Readonly<Record<string, unknown>> = {}): Action {
  if (!isFacts(facts)) throw new McpError('ERR_AUDIT', 'Expected the facts of a decision, got something else')
  return { ...facts, args, realPaths: {} }
}

/** As far as the decision reads them; what is missing further in is an evaluator error there, and no less strict for it. */
const isFacts = (facts: unknown): facts is ActionFacts =>
  isObject(facts) &&
  typeof facts.kind === 'string' &&
  typeof facts.at === 'number' &&
  isObject(facts.server) &&
  typeof facts.server.id === 'string' &&
  Array.isArray(facts.server.labels) &&
  isObject(facts.claimed) &&
  isObject(facts.asserted) &&
  isObject(facts.usage) &&
  Array.isArray(facts.labels)
