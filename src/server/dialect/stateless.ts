/** The stateless dialect: a request contains the caller, and questions are returned in its answer. */

import { isObject } from '../../base/json.ts'
import type { Exchange } from '../../jsonrpc/exchange.ts'
import type { Params } from '../../jsonrpc/message.ts'
import { Cancelled, Declined, McpError, type UrlElicitationRequired } from '../../protocol/errors.ts'
import type { SharedValues } from '../../protocol/interfaces/replaceable-services.ts'
import { METHODS } from '../../protocol/methods.ts'
import { type Implementation, META } from '../../protocol/model/base.ts'
import type { ClientCapabilities } from '../../protocol/model/lifecycle.ts'
import type { LogLevel } from '../../protocol/model/logging.ts'
import type { Revision } from '../../revisions/revision.ts'
import type { AcceptedMember } from '../addition.ts'
import { dispatch, runMethod, toErrorObject } from '../dispatch.ts'
import { type Caller, type Dialect, IncomingCall, normalCapabilities } from '../incoming-call.ts'
import type { Asker } from '../input/asker.ts'
import { digestOf, type Journal, type JournalOwner, openJournal } from '../input/journal.ts'
import { page } from '../input/question.ts'
import { ReplayAsker } from '../input/replay.ts'
import { seal, unseal } from '../input/seal.ts'
import type { SharedRound } from '../input/shared-round.ts'
import { targetOf } from '../middleware.ts'
import type { Quota } from '../quota.ts'
import { runHandler } from '../run-handler.ts'
import type { ServerState } from '../server-state.ts'

/** The environment of a stateless request. */
export interface Surroundings {
  serverState: ServerState
  principal: string | undefined
  quota: Quota
  listen(call: IncomingCall, accepted: readonly AcceptedMember[]): Promise<Params>
  /** False if the transport does not serve `subscriptions/listen`. */
  canListen?: boolean
  /** Where replicas keep the outcomes of rounds. */
  values?: SharedValues | undefined
}

/** Answers one request. If it contains state, that is opened first. */
export function runStateless(exchange: Exchange, revision: Revision, surroundings: Surroundings): void {
  const { serverState, quota } = surroundings
  const params = exchange.params as Params
  const dialect = new Stateless(surroundings, revision, params)
  const call = new IncomingCall(exchange, params, revision, dialect, quota)
  const { inputResponses } = params
  if (inputResponses !== undefined && !isObject(inputResponses) && METHODS.get(call.method)?.mayAsk)
    return exchange.fail(toErrorObject(new McpError('ERR_INVALID_PARAMS', 'params.inputResponses must be an object'), revision))
  if (params.requestState === undefined) return dispatch(call, serverState)
  dialect.resume(call).then(
    (round) => dispatch(call, serverState, round && ((inner) => round.run(() => runMethod(inner, serverState)))),
    (error: McpError) => {
      serverState.reportUnopened(error, call)
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
  #round: SharedRound | undefined

  constructor(around: Surroundings, revision: Revision, params: Params) {
    this.#around = around
    this.#revision = revision
    this.#meta = params._meta as Params
  }

  /** Opens the state from the previous round. Returns the round, if replicas share it. */
  async resume(call: IncomingCall): Promise<SharedRound | undefined> {
    const journal = await openJournal(call.params.requestState, this.#ownerOf(call), this.#around.serverState.keys)
    checkResponses(call.params.inputResponses, journal)
    this.#journal = journal
    const { values } = this.#around
    if (!values) return undefined
    const { SharedRound } = await import('../input/shared-round.ts')
    this.#round = new SharedRound(call, values, this.#around, journal, { seal, unseal, digestOf, lost, stillRuns })
    return this.#round
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

  asker(call: IncomingCall): Asker {
    return new ReplayAsker({
      owner: this.#ownerOf(call),
      capabilities: this.caller().capabilities,
      keys: this.#around.serverState.keys,
      limits: this.#around.serverState.limits,
      journal: this.#journal,
      responses: call.params.inputResponses,
      step: this.#round?.step.bind(this.#round),
      onSuspend: (round) => call.running?.suspend(round),
    })
  }

  method(call: IncomingCall): Params | Promise<Params> | undefined {
    const { serverState, listen, canListen } = this.#around
    if (call.method === 'subscriptions/listen') {
      const { additions } = serverState
      if (additions.length === 0) return listen(call, [])
      return Promise.all(additions.map((each) => each.accept?.(call))).then((all) =>
        listen(
          call,
          all.filter((each) => each !== undefined),
        ),
      )
    }
    return call.method === 'server/discover' && canListen === false ? serverState.discovery(false) : undefined
  }

  /** Turns the pages into questions. Each round asks again, because only the handler knows whether the person has finished. */
  async requirePages(call: IncomingCall, error: UrlElicitationRequired): Promise<Params> {
    const round = this.#journal?.round ?? 0
    refuseIfDeclined(call.params.inputResponses, `page-${round - 1}-`, error)
    const ask = (): Promise<unknown> =>
      Promise.all(error.pages.map(({ message, url }, i) => call.asker.ask(`page-${round}-${i}`, page(message, url))))
    const finish = (): never => {
      throw new McpError('ERR_INTERNAL', error.message)
    }
    return runHandler(call, ask, finish, this.#around.serverState.limits.handlerTimeoutMs, this.#around.serverState.deadlines)
  }

  #ownerOf(call: IncomingCall): JournalOwner {
    const { principal, serverState } = this.#around
    return { server: serverState.info.name, principal, method: call.method, target: targetOf(call), arguments: call.params.arguments }
  }
}

const stillRuns = (waitedMs: number): McpError =>
  new McpError('ERR_TIMEOUT', `An earlier round of this call still runs after ${waitedMs} ms (handlerTimeoutMs)`, {
    data: { retryable: true },
  })

const lost = (): McpError => new McpError('ERR_STORE_DOWN', 'This process was stopped, and another one has taken the round')

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
