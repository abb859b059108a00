/** The rights of an authenticated caller. The credentials never appear here. */

import { McpError } from '../errors.ts'
import type { Counters } from './counters.ts'

/** The content of a verified access token. */
export interface TokenClaims {
  /** The authorization server that issued the token. */
  readonly issuer: string
  /** The user that the client acts for. Unique together with the issuer only. */
  readonly subject: string
  readonly clientId: string
  readonly scopes: readonly string[]
  /** All other claims of the token. */
  readonly claims: Readonly<Record<string, unknown>>
  /** The expiry, in milliseconds since 1970. */
  readonly expiresAt: number
}

/** Undefined on a transport without authorization, such as stdio. null for a caller without scopes. */
export type Access = TokenClaims | null | undefined

/** An HTTP request before its body is read. */
export interface RequestHead {
  readonly method: string
  /** Path and query as the client sent them, or a full URL. */
  readonly url: string
  header(name: string): string | undefined
  /** The number of times a header occurs. */
  count(name: string): number
  readonly remoteAddress: string | undefined
}

/** A caller whose identity is verified. */
export interface AuthenticatedCaller {
  /** A stable name of the caller. Sessions and their state belong to it. */
  principal: string
  /** The caller's scopes and expiry. Without it, everything that needs a scope is denied. Streams end soon after it expires. */
  auth?: TokenClaims
}

/** The HTTP response for a request that is not authorized. */
export interface AuthRefusal {
  status: 400 | 401 | 403 | 429 | 503
  headers?: Record<string, string>
  message: string
  /** The header of the request that has the refused credentials. Different ones are counted (`limits.failedLogins`). Default: `authorization`. */
  credentialsHeader?: string
}

export interface PublicDocument {
  status: number
  headers: Record<string, string>
  body?: string
}

/** Authorization of an HTTP endpoint. `resourceServer()` and `apiKeys()` of portico/auth create one. */
export interface HttpAuth {
  /** The host name of the endpoint as callers use it. Undefined: only the hosts that the transport allows. */
  readonly host?: string
  /** Called for every request, before its body is read. */
  authenticate(request: RequestHead): AuthenticatedCaller | AuthRefusal | Promise<AuthenticatedCaller | AuthRefusal>
  /** The response for a caller that lacks some of these scopes. */
  forbid(needed: readonly string[], caller: AuthenticatedCaller): AuthRefusal
  /** Refuses what was used once at another replica, such as a proof. Called before the first request. */
  shareWith?(counters: Pick<Counters, 'first'>): void
  /** The public document at this path, such as the resource metadata; undefined for other paths. */
  document(method: string, path: string): PublicDocument | undefined
}

/** Whether a caller has these scopes. True without authorization. */
export const permits = (access: Pick<TokenClaims, 'scopes'> | null | undefined, needed: readonly string[] | undefined): boolean =>
  needed === undefined || needed.length === 0 || access === undefined || needed.every((scope) => access?.scopes.includes(scope))

/** Throws ERR_SCOPE if the caller lacks one of these scopes. */
export function demand(access: Access, needed: readonly string[] | undefined): void {
  if (permits(access, needed)) return
  throw new McpError('ERR_SCOPE', `Missing scope; required: ${needed?.join(' ')}`, {
    data: { reason: 'insufficient_scope', scopes: needed },
  })
}

/** A scope token as in RFC 6749, 3.3. */
export const isScope = (text: string): boolean => /^[\x21\x23-\x5b\x5d-\x7e]{1,256}$/.test(text)
