/** Log messages to clients: filtered by level, cleaned of secrets, and never a flood. */

import { asText } from '../../base/as-text.ts'
import { cutTexts, redact } from '../../base/text/redact.ts'
import type { Params } from '../../jsonrpc/message.ts'
import { notificationJson } from '../../jsonrpc/write.ts'
import { McpError } from '../../protocol/errors.ts'
import { isAtLeast, isLogLevel, LOG_LEVELS, type LogLevel, type LogMessage } from '../../protocol/model/logging.ts'
import type { Call } from '../call.ts'
import type { ServerLimits } from '../limits.ts'
import type { Quota } from '../quota.ts'

export interface LoggingOptions {
  /** What a session gets before it has set a level; `info` unless given. */
  defaultLevel?: LogLevel
  /** The logger name of messages that name none; the server's name unless given. */
  logger?: string
  /** Last look at a message before it leaves; undefined drops it. Runs after secrets were taken out. */
  redact?(message: LogMessage): LogMessage | undefined
}

type LogMethod = (data: unknown, logger?: string) => void

/** One method a severity; each takes any JSON value. */
export type Log = Record<LogLevel, LogMethod>

export class Logging {
  readonly options: LoggingOptions | false
  readonly #limits: ServerLimits
  readonly #logger: string
  readonly #dropped = new WeakMap<Quota, number>()

  constructor(options: LoggingOptions | false, limits: ServerLimits, serverName: string) {
    this.options = options
    this.#limits = limits
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

  /** The log of one call: it goes where the call's answer will go. */
  forCall(call: Call): Log {
    return logOf((level, data, logger) => {
      const minimum = call.dialect.logLevel()
      if (minimum === undefined || call.exchange.isOver) return
      const json = this.write({ level, logger: logger ?? this.#logger, data }, minimum, call.quota)
      if (json !== undefined) void call.exchange.push(json)
    })
  }

  /** The notification for one message, or undefined when it is not to be sent. */
  write(message: LogMessage, minimum: LogLevel, quota: Quota): string | undefined {
    if (this.options === false || !isAtLeast(message.level, minimum)) return undefined
    if (quota.tryTake('logMessages') > 0) {
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

  /** Cut first: to look for secrets costs many times what it costs to write the rest. */
  #cleaned(data: unknown): unknown {
    const { maxLogBytes } = this.#limits
    const { value, isCut } = cutTexts(data, maxLogBytes)
    const clean = redact(value)
    const text = JSON.stringify(clean)
    return text.length <= maxLogBytes && !isCut ? clean : `${text.slice(0, maxLogBytes)}... (cut at limits.maxLogBytes)`
  }
}

export const logOf = (send: (level: LogLevel, data: unknown, logger: string | undefined) => void): Log =>
  Object.fromEntries(LOG_LEVELS.map((level) => [level, (data: unknown, logger?: string) => send(level, data, logger)])) as Log

/** What can be written as JSON; an Error as its name and message, without the stack. */
function toJson(data: unknown): unknown {
  if (typeof data === 'string') return data
  if (data instanceof Error) return { name: data.name, message: data.message }
  try {
    const json = JSON.stringify(data) ?? 'null'
    // NaN and Infinity become text: a message must not fail the work it is about, nor say null.
    return JSON.parse(json.includes('null') ? (JSON.stringify(data, writableNumber) ?? 'null') : json)
  } catch {
    return asText(data)
  }
}

const writableNumber = (_key: string, value: unknown): unknown =>
  typeof value === 'number' && !Number.isFinite(value) ? String(value) : value
