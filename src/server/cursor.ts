/** Cursors of lists, signed by the server. They reveal nothing about the items, and all have the same length. */

import { fromBase64Url, toBase64Url } from '../base/bytes.ts'
import { McpError } from '../protocol/errors.ts'
import type { KeyRing, SealingKey } from '../protocol/interfaces/replaceable-services.ts'
import { unknownKey } from './input/seal.ts'

/** An item of a list, as a cursor stores it. */
export interface Place {
  /** The index when the cursor was created. */
  index: number
  /** A hash of its name, to find it at another index. */
  mark: bigint
}

const encoder = new TextEncoder()
const MAC_BYTES = 16
const PLACE_BYTES = 12

/** @param after the last item of the page */
export async function writeCursor(list: string, after: Place, keys: KeyRing): Promise<string> {
  const key = await keys.current()
  const bytes = new Uint8Array(MAC_BYTES + PLACE_BYTES)
  const view = new DataView(bytes.buffer, MAC_BYTES)
  view.setUint32(0, after.index)
  view.setBigUint64(4, after.mark)
  bytes.set(await macOf(list, bytes.subarray(MAC_BYTES), key))
  return `${key.id}.${toBase64Url(bytes)}`
}

/** Throws ERR_CURSOR_INVALID for anything that `writeCursor` did not create for this list. */
export async function readCursor(list: string, cursor: unknown, keys: KeyRing): Promise<Place> {
  const invalid = new McpError('ERR_CURSOR_INVALID', 'Invalid cursor')
  if (typeof cursor !== 'string') throw invalid
  // The last dot, because the id of a key may contain dots.
  const dot = cursor.lastIndexOf('.')
  const key = dot < 0 ? undefined : await keys.find(cursor.slice(0, dot))
  const bytes = fromBase64Url(cursor.slice(dot + 1))
  if (!bytes || bytes.length !== MAC_BYTES + PLACE_BYTES) throw invalid
  if (!key) throw new McpError('ERR_CURSOR_INVALID', 'Invalid cursor', { cause: await unknownKey(cursor.slice(0, dot), keys) })
  const expected = await macOf(list, bytes.subarray(MAC_BYTES), key)
  let difference = 0
  for (let i = 0; i < MAC_BYTES; i++) difference |= (expected[i] as number) ^ (bytes[i] as number)
  if (difference !== 0) throw invalid
  const view = new DataView(bytes.buffer, bytes.byteOffset + MAC_BYTES)
  return { index: view.getUint32(0), mark: view.getBigUint64(4) }
}

/**
 * A 64-bit hash of a name. It need not resist collisions: the index is compared first, so two names with the same hash
 * matter only if the list changes too, and then only its order suffers.
 */
export function markOf(name: string): bigint {
  let one = 0x811c9dc5
  let two = 0x9e3779b9
  for (let i = 0; i < name.length; i++) {
    const unit = name.charCodeAt(i)
    one = Math.imul(one ^ unit, 0x01000193)
    two = Math.imul(two ^ unit, 0x85ebca6b) ^ (two >>> 13)
  }
  return (BigInt(one >>> 0) << 32n) | BigInt(two >>> 0)
}

async function macOf(list: string, text: Uint8Array, { secret }: SealingKey): Promise<Uint8Array> {
  const label = encoder.encode(`cursor\n${list}\n`)
  const message = new Uint8Array(label.length + text.length)
  message.set(label)
  message.set(text, label.length)
  const key = await crypto.subtle.importKey('raw', new Uint8Array(secret), { name: 'HMAC', hash: 'SHA-256' }, false, ['sign'])
  return new Uint8Array(await crypto.subtle.sign('HMAC', key, message)).subarray(0, MAC_BYTES)
}
