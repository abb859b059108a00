/** The session of this window: a one-time code becomes a token, which every request sends as a header. */

import { ApiError, asApiError, errorOf } from './error.ts'

/** The part of `sessionStorage` that is used. Other ports of this computer cannot read it. */
export interface TokenStorage {
  getItem(key: string): string | null
  setItem(key: string, value: string): void
  removeItem(key: string): void
}

export interface Session {
  readonly hasToken: boolean
  headers(): Record<string, string>
  /** Exchanges a one-time code. @throws ApiError ERR_CODE if it is wrong, used or expired */
  exchange(code: string): Promise<void>
  end(): void
}

const KEY = 'portico-token'

export interface SessionOptions {
  storage: TokenStorage
  fetch?: typeof fetch
}

export function createSession({ storage, fetch: send = (...args) => fetch(...args) }: SessionOptions): Session {
  // In memory as well, because storage may be switched off.
  let token = safely(() => storage.getItem(KEY)) ?? ''
  return {
    get hasToken() {
      return token !== ''
    },
    headers: (): Record<string, string> => (token === '' ? {} : { 'portico-token': token }),
    exchange: async (code) => {
      const response = await send('/api/session', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ code }),
      }).catch((error) => {
        throw asApiError(error)
      })
      if (!response.ok) throw await errorOf(response)
      const answer = (await response.json()) as { token?: unknown }
      if (typeof answer.token !== 'string') throw new ApiError('ERR_ANSWER', 'Expected a token, got none')
      token = answer.token
      safely(() => storage.setItem(KEY, token))
    },
    end: () => {
      token = ''
      safely(() => storage.removeItem(KEY))
    },
  }
}

/** The one-time code in the fragment of a link, or in text that a person pasted. */
export function codeIn(text: string): string | undefined {
  const trimmed = text.trim()
  const found = /#code=([\w-]+)$/.exec(trimmed) ?? /^([\w-]{8,})$/.exec(trimmed)
  return found?.[1]
}

function safely<T>(use: () => T): T | undefined {
  try {
    return use()
  } catch {
    return undefined
  }
}
