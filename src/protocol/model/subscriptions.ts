/** `subscriptions/listen`: a request that stays open and carries change notices. */

import { methodRows } from './method.ts'

export interface SubscriptionFilter {
  toolsListChanged?: boolean
  promptsListChanged?: boolean
  resourcesListChanged?: boolean
  /** URIs of the resources to watch. */
  resourceSubscriptions?: string[]
  /** Ids of tasks to hear of, in the extension for tasks. */
  taskIds?: string[]
}

export interface ListenParams {
  notifications: SubscriptionFilter
}

export const subscriptionMethods = methodRows([
  { method: 'subscriptions/listen', kind: 'request', from: 'client' },
  { method: 'notifications/subscriptions/acknowledged', kind: 'notification', from: 'server' },
])
