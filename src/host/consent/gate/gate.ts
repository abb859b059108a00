/**
 * The only path to an action, in steps: evaluate.ts decides it, ask.ts asks the person if the decision says so, apply-answer.ts
 * decides again with their answer, run-and-record.ts records and performs it.
 */

import { setMaxListeners } from 'node:events'
import type { Timer } from '../../../base/clock.ts'
import { McpError } from '../../../protocol/errors.ts'
import type { AroundAction } from '../../../protocol/interfaces/telemetry.ts'
import type { Outcome } from '../../model/audit-record.ts'
import { applyAnswer } from './apply-answer.ts'
import { askPerson } from './ask.ts'
import { countedCall, type Evaluation, evaluate } from './evaluate.ts'
import { PendingQuestions } from './pending-questions.ts'
import { recordFailedQuestion, refuse } from './refusal.ts'
import type { ActionRequest, GateOptions, Permit, RecordedPermit } from './request.ts'
import { performAction } from './run-and-record.ts'

export {
  ActionGoesOn,
  type ActionRequest,
  DEFAULT_GATE_LIMITS,
  type GateLimits,
  type RecordedPermit,
  type RequestedAction,
} from './request.ts'

/** How often an action is decided again because another action used up the grant it was decided by. */
const MAX_TRIES = 3

async function traced<T>(request: ActionRequest, aroundAction: AroundAction, act: () => Promise<T>): Promise<T> {
  const { kind, primitive, initiator } = request.describe()
  return aroundAction({ kind, server: request.server.id, target: primitive?.name, initiator }, act)
}

export class Gate {
  readonly #options: GateOptions
  readonly #pending: PendingQuestions
  readonly #ending = new AbortController()
  readonly #underway = new Set<Promise<unknown>>()

  constructor(options: GateOptions) {
    this.#options = options
    this.#pending = new PendingQuestions(options.limits)
    // Every pending question listens to the signal; `maxQuestions` bounds their number.
    setMaxListeners(0, this.#ending.signal)
  }

  /**
   * Performs an action if it is allowed.
   *
   * @throws McpError ERR_DENIED, ERR_QUARANTINED, ERR_CONSENT or ERR_AUDIT if it is not
   */
  run<T>(request: ActionRequest, perform: (permit: RecordedPermit) => Promise<T>, measure?: (result: T) => Partial<Outcome>): Promise<T> {
    const { aroundAction } = this.#options
    const act = (): Promise<T> => this.#run(request, perform, measure)
    const done = aroundAction ? traced(request, aroundAction, act) : act()
    const ended = done
      .then(
        () => {},
        () => {},
      )
      .finally(() => this.#underway.delete(ended))
    this.#underway.add(ended)
    return done
  }

  /** The decision as of now. Asks no question and counts nothing. */
  evaluate(request: Pick<ActionRequest, 'describe'>): Promise<Evaluation> {
    return evaluate(this.#options, request.describe())
  }

  /** How many actions have not ended. */
  get underway(): number {
    return this.#underway.size
  }

  /** Withdraws all pending questions and lets no action begin. */
  close(): void {
    this.#ending.abort(new McpError('ERR_CLOSED', 'The host was closed'))
  }

  /** Resolves when all actions have ended and are recorded, at the latest after `timeoutMs`. */
  async settled(timeoutMs: number): Promise<void> {
    let timer: Timer | undefined
    const late = new Promise<void>((resolve) => {
      timer = this.#options.clock.after(timeoutMs, resolve)
      timer.hold(true)
    })
    await Promise.race([Promise.all(this.#underway), late])
    timer?.cancel()
  }

  async #run<T>(
    request: ActionRequest,
    perform: (permit: RecordedPermit) => Promise<T>,
    measure: ((result: T) => Partial<Outcome>) | undefined,
  ): Promise<T> {
    this.#ending.signal.throwIfAborted()
    const permit = await this.#permit(request)
    return performAction(this.#options, request, permit, perform, measure)
  }

  async #permit(request: ActionRequest): Promise<Permit> {
    const { usage, principal, audit, grants, wallNow } = this.#options
    let requested = request.describe()
    // A person who repeats something is not a loop.
    if (requested.initiator !== 'user') usage.attempt(countedCall({ ...requested, principal }))
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      request.signal?.throwIfAborted()
      const evaluation = await evaluate(this.#options, requested)
      const { action, decision } = evaluation
      if (decision.effect === 'ask') return this.#permitByPerson(request, evaluation)
      if (decision.effect !== 'allow') return refuse(audit, action, decision, undefined)
      if (decision.grant === undefined || (await grants.use(decision.grant, wallNow()))) return { action, decision, answer: undefined }
      // The grant was used up or revoked since the decision.
      requested = request.describe()
    }
    throw new McpError('ERR_CONSENT', `Grants were revoked or used up ${MAX_TRIES} times in a row before they could be used`)
  }

  async #permitByPerson(request: ActionRequest, asked: Evaluation): Promise<Permit> {
    const { audit } = this.#options
    const { action, decision } = asked
    try {
      const answer = await askPerson(this.#options, this.#pending, this.#ending.signal, request, asked)
      if (answer.kind !== 'allow') return await refuse(audit, action, decision, answer)
      return await applyAnswer(this.#options, request, asked, answer)
    } catch (error) {
      return recordFailedQuestion(audit, action, decision, error)
    }
  }
}
