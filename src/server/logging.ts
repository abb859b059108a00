/** Log messages to clients: filtered by level, without secrets, and limited in rate. */

import { asText } from '../base/as-text.ts'
import { cutTexts, redact } from '../base/text/redact.ts'
import type { Params } from '../jsonrpc/message.ts'
import { notificationJson } from '../jsonrpc/write.ts'
import { McpError } from '../protocol/errors.ts'
import { isAtLeast, isLogLevel, LOG_LEVELS, type LogLevel, type LogMessage } from '../protocol/model/logging.ts'
import type { IncomingCall } from './incoming-call.ts'
import type { Quota } from './quota.ts'

/** Options for log messages to clients. */
export interface LoggingOptions {
  /** The level of a session that has not set one. Default: `info`. */
  defaultLevel?: LogLevel
  /** The logger name of messages without one. Default: the server's name. */
  logger?: string
  /** Changes a message before it is sent; undefined drops it. Runs after the built-in redaction. */
  redact?(message: LogMessage): LogMessage | undefined
}

type LogMethod = (data: unknown, logger?: string) => void

/**
 * One method per level. Each takes any JSON value.
 *
 * @example
 * ctx.log.info('Started')
 * ctx.log.error({ message: 'Request failed', status: 500 }, 'http')
 */
export type Log = Record<LogLevel, LogMethod>

/** People read log messages. A longer one is rarely read, and the search for secrets takes time for every character. */
const MAX_LOG_CHARS = 8 * 1024

export class Logging {
  readonly options: LoggingOptions | false
  readonly #logger: string
  readonly #dropped = new WeakMap<Quota, number>()

  constructor(options: LoggingOptions | false, serverName: string) {
    this.options = options
    this.#logger = (options === false ? undefined : options.logger) ?? serverName
  }

  get isOffered(): boolean {
    return this.options !== false
  }

  get defaultLevel(): LogLevel {
    return (this.options === false ? undefined : this.options.defaultLevel) ?? 'info'
  }

  readLevel(params: Params): LogLevel {
    const { level } = params
    if (!isLogLevel(level))
      throw new McpError('ERR_INVALID_PARAMS', `params.level must be one of ${LOG_LEVELS.join(', ')}, not ${JSON.stringify(level)}`)
    return level
  }

  /** The log of one call. Its messages go to the client that made the call. */
  forCall(call: IncomingCall): Log {
    return logOf((level, data, logger) => {
      const minimum = call.dialect.logLevel()
      if (minimum === undefined || call.exchange.isOver) return
      const json = this.write({ level, logger: logger ?? this.#logger, data }, minimum, call.quota)
      if (json !== undefined) void call.exchange.push(json)
    })
  }

  /** The notification for a message; undefined when it must not be sent. */
  write(message: LogMessage, minimum: LogLevel, quota: Quota): string | undefined {
    if (this.options === false || !isAtLeast(message.level, minimum)) return undefined
    if (!quota.mayLog()) {
      this.#dropped.set(quota, (this.#dropped.get(quota) ?? 0) + 1)
      return undefined
    }
    const dropped = this.#dropped.get(quota) ?? 0
    this.#dropped.delete(quota)
    const cleaned: LogMessage = { ...message, data: this.#cleaned(toJson(message.data)) }
    const last = this.options.redact ? this.options.redact(cleaned) : cleaned
    if (!last) return undefined
    const params = dropped === 0 ? last : { ...last, _meta: { 'dev.portico/dropped': dropped } }
    return notificationJson('notifications/message', { ...params })
  }

  /** Cuts first, because the search for secrets is expensive. */
  #cleaned(data: unknown): unknown {
    const { value, isCut } = cutTexts(data, MAX_LOG_CHARS)
    const clean = redact(value)
    const text = JSON.stringify(clean)
    return text.length <= MAX_LOG_CHARS && !isCut ? clean : `${text.slice(0, MAX_LOG_CHARS)}... (cut at ${MAX_LOG_CHARS} characters)`
  }
}

export const logOf = (send: (level: LogLevel, data: unknown, logger: string | undefined) => void): Log =>
  Object.fromEntries(LOG_LEVELS.map((level) => [level, (data: unknown, logger?: string) => send(level, data, logger)])) as Log

/** Converts a value to JSON. An Error becomes its name and message, without the stack. */
function toJson(data: unknown): unknown {
  if (typeof data === 'string') return data
  if (data instanceof Error) return { name: data.name, message: data.message }
  try {
    const json = JSON.stringify(data) ?? 'null'
    // NaN and Infinity become text: logging must not fail, and null would be wrong.
    return JSON.parse(json.includes('null') ? (JSON.stringify(data, writableNumber) ?? 'null') : json)
  } catch {
    return asText(data)
  }
}

const writableNumber = (_key: string, value: unknown): unknown =>
  typeof value === 'number' && !Number.isFinite(value) ? String(value) : value
