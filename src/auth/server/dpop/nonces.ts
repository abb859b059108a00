/** DPoP nonces that need no storage: each consists of its time and a MAC. */

import { fromBase64Url, toBase64Url } from '../../../base/bytes.ts'
import type { KeyRing } from '../../../protocol/interfaces/replaceable-services.ts'

/** Long enough that a client needs a new nonce only now and then, short enough that proofs cannot be stockpiled. */
export const NONCE_MS = 5 * 60_000

export interface Nonces {
  make(): Promise<string>
  isValid(nonce: string): Promise<boolean>
}

export function sealedNonces(keys: KeyRing): Nonces {
  return {
    make: async () => {
      const { id, secret } = await keys.current()
      const stamp = `${id}.${Date.now().toString(36)}`
      return `${stamp}.${await mac(stamp, secret, (key, data) => crypto.subtle.sign('HMAC', key, data).then((made) => toBase64Url(new Uint8Array(made))))}`
    },
    isValid: async (nonce) => {
      const [id = '', time = '', given = '', ...rest] = nonce.split('.')
      const key = await keys.find(id)
      const signature = fromBase64Url(given)
      if (!key || !signature || rest.length > 0) return false
      const isOurs = await mac(`${id}.${time}`, key.secret, (made, data) => crypto.subtle.verify('HMAC', made, signature, data))
      const age = Date.now() - Number.parseInt(time, 36)
      return isOurs && age >= 0 && age < NONCE_MS
    },
  }
}

type HmacKey = Awaited<ReturnType<typeof crypto.subtle.importKey>>

async function mac<T>(text: string, secret: Uint8Array, use: (key: HmacKey, data: Uint8Array<ArrayBuffer>) => Promise<T>): Promise<T> {
  const key = await crypto.subtle.importKey('raw', new Uint8Array(secret), { name: 'HMAC', hash: 'SHA-256' }, false, ['sign', 'verify'])
  return use(key, new TextEncoder().encode(`dpop-nonce:${text}`))
}
