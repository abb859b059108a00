/** portico/host: many servers, one policy, nothing without consent. */

export type { Answer, Asker, Question, Subject } from './ask/question.ts'
export type { Action, ActionKind, Decision, Effect } from './consent/action.ts'
export type { Policy, Rule } from './consent/rule.ts'
export type { Grant, GrantScope } from './grants/grant.ts'
export type { Model, ModelPart, ModelRequest } from './models/model.ts'
export type { ServerSpec } from './servers/spec.ts'
