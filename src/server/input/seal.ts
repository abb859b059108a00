/** Encrypts state that a client carries for the server (AES-GCM), bound to one caller and request. */

import { fromBase64Url, toBase64Url } from '../../base/bytes.ts'
import type { KeyRing, SealingKey } from '../../protocol/interfaces/replaceable-services.ts'

const encoder = new TextEncoder()
const decoder = new TextDecoder()
const IV_BYTES = 12

type ImportedKey = Awaited<ReturnType<typeof crypto.subtle.importKey>>

const importedKeys = new WeakMap<Uint8Array, Promise<ImportedKey>>()

/** Encrypts text. The same `binding` is needed to decrypt it. */
export async function seal(text: string, binding: string, keys: KeyRing): Promise<string> {
  const key = await keys.current()
  const iv = crypto.getRandomValues(new Uint8Array(IV_BYTES))
  const sealed = await crypto.subtle.encrypt(algorithm(iv, key, binding), await imported(key), encoder.encode(text))
  const bytes = new Uint8Array(IV_BYTES + sealed.byteLength)
  bytes.set(iv)
  bytes.set(new Uint8Array(sealed), IV_BYTES)
  return `${key.id}.${toBase64Url(bytes)}`
}

/** The text, or the reason why there is none. The reason is for the log of the server, because it would help a forger. */
export type Unsealed = { text: string } | { fault: string }

/** Opens only what `seal` created with this binding. */
export async function unseal(sealed: string, binding: string, keys: KeyRing): Promise<Unsealed> {
  // The last dot, because the id of a key may contain dots.
  const dot = sealed.lastIndexOf('.')
  const id = sealed.slice(0, Math.max(dot, 0))
  const bytes = fromBase64Url(sealed.slice(dot + 1))
  if (id === '' || !bytes || bytes.length <= IV_BYTES) return { fault: 'it is not in the form that this server gives out' }
  const key = await keys.find(id)
  if (!key) return { fault: await unknownKey(id, keys) }
  try {
    const text = await crypto.subtle.decrypt(
      algorithm(bytes.subarray(0, IV_BYTES), key, binding),
      await imported(key),
      bytes.subarray(IV_BYTES),
    )
    return { text: decoder.decode(text) }
  } catch {
    return { fault: 'it was changed, or it belongs to another caller, method, target or arguments, or to a server with another name' }
  }
}

/** The reason for the log when the key of a state or a cursor is not on the ring. */
export async function unknownKey(id: string, keys: KeyRing): Promise<string> {
  const current = await keys.current()
  return `its key is ${JSON.stringify(id.slice(0, 40))}, and this server uses ${JSON.stringify(current.id)}: give all replicas the same keys (keyRing)`
}

export async function sha256(text: string): Promise<string> {
  return toBase64Url(new Uint8Array(await crypto.subtle.digest('SHA-256', encoder.encode(text))))
}

const algorithm = (iv: Uint8Array<ArrayBuffer>, key: SealingKey, binding: string) => ({
  name: 'AES-GCM',
  iv,
  additionalData: encoder.encode(`${key.id}\n${binding}`),
})

function imported(key: SealingKey): Promise<ImportedKey> {
  let promise = importedKeys.get(key.secret)
  if (!promise) {
    promise = crypto.subtle.importKey('raw', new Uint8Array(key.secret), 'AES-GCM', false, ['encrypt', 'decrypt'])
    importedKeys.set(key.secret, promise)
  }
  return promise
}
