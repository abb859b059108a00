/** portico/observability: records of requests, on any transport and for any logger. */

export { type OnRequest, observed } from './observed-service.ts'
export { type RequestLogger, requestLog } from './request-log.ts'
export type { Outcome, RequestRecord } from './request-record.ts'
