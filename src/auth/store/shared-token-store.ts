/** The token store for programs that run in several processes or on several machines. */

import { fromBase64Url, toBase64Url } from '../../base/bytes.ts'
import { notices } from '../../base/notices.ts'
import { checkMembers } from '../../protocol/check-members.ts'
import { McpError } from '../../protocol/errors.ts'
import type { Counters } from '../../protocol/interfaces/counters.ts'
import type { KeyRing, SealingKey } from '../../protocol/interfaces/replaceable-services.ts'
import { withDefaults } from '../../protocol/with-defaults.ts'
import { DEFAULT_FILE_STORE_LIMITS, type FileStoreLimits } from './options.ts'
import { KEY_BYTES, type Sealer, sealer } from './seal.ts'
import { withSharedLock } from './shared-lock.ts'
import { oneAtATime, type TokenStore } from './token-store.ts'

/** Options for `sharedTokenStore`. */
export interface SharedTokenStoreOptions {
  /** Encrypts the tokens. All processes need the same keys, for example `keyRing(secret)` of portico/server. */
  keys: KeyRing
  /** How long an entry is kept after its last change. Default: 90 days. */
  ttlMs?: number | undefined
  /** Limits that differ from `DEFAULT_FILE_STORE_LIMITS`. */
  limits?: Partial<FileStoreLimits> | undefined
  /** Receives the reason why an entry cannot be read. Default: the log. */
  onWarning?: ((message: string) => void) | undefined
}

const TTL_MS = 90 * 24 * 60 * 60_000
/** Tokens of one server, with its metadata. Real ones have a few kilobytes. */
const MAX_ENTRY_CHARS = 256 * 1024
/** How long to repeat a write. A refresh token that was used is worthless, so the new one must not get lost. */
const WRITE_MS = 10_000
const REPEAT_MS = 200

/**
 * Stores tokens in a store of replicas, for programs whose processes use the same logins. They renew tokens one at a time: an
 * authorization server revokes a login when two processes use the same refresh token.
 *
 * @example
 * ```ts
 * const tokens = sharedTokenStore(redis('redis://127.0.0.1:6379'), { keys: keyRing(process.env.TOKEN_SECRET) })
 * const client = await connect(url, { auth: oauth({ store: tokens, user: 'ada' }) })
 * ```
 *
 * @param store of portico/redis or portico/store
 */
export function sharedTokenStore(store: { readonly counters: Counters }, options: SharedTokenStoreOptions): TokenStore {
  checkMembers('sharedTokenStore', options, { keys: 1, ttlMs: 1, limits: 1, onWarning: 1 })
  const { keys, ttlMs = TTL_MS, onWarning = (message) => notices.write('warn', `portico: ${message}`) } = options
  const { lockTimeoutMs } = withDefaults(DEFAULT_FILE_STORE_LIMITS, options.limits)
  const { counters } = store
  const sealers = new WeakMap<Uint8Array, Promise<Sealer>>()
  const sealerOf = ({ secret }: SealingKey): Promise<Sealer> => {
    const made = sealers.get(secret) ?? derive(secret).then(sealer)
    sealers.set(secret, made)
    return made
  }
  const open = async (name: string, text: string): Promise<string | undefined> => {
    const dot = text.indexOf('.')
    const key = await keys.find(text.slice(0, dot))
    const sealed = fromBase64Url(text.slice(dot + 1))
    const value = key && sealed && (await (await sealerOf(key)).open(name, sealed))
    // Treated as missing: the next login replaces it.
    if (value === undefined)
      onWarning(
        `An entry of the shared token store cannot be opened: it was ${key ? 'changed, moved or sealed with another key of the same id' : 'sealed with a key that this process does not have'}`,
      )
    return value
  }
  const inTurn = oneAtATime()
  return {
    get: async (key) => {
      const text = await counters.kept(nameOf(key))
      return text === undefined ? undefined : open(nameOf(key), text)
    },
    set: async (key, value) => {
      if (value.length > MAX_ENTRY_CHARS)
        throw new McpError('ERR_LIMIT', `An entry has ${value.length} characters, more than ${MAX_ENTRY_CHARS}`)
      const current = await keys.current()
      const sealed = toBase64Url(await (await sealerOf(current)).seal(nameOf(key), value))
      await repeated(() => counters.put(nameOf(key), `${current.id}.${sealed}`, ttlMs))
    },
    delete: (key) => counters.forget(nameOf(key)),
    // The processes wait for each other, and not each request of each process.
    withLock: (key, run) => inTurn(key, () => withSharedLock(store, nameOf(key), lockTimeoutMs, run)),
  }
}

const nameOf = (key: string): string => `token ${key}`

/** A key of its own: the same secret also seals other things. */
async function derive(secret: Uint8Array): Promise<Uint8Array<ArrayBuffer>> {
  const source = await crypto.subtle.importKey('raw', new Uint8Array(secret), 'HKDF', false, ['deriveBits'])
  const info = new TextEncoder().encode('portico token store')
  const how = { name: 'HKDF', hash: 'SHA-256', salt: new Uint8Array(), info }
  return new Uint8Array(await crypto.subtle.deriveBits(how, source, KEY_BYTES * 8))
}

/** Sends a write again while the store is down. */
async function repeated(write: () => Promise<void>): Promise<void> {
  const end = performance.now() + WRITE_MS
  for (;;) {
    try {
      return await write()
    } catch (error) {
      if (!(error instanceof McpError) || error.code !== 'ERR_STORE_DOWN' || performance.now() > end) throw error
      await new Promise((resolve) => setTimeout(resolve, REPEAT_MS))
    }
  }
}
