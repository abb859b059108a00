/** portico/openapi: a server whose tools call an HTTP API that has an OpenAPI description. */

export type { Credential, Credentials } from './credentials.ts'
export type { OpenApiDocument, OpenApiOperation } from './document.ts'
export { DEFAULT_OPENAPI_LIMITS, fromOpenApi, type OpenApiLimits, type OpenApiOptions } from './from-openapi.ts'
