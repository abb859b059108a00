/** portico/policy: write rules, and check, test and explain them without a host. */

export { decide } from '../consent/decide.ts'
export { ACTION_KINDS, type Action, type ActionKind, type Decision, type Effect } from '../model/action.ts'
export { type ArgumentRules, type Policy, PRESETS, type Preset, type Rule } from '../model/rule.ts'
export { type CompiledPolicy, compilePolicy } from '../policy/compile-policy.ts'
export { loadPolicy } from '../policy/load-policy.ts'
export { allow, ask, deny, quarantine } from '../policy/rule-builder.ts'
export type { Explanation } from './explain.ts'
export { type CaseAction, explainCase } from './explain-case.ts'
export { testPolicy, writePreset } from './lazy-readers.ts'
export { lintPolicy } from './lint.ts'
export { type DecisionRecord, matchingRules, pastDecision, type Replayed, replayDecisions } from './replay.ts'
