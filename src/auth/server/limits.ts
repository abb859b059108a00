/** The limits of a resource server. */

/** The limits of `resourceServer`. */
export interface ResourceServerLimits {
  /** The longest access token. */
  maxTokenBytes: number
  /** How much the clocks of issuer and server may differ. */
  clockToleranceSeconds: number
  /** The longest time for one request to an issuer. */
  fetchTimeoutMs: number
  /** How long an introspection result is used. */
  introspectionCacheMs: number
  /** Maximum number of DPoP proofs that are remembered to detect reuse. */
  maxProofs: number
}

/** The defaults of `limits`. */
export const DEFAULT_RESOURCE_SERVER_LIMITS: ResourceServerLimits = {
  maxTokenBytes: 8 * 1024,
  clockToleranceSeconds: 5,
  fetchTimeoutMs: 5_000,
  introspectionCacheMs: 60_000,
  maxProofs: 100_000,
}
