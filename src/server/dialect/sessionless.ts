/** A request of a revision with sessions, on a transport that keeps none: nothing is known about its client. */

import type { Exchange } from '../../jsonrpc/exchange.ts'
import type { Params } from '../../jsonrpc/message.ts'
import { McpError, type UrlElicitationRequired } from '../../protocol/errors.ts'
import type { LogLevel } from '../../protocol/model/logging.ts'
import type { Revision } from '../../revisions/revision.ts'
import { dispatch, notFound } from '../dispatch.ts'
import { readUri } from '../features/resources.ts'
import { type Caller, type Dialect, IncomingCall } from '../incoming-call.ts'
import type { Asker } from '../input/asker.ts'
import { LiveAsker } from '../input/live.ts'
import { targetOf } from '../middleware.ts'
import type { ServerState } from '../server-state.ts'
import { pagesAsText } from './session.ts'
import type { Surroundings } from './stateless.ts'

const NO_PARAMS: Params = Object.freeze({})

/** Answers one request. */
export function runSessionless(exchange: Exchange, revision: Revision, { serverState, principal, quota }: Surroundings): void {
  const params = exchange.params ? revision.downgradeParams(exchange.method, exchange.params) : NO_PARAMS
  dispatch(new IncomingCall(exchange, params, revision, new Sessionless(revision, principal, serverState), quota), serverState)
}

class Sessionless implements Dialect {
  readonly #revision: Revision
  readonly #principal: string | undefined
  readonly #serverState: ServerState

  constructor(revision: Revision, principal: string | undefined, serverState: ServerState) {
    this.#revision = revision
    this.#principal = principal
    this.#serverState = serverState
  }

  caller(): Omit<Caller, 'auth'> {
    return { principal: this.#principal, client: undefined, capabilities: {}, revision: this.#revision.version }
  }

  logLevel(): LogLevel {
    return this.#serverState.logging.defaultLevel
  }

  /** Without capabilities every question is refused before it is sent. */
  asker(call: IncomingCall): Asker {
    return new LiveAsker({ name: targetOf(call), capabilities: undefined, journal: undefined, send: cannotAsk })
  }

  method(call: IncomingCall): Params | undefined {
    switch (call.method) {
      case 'ping':
        return {}
      case 'logging/setLevel':
        // The level is checked, and forgotten after this request.
        this.#serverState.logging.readLevel(call.params)
        return {}
      case 'resources/subscribe':
        // Change notices cannot be sent, and the capability was not declared.
        readUri(call.params)
        throw notFound(call.method)
      case 'resources/unsubscribe':
        readUri(call.params)
        return {}
      default:
        return undefined
    }
  }

  requirePages(call: IncomingCall, error: UrlElicitationRequired): Promise<Params> {
    return pagesAsText(call, error)
  }
}

async function cannotAsk(): Promise<never> {
  throw new McpError('ERR_ASK', 'The client cannot be asked: this server keeps no sessions')
}
