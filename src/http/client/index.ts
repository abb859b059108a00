/** The client side of HTTP. */

export type { Authorizer, Refusal, ResponseHeaders, SentRequest } from '../../protocol/interfaces/authorizer.ts'
export { DEFAULT_HTTP_CLIENT_LIMITS, type ExtraHeaders, type HttpClientLimits, type HttpTargetOptions } from './options.ts'
export { httpTarget } from './target.ts'
