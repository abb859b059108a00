/** One request while the server handles it, in either dialect. */

import { randomId } from '../base/bytes.ts'
import { isObject } from '../base/json.ts'
import type { Exchange } from '../jsonrpc/exchange.ts'
import type { Params } from '../jsonrpc/message.ts'
import type { UrlElicitationRequired } from '../protocol/errors.ts'
import type { Access, TokenClaims } from '../protocol/interfaces/access.ts'
import type { Implementation } from '../protocol/model/base.ts'
import type { ClientCapabilities } from '../protocol/model/lifecycle.ts'
import type { LogLevel } from '../protocol/model/logging.ts'
import { readTrace, type TraceContext } from '../protocol/model/trace-context.ts'
import type { Revision } from '../revisions/revision.ts'
import type { Asker } from './input/asker.ts'
import type { Quota } from './quota.ts'

/** The caller of a request and its capabilities. */
export interface Caller {
  /** The caller's stable name, verified by the transport. Undefined without authentication. */
  readonly principal: string | undefined
  /** The content of the caller's access token. Undefined without authorization. */
  readonly auth: TokenClaims | undefined
  /** How the client describes itself. Not verified; for display only. */
  readonly client: Implementation | undefined
  /** The capabilities that the client declared. */
  readonly capabilities: ClientCapabilities
  /** The protocol revision, as a date. */
  readonly revision: string
}

/** The differences between a session and a stateless request. */
export interface Dialect {
  /** The caller, without the credentials, which may differ between requests. */
  caller(): Omit<Caller, 'auth'>
  /** Asks the client on behalf of `call`. */
  asker(call: IncomingCall): Asker
  /** The minimum level of log messages for the client; undefined for none. */
  logLevel(): LogLevel | undefined
  /** Sends a notification that belongs to no request, where the dialect has such. */
  notify?(method: string, params: Params): void
  /** Only one client can reach the server this way. */
  readonly isPrivate?: boolean
  /** Answers methods that concern the dialect itself; undefined for other methods. */
  method(call: IncomingCall): Params | Promise<Params> | undefined
  /** Answers a call whose handler needs a page visit first. */
  requirePages(call: IncomingCall, error: UrlElicitationRequired): Promise<Params>
}

export class IncomingCall {
  readonly exchange: Exchange
  readonly params: Params
  readonly revision: Revision
  readonly dialect: Dialect
  readonly quota: Quota
  /** The running handler. A round of questions suspends it. */
  running: { suspend(round: Promise<Params>): void } | undefined
  #asker: Asker | undefined
  #caller: Caller | undefined
  #reference: string | undefined
  /** The call that this one is with other parameters. */
  #origin: IncomingCall | undefined

  constructor(exchange: Exchange, params: Params, revision: Revision, dialect: Dialect, quota: Quota) {
    this.exchange = exchange
    this.params = params
    this.revision = revision
    this.dialect = dialect
    this.quota = quota
  }

  get method(): string {
    return this.exchange.method
  }

  /** Read for every request, because tokens change within a session. */
  get access(): Access {
    return this.exchange.outlet.sender as Access
  }

  get caller(): Caller {
    this.#caller ??= { ...this.dialect.caller(), auth: this.access ?? undefined }
    return this.#caller
  }

  get trace(): TraceContext | undefined {
    const { _meta } = this.params
    return isObject(_meta) ? readTrace(_meta) : undefined
  }

  get asker(): Asker {
    this.#asker ??= this.dialect.asker(this)
    return this.#asker
  }

  /** What the caller gets in place of an error of the author's code. It finds the error in the log. */
  get reference(): string {
    if (this.#origin) return this.#origin.reference
    this.#reference ??= randomId().slice(0, 8)
    return this.#reference
  }

  /** The same call with other parameters, for middleware. */
  withParams(params: Params): IncomingCall {
    if (params === this.params) return this
    const changed = new IncomingCall(this.exchange, params, this.revision, this.dialect, this.quota)
    changed.#origin = this
    return changed
  }
}

/** Spells out the short form of older clients: `elicitation: {}` means forms. */
export function normalCapabilities(declared: ClientCapabilities): ClientCapabilities {
  const { elicitation } = declared
  if (!isObject(elicitation) || 'form' in elicitation || 'url' in elicitation) return declared
  return { ...declared, elicitation: { form: {} } }
}
