/** A typed client for the console's API. Types: src/console/api.ts. */

import type { BodyOf, ParamsOf, QueryOf, ResultOf, RouteName } from '../../../src/console/api.ts'
import { ApiError, asApiError, errorOf } from './error.ts'
import type { Session } from './session.ts'

/** What a request to a route needs. Members that the route has not may be left out. */
export type RequestOf<Name extends RouteName> = (keyof ParamsOf<Name> extends never ? { params?: never } : { params: ParamsOf<Name> }) & {
  query?: QueryOf<Name>
  body?: BodyOf<Name>
  signal?: AbortSignal
  /** The page is being left: the request goes on without it. */
  isLast?: boolean
}

export interface Api {
  /** @throws ApiError for every answer that is not a success, and if there is no answer */
  call<Name extends RouteName>(name: Name, request?: RequestOf<Name>): Promise<ResultOf<Name>>
}

interface AnyRequest {
  params?: Record<string, string>
  query?: Record<string, unknown>
  body?: unknown
  signal?: AbortSignal
  isLast?: boolean
}

export interface ApiOptions {
  session: Session
  fetch?: typeof fetch
  /** Called when the console does not know the session any longer. */
  onSignedOut?(): void
}

export function createApi({ session, fetch: send = (...args) => fetch(...args), onSignedOut }: ApiOptions): Api {
  return {
    call: async <Name extends RouteName>(name: Name, request: RequestOf<Name> = {} as RequestOf<Name>) => {
      const { params, query, body, signal, isLast } = request as AnyRequest
      const [method = 'GET', path = ''] = name.split(' ')
      const response = await send(address(path, params, query), {
        method,
        headers: { ...session.headers(), ...(body !== undefined && { 'content-type': 'application/json' }) },
        ...(body !== undefined && { body: JSON.stringify(body) }),
        ...(signal && { signal }),
        ...(isLast && { keepalive: true }),
      }).catch((error) => {
        // A request that the page itself gave up is no failure of the console.
        throw signal?.aborted ? signal.reason : asApiError(error)
      })
      if (!response.ok) {
        const error = await errorOf(response)
        if (error.code === 'ERR_SESSION') onSignedOut?.()
        throw error
      }
      return readJson(response) as Promise<ResultOf<Name>>
    },
  }
}

async function readJson(response: Response): Promise<unknown> {
  const text = await response.text()
  if (text === '') return null
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new ApiError('ERR_ANSWER', `Expected JSON, got ${JSON.stringify(text.slice(0, 40))}`, { status: response.status, cause })
  }
}

/** Fills in the parameters of a path and adds the query. Parts of names such as `/` and `..` cannot change the path. */
export function address(path: string, params: Record<string, string> = {}, query: Record<string, unknown> = {}): string {
  const filled = path.replace(/:(\w+)/g, (_, name: string) => {
    const value = params[name]
    if (value === undefined || value === '') throw new ApiError('ERR_ANSWER', `${path}: expected a value for :${name}, got none`)
    return encodeURIComponent(value)
  })
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) if (value !== undefined) search.set(name, String(value))
  const text = search.toString()
  return text === '' ? filled : `${filled}?${text}`
}
