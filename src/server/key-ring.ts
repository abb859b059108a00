/** Keys for sealed state that are derived from secrets, so that all replicas of a server have the same ones. */

import { toBase64Url } from '../base/bytes.ts'
import { McpError } from '../protocol/errors.ts'
import type { KeyRing, SealingKey } from '../protocol/interfaces/replaceable-services.ts'

/** A secret of a key ring: text of at least 32 characters, or at least 32 bytes. */
export type KeySecret = string | Uint8Array

const MIN_LENGTH = 32
const encoder = new TextEncoder()
const SALT = encoder.encode('portico key ring 1')

/**
 * The keys for state that clients carry. Give every replica of a server the same secret, for example from `openssl rand -base64 32`.
 * With several secrets the first one seals, and all of them open: that is how a secret is replaced.
 *
 * @example
 * createServer({ name: 'notes', version: '1.0.0', keys: keyRing(process.env.STATE_SECRET) })
 * @example
 * // Replacing a secret: first add the new one at the end everywhere, then move it to the front, then remove the old one.
 * keyRing([process.env.NEW_SECRET, process.env.OLD_SECRET])
 *
 * @param secrets undefined is an error for the first one, and ignored for the others
 */
export function keyRing(secrets: KeySecret | undefined | readonly (KeySecret | undefined)[]): KeyRing {
  const [first, ...others] = Array.isArray(secrets) ? (secrets as readonly (KeySecret | undefined)[]) : [secrets as KeySecret | undefined]
  // Copied, so that a caller may erase the bytes.
  const bytes = [first, ...others.filter((secret) => secret !== undefined)].map(bytesOf)
  let deriving: Promise<readonly SealingKey[]> | undefined
  const keys = (): Promise<readonly SealingKey[]> => {
    deriving ??= Promise.all(bytes.map(derive))
    return deriving
  }
  return {
    current: async () => (await keys())[0] as SealingKey,
    find: async (id) => (await keys()).find((key) => key.id === id),
  }
}

function bytesOf(secret: KeySecret | undefined): Uint8Array<ArrayBuffer> {
  const length = secret?.length ?? 0
  if (secret === undefined || length < MIN_LENGTH) {
    const got = secret === undefined ? 'undefined' : `${length}`
    throw new McpError('ERR_DEFINITION', `keyRing() needs secrets of at least ${MIN_LENGTH} characters or bytes, got ${got}`)
  }
  if (typeof secret === 'string' && /[\r\n]/.test(secret))
    throw new McpError(
      'ERR_DEFINITION',
      'keyRing() needs one secret in each text, got one with line breaks: pass text.trim().split(/\\r?\\n/)',
    )
  return typeof secret === 'string' ? encoder.encode(secret) : new Uint8Array(secret)
}

async function derive(secret: Uint8Array<ArrayBuffer>): Promise<SealingKey> {
  const source = await crypto.subtle.importKey('raw', secret, 'HKDF', false, ['deriveBits'])
  const bits = async (purpose: string, length: number): Promise<Uint8Array> =>
    new Uint8Array(
      await crypto.subtle.deriveBits({ name: 'HKDF', hash: 'SHA-256', salt: SALT, info: encoder.encode(purpose) }, source, length * 8),
    )
  // The id is public. It is derived separately, so that it says nothing about the key.
  const [id, key] = await Promise.all([bits('id', 6), bits('state', 32)])
  return { id: toBase64Url(id), secret: key }
}
