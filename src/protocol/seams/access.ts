/** Who may do what: what credentials have proved, and whether it is enough. Never the credentials themselves. */

import { McpError } from '../errors.ts'

/** What a person (or a program) has allowed a client to do here, as its access token says. */
export interface TokenClaims {
  /** The authorization server that says so. */
  readonly issuer: string
  /** On whose behalf the client acts; means something only together with the issuer. */
  readonly subject: string
  readonly clientId: string
  readonly scopes: readonly string[]
  /** Everything else the token says. */
  readonly claims: Readonly<Record<string, unknown>>
  /** When it ends, in milliseconds since 1970. */
  readonly expiresAt: number
}

/** Undefined on a transport without authorization, such as stdio; null where a caller has proved nothing that has scopes. */
export type Access = TokenClaims | null | undefined

/** What is known of an HTTP request before its body is read. */
export interface RequestHead {
  readonly method: string
  /** Path and query as the client wrote them, or a whole URL. */
  readonly url: string
  header(name: string): string | undefined
  /** How often a header came. */
  count(name: string): number
  readonly remoteAddress: string | undefined
}

/** Who is calling, as has been proved. */
export interface AuthenticatedCaller {
  /** The same for the same caller, always; sessions and everything in them belong to it. */
  principal: string
  /** What the caller may do; without it nothing that asks for a scope. Streams end soon after it does. */
  auth?: TokenClaims
}

/** Why a request is turned away. */
export interface AuthRefusal {
  status: 400 | 401 | 403 | 429 | 503
  headers?: Record<string, string>
  message: string
}

export interface PublicDocument {
  status: number
  headers: Record<string, string>
  body?: string
}

/** What stands between the network and an HTTP endpoint: proves who is calling, and says what is missing. */
export interface HttpAuth {
  /** The host that callers reach the endpoint by. */
  readonly host: string
  /** Asked before the body is read, for every request of every kind. */
  authenticate(knock: RequestHead): AuthenticatedCaller | AuthRefusal | Promise<AuthenticatedCaller | AuthRefusal>
  /** The answer when a caller lacks some of these scopes. */
  forbid(needed: readonly string[], visitor: AuthenticatedCaller): AuthRefusal
  /** What everybody may read at this path, from any web page; undefined for everything else. */
  document(method: string, path: string): PublicDocument | undefined
}

/** Whether a caller may use what needs these scopes. */
export const permits = (access: Access, needed: readonly string[] | undefined): boolean =>
  needed === undefined || needed.length === 0 || access === undefined || needed.every((scope) => access?.scopes.includes(scope))

/** Throws ERR_SCOPE unless the caller has all of these scopes. */
export function demand(access: Access, needed: readonly string[] | undefined): void {
  if (permits(access, needed)) return
  throw new McpError('ERR_SCOPE', `The credentials lack a scope that this needs: ${needed?.join(' ')}`, {
    data: { reason: 'insufficient_scope', scopes: needed },
  })
}

/** RFC 6749, 3.3: what may stand between the spaces of a list of scopes. */
export const isScope = (text: string): boolean => /^[\x21\x23-\x5b\x5d-\x7e]{1,256}$/.test(text)
