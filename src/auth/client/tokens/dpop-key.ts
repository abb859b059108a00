/**
 * Proofs that whoever uses a token has the key it is bound to.
 *
 * @see RFC 9449
 */

import { base64url, type CryptoKey, calculateJwkThumbprint, decodeJwt, exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose'

const ALGORITHM = 'ES256'
/** Origins whose nonces are kept. */
const MAX_NONCES = 16
const NONCE = /^[\x21\x23-\x5b\x5d-\x7e]{1,1024}$/

export interface ProvenRequest {
  method: string
  url: string
  /** The token that is sent along; none when one is asked for. */
  accessToken?: string | undefined
}

export interface DpopKeyPair {
  privateKey: CryptoKey
  publicKey: CryptoKey
}

export class DpopKey {
  readonly thumbprint: string
  readonly #privateKey: CryptoKey
  readonly #publicJwk: JWK
  /** The last one of each origin: it is good for more than one proof. */
  readonly #nonces = new Map<string, string>()

  private constructor(privateKey: CryptoKey, publicJwk: JWK, thumbprint: string) {
    this.#privateKey = privateKey
    this.#publicJwk = publicJwk
    this.thumbprint = thumbprint
  }

  /** Makes a key that cannot leave the process, unless one is given. */
  static async create(given?: DpopKeyPair): Promise<DpopKey> {
    const { privateKey, publicKey } = given ?? (await generateKeyPair(ALGORITHM))
    const { kty, crv, x, y } = await exportJWK(publicKey)
    const jwk = { kty, crv, x, y } as JWK
    return new DpopKey(privateKey, jwk, await calculateJwkThumbprint(jwk))
  }

  async prove({ method, url, accessToken }: ProvenRequest): Promise<string> {
    const { origin, pathname } = new URL(url)
    const nonce = this.#nonces.get(origin)
    const ath = accessToken === undefined ? undefined : await digest(accessToken)
    return new SignJWT({ htm: method, htu: `${origin}${pathname}`, ...(ath && { ath }), ...(nonce && { nonce }) })
      .setProtectedHeader({ alg: ALGORITHM, typ: 'dpop+jwt', jwk: this.#publicJwk })
      .setJti(base64url.encode(crypto.getRandomValues(new Uint8Array(16))))
      .setIssuedAt()
      .sign(this.#privateKey)
  }

  /** Remembers the nonce of an answer. */
  note(url: string, nonce: string | null | undefined): void {
    if (typeof nonce !== 'string' || !NONCE.test(nonce)) return
    const { origin } = new URL(url)
    this.#nonces.delete(origin)
    this.#nonces.set(origin, nonce)
    for (const oldest of this.#nonces.keys()) if (this.#nonces.size > MAX_NONCES) this.#nonces.delete(oldest)
  }

  /** Whether another proof would have another nonce than this one. */
  hasNewerNonce(url: string, proof: string): boolean {
    const nonce = this.#nonces.get(new URL(url).origin)
    return nonce !== undefined && decodeJwt(proof).nonce !== nonce
  }
}

const digest = async (text: string): Promise<string> =>
  base64url.encode(new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))))
