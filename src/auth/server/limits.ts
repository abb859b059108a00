/** Every bound of a resource server, with its default. */

export interface ResourceServerLimits {
  /** The longest access token that is looked at. */
  maxTokenBytes: number
  /** By how much the clocks of two machines may differ. */
  clockToleranceSeconds: number
  /** How long an authorization server may take to answer us, and how much it may say. */
  fetchTimeoutMs: number
  maxDocumentBytes: number
  /** How long keys are used before they are fetched anew, and how soon they may be fetched again for a key that is not among them. */
  keyCacheMs: number
  keyCoolDownMs: number
  /** How long the word of an authorization server about an opaque token is believed, and about how many tokens. */
  introspectionCacheMs: number
  maxIntrospected: number
  /** Tokens asked about at the same time. */
  maxIntrospecting: number
  /** How old a DPoP proof may be, or how far from the future. */
  proofWindowMs: number
  /** Proofs remembered so that none is used twice. */
  maxProofs: number
  /** How long a DPoP nonce is good. */
  nonceMs: number
}

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
