/**
 * The errors of a login. Each has a reason that programs can compare. No message contains a token, a code, a secret, a state,
 * or the free text of a peer's error.
 */

import { McpError } from '../../protocol/errors.ts'

/** Why a login failed: `error.data.reason` of `ERR_AUTH`. */
export type AuthFailure =
  | 'challenge' // the server refuses the request without a usable challenge
  | 'resource-metadata' // the metadata of the server is missing or invalid
  | 'resource-mismatch' // the metadata describes another server
  | 'server-metadata' // the metadata of the authorization server is missing or invalid
  | 'issuer-mismatch' // the metadata or the response comes from another authorization server
  | 'no-login' // nothing says that the server has a login, and the usual addresses do not answer
  | 'pkce' // the authorization server does not support PKCE
  | 'client' // there is no client id for the authorization server
  | 'registration' // the authorization server refused to register the client
  | 'redirect' // the response to the login did not arrive, or belongs to another login
  | 'denied' // the person or the authorization server denied access
  | 'token' // the token endpoint refused, or its response contains no usable token
  | 'scope' // the server requires scopes that could not be obtained
  | 'browser' // no browser could be opened

export interface AuthErrorOptions {
  cause?: unknown
  /** The OAuth error code, if there was one. */
  error?: string | undefined
}

export const authError = (reason: AuthFailure, message: string, { cause, error }: AuthErrorOptions = {}): McpError =>
  new McpError('ERR_AUTH', message, { data: error === undefined ? { reason } : { reason, error }, cause })

/** The characters that RFC 6749 allows in an error code; the registered codes are much shorter than 64. */
const ERROR_CODE = /^[\x20\x21\x23-\x5b\x5d-\x7e]{1,64}$/

/** The OAuth error code in a response, if it is safe to show. */
export const errorCode = (value: unknown): string | undefined => (typeof value === 'string' && ERROR_CODE.test(value) ? value : undefined)

export const isOAuthError = (error: unknown, code: string): boolean =>
  error instanceof McpError && error.code === 'ERR_AUTH' && (error.data as { error?: unknown } | undefined)?.error === code
