/** Creates the gate of a host and everything that decisions need. */

import type { Clock } from '../../base/clock.ts'
import type { AroundAction } from '../../protocol/interfaces/telemetry.ts'
import { withDefaults } from '../../protocol/with-defaults.ts'
import { LastArguments } from '../actions/last-arguments.ts'
import { denyAll } from '../consent/ask/askers.ts'
import { QuestionGroups } from '../consent/ask/question-groups.ts'
import { DEFAULT_GATE_LIMITS, Gate, type GateLimits } from '../consent/gate/gate.ts'
import { FIXED_PENDING_LIMITS } from '../consent/gate/pending-questions.ts'
import { UsageCounter } from '../consent/usage.ts'
import { Conversation } from '../conversation/chat/conversation.ts'
import type { Asker } from '../model/question.ts'
import type { Redactor } from '../secrets/redactor.ts'
import { RunningTasks } from '../tasks/running-tasks.ts'
import type { HostPolicy } from './host-policy.ts'
import type { ConsentServices } from './host-services.ts'
import type { HostStorage } from './open-storage.ts'

export interface ConsentOptions {
  storage: HostStorage
  policy: HostPolicy
  redactor: Redactor
  asker: Asker | undefined
  /** Default: interactive if there is an asker. */
  mode: 'interactive' | 'headless' | undefined
  principal: string
  project: string
  clock: Clock
  /** Runs around every action, for traces. */
  aroundAction?: AroundAction | undefined
  limits: {
    gate?: Partial<GateLimits>
    maxResultBytes: number
  }
}

export function createConsent(options: ConsentOptions): ConsentServices {
  const { storage, policy, redactor, asker, principal, project, clock, limits } = options
  const wallNow = (): number => Date.now()
  const usage = new UsageCounter({ now: wallNow })
  const groups = new QuestionGroups(asker ?? denyAll(), clock)
  const gate = new Gate({
    principal,
    project,
    mode: options.mode ?? (asker ? 'interactive' : 'headless'),
    policy: () => policy.current(),
    refreshPolicy: () => policy.refresh(),
    grants: storage.grants,
    usage,
    asker: groups,
    audit: storage.audit,
    clock,
    wallNow,
    limits: { ...withDefaults(DEFAULT_GATE_LIMITS, limits.gate), ...FIXED_PENDING_LIMITS },
    scrub: (text) => redactor.scrub(text),
    aroundAction: options.aroundAction,
  })
  const runningTasks = new RunningTasks()
  return {
    ...storage,
    gate,
    groups,
    usage,
    policy,
    redactor,
    ownConversation: new Conversation(),
    lastArguments: new LastArguments(),
    runningTasks,
    taskOf: (server, taskId) => runningTasks.find(server, taskId),
    maxResultBytes: limits.maxResultBytes,
    hasRules: (kind) => (policy.current().byKind.get(kind) ?? []).length > 0,
    principal,
    project,
    clock,
    wallNow,
  }
}
