/** The table of routes: which handler answers a request, and which input it expects. */

import { isObject } from '../../base/json.ts'
import { argumentChecker } from '../../host/index.ts'
import type { Session } from '../access/sessions.ts'
import type { BodyOf, ParamsOf, QueryOf, ResultOf, RouteName } from '../api.ts'
import { ApiError, invalid } from '../errors.ts'

/** A request, checked. */
export interface ApiRequest<Name extends RouteName> {
  params: ParamsOf<Name>
  query: QueryOf<Name>
  body: BodyOf<Name>
  /** Aborted when the client closes the connection before the answer. */
  signal: AbortSignal
  /** Undefined in the only route without a session: the one that opens it. */
  session: Session | undefined
  /** The console's cookies of the request. */
  cookies: readonly string[]
  /** Headers to add to the answer. */
  headers: Record<string, string>
}

/** A JSON Schema for an object. */
export interface InputSchema {
  type: 'object'
  properties: Readonly<Record<string, Readonly<Record<string, unknown>>>>
  required?: readonly string[]
  additionalProperties: false
}

export interface Route {
  /** Its method and its path, as in the documentation. */
  name: string
  method: string
  segments: readonly string[]
  status: number
  isOpen: boolean
  query: InputSchema
  body: InputSchema
  run(request: ApiRequest<RouteName>): unknown
}

export interface RouteOptions {
  query?: InputSchema
  body?: InputSchema
  /** Default: 200. */
  status?: number
  /** Needs no session. Default: false. */
  isOpen?: boolean
}

/** An object with these members. Those whose names end with `?` may be left out. */
export function input(members: Readonly<Record<string, Readonly<Record<string, unknown>>>>): InputSchema {
  const names = Object.keys(members)
  return {
    type: 'object',
    properties: Object.fromEntries(Object.entries(members).map(([name, schema]) => [name.replace(/\?$/, ''), schema])),
    required: names.filter((name) => !name.endsWith('?')),
    additionalProperties: false,
  }
}

const NOTHING = input({})

export function route<Name extends RouteName>(
  name: Name,
  { query = NOTHING, body = NOTHING, status = 200, isOpen = false }: RouteOptions,
  run: (request: ApiRequest<Name>) => ResultOf<Name> | Promise<ResultOf<Name>>,
): Route {
  const [method = '', path = ''] = name.split(' ')
  return { name, method, segments: path.split('/'), status, isOpen, query, body, run: run as Route['run'] }
}

export interface FoundRoute {
  route: Route
  params: Record<string, string>
}

/** @param path decoded by segment. @throws ApiError 404 with all routes, or 405 */
export function findRoute(routes: readonly Route[], method: string, path: string): FoundRoute {
  const segments = path.split('/')
  const matching = routes.flatMap((each) => {
    const params = match(each.segments, segments)
    return params ? [{ route: each, params }] : []
  })
  // A fixed path comes before one with a parameter.
  matching.sort((one, other) => Object.keys(one.params).length - Object.keys(other.params).length)
  const found = matching.find((each) => each.route.method === method)
  if (found) return found
  if (matching.length > 0) {
    const methods = matching.map((each) => each.route.method).join(', ')
    throw new ApiError(405, 'ERR_METHOD', `Expected ${methods}, got ${method}`, { headers: { allow: methods } })
  }
  throw new ApiError(404, 'ERR_ROUTE', `There is no route ${method} ${path}`, { details: { routes: routes.map(({ name }) => name) } })
}

function match(pattern: readonly string[], segments: readonly string[]): Record<string, string> | undefined {
  if (pattern.length !== segments.length) return undefined
  const params: Record<string, string> = {}
  for (const [at, expected] of pattern.entries()) {
    const got = segments[at] as string
    if (expected.startsWith(':')) params[expected.slice(1)] = decoded(got)
    else if (expected !== got) return undefined
  }
  return params
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    throw invalid(`Expected an encoded path segment, got ${JSON.stringify(segment)}`)
  }
}

/** Numbers in a query arrive as text. */
export function readQuery({ properties }: InputSchema, given: URLSearchParams): Record<string, unknown> {
  const query: Record<string, unknown> = {}
  for (const [name, value] of given) {
    if (Object.hasOwn(query, name)) throw invalid(`query: expected ${JSON.stringify(name)} once`)
    const isNumber = Object.hasOwn(properties, name) && properties[name]?.type === 'integer' && /^\d{1,15}$/.test(value)
    Object.defineProperty(query, name, { value: isNumber ? Number(value) : value, enumerable: true })
  }
  return query
}

/** @throws ApiError 400 that says what was expected and what came */
export async function checkInput(what: 'query' | 'body', schema: InputSchema, value: unknown): Promise<void> {
  if (!isObject(value)) throw invalid(`${what}: expected an object, got ${Array.isArray(value) ? 'an array' : JSON.stringify(value)}`)
  const check = await argumentChecker({ inputSchema: schema as never }, (reason) => {
    throw new Error(`The schema of a route cannot be used: ${reason}`)
  })
  const fault = check(value)
  if (fault !== undefined) throw invalid(`${what}: ${fault}`)
}
