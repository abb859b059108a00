/** The client side of HTTP. */

export { type Authorizer, DEFAULT_HTTP_CLIENT_LIMITS, type ExtraHeaders, type HttpClientLimits, type HttpTargetOptions } from './options.ts'
export { httpTarget } from './target.ts'
