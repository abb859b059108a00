/** The part of an action that the audit log stores, so that it can be decided again: everything but the arguments. */

import { isObject } from '../../base/json.ts'
import { McpError } from '../../protocol/errors.ts'
import type { Action } from './action.ts'

/** The log stores the arguments and their paths as a salted digest and a preview without secrets. */
export type ActionFacts = Omit<Action, 'args' | 'realPaths'>

export function factsOf(action: Action): ActionFacts {
  const { args: _args, realPaths: _realPaths, ...facts } = action
  return facts
}

/** @throws McpError ERR_AUDIT if the value is not the facts of an action */
export function actionFrom(facts: unknown, args: Readonly<Record<string, unknown>> = {}): Action {
  if (!isFacts(facts)) throw new McpError('ERR_AUDIT', 'Expected the facts of a decision, got something else')
  return { ...facts, args, realPaths: {} }
}

/** Checks the members that the decision reads first. A deeper fault makes the decision fail, which is as strict. */
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
