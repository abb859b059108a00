/** portico/observability: records of requests and lines of the log, on any transport and for any logger. */

export { logNotices } from './notice-log.ts'
export type { OnRequest } from './observed-outlet.ts'
export { observed } from './observed-service.ts'
export { type RequestLogger, requestLog } from './request-log.ts'
export type { Outcome, RequestRecord } from './request-record.ts'
