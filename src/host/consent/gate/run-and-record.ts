/** Last step of the gate: records the intent, performs the action, records the outcome. */

import { McpError } from '../../../protocol/errors.ts'
import type { Outcome } from '../../model/audit-record.ts'
import { describeExceeded } from '../../policy/limits.ts'
import { actionName } from './action-words.ts'
import { checkUnchanged } from './check-unchanged.ts'
import { countedCall } from './evaluate.ts'
import { auditEntry, errorName, refuse } from './refusal.ts'
import { ActionGoesOn, type ActionRequest, type GateOptions, type Permit, type RecordedPermit } from './request.ts'

export async function performAction<T>(
  options: GateOptions,
  request: ActionRequest,
  permit: Permit,
  perform: (permit: RecordedPermit) => Promise<T>,
  measure?: (result: T) => Partial<Outcome>,
): Promise<T> {
  const { clock, audit } = options
  const end = await beginCounting(options, permit)
  try {
    // If the intent cannot be written, this rejects and nothing is performed.
    const intent = await audit.intent(auditEntry(permit.action, permit.decision, permit.answer, permit.ruled))
    const started = clock.now()
    let outcome: Outcome
    let result: T
    try {
      // Writing takes time. Meanwhile the request may be cancelled, and the server or the definition may change.
      request.signal?.throwIfAborted()
      checkUnchanged(request.describe(), permit.action)
      result = await perform({ ...permit, intent: intent.seq })
      outcome = { kind: 'done', durationMs: clock.now() - started, ...measure?.(result) }
    } catch (error) {
      if (error instanceof ActionGoesOn) throw error
      const kind = request.signal?.aborted || isCancelled(error) ? 'cancelled' : 'failed'
      // The caller needs this error. A log that cannot be written to fails at the next intent.
      await intent.outcome({ kind, durationMs: clock.now() - started, error: errorName(error) }).catch(() => {})
      throw error
    }
    await intent.outcome(outcome).catch((error: unknown) => {
      const why = (error as Error).message
      throw new McpError('ERR_AUDIT', `${actionName(permit.action)} was done, but its outcome could not be recorded: ${why}`, {
        cause: error,
      })
    })
    return result
  } finally {
    end()
  }
}

const isCancelled = (error: unknown): boolean => error instanceof McpError && error.code === 'ERR_CANCELLED'

/** Other actions may have begun since the decision: limits are checked again in the same step as the action is counted. */
async function beginCounting({ usage, audit }: GateOptions, { action, decision }: Permit): Promise<() => void> {
  const limit = describeExceeded(decision.limits, usage.usageOf(countedCall(action)))
  if (limit === undefined) return usage.begin(countedCall(action))
  const reason = { id: 'limit', layer: 'built-in', effect: 'deny', text: limit } as const
  return refuse(audit, action, { ...decision, effect: 'deny', reasons: [reason, ...decision.reasons] }, undefined, decision.effect)
}
