/** Encrypts what the store writes (AES-GCM), if it or its server has keys. Each value is bound to its place, so that it cannot be moved. */

import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'
import { notices } from '../base/notices.ts'
import { McpError } from '../protocol/errors.ts'
import type { KeyRing, SealingKey } from '../protocol/interfaces/replaceable-services.ts'

const PLAIN = 0
const SEALED = 1
const IV_BYTES = 12
const TAG_BYTES = 16

/** What is kept at a place, by its first word. The rest of a place may contain the id of a session or of a task, which is secret. */
const KINDS: Readonly<Record<string, string>> = {
  session: 'the record of a session',
  event: 'an event of a stream',
  call: 'a request in progress',
  step: 'a step of a request',
  answer: 'an answer to a question',
  inbox: 'a message to this replica',
}

const kindOf = (place: string): string => {
  const [word = ''] = place.split(' ')
  return KINDS[word] ?? 'a value'
}

const WRONG_KEYS = 'the secret differs from that of the other replicas, or was removed too early. Give all replicas the same keys'

export interface SealedValues {
  /** @param place where the value is kept. The same place is needed to read it. */
  seal(text: string, place: string): Buffer | Promise<Buffer>
  /**
   * Throws ERR_STORE_KEY for a value that another key sealed, or that was changed or moved, and ERR_STORE_DOWN if the keys fail.
   * @param kind what the value is, for errors, without secrets. Default: what the first word of the place says
   */
  open(bytes: Buffer, place: string, kind?: string): string | Promise<string>
}

/** The id of the key that sealed a value. Empty without keys. */
export const keyIdOf = (sealed: Buffer): string => (sealed[0] === SEALED ? sealed.toString('utf8', 2, 2 + (sealed[1] ?? 0)) : '')

interface StoreValues extends SealedValues {
  /** Does nothing if there are keys. */
  useKeys(keys: KeyRing): void
}

export function sealedValues(keys: KeyRing | undefined): StoreValues {
  let values: SealedValues = keys ? new Sealed(keys) : PLAIN_VALUES
  return {
    seal: (text, place) => values.seal(text, place),
    open: (bytes, place, kind) => values.open(bytes, place, kind),
    useKeys: (later) => {
      if (values === PLAIN_VALUES) values = new Sealed(later)
    },
  }
}

const PLAIN_VALUES: SealedValues = {
  seal: (text) => Buffer.concat([Buffer.of(PLAIN), Buffer.from(text)]),
  open: (bytes, place, kind = kindOf(place)) => {
    if (bytes[0] === PLAIN) return bytes.toString('utf8', 1)
    throw new McpError(
      'ERR_STORE_KEY',
      `A value in Redis (${kind}) is sealed, and this replica has no keys. Give all replicas the same keys`,
    )
  },
}

class Sealed implements SealedValues {
  readonly #keys: KeyRing
  readonly #derived = new WeakMap<Uint8Array, Buffer>()
  /** What of the keys fails, as the log says. */
  readonly #failing = new Set<keyof KeyRing>()

  constructor(keys: KeyRing) {
    this.#keys = keys
  }

  async seal(text: string, place: string): Promise<Buffer> {
    const key = await this.#ask('current', () => this.#keys.current())
    const id = Buffer.from(key.id)
    if (id.length > 255) throw new McpError('ERR_CONFIG', 'The id of a sealing key may have at most 255 bytes')
    const iv = randomBytes(IV_BYTES)
    const cipher = createCipheriv('aes-256-gcm', this.#secretOf(key), iv)
    cipher.setAAD(Buffer.from(place))
    const sealed = cipher.update(text, 'utf8')
    return Buffer.concat([Buffer.of(SEALED, id.length), id, iv, sealed, cipher.final(), cipher.getAuthTag()])
  }

  async open(bytes: Buffer, place: string, kind = kindOf(place)): Promise<string> {
    const idLength = bytes[1] ?? 0
    const start = 2 + idLength + IV_BYTES
    const key = bytes[0] === SEALED ? await this.#ask('find', () => this.#keys.find(bytes.toString('utf8', 2, 2 + idLength))) : undefined
    if (!key || bytes.length < start + TAG_BYTES) {
      const what =
        bytes[0] === PLAIN
          ? 'is not sealed. Give all replicas the same keys'
          : `was sealed with a key that this replica does not have: ${WRONG_KEYS}`
      throw new McpError('ERR_STORE_KEY', `A value in Redis (${kind}) ${what}`)
    }
    try {
      const decipher = createDecipheriv('aes-256-gcm', this.#secretOf(key), bytes.subarray(start - IV_BYTES, start))
      decipher.setAAD(Buffer.from(place))
      decipher.setAuthTag(bytes.subarray(-TAG_BYTES))
      return decipher.update(bytes.subarray(start, -TAG_BYTES), undefined, 'utf8') + decipher.final('utf8')
    } catch (cause) {
      throw new McpError('ERR_STORE_KEY', `A value in Redis (${kind}) was changed, moved, or sealed with another key of the same id`, {
        cause,
      })
    }
  }

  /** Keys that come from elsewhere may be there later. The value is not lost. */
  async #ask<T>(what: keyof KeyRing, keys: () => T | Promise<T>): Promise<T> {
    try {
      const answer = await keys()
      this.#failing.delete(what)
      return answer
    } catch (cause) {
      const error =
        cause instanceof McpError
          ? cause
          : new McpError('ERR_STORE_DOWN', `The keys of the store cannot be reached: ${(cause as Error).message}`, { cause })
      // Once, until they work again: keys that fail refuse every request.
      if (!this.#failing.has(what)) notices.write('error', `portico: ${error.message}`)
      this.#failing.add(what)
      throw error
    }
  }

  /** A key of its own: the same secret also seals what clients carry. */
  #secretOf({ secret }: SealingKey): Buffer {
    let derived = this.#derived.get(secret)
    if (!derived) {
      derived = Buffer.from(hkdfSync('sha256', secret, '', 'portico/redis', 32))
      this.#derived.set(secret, derived)
    }
    return derived
  }
}
