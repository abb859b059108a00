/** What is written down about a decision. */

import type { Action, Decision } from '../../model/action.ts'
import type { AuditEntry } from '../../model/audit-record.ts'
import { factsOf } from '../../model/facts.ts'
import type { Answer } from '../../model/question.ts'

/** @param ruled what the rules said, where something else came of it */
export function entryOf(
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
    ...(answer && { answer: said(answer, action) }),
    args: action.args,
    facts: factsOf(action),
  }
}

const said = (answer: Answer, { principal }: Action): NonNullable<AuditEntry['answer']> => ({
  kind: answer.kind,
  by: answer.by ?? principal,
  ...(answer.kind === 'allow' && { scope: answer.scope }),
})
