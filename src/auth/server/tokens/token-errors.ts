/** Why a token is not accepted. The messages contain no part of the token. */

export class BadToken extends Error {
  override readonly name = 'BadToken'
}

/** The issuer cannot be reached, so the token cannot be checked. The caller gets 503 and may try again. */
export class IssuerUnavailable extends Error {
  override readonly name = 'IssuerUnavailable'
}
