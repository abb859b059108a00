/** The limits of a resource server. */

/** The limits of `resourceServer`. */
export interface ResourceServerLimits {
  /** How much the clocks of issuer and server may differ. */
  clockToleranceSeconds: number
  /** The longest time for one request to an issuer. */
  fetchTimeoutMs: number
  /** How long an introspection result is used. */
  introspectionCacheMs: number
}

/** The defaults of `limits`. */
export const DEFAULT_RESOURCE_SERVER_LIMITS: ResourceServerLimits = {
  clockToleranceSeconds: 5,
  fetchTimeoutMs: 5_000,
  introspectionCacheMs: 60_000,
}

/** The longest access token or proof. Node refuses headers of more than 16 KiB together, and both may be in one request. */
export const MAX_TOKEN_BYTES = 8 * 1024

/** DPoP proofs that are remembered to detect reuse: about 800 new ones in each second that a proof is valid. */
export const MAX_PROOFS = 100_000
