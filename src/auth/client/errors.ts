/**
 * What can go wrong on the way to a token, each with a reason that programs can tell apart. No message holds a token, a
 * code, a secret, a state, or the text of an error that somebody else wrote for people.
 */

import { McpError } from '../../protocol/errors.ts'

export type AuthFailure =
  | 'challenge' // the server refuses and says nothing that could be acted on
  | 'resource-metadata' // the document about the server is missing or says something impossible
  | 'resource-mismatch' // it is about another server
  | 'server-metadata' // the document about the authorization server is missing or says something impossible
  | 'issuer-mismatch' // it is about another authorization server
  | 'pkce' // the authorization server does not protect codes
  | 'client' // there is no client id for the authorization server
  | 'registration' // it refused to give one
  | 'redirect' // the answer to the login did not come, or is not the answer to it
  | 'denied' // the person or the authorization server said no
  | 'token' // the token endpoint refused, or answered with something that is no token
  | 'scope' // the server wants more than could be got
  | 'browser' // no browser could be opened

export interface AuthErrorOptions {
  cause?: unknown
  /** The code of the OAuth error, if there was one. */
  error?: string | undefined
}

export const authError = (reason: AuthFailure, message: string, { cause, error }: AuthErrorOptions = {}): McpError =>
  new McpError('ERR_AUTH', message, { data: error === undefined ? { reason } : { reason, error }, cause })

const ERROR_CODE = /^[\x20\x21\x23-\x5b\x5d-\x7e]{1,64}$/

/** The code of an OAuth error as it may be shown: they come from a fixed alphabet, and the known ones are short. */
export const errorCode = (value: unknown): string | undefined => (typeof value === 'string' && ERROR_CODE.test(value) ? value : undefined)

export const isOAuthError = (error: unknown, code: string): boolean =>
  error instanceof McpError && error.code === 'ERR_AUTH' && (error.data as { error?: unknown } | undefined)?.error === code
