/** Records refusals in the audit log and makes the error that the caller gets. */

import { McpError } from '../../../protocol/errors.ts'
import type { Action, ActionKind, Decision } from '../../model/action.ts'
import type { AuditEntry, AuditLog } from '../../model/audit-record.ts'
import { factsOf } from '../../model/facts.ts'
import type { Answer } from '../../model/question.ts'
import { notDone } from './action-words.ts'

/** The `data` of a refusal. */
export interface RefusalData {
  by: 'policy' | 'person'
  action: ActionKind
  server: string
  primitive?: string
  reasons: readonly string[]
  /** The person closed the question without an answer. */
  isCancelled?: boolean
  /** What the person wrote when they denied it. */
  feedback?: string
}

/** Errors whose refusal is in the log already. */
const recorded = new WeakSet<object>()

/** @param ruled the effect of the rules, where the decision has another */
export async function refuse(
  audit: AuditLog,
  action: Action,
  decision: Decision,
  answer: Answer | undefined,
  ruled?: Decision['effect'],
): Promise<never> {
  await audit.refusal(auditEntry(action, decision, answer, ruled))
  const refusal = refusalError(action, decision, answer)
  recorded.add(refusal)
  throw refusal
}

/** Records a question that failed as a refusal, and rethrows its error. */
export async function recordFailedQuestion(audit: AuditLog, action: Action, decision: Decision, error: unknown): Promise<never> {
  if (recorded.has(error as object)) throw error
  const reason = { id: 'question', layer: 'built-in', effect: 'deny', text: `The question failed: ${errorName(error)}` } as const
  const refused: Decision = { ...decision, effect: 'deny', reasons: [reason, ...decision.reasons] }
  await audit.refusal(auditEntry(action, refused, undefined, decision.effect))
  throw error
}

function refusalError(action: Action, decision: Decision, answer: Answer | undefined): McpError {
  const reasons = decision.reasons.map(({ text }) => text)
  const { server, primitive } = action
  const about = { action: action.kind, server: server.id, ...(primitive && { primitive: primitive.name }), reasons }
  if (answer && answer.kind !== 'allow') {
    const isCancelled = answer.kind === 'cancel'
    const feedback = answer.kind === 'deny' && answer.feedback ? answer.feedback : undefined
    const data: RefusalData = { by: 'person', ...about, ...(isCancelled && { isCancelled }), ...(feedback !== undefined && { feedback }) }
    const words = isCancelled ? 'you closed the question without an answer' : `you said no${feedback === undefined ? '' : ` (${feedback})`}`
    return new McpError('ERR_DENIED', `${notDone(action)}: ${words}`, { data })
  }
  const data: RefusalData = { by: 'policy', ...about }
  return decision.effect === 'quarantine'
    ? new McpError('ERR_QUARANTINED', `${notDone(action)}: ${reasons[0]}`, { data })
    : new McpError('ERR_DENIED', `${notDone(action)}: ${reasons[0]}`, { data })
}

/** @param ruled the effect of the rules, where the decision has another */
export function auditEntry(
  action: Action,
  decision: Decision,
  answer: Answer | undefined,
  ruled: Decision['effect'] = decision.effect,
): AuditEntry {
  const { primitive } = action
  return {
    action: action.kind,
    principal: action.principal,
    run: action.run,
    initiator: action.initiator,
    server: action.server.id,
    fingerprint: action.server.fingerprint,
    ...(primitive && { primitive: primitive.name }),
    ...(primitive?.pin !== undefined && { pin: primitive.pin }),
    effect: decision.effect,
    ...(ruled !== decision.effect && { ruled }),
    reasons: decision.reasons.map(({ text }) => text),
    ...(decision.grant !== undefined && { grant: decision.grant }),
    ...(answer && { answer: recordedAnswer(answer, action) }),
    args: action.args,
    facts: factsOf(action),
  }
}

const recordedAnswer = (answer: Answer, { principal }: Action): NonNullable<AuditEntry['answer']> => ({
  kind: answer.kind,
  by: answer.by ?? principal,
  ...(answer.kind === 'allow' && { scope: answer.scope }),
})

/** The code or class of an error. Its message is left out, because it may quote secrets. */
export const errorName = (error: unknown): string =>
  error instanceof McpError ? error.code : error instanceof Error ? error.name : 'unknown'
