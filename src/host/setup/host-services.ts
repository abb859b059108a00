/** The services of a host in one object. Each room declares the part of it that it uses. */

import type { Clock } from '../../base/clock.ts'
import type { ActionServices } from '../actions/action-services.ts'
import type { ReviewQueue } from '../approval/review-queue.ts'
import type { ReviewServices } from '../approval/reviewed-server.ts'
import type { Catalog } from '../catalog/catalog.ts'
import type { ToolSearch } from '../catalog/search.ts'
import type { EntrySearch } from '../catalog/search-all.ts'
import type { QuestionGroups } from '../consent/ask/question-groups.ts'
import type { UsageCounter } from '../consent/usage.ts'
import type { Conversation } from '../conversation/chat/conversation.ts'
import type { RootConsent, RootServices } from '../roots/root-consent.ts'
import type { Broker } from '../sampling/broker.ts'
import type { Fleet } from '../servers/fleet.ts'
import type { HostedServer } from '../servers/hosted-server.ts'
import type { Logins } from '../servers/login.ts'
import type { ServerServices } from '../servers/server-services.ts'
import type { HostTasks } from '../tasks/host-tasks.ts'
import type { RunningTasks } from '../tasks/running-tasks.ts'
import type { HostModels } from './host-models.ts'
import type { HostPolicy } from './host-policy.ts'
import type { HostStorage } from './open-storage.ts'

/** The parts that decisions use: storage, the gate and its counters. */
export interface ConsentServices extends HostStorage, ActionServices, ReviewServices, ServerServices, RootServices {
  /** Also the scope of actions that the person takes outside of a conversation. */
  ownConversation: Conversation
  usage: UsageCounter
  /** For questions that are asked together. */
  groups: QuestionGroups
  runningTasks: RunningTasks
  policy: HostPolicy
  principal: string
  clock: Clock
}

export interface HostServices extends ConsentServices {
  fleet: Fleet<HostedServer>
  catalog: Catalog
  search: ToolSearch
  entrySearch: EntrySearch
  reviews: ReviewQueue
  roots: RootConsent
  models: HostModels
  broker: Broker
  tasks: HostTasks
  logins: Logins
}
