/** Cursors: where a list goes on, in a form that only this server can make and nobody can read anything into. */

import { fromBase64Url, toBase64Url } from '../protocol/bytes.ts'
import { McpError } from '../protocol/errors.ts'
import type { KeyRing, SealingKey } from '../protocol/ports.ts'

const encoder = new TextEncoder()
const decoder = new TextDecoder()
const MAC_BYTES = 16
const MAX_CURSOR_LENGTH = 1024

/** @param after the name of the last item of the page before */
export async function writeCursor(list: string, after: string, keys: KeyRing): Promise<string> {
  const key = keys.current()
  const text = encoder.encode(after)
  const bytes = new Uint8Array(MAC_BYTES + text.length)
  bytes.set(await macOf(list, text, key))
  bytes.set(text, MAC_BYTES)
  return `${key.id}.${toBase64Url(bytes)}`
}

/** Throws ERR_CURSOR_INVALID for anything `writeCursor` did not make for this list. */
export async function readCursor(list: string, cursor: unknown, keys: KeyRing): Promise<string> {
  const invalid = new McpError('ERR_CURSOR_INVALID', 'Invalid cursor')
  if (typeof cursor !== 'string' || cursor.length > MAX_CURSOR_LENGTH) throw invalid
  const dot = cursor.indexOf('.')
  const key = dot < 0 ? undefined : keys.find(cursor.slice(0, dot))
  const bytes = fromBase64Url(cursor.slice(dot + 1))
  if (!key || !bytes || bytes.length < MAC_BYTES) throw invalid
  const text = bytes.subarray(MAC_BYTES)
  const expected = await macOf(list, text, key)
  let difference = 0
  for (let i = 0; i < MAC_BYTES; i++) difference |= (expected[i] as number) ^ (bytes[i] as number)
  if (difference !== 0) throw invalid
  return decoder.decode(text)
}

async function macOf(list: string, text: Uint8Array, { secret }: SealingKey): Promise<Uint8Array> {
  const label = encoder.encode(`cursor\n${list}\n`)
  const message = new Uint8Array(label.length + text.length)
  message.set(label)
  message.set(text, label.length)
  const key = await crypto.subtle.importKey('raw', new Uint8Array(secret), { name: 'HMAC', hash: 'SHA-256' }, false, ['sign'])
  return new Uint8Array(await crypto.subtle.sign('HMAC', key, message)).subarray(0, MAC_BYTES)
}
