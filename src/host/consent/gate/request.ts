/** What enters the gate, what leaves it, and what the gate needs. */

import type { Clock } from '../../../base/clock.ts'
import type { AroundAction } from '../../../protocol/interfaces/telemetry.ts'
import type { Action, Decision } from '../../model/action.ts'
import type { AuditLog } from '../../model/audit-record.ts'
import type { Answer, Asker, Question, Subject } from '../../model/question.ts'
import type { CompiledPolicy } from '../../policy/compile-policy.ts'
import type { GrantStore } from '../grants/grant-store.ts'
import type { UsageCounter } from '../usage.ts'
import type { PendingLimits } from './pending-questions.ts'

/** An action as the requesting code describes it. The gate adds the rest. */
export type RequestedAction = Omit<Action, 'usage' | 'realPaths' | 'at' | 'principal' | 'project' | 'mode'>

export interface ActionRequest {
  /**
   * Describes the action as it is now. The gate calls it when the action is decided, when the person has answered, and right before
   * the action is performed: server, definition and labels can change in between.
   */
  describe(): RequestedAction
  /** What the person is shown. Called only when a question is asked. */
  subject(action: Action): Subject | Promise<Subject>
  server: Question['server']
  chain: readonly string[]
  /** Reasons of the question, shown before those of the rules. */
  because?: readonly string[]
  /** Takes the value that the person edited; throws if it does not fit. Without it the action cannot be edited. */
  edit?(edited: unknown): void | Promise<void>
  /** The task that asks. */
  task?: Question['task']
  /** An approval lasts for this conversation at most, whatever the rules offer. */
  isPassing?: boolean
  signal?: AbortSignal
}

/** The answer of a person who approved. */
export type Approval = Extract<Answer, { kind: 'allow' }>

export interface Permit {
  action: Action
  decision: Decision
  /** Undefined when no question was asked. */
  answer: Approval | undefined
  /** The effect of the rules, where the answer changed it. */
  ruled?: Decision['effect']
}

/** A permit whose intent is in the audit log. */
export interface RecordedPermit extends Permit {
  /** The number of the intent. */
  intent: number
}

/** Thrown by an action that goes on after this process stops to look at it. The process that sees its end records the outcome. */
export class ActionGoesOn extends Error {
  override readonly name = 'ActionGoesOn'
}

/** The options `limits.gate` of a host. */
export interface GateLimits {
  /** How long a question waits for an answer. */
  questionTimeoutMs: number
}

export const DEFAULT_GATE_LIMITS: GateLimits = { questionTimeoutMs: 10 * 60_000 }

export interface GateOptions {
  principal: string
  project: string
  mode: Action['mode']
  policy(): CompiledPolicy
  /** Reads policy files again that changed. Called before each decision. Default: does nothing. */
  refreshPolicy?(): Promise<void>
  grants: GrantStore
  usage: UsageCounter
  asker: Asker
  audit: AuditLog
  clock: Clock
  /** Wall clock in milliseconds. Grants expire by it. */
  wallNow(): number
  limits: GateLimits & PendingLimits
  /** Removes registered secrets from text that is stored with a grant. Default: changes nothing. */
  scrub?(text: string): string
  /** Runs around every action, for traces. */
  aroundAction?: AroundAction | undefined
}
