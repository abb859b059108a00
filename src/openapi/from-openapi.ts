/** `fromOpenApi`: a server with a tool for each operation of an HTTP API. */

import { isLoopback } from '../base/address/loopback.ts'
import { isObject } from '../base/json.ts'
import { checkMembers, type Members } from '../protocol/check-members.ts'
import { ToolError } from '../protocol/errors.ts'
import { withDefaults } from '../protocol/with-defaults.ts'
import { type Context, createServer, type JsonSchema, type Server, type ServerOptions, type ToolDefinition } from '../server/index.ts'
import { buildRequest } from './build-request.ts'
import { SchemaConverter } from './convert-schema.ts'
import { addCredentials, type Credentials, schemesOf } from './credentials.ts'
import { Description, type OpenApiDocument, type OpenApiOperation, type Parameter, type ReadOperation, wrong } from './document.ts'
import { hiding } from './hide-secrets.ts'
import { nextPage } from './next-page.ts'
import { resultOf, sendRequest } from './send-request.ts'

/** The limits of one request to the API. */
export interface OpenApiLimits {
  /** The largest response. */
  maxResponseBytes: number
}

/** The defaults of `limits`. */
export const DEFAULT_OPENAPI_LIMITS: OpenApiLimits = { maxResponseBytes: 1024 * 1024 }

/** Options for `fromOpenApi`. */
export interface OpenApiOptions {
  /** Where the API is. Default: the first server of the description. */
  baseUrl?: string
  /** Secrets by the name of their security scheme. */
  credentials?: Credentials
  /** Whether to offer an operation. Default: all that are not deprecated. */
  include?(operation: OpenApiOperation): boolean
  /** The name of the tool. Default: the operation id, or the method and the path. */
  toolName?(operation: OpenApiOperation): string
  /** Changes the definition of a tool, for example its description or scopes. */
  define?(operation: OpenApiOperation, definition: ToolDefinition): ToolDefinition
  /** Headers of every request, or a function that returns them for a call. Do not pass the caller's token on: it was not made for the API. */
  headers?:
    | Readonly<Record<string, string>>
    | ((context: Context) => Readonly<Record<string, string>> | Promise<Readonly<Record<string, string>>>)
  /** Makes the requests. Default: the global `fetch`. */
  fetch?: typeof fetch
  /** Limits that differ from `DEFAULT_OPENAPI_LIMITS`. */
  limits?: Partial<OpenApiLimits>
  /** Options of the server. Default for name and version: those of the description. */
  server?: Partial<ServerOptions>
}

const MEMBERS: Members<OpenApiOptions> = {
  baseUrl: 1,
  credentials: 1,
  include: 1,
  toolName: 1,
  define: 1,
  headers: 1,
  fetch: 1,
  limits: 1,
  server: 1,
}

/**
 * Makes a server from an OpenAPI 3.0 or 3.1 description. Each operation becomes a tool.
 *
 * @example
 * const api = fromOpenApi(JSON.parse(await readFile('petstore.json', 'utf8')), { credentials: { apiKey: process.env.PETSTORE_KEY ?? '' } })
 * await serveStdio(api) // or server.mount('pets', api)
 */
export function fromOpenApi(document: OpenApiDocument, options: OpenApiOptions = {}): Server {
  checkMembers('fromOpenApi', options, MEMBERS)
  const description = new Description(document)
  const { info } = description
  const { include = ({ isDeprecated }) => !isDeprecated, toolName = defaultName, define = (_operation, definition) => definition } = options
  const server = createServer({
    name:
      String(info.title ?? 'api')
        .toLowerCase()
        .replace(/[^a-z0-9]+/g, '-')
        .replace(/^-+|-+$/g, '') || 'api',
    version: String(info.version ?? '1.0.0') || '1.0.0',
    ...options.server,
  })
  const base = baseUrl(description, options.baseUrl, options.credentials !== undefined)
  const limits = withDefaults(DEFAULT_OPENAPI_LIMITS, options.limits)
  for (const operation of description.operations(include)) {
    const names = namesOf(operation)
    const definition = define(operation, definitionOf(operation, description, names))
    server.tool(toolName(operation), definition, handlerOf(operation, description, base, names, options, limits) as () => never)
  }
  return server
}

