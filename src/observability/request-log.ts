/** Writes records of requests to a logger. */

import { INTERNAL_ERROR } from '../jsonrpc/message.ts'
import { isNoFault } from './error-reasons.ts'
import type { RequestRecord } from './request-record.ts'

/** The part of a logger that is used. A logger of pino has it. */
export interface RequestLogger {
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
}

/** A request that was refused before it was read as a message, or a stream that was cut. */
interface Refused {
  status: number
  reason: string
  kind?: string | undefined
  httpMethod?: string | undefined
  path?: string | undefined
  limit?: string | undefined
  principal?: string | undefined
  address?: string | undefined
}

/**
 * Options for `listen` and `httpHandler` that write one line for each request and each refusal. Internal errors and tools that crashed are
 * written as errors, other failures as warnings, and everything else as information.
 *
 * @example
 * import pino from 'pino'
 * import { requestLog } from 'portico/observability'
 *
 * await listen(server, { port: 3000, ...requestLog(pino()) })
 */
export function requestLog(logger: RequestLogger): { onRequest(record: RequestRecord): void; onRefused(refused: Refused): void } {
  return {
    onRequest: (record) => {
      const { method, target, outcome, code, reason, durationMs } = record
      const fields = { ...record, durationMs: Math.round(durationMs * 1000) / 1000 }
      const message = `${method}${target === undefined ? '' : ` ${target}`} ${outcome}`
      const isInternal = outcome === 'error' && code === INTERNAL_ERROR && !isNoFault(reason)
      if (isInternal || outcome === 'tool_crash') logger.error(fields, message)
      else if (outcome === 'error' || outcome === 'tool_error') logger.warn(fields, message)
      else logger.info(fields, message)
    },
    onRefused: (refused) => logger.warn(refused, `refused: ${refused.reason}`),
  }
}
