/** Log messages from server to client, with the severities of RFC 5424. */

import type { Meta } from './base.ts'
import { methodRows } from './method.ts'

/** The severities of log messages, from the lowest to the highest. */
export const LOG_LEVELS = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'] as const

/** A severity, from `debug` to `emergency`. */
export type LogLevel = (typeof LOG_LEVELS)[number]

/** A log message from a server. */
export interface LogMessage {
  level: LogLevel
  logger?: string
  data: unknown
  _meta?: Meta
}

export const isLogLevel = (value: unknown): value is LogLevel => LOG_LEVELS.includes(value as LogLevel)

export const isAtLeast = (level: LogLevel, minimum: LogLevel): boolean => LOG_LEVELS.indexOf(level) >= LOG_LEVELS.indexOf(minimum)

export const loggingMethods = methodRows([
  { method: 'logging/setLevel', kind: 'request', from: 'client', capability: 'logging' },
  { method: 'notifications/message', kind: 'notification', from: 'server', capability: 'logging' },
])
