/** Checks DPoP proofs (RFC 9449): that the caller has the key of its token, once for each request. */

import { calculateJwkThumbprint, EmbeddedJWK, type JWK, jwtVerify } from 'jose'
import type { RequestHead } from '../../../protocol/interfaces/access.ts'
import type { KeyRing } from '../../../protocol/interfaces/replaceable-services.ts'
import { sha256 } from '../../oauth-crypto.ts'
import { MAX_TOKEN_BYTES, type ResourceServerLimits } from '../limits.ts'
import type { Nonces } from './nonces.ts'
import { type ReplayStore, ReplaysFull } from './replays.ts'

export const DPOP_ALGORITHMS = ['ES256', 'EdDSA', 'Ed25519', 'PS256', 'RS256'] as const

/** How far the time of a proof may be from now, in both directions: enough for clocks that differ and slow networks. */
const PROOF_WINDOW_MS = 60_000

/** Options for tokens that are bound to a key. */
export interface DpopOptions {
  /** Refuses tokens that are not bound to a key. Default: false. */
  required?: boolean
  /** Requires a nonce in every proof, so that proofs cannot be made in advance. Replicas must share the keys. */
  nonces?: KeyRing
  /** Remembers used proofs. Replicas must share it. Default: the `store` of `listen`, otherwise in memory. */
  replays?: ReplayStore
  /** The accepted signature algorithms. Default: ES256, EdDSA, Ed25519, PS256 and RS256. */
  algorithms?: readonly string[]
}

export type ProofVerdict = { ok: true } | { ok: false; error: 'invalid_dpop_proof' | 'use_dpop_nonce' | 'unavailable'; message: string }

export interface ProofRules {
  /** The URL of the protected resource. */
  resource: string
  algorithms: readonly string[]
  replays: ReplayStore
  nonces: Nonces | undefined
  limits: ResourceServerLimits
}

/** @param jkt the thumbprint of the key that the token is bound to */
export async function checkProof(head: RequestHead, token: string, jkt: string, rules: ProofRules): Promise<ProofVerdict> {
  const proof = head.header('dpop')
  if (head.count('dpop') !== 1 || proof === undefined || proof.includes(',')) return bad('Expected exactly one DPoP header')
  if (proof.length > MAX_TOKEN_BYTES) return bad('The DPoP proof is too long')
  const read = await readProof(proof, rules)
  if (!read) return bad('The DPoP proof is not valid')
  const { jwk, claims } = read
  const { htm, htu, iat, jti, ath, nonce } = claims
  if (htm !== head.method) return bad('The DPoP proof is for another method')
  if (!isForRequest(htu, head, rules.resource)) return bad('The DPoP proof is for another URL')
  if (typeof iat !== 'number' || Math.abs(Date.now() - iat * 1000) > PROOF_WINDOW_MS)
    return bad('The time of the DPoP proof is too far from now')
  if (ath !== (await sha256(token))) return bad('The DPoP proof is for another token')
  if ((await calculateJwkThumbprint(jwk, 'sha256')) !== jkt)
    return bad('The DPoP proof is signed with a key other than the one the token is bound to')
  if (typeof jti !== 'string' || jti === '' || jti.length > 256) return bad('The DPoP proof has no valid jti')
  if (rules.nonces && !(typeof nonce === 'string' && nonce.length <= 256 && (await rules.nonces.isValid(nonce))))
    return { ok: false, error: 'use_dpop_nonce', message: 'The DPoP proof must contain the nonce in the DPoP-Nonce header' }
  // Checked last, so that only valid proofs take up memory.
  return checkFirstUse(`${jkt}.${await sha256(jti)}`, rules)
}

async function checkFirstUse(id: string, { replays }: ProofRules): Promise<ProofVerdict> {
  try {
    // A proof is acceptable from one window before its time until one window after it.
    return (await replays.isFirst(id, 2 * PROOF_WINDOW_MS)) ? { ok: true } : bad('The DPoP proof was already used')
  } catch (error) {
    const message = error instanceof ReplaysFull ? error.message : 'The store of used DPoP proofs failed'
    return { ok: false, error: 'unavailable', message }
  }
}

const bad = (message: string): ProofVerdict => ({ ok: false, error: 'invalid_dpop_proof', message })

async function readProof(proof: string, { algorithms }: ProofRules): Promise<{ jwk: JWK; claims: Record<string, unknown> } | undefined> {
  try {
    // The time is checked by the caller: jose would accept only proofs from the past.
    const { payload, protectedHeader } = await jwtVerify(proof, EmbeddedJWK, { typ: 'dpop+jwt', algorithms: [...algorithms] })
    return { jwk: protectedHeader.jwk as JWK, claims: payload }
  } catch {
    return undefined
  }
}

/** Whether the proof is for this request: for the URL of the resource, or for the requested path at its origin. */
function isForRequest(htu: unknown, { url }: RequestHead, resource: string): boolean {
  if (typeof htu !== 'string' || !URL.canParse(htu)) return false
  return [resource, atOrigin(resource, url)].some((each) => bare(each) === bare(htu))
}

/**
 * The requested path at the origin of the resource. The path is set directly: resolving a target that begins with two slashes
 * as a URL would read a host from it.
 */
function atOrigin(resource: string, target: string): string {
  const url = new URL(resource)
  url.pathname = target.startsWith('/') ? target.replace(/[?#].*$/s, '') : new URL(target, resource).pathname
  return url.href
}

function bare(url: string): string {
  const { origin, pathname } = new URL(url)
  return origin + pathname
}
