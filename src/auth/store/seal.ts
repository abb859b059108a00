/** Encrypts stored values with AES-256-GCM. Each value is bound to its name, so that two files cannot be swapped. */

const VERSION = 1
const IV_BYTES = 12
export const KEY_BYTES = 32

export interface Sealer {
  seal(name: string, value: string): Promise<Uint8Array<ArrayBuffer>>
  /** Undefined if the value was changed, encrypted with another key, or stored under another name. */
  open(name: string, sealed: Uint8Array<ArrayBuffer>): Promise<string | undefined>
}

export async function sealer(secret: Uint8Array<ArrayBuffer>): Promise<Sealer> {
  if (secret.byteLength !== KEY_BYTES) throw new RangeError(`Expected a key of ${KEY_BYTES} bytes, got ${secret.byteLength}`)
  const key = await crypto.subtle.importKey('raw', secret, 'AES-GCM', false, ['encrypt', 'decrypt'])
  const cipher = (name: string, iv: Uint8Array<ArrayBuffer>) => ({
    name: 'AES-GCM',
    iv,
    additionalData: encode(`portico ${VERSION}\n${name}`),
  })
  return {
    seal: async (name, value) => {
      // Random, not a counter: processes share the key but no state. A store stays far below 2^32 values.
      const iv = crypto.getRandomValues(new Uint8Array(IV_BYTES))
      const text = new Uint8Array(await crypto.subtle.encrypt(cipher(name, iv), key, encode(value)))
      const sealed = new Uint8Array(1 + IV_BYTES + text.byteLength)
      sealed[0] = VERSION
      sealed.set(iv, 1)
      sealed.set(text, 1 + IV_BYTES)
      return sealed
    },
    open: async (name, sealed) => {
      if (sealed[0] !== VERSION) return undefined
      try {
        const text = await crypto.subtle.decrypt(cipher(name, sealed.slice(1, 1 + IV_BYTES)), key, sealed.slice(1 + IV_BYTES))
        return new TextDecoder('utf-8', { fatal: true }).decode(text)
      } catch {
        return undefined
      }
    },
  }
}

const encode = (text: string): Uint8Array<ArrayBuffer> => new TextEncoder().encode(text) as Uint8Array<ArrayBuffer>