function handlerOf(
  operation: ReadOperation,
  description: Description,
  base: string,
  names: ReadonlyMap<Parameter, string>,
  { credentials = {}, headers: extra = {}, fetch: own }: OpenApiOptions,
  { maxResponseBytes }: OpenApiLimits,
): (args: Record<string, unknown>, context: Context) => Promise<unknown> {
  const schemes = schemesOf(operation, description, credentials)
  const keys = schemes.filter(({ place }) => place === 'query').map(({ key }) => key)
  return async (args, context) => {
    const request = buildRequest(operation, base, args, names)
    const { url, headers } = request
    for (const [name, value] of Object.entries(typeof extra === 'function' ? await extra(context) : extra)) headers.set(name, value)
    const asked = new URL(url)
    const added = await addCredentials(schemes, context, url, headers)
    if ('lacking' in added) throw new ToolError(`There are no credentials for ${JSON.stringify(added.lacking)} in this call`)
    const { method } = operation
    const { response, bytes } = await sendRequest(request, {
      method,
      maxBytes: maxResponseBytes,
      signal: context.signal,
      fetch: own ?? fetch,
    })
    const next = nextPage(response, asked, operation, names, keys)
    return resultOf(response, bytes, { url: asked, next, hide: hiding(added.secrets) })
  }
}

function baseUrl(description: Description, given: string | undefined, hasSecrets: boolean): string {
  const [first] = description.servers
  const variables = isObject(first) && isObject(first.variables) ? first.variables : {}
  const listed = isObject(first) && typeof first.url === 'string' ? first.url : undefined
  const url =
    given ??
    listed?.replace(/\{([^}]+)\}/g, (whole, name: string) => {
      const variable = Object.hasOwn(variables, name) ? variables[name] : undefined
      return isObject(variable) && variable.default !== undefined ? String(variable.default) : whole
    })
  if (url === undefined || !/^https?:$/.test(URL.canParse(url) ? new URL(url).protocol : ''))
    throw wrong(
      url === undefined
        ? 'it has no "servers", so it does not say where the API is; give the option "baseUrl"'
        : `expected the http or https URL of the API, got ${JSON.stringify(url)}; give the option "baseUrl"`,
    )
  const { protocol, origin, hostname, pathname, username, password } = new URL(url)
  if (username !== '' || password !== '') throw wrong('the URL of the API has a name or password; give them with the option "credentials"')
  // The author may know that the network is safe. The description does not decide that.
  if (given === undefined && hasSecrets && protocol === 'http:' && !isLoopback(hostname))
    throw wrong(
      `credentials would be sent to ${origin} without encryption; give an https URL as "baseUrl", or this one if the network is safe`,
    )
  return `${origin}${pathname.replace(/\/+$/, '')}`
}

const defaultName = ({ operationId = '', method, path }: OpenApiOperation): string =>
  nameOf(operationId) || nameOf(`${method.toLowerCase()}${path}`)

const nameOf = (text: string): string =>
  text
    .replace(/[^A-Za-z0-9_.-]+/g, '_')
    .replace(/^_+|_+$/g, '')
    .slice(0, 128)

/** The names of the parameters among the arguments. A name that is used twice gets its place: `id_query`. */
function namesOf({ parameters, body }: ReadOperation): ReadonlyMap<Parameter, string> {
  const taken = new Set(body === undefined ? [] : ['body'])
  const names = new Map<Parameter, string>()
  for (const place of ['path', 'query', 'header'] as const) {
    for (const parameter of parameters.filter((each) => each.in === place)) {
      let name = parameter.name
      while (taken.has(name)) name += `_${place}`
      taken.add(name)
      names.set(parameter, name)
    }
  }
  return names
}

function definitionOf(operation: ReadOperation, description: Description, names: ReadonlyMap<Parameter, string>): ToolDefinition {
  const { method, path, summary, description: long, parameters, body } = operation
  const converter = new SchemaConverter(description)
  const described = (schema: unknown, about: string | undefined): unknown => {
    const converted = converter.convert(schema)
    return about === undefined || typeof converted === 'boolean' || converted.description !== undefined
      ? converted
      : { ...converted, description: about }
  }
  const properties: Record<string, unknown> = {}
  for (const parameter of parameters) properties[names.get(parameter) as string] = described(parameter.schema, parameter.description)
  if (body) properties.body = described(body.schema, body.description)
  const required = [
    ...parameters.filter((each) => each.isRequired).map((each) => names.get(each) as string),
    ...(body?.isRequired ? ['body'] : []),
  ]
  const { defs } = converter
  const input: JsonSchema = {
    type: 'object',
    properties,
    ...(required.length > 0 && { required }),
    additionalProperties: false,
    ...(Object.keys(defs).length > 0 && { $defs: defs }),
  }
  const isRead = method === 'GET' || method === 'HEAD' || method === 'OPTIONS'
  return {
    description: [summary, long].filter((each) => each !== undefined).join('\n\n') || `${method} ${path}`,
    input,
    annotations: {
      readOnlyHint: isRead,
      ...(!isRead && { destructiveHint: method !== 'POST', idempotentHint: method === 'PUT' || method === 'DELETE' }),
      openWorldHint: true,
    },
  }
}
