/** Progress and cancellation of requests. */

import type { Id } from '../../jsonrpc/message.ts'
import type { Meta, ProgressToken } from './base.ts'
import { methodRows } from './method.ts'

/** How far a request is. `progress` grows with each notice; `total` is the value at the end, if known. */
export interface Progress {
  progress: number
  total?: number
  message?: string
}

export interface ProgressParams extends Progress {
  progressToken: ProgressToken
  _meta?: Meta
}

export interface CancelledParams {
  requestId: Id
  reason?: string
  _meta?: Meta
}

export const isProgressToken = (value: unknown): value is ProgressToken =>
  typeof value === 'string' || (typeof value === 'number' && Number.isInteger(value))

export const progressMethods = methodRows([
  { method: 'notifications/progress', kind: 'notification', from: 'either' },
  { method: 'notifications/cancelled', kind: 'notification', from: 'either' },
])
