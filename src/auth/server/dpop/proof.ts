/** Proof that the caller has the key its token is bound to (RFC 9449): one proof for one request. */

import { calculateJwkThumbprint, EmbeddedJWK, type JWK, jwtVerify } from 'jose'
import type { RequestHead } from '../../../protocol/seams/access.ts'
import type { KeyRing } from '../../../protocol/seams/ports.ts'
import type { ResourceServerLimits } from '../limits.ts'
import { digest } from '../tokens/introspection.ts'
import type { Nonces } from './nonces.ts'
import { type ReplayStore, ReplaysFull } from './replays.ts'

export const DPOP_ALGORITHMS = ['ES256', 'EdDSA', 'Ed25519', 'PS256', 'RS256'] as const

export interface DpopOptions {
  /** Takes no other tokens than those that are bound to a key. */
  required?: boolean
  /** Asks for a nonce in every proof, so that none can be made in advance. Replicas must share the keys. */
  nonces?: KeyRing
  /** Remembers proofs. Replicas must share it. */
  replays?: ReplayStore
  algorithms?: readonly string[]
}

export type ProofVerdict = { ok: true } | { ok: false; error: 'invalid_dpop_proof' | 'use_dpop_nonce' | 'unavailable'; message: string }

export interface ProofRules {
  /** The URLs that the endpoint goes by, without query. */
  resource: string
  algorithms: readonly string[]
  replays: ReplayStore
  nonces: Nonces | undefined
  limits: ResourceServerLimits
}

/** @param jkt the thumbprint of the key that the token is bound to */
export async function checkProof(knock: RequestHead, token: string, jkt: string, rules: ProofRules): Promise<ProofVerdict> {
  const proof = knock.header('dpop')
  if (knock.count('dpop') !== 1 || proof === undefined || proof.includes(',')) return bad('There must be one DPoP header')
  if (proof.length > rules.limits.maxTokenBytes) return bad('The DPoP proof is too long')
  const read = await readProof(proof, rules)
  if (!read) return bad('The DPoP proof is not valid')
  const { jwk, claims } = read
  const { htm, htu, iat, jti, ath, nonce } = claims
  if (htm !== knock.method) return bad('The DPoP proof is for another method')
  if (!isOf(htu, knock, rules.resource)) return bad('The DPoP proof is for another URL')
  const { proofWindowMs } = rules.limits
  if (typeof iat !== 'number' || Math.abs(Date.now() - iat * 1000) > proofWindowMs) return bad('The DPoP proof is too old or too new')
  if (ath !== (await digest(token))) return bad('The DPoP proof is for another token')
  if ((await calculateJwkThumbprint(jwk, 'sha256')) !== jkt)
    return bad('The DPoP proof is made with another key than the token is bound to')
  if (typeof jti !== 'string' || jti === '' || jti.length > 256) return bad('The DPoP proof has no id')
  if (rules.nonces && !(typeof nonce === 'string' && nonce.length <= 256 && (await rules.nonces.isGood(nonce))))
    return { ok: false, error: 'use_dpop_nonce', message: 'The DPoP proof needs the nonce given here' }
  // Last: only a proof that holds in everything else is remembered.
  return judgeFirstUse(`${jkt}.${await digest(jti)}`, rules)
}

async function judgeFirstUse(id: string, { replays, limits }: ProofRules): Promise<ProofVerdict> {
  try {
    // A proof may come from as far in the future as in the past.
    return (await replays.isFirst(id, 2 * limits.proofWindowMs)) ? { ok: true } : bad('The DPoP proof was used before')
  } catch (error) {
    const message = error instanceof ReplaysFull ? error.message : 'Proofs cannot be remembered'
    return { ok: false, error: 'unavailable', message }
  }
}

const bad = (message: string): ProofVerdict => ({ ok: false, error: 'invalid_dpop_proof', message })

async function readProof(proof: string, { algorithms }: ProofRules): Promise<{ jwk: JWK; claims: Record<string, unknown> } | undefined> {
  try {
    // The window is judged apart: jose would take only the past of it.
    const { payload, protectedHeader } = await jwtVerify(proof, EmbeddedJWK, { typ: 'dpop+jwt', algorithms: [...algorithms] })
    return { jwk: protectedHeader.jwk as JWK, claims: payload }
  } catch {
    return undefined
  }
}

/** The URL of the request as the caller knows it: the endpoint's own, or another path beside it as it was asked for. */
function isOf(htu: unknown, { url }: RequestHead, resource: string): boolean {
  if (typeof htu !== 'string' || !URL.canParse(htu)) return false
  return [resource, beside(resource, url)].some((each) => bare(each) === bare(htu))
}

/**
 * The path of a request at the origin of the resource. The target of a request is a path, even where it begins with two
 * slashes; a URL that is resolved against another would take those for a host.
 */
function beside(resource: string, target: string): string {
  const url = new URL(resource)
  url.pathname = target.startsWith('/') ? target.replace(/[?#].*$/s, '') : new URL(target, resource).pathname
  return url.href
}

function bare(url: string): string {
  const { origin, pathname } = new URL(url)
  return origin + pathname
}
