/** Where the OAuth client stores tokens and registrations: the interface, the store in memory, and the entries. */

import { objectIn } from '../../base/json.ts'
import { Turns } from '../../base/turns.ts'

/**
 * Stores secrets by key. Keys and values are opaque text. An implementation that writes to a disk must encrypt the values.
 */
export interface TokenStore {
  get(key: string): Promise<string | undefined>
  set(key: string, value: string): Promise<void>
  delete(key: string): Promise<void>
  /** Calls `run` while no other call with the same key runs, in this process or in another one that shares the store. */
  withLock<T>(key: string, run: () => Promise<T>): Promise<T>
}

/**
 * Stores tokens in memory. They are lost when the process ends.
 *
 * @example
 * ```ts
 * const auth = oauth({ store: memoryTokenStore() })
 * ```
 */
export function memoryTokenStore(): TokenStore {
  const values = new Map<string, string>()
  return {
    get: async (key) => values.get(key),
    set: async (key, value) => {
      values.set(key, value)
    },
    delete: async (key) => {
      values.delete(key)
    },
    withLock: oneAtATime(),
  }
}

/** Calls functions with the same key one after the other. */
export function oneAtATime(): TokenStore['withLock'] {
  const turns = new Turns()
  return (key, run) => turns.take(key, run)
}

/** Builds the key of an entry. JSON keeps the parts apart, so that two entries never share a key. */
export const storeKey = (kind: 'tokens' | 'server' | 'client' | 'bound', ...parts: readonly string[]): string =>
  JSON.stringify([kind, ...parts])

/** Parses an entry. Undefined if there is none or if it is not a JSON object. */
export const readEntry = (text: string | undefined): Record<string, unknown> | undefined =>
  text === undefined ? undefined : objectIn(text)
