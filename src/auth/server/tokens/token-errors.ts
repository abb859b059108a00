/** How a token can fail: it is no good, or nobody can tell at the moment. Nothing of the token is in the words. */

export class BadToken extends Error {
  override readonly name = 'BadToken'
}

/** The authorization server cannot be asked. The caller is told to come back, never let in. */
export class IssuerUnavailable extends Error {
  override readonly name = 'CannotTell'
}
