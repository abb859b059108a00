/** One long answer that carries the change notices a client asked for. */

import { methodRows } from './method.ts'

export interface SubscriptionFilter {
  toolsListChanged?: boolean
  promptsListChanged?: boolean
  resourcesListChanged?: boolean
  /** URIs of resources to hear about. */
  resourceSubscriptions?: string[]
}

export interface ListenParams {
  notifications: SubscriptionFilter
}

export const subscriptionMethods = methodRows([
  { method: 'subscriptions/listen', kind: 'request', from: 'client' },
  { method: 'notifications/subscriptions/acknowledged', kind: 'notification', from: 'server' },
])
