/**
 * Ids of all sessions that replicas share: a name and a code. Only replicas can make the code, so a forged or foreign id costs no look-up.
 * The store knows the name alone, so nobody can read the ids of sessions there.
 */

import { BoundedMap } from '../../../base/bounded-map.ts'
import { randomId, toBase64Url } from '../../../base/bytes.ts'
import type { Counters } from '../../../protocol/interfaces/counters.ts'
import { isUnreadable } from '../../../store/unreadable.ts'

type SigningKey = Awaited<ReturnType<typeof crypto.subtle.importKey>>

const MAC_CHARS = 16
/** Ids whose code was checked. Most requests belong to few sessions. */
const MAX_KNOWN = 10_000
/** Forged ids cost at most one look into the store in this time. */
const LOOK_AGAIN_MS = 1000
/** The name of the secret in the store. */
const SECRET = 'secret of session ids'

export class SessionIds {
  readonly #counters: Counters
  readonly #lifeMs: number
  #known = new BoundedMap<string, true>(MAX_KNOWN)
  #secret = randomId() + randomId()
  #key: Promise<SigningKey> | undefined
  #renewedAt = 0

  /** @param lifeMs longer than a session lives without use */
  constructor(counters: Counters, lifeMs: number) {
    this.#counters = counters
    this.#lifeMs = lifeMs
  }

  /** @param replica the only one that can serve the session. The id then names it */
  async create(principal: string | undefined, replica?: string): Promise<{ id: string; name: string }> {
    const name = replica === undefined ? randomId() : `${randomId()}.${replica}`
    return { id: `${name}.${await this.#codeOf(name, principal)}`, name }
  }

  /** The name in an id that a replica has created for this principal. Undefined: the id is forged, or belongs to another caller. */
  async nameIn(id: string, principal: string | undefined, now: number): Promise<string | undefined> {
    const dot = id.lastIndexOf('.')
    const [name, code] = [id.slice(0, dot), id.slice(dot + 1)]
    const known = JSON.stringify([id, principal])
    if (this.#known.has(known)) return name
    if (code.length !== MAC_CHARS) return undefined
    if (!isSame(await this.#codeOf(name, principal), code)) {
      // Forged, or another replica has another secret, because the store has lost the first one.
      if (now - this.#renewedAt < LOOK_AGAIN_MS) return undefined
      await this.renew(now)
      if (!isSame(await this.#codeOf(name, principal), code)) return undefined
    }
    this.#known.set(known, true)
    return name
  }

  /** Keeps the secret in the store while this replica lives. If the store has another one, that one counts. False: there was nothing to keep. */
  async renew(now: number): Promise<boolean> {
    if (!this.#key) return false
    this.#renewedAt = now
    const secret = await this.#keep()
    if (secret === this.#secret) return true
    this.#secret = secret
    this.#key = importKey(secret)
    this.#known = new BoundedMap(MAX_KNOWN)
    return true
  }

  async #codeOf(name: string, principal: string | undefined): Promise<string> {
    const key = await this.#ready()
    const code = await crypto.subtle.sign('HMAC', key, encoder.encode(JSON.stringify([name, principal])))
    return toBase64Url(new Uint8Array(code)).slice(0, MAC_CHARS)
  }

  /** Why this replica cannot open what the others store, and the way out. Undefined if it can, and while the store does not answer. */
  async fault(): Promise<string | undefined> {
    const fault = await this.#faultOf(() => this.#ready())
    if (fault === undefined) return undefined
    // Without a replica that can open it, the secret expires, and the next replica stores its own.
    const minutes = Math.ceil(this.#lifeMs / 60_000)
    return `${fault}. If nobody has the old ones any more, use another storePrefix, or wait for ${minutes} min`
  }

  /** The same for the secret as it is in the store now. Stores none: another replica may have the right keys. */
  faultInStore(): Promise<string | undefined> {
    return this.#faultOf(() => this.#counters.kept(SECRET))
  }

  async #faultOf(open: () => Promise<unknown>): Promise<string | undefined> {
    try {
      await open()
    } catch (error) {
      if (isUnreadable(error)) return (error as Error).message
    }
    return undefined
  }

  #ready(): Promise<SigningKey> {
    this.#key ??= this.#sharedKey()
    return this.#key.catch((error: unknown) => {
      // The store may work at the next request.
      this.#key = undefined
      throw error
    })
  }

  /** The secret of the first replica counts for all. */
  async #sharedKey(): Promise<SigningKey> {
    this.#secret = await this.#keep()
    return importKey(this.#secret)
  }

  /**
   * Seals it again each time. It never expires while a replica lives, and would need the first key for ever. A replica that cannot open it
   * does not keep it: `keep` alone would give it a new life before it is opened.
   */
  async #keep(): Promise<string> {
    const secret = (await this.#counters.kept(SECRET)) ?? (await this.#counters.keep(SECRET, this.#secret, this.#lifeMs))
    await this.#counters.put(SECRET, secret, this.#lifeMs)
    return secret
  }
}

const encoder = new TextEncoder()

const importKey = (secret: string): Promise<SigningKey> =>
  crypto.subtle.importKey('raw', encoder.encode(secret), { name: 'HMAC', hash: 'SHA-256' }, false, ['sign'])

/** Takes the same time for every wrong code of the right length. */
function isSame(one: string, other: string): boolean {
  let difference = 0
  for (let i = 0; i < MAC_CHARS; i++) difference |= one.charCodeAt(i) ^ other.charCodeAt(i)
  return difference === 0
}
