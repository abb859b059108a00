/** What the OAuth client needs from its surroundings and can be given another way. */

/** Keeps secrets by key, for as long as they are of use. Values are opaque; whoever keeps them on disk encrypts them. */
export interface TokenStore {
  get(key: string): Promise<string | undefined>
  set(key: string, value: string): Promise<void>
  delete(key: string): Promise<void>
  /** Runs `run` while nobody else, in this process or another that shares the store, runs with the same key. */
  withLock<T>(key: string, run: () => Promise<T>): Promise<T>
}

/** The part of `fetch` that is needed here. What is fetched is bounded by the caller; where to is judged by the port. */
export type AuthFetch = (url: string, init: AuthFetchInit) => Promise<Response>

export interface AuthFetchInit {
  method: 'GET' | 'POST'
  headers: Record<string, string>
  body?: string
  /** A redirect is an answer like any other. */
  redirect: 'manual'
  signal: AbortSignal
}

/** Forgets everything when the process ends. */
export function memoryTokenStore(): TokenStore {
  const values = new Map<string, string>()
  const tails = new Map<string, Promise<unknown>>()
  return {
    get: async (key) => values.get(key),
    set: async (key, value) => {
      values.set(key, value)
    },
    delete: async (key) => {
      values.delete(key)
    },
    withLock: async (key, run) => {
      const turn = (tails.get(key) ?? Promise.resolve()).then(run, run)
      const tail = turn.catch(() => {})
      tails.set(key, tail)
      try {
        return await turn
      } finally {
        if (tails.get(key) === tail) tails.delete(key)
      }
    },
  }
}
