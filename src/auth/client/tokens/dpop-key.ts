/** The key that tokens are bound to, and the proofs made with it (DPoP, RFC 9449). */

import { type CryptoKey, calculateJwkThumbprint, decodeJwt, exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose'
import { randomId } from '../../../base/bytes.ts'
import { sha256 } from '../../oauth-crypto.ts'

const ALGORITHM = 'ES256'
/** Usually there are two origins: the server and its authorization server. The rest is a reserve. */
const MAX_NONCES = 16
const NONCE = /^[\x21\x23-\x5b\x5d-\x7e]{1,1024}$/

export interface ProvenRequest {
  method: string
  url: string
  /** The access token of the request; undefined for a request to the token endpoint. */
  accessToken?: string | undefined
}

/** A key pair for ES256. */
export interface DpopKeyPair {
  privateKey: CryptoKey
  publicKey: CryptoKey
}

export class DpopKey {
  readonly thumbprint: string
  readonly #privateKey: CryptoKey
  readonly #publicJwk: JWK
  /** The latest nonce of each origin. A nonce may be used for several proofs. */
  readonly #nonces = new Map<string, string>()

  private constructor(privateKey: CryptoKey, publicJwk: JWK, thumbprint: string) {
    this.#privateKey = privateKey
    this.#publicJwk = publicJwk
    this.thumbprint = thumbprint
  }

  /** Without a given key pair, creates one that cannot be exported from the process. */
  static async create(given?: DpopKeyPair): Promise<DpopKey> {
    const { privateKey, publicKey } = given ?? (await generateKeyPair(ALGORITHM))
    const { kty, crv, x, y } = await exportJWK(publicKey)
    const jwk = { kty, crv, x, y } as JWK
    return new DpopKey(privateKey, jwk, await calculateJwkThumbprint(jwk))
  }

  async prove({ method, url, accessToken }: ProvenRequest): Promise<string> {
    const { origin, pathname } = new URL(url)
    const nonce = this.#nonces.get(origin)
    const ath = accessToken === undefined ? undefined : await sha256(accessToken)
    return new SignJWT({ htm: method, htu: `${origin}${pathname}`, ath, nonce })
      .setProtectedHeader({ alg: ALGORITHM, typ: 'dpop+jwt', jwk: this.#publicJwk })
      .setJti(randomId())
      .setIssuedAt()
      .sign(this.#privateKey)
  }

  /** Remembers the nonce of a response. */
  rememberNonce(url: string, nonce: string | null | undefined): void {
    if (typeof nonce !== 'string' || !NONCE.test(nonce)) return
    const { origin } = new URL(url)
    this.#nonces.delete(origin)
    this.#nonces.set(origin, nonce)
    for (const oldest of this.#nonces.keys()) if (this.#nonces.size > MAX_NONCES) this.#nonces.delete(oldest)
  }

  /** Whether a new proof would contain another nonce than the given proof. */
  hasNewerNonce(url: string, proof: string): boolean {
    const nonce = this.#nonces.get(new URL(url).origin)
    return nonce !== undefined && decodeJwt(proof).nonce !== nonce
  }
}
