/** A gate with everything it stands on in memory, and a clock that tests move. */

import { DEFAULT_GATE_LIMITS, Gate, type GateLimits } from '../../../../src/host/consent/gate/gate.ts'
import { FIXED_PENDING_LIMITS, type PendingLimits } from '../../../../src/host/consent/gate/pending-questions.ts'
import { type GrantStore, openGrants } from '../../../../src/host/consent/grants/grant-store.ts'
import { UsageCounter } from '../../../../src/host/consent/usage.ts'
import type { AuditEntry, Outcome } from '../../../../src/host/model/audit-record.ts'
import type { Answer, Question } from '../../../../src/host/model/question.ts'
import type { Policy } from '../../../../src/host/model/rule.ts'
import { compileRules } from '../../../../src/host/policy/compile-policy.ts'
import { fakeClock } from '../../../../src/testing/fake-clock.ts'

export const DAY_MS = 24 * 60 * 60_000

export interface GateInMemoryOptions {
  policy?: Policy
  mode?: 'interactive' | 'headless'
  limits?: Partial<GateLimits & PendingLimits>
  /** What another process does just after a grant was given, or just before it is used. */
  onAdd?(grants: GrantStore, id: string): Promise<unknown>
  onUse?(grants: GrantStore, id: string): Promise<unknown>
  /** What happens while the log is written. */
  onIntent?(): void
  onOutcome?(): void
}

export async function gateInMemory(ask: (question: Question, signal: AbortSignal) => Promise<Answer>, options: GateInMemoryOptions = {}) {
  const { policy = { layers: {}, roots: {} }, mode = 'interactive', limits, onAdd, onUse, onIntent, onOutcome } = options
  const clock = fakeClock()
  const entries: AuditEntry[] = []
  const outcomes: Outcome[] = []
  let now = 1_000_000
  const grants = await openGrants()
  const state = { policy: compileRules(policy) }
  const gate = new Gate({
    principal: 'person',
    project: 'project',
    mode,
    policy: () => state.policy,
    grants: {
      ...grants,
      live: (at) => grants.live(at),
      add: async (grant) => {
        await grants.add(grant)
        await onAdd?.(grants, grant.id)
      },
      use: async (id, at) => {
        await onUse?.(grants, id)
        return grants.use(id, at)
      },
    },
    usage: new UsageCounter({ now: () => now }),
    asker: { ask },
    audit: {
      intent: async (entry) => {
        entries.push(entry)
        onIntent?.()
        return {
          seq: entries.length,
          outcome: async (outcome) => {
            outcomes.push(outcome)
            onOutcome?.()
          },
        }
      },
      refusal: async (entry) => void entries.push(entry),
      close: async () => {},
    },
    clock,
    wallNow: () => now,
    limits: { ...DEFAULT_GATE_LIMITS, ...FIXED_PENDING_LIMITS, ...limits },
  })
  return {
    gate,
    grants,
    clock,
    entries,
    outcomes,
    wallNow: () => now,
    passTime: (ms: number) => {
      now += ms
    },
    setPolicy: (next: Policy) => {
      state.policy = compileRules(next)
    },
  }
}
