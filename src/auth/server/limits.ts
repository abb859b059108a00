/** The limits of a resource server. */

export interface ResourceServerLimits {
  /** The longest access token. */
  maxTokenBytes: number
  /** How much the clocks of issuer and server may differ. */
  clockToleranceSeconds: number
  /** The longest time for one request to an issuer. */
  fetchTimeoutMs: number
  /** The largest response of an issuer. */
  maxDocumentBytes: number
  /** How long fetched keys are used. */
  keyCacheMs: number
  /** The shortest time between two fetches of the keys, however many tokens name an unknown key. */
  keyCoolDownMs: number
  /** How long an introspection result is used. */
  introspectionCacheMs: number
  /** The most introspection results in the cache. */
  maxIntrospected: number
  /** The most introspection requests at the same time. */
  maxIntrospecting: number
  /** How far the time of a DPoP proof may be from now, in both directions. */
  proofWindowMs: number
  /** The most DPoP proofs that are remembered, so that none is used twice. */
  maxProofs: number
  /** How long a DPoP nonce is valid. */
  nonceMs: number
}

/** The defaults of `limits`. */
export const DEFAULT_RESOURCE_SERVER_LIMITS: ResourceServerLimits = {
  maxTokenBytes: 8 * 1024,
  clockToleranceSeconds: 5,
  fetchTimeoutMs: 5_000,
  maxDocumentBytes: 256 * 1024,
  keyCacheMs: 10 * 60_000,
  keyCoolDownMs: 30_000,
  introspectionCacheMs: 60_000,
  maxIntrospected: 10_000,
  maxIntrospecting: 64,
  proofWindowMs: 60_000,
  maxProofs: 100_000,
  nonceMs: 5 * 60_000,
}
