/** Writes what Portico says in the log to a logger. */

import { callSafely } from '../base/call-observer.ts'
import { sendNotices } from '../base/notices.ts'
import type { RequestLogger } from './request-log.ts'

/**
 * Writes the lines that belong to no request to a logger instead of standard error: the state of the store, replicas that ended, warnings
 * about options, and errors that nobody else gets. It counts for the whole process. Returns a function that ends it.
 *
 * @example
 * import pino from 'pino'
 * import { logNotices, requestLog } from 'portico/observability'
 *
 * const logger = pino()
 * logNotices(logger)
 * await listen(server, { port: 3000, ...requestLog(logger) })
 */
export function logNotices(logger: RequestLogger): () => void {
  return sendNotices((level, text) =>
    callSafely(
      () => logger[level]({}, text),
      // What the logger cannot take must not get lost.
      () => console.error(text),
    ),
  )
}
