/** Requests over HTTP that belong to no session. They share no ids, and nothing is kept between them except rate limits. */

import { LinkedList, type ListNode } from '../base/linked-list.ts'
import { Exchange } from '../jsonrpc/exchange.ts'
import type { Params, RequestMessage } from '../jsonrpc/message.ts'
import type { Outlet } from '../jsonrpc/outlet.ts'
import { McpError } from '../protocol/errors.ts'
import type { Answering, Sender } from '../protocol/interfaces/service.ts'
import type { Revision } from '../revisions/revision.ts'
import type { AcceptedMember } from './addition.ts'
import { runSessionless } from './dialect/sessionless.ts'
import { runStateless } from './dialect/stateless.ts'
import type { IncomingCall } from './incoming-call.ts'
import type { ServerState } from './server-state.ts'
import { Listener } from './subscriptions.ts'

export class StatelessRequests {
  readonly #serverState: ServerState
  readonly #open = new LinkedList<StatelessExchange>()
  readonly #onIdle: (() => void)[] = []

  constructor(serverState: ServerState) {
    this.#serverState = serverState
  }

  answer(request: RequestMessage, outlet: Outlet, { principal, account, canListen = true, values }: Sender, revision: Revision): Answering {
    const exchange = new StatelessExchange(request, outlet, this.#over)
    this.#open.add(exchange)
    try {
      const listen = (call: IncomingCall, accepted: readonly AcceptedMember[]): Promise<Params> =>
        exchange.listen(call, this.#serverState, accepted)
      const run = revision.dialect === 'stateless' ? runStateless : runSessionless
      run(exchange, revision, {
        serverState: this.#serverState,
        principal,
        quota: this.#serverState.quotas.of(account),
        listen,
        canListen,
        values,
      })
    } catch {
      exchange.failUnexpectedly()
    }
    return exchange
  }

  /** Ends listen requests, and resolves when all other requests are answered. */
  drain(): Promise<void> {
    for (const exchange of this.#all()) exchange.finish()
    if (!this.#open.first) return Promise.resolve()
    return new Promise((resolve) => this.#onIdle.push(resolve))
  }

  close(reason: string): void {
    for (const exchange of this.#all()) exchange.cancel(new McpError('ERR_CLOSED', reason))
  }

  /** A copy, because an exchange leaves the list when it ends. */
  #all(): StatelessExchange[] {
    const all: StatelessExchange[] = []
    for (let each = this.#open.first; each; each = each.next) all.push(each)
    return all
  }

  readonly #over = (exchange: Exchange): void => {
    this.#open.remove(exchange as StatelessExchange)
    if (this.#onIdle.length > 0 && !this.#open.first) for (const resolve of this.#onIdle.splice(0)) resolve()
  }
}

class StatelessExchange extends Exchange implements Answering, ListNode<StatelessExchange> {
  previous: StatelessExchange | undefined
  next: StatelessExchange | undefined
  #listener: Listener | undefined

  listen(call: IncomingCall, serverState: ServerState, accepted: readonly AcceptedMember[]): Promise<Params> {
    this.#listener = new Listener(this, call, serverState, false, accepted)
    return this.#listener.run(() => {})
  }

  finish(): void {
    this.#listener?.end()
  }
}
