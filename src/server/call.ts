/** One request on its way through the server, in whichever dialect it came. */

import { isObject } from '../base/json.ts'
import type { Exchange } from '../jsonrpc/exchange.ts'
import type { Params } from '../jsonrpc/message.ts'
import type { UrlElicitationRequired } from '../protocol/errors.ts'
import type { Implementation } from '../protocol/model/base.ts'
import type { ClientCapabilities } from '../protocol/model/lifecycle.ts'
import type { LogLevel } from '../protocol/model/logging.ts'
import { readTrace, type TraceContext } from '../protocol/model/trace-context.ts'
import type { Access, TokenClaims } from '../protocol/seams/access.ts'
import type { Revision } from '../revisions/revision.ts'
import type { Asker } from './input/asker.ts'
import type { Quota } from './quota.ts'

/** Who is calling, and what it can do. */
export interface Caller {
  /** Proved by the transport; undefined when nobody asked who it is. */
  readonly principal: string | undefined
  /** What its credentials allow it to do, and on whose behalf it acts; undefined without authorization. */
  readonly auth: TokenClaims | undefined
  /** What the client says of itself; for display only. */
  readonly client: Implementation | undefined
  readonly capabilities: ClientCapabilities
  /** The protocol revision it speaks, as a date. */
  readonly revision: string
}

/** What differs between a session and a stateless request. */
export interface Dialect {
  /** Who is calling, but for what the credentials of this very request say. */
  caller(): Omit<Caller, 'auth'>
  /** How the handler of `call` puts questions to the other side. */
  asker(call: Call): Asker
  /** The least severe log message the client wants now; undefined for none. */
  logLevel(): LogLevel | undefined
  /** Answers the methods that concern the dialect itself; undefined for all others. */
  method(call: Call): Params | Promise<Params> | undefined
  /** Answers a call whose handler needs the person to visit pages first. */
  requirePages(call: Call, error: UrlElicitationRequired): Promise<Params>
}

export class Call {
  readonly exchange: Exchange
  readonly params: Params
  readonly revision: Revision
  readonly dialect: Dialect
  readonly quota: Quota
  /** The handler at work, which a round of questions ends. */
  running: { suspend(round: Promise<Params>): void } | undefined
  #asker: Asker | undefined
  #caller: Caller | undefined

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

  /** Judged anew for every request: in one session tokens come and go. */
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

  /** The same call with other parameters, as a middleware may want it. */
  withParams(params: Params): Call {
    return params === this.params ? this : new Call(this.exchange, params, this.revision, this.dialect, this.quota)
  }
}

/** Spells out the short form of older clients: `elicitation: {}` means forms. */
export function normalCapabilities(declared: ClientCapabilities): ClientCapabilities {
  const { elicitation } = declared
  if (!isObject(elicitation) || 'form' in elicitation || 'url' in elicitation) return declared
  return { ...declared, elicitation: { form: {} } }
}
