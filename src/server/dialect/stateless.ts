/** The stateless dialect: a request contains the caller, and questions are returned in its answer. */

import { isObject } from '../../base/json.ts'
import type { Exchange } from '../../jsonrpc/exchange.ts'
import type { Params } from '../../jsonrpc/message.ts'
import { Cancelled, Declined, McpError, type UrlElicitationRequired } from '../../protocol/errors.ts'
import { METHODS } from '../../protocol/methods.ts'
import { type Implementation, META } from '../../protocol/model/base.ts'
import type { ClientCapabilities } from '../../protocol/model/lifecycle.ts'
import type { LogLevel } from '../../protocol/model/logging.ts'
import type { Revision } from '../../revisions/revision.ts'
import { Call, type Caller, type Dialect, normalCapabilities } from '../call.ts'
import type { Core } from '../core.ts'
import { dispatch, toErrorObject } from '../dispatch.ts'
import type { Asker } from '../input/asker.ts'
import { type Journal, type JournalOwner, openJournal } from '../input/journal.ts'
import { page } from '../input/question.ts'
import { ReplayAsker } from '../input/replay.ts'
import { targetOf } from '../middleware.ts'
import type { Quota } from '../quota.ts'
import { runHandler } from '../run-handler.ts'

/** The environment of a stateless request. */
export interface Surroundings {
  core: Core
  principal: string | undefined
  quota: Quota
  listen(call: Call): Promise<Params>
  /** False if the transport does not serve `subscriptions/listen`. */
  canListen?: boolean
}

/** Answers one request. If it contains state, that is opened first. */
export function runStateless(exchange: Exchange, revision: Revision, surroundings: Surroundings): void {
  const { core, quota } = surroundings
  const params = exchange.params as Params
  const dialect = new Stateless(surroundings, revision, params)
  const call = new Call(exchange, params, revision, dialect, quota)
  const { inputResponses } = params
  if (inputResponses !== undefined && !isObject(inputResponses) && METHODS.get(call.method)?.mayAsk)
    return exchange.fail(toErrorObject(new McpError('ERR_INVALID_PARAMS', 'params.inputResponses must be an object'), revision))
  if (params.requestState === undefined) return dispatch(call, core)
  dialect.resume(call).then(
    () => dispatch(call, core),
    (error: McpError) => {
      if (exchange.isOver) exchange.onStopped?.()
      else exchange.fail(toErrorObject(error, revision))
    },
  )
}

class Stateless implements Dialect {
  readonly #around: Surroundings
  readonly #revision: Revision
  readonly #meta: Params
  #caller: Omit<Caller, 'auth'> | undefined
  #journal: Journal | undefined

  constructor(around: Surroundings, revision: Revision, params: Params) {
    this.#around = around
    this.#revision = revision
    this.#meta = params._meta as Params
  }

  /** Opens the state from the previous round. */
  async resume(call: Call): Promise<void> {
    const journal = await openJournal(call.params.requestState, this.#ownerOf(call), this.#around.core.keys)
    checkResponses(call.params.inputResponses, journal)
    this.#journal = journal
  }

  caller(): Omit<Caller, 'auth'> {
    this.#caller ??= {
      principal: this.#around.principal,
      client: this.#meta[META.clientInfo] as Implementation | undefined,
      capabilities: normalCapabilities(this.#meta[META.clientCapabilities] as ClientCapabilities),
      revision: this.#revision.version,
    }
    return this.#caller
  }

  logLevel(): LogLevel | undefined {
    return this.#meta[META.logLevel] as LogLevel | undefined
  }

  asker(call: Call): Asker {
    return new ReplayAsker({
      owner: this.#ownerOf(call),
      capabilities: this.caller().capabilities,
      keys: this.#around.core.keys,
      limits: this.#around.core.limits,
      journal: this.#journal,
      responses: call.params.inputResponses,
      onSuspend: (round) => call.running?.suspend(round),
    })
  }

  method(call: Call): Params | Promise<Params> | undefined {
    const { core, listen, canListen } = this.#around
    if (call.method === 'subscriptions/listen') return listen(call)
    return call.method === 'server/discover' && canListen === false ? core.discovery(false) : undefined
  }

  /** Turns the pages into questions. Each round asks again, because only the handler knows whether the person has finished. */
  async requirePages(call: Call, error: UrlElicitationRequired): Promise<Params> {
    const round = this.#journal?.round ?? 0
    refuseIfDeclined(call.params.inputResponses, `page-${round - 1}-`, error)
    const ask = (): Promise<unknown> =>
      Promise.all(error.pages.map(({ message, url }, i) => call.asker.ask(`page-${round}-${i}`, page(message, url))))
    const finish = (): never => {
      throw new McpError('ERR_INTERNAL', error.message)
    }
    return runHandler(call, ask, finish, this.#around.core.limits.handlerTimeoutMs, this.#around.core.deadlines)
  }

  #ownerOf(call: Call): JournalOwner {
    return { principal: this.#around.principal, method: call.method, target: targetOf(call), arguments: call.params.arguments }
  }
}

/** Throws if an answer to one of our questions is not an object. Other answers are ignored. */
function checkResponses(responses: unknown, { asked }: Journal): void {
  if (!isObject(responses)) return
  const wrong = Object.keys(responses).find((key) => Object.hasOwn(asked, key) && !isObject(responses[key]))
  if (wrong !== undefined) throw new McpError('ERR_INVALID_PARAMS', `params.inputResponses[${JSON.stringify(wrong)}] must be an object`)
}

/** Throws if the person declined the pages in the previous round, so that they are not asked again. */
function refuseIfDeclined(responses: unknown, prefix: string, { pages }: UrlElicitationRequired): void {
  if (!isObject(responses)) return
  for (const [name, answer] of Object.entries(responses)) {
    if (!name.startsWith(prefix) || !isObject(answer)) continue
    const what = pages.map(({ message }) => message).join('; ')
    if (answer.action === 'decline') throw new Declined(`The person declined: ${what}`)
    if (answer.action === 'cancel') throw new Cancelled(`The person dismissed the question: ${what}`)
  }
}
