/**
 * The one way to an action. Whatever a host does, for a person, a model or a server, is decided here, asked about here if it
 * must be, written down here before it is done, and done only then.
 */

import { randomUUID } from 'node:crypto'
import { setMaxListeners } from 'node:events'
import type { Clock, Timer } from '../../../base/clock.ts'
import { orAborted } from '../../../base/wait.ts'
import { McpError } from '../../../protocol/errors.ts'
import type { Action, Decision, Usage } from '../../model/action.ts'
import type { AuditLog, Outcome } from '../../model/audit-record.ts'
import { GRANT_SCOPES, type Grant } from '../../model/grant.ts'
import type { Answer, Asker, Question, Subject } from '../../model/question.ts'
import type { CompiledPolicy } from '../../policy/compile-policy.ts'
import { describeExceeded } from '../../policy/limits.ts'
import { pathPointers } from '../../policy/path-pointers.ts'
import { argumentsDigest } from '../arguments-digest.ts'
import { hiddenIn } from '../ask/own-secrets.ts'
import { decide } from '../decide.ts'
import { type GrantBounds, grantBounds } from '../grant-bounds.ts'
import { grantMatches } from '../grant-match.ts'
import type { GrantStore } from '../grants/grant-store.ts'
import { makeGrant } from '../grants/make-grant.ts'
import type { CountedCall, UsageCounter } from '../usage.ts'
import { entryOf } from './audit-entry.ts'
import { changed, checkUnchanged, isUnchanged } from './check-unchanged.ts'
import { proposed, widthsFor } from './grant-choices.ts'
import { type WaitingLimits, WaitingQuestions } from './pending-questions.ts'
import { realPathsOf } from './real-paths.ts'
import { nameOf, refusalOf } from './refusal.ts'

/** An action as whoever wants it describes it; the gate adds what it knows itself. */
export type RequestedAction = Omit<Action, 'usage' | 'realPaths' | 'at' | 'principal' | 'project' | 'mode'>

export interface ActionRequest {
  /** Called again after a person has answered: what is there by then may not be what they were asked about. */
  describe(): RequestedAction
  /** What the person is shown. Called only if they are asked. */
  subject(action: Action): Subject | Promise<Subject>
  server: Question['server']
  chain: readonly string[]
  /** Why the person is asked, told before what the rules say. */
  because?: readonly string[]
  /** Takes what the person edited. Throws, saying what was expected, for what does not fit. Nothing can be edited without it. */
  edit?(edited: unknown): void | Promise<void>
  /** A yes is kept for no longer than this conversation, whatever the rules offer. */
  isPassing?: boolean
  signal?: AbortSignal
}

export interface Permit {
  action: Action
  decision: Decision
  /** What the person said, if they were asked. */
  answer: Extract<Answer, { kind: 'allow' }> | undefined
  /** What the rules said, where the answer itself made it another decision. */
  ruled?: Decision['effect']
}

export interface GateLimits extends WaitingLimits {
  /** How long a question waits for a person. */
  questionTimeoutMs: number
}

export const DEFAULT_GATE_LIMITS: GateLimits = { questionTimeoutMs: 10 * 60_000, maxQuestions: 256, maxServerQuestions: 16 }

export interface GateOptions {
  principal: string
  project: string
  mode: Action['mode']
  policy(): CompiledPolicy
  grants: GrantStore
  usage: UsageCounter
  asker: Asker
  audit: AuditLog
  clock: Clock
  /** Milliseconds of the wall clock, which grants end by. */
  wallNow(): number
  limits: GateLimits
}

/** Rounds of losing the last use of a grant to somebody else. */
const MAX_TRIES = 3

export class Gate {
  readonly #options: GateOptions
  /** Refusals that are in the log already. */
  readonly #written = new WeakSet<object>()
  readonly #ending = new AbortController()
  readonly #underway = new Set<Promise<unknown>>()
  readonly #waiting: WaitingQuestions

  constructor(options: GateOptions) {
    this.#options = options
    this.#waiting = new WaitingQuestions(options.limits)
    // Each open question listens to it, and there may be many; their number is bounded by `maxQuestions`.
    setMaxListeners(0, this.#ending.signal)
  }

  /** Does `perform` if it may be done, and rejects with ERR_DENIED, ERR_QUARANTINED, ERR_CONSENT or ERR_AUDIT if not. */
  run<T>(want: ActionRequest, perform: (permit: Permit) => Promise<T>, measure?: (result: T) => Partial<Outcome>): Promise<T> {
    const done = this.#run(want, perform, measure)
    const ended = done
      .then(
        () => {},
        () => {},
      )
      .finally(() => this.#underway.delete(ended))
    this.#underway.add(ended)
    return done
  }

  /** How many actions have not ended. */
  get underway(): number {
    return this.#underway.size
  }

  /** Takes its questions back, and lets nothing begin any more. */
  close(): void {
    this.#ending.abort(new McpError('ERR_CLOSED', 'The host was closed'))
  }

  /** Resolves when nothing is under way any more, and all of it was written down; or when the time is over. */
  async settled(timeoutMs: number): Promise<void> {
    let timer: Timer | undefined
    const late = new Promise<void>((resolve) => {
      timer = this.#options.clock.after(timeoutMs, resolve)
      timer.hold(true)
    })
    await Promise.race([Promise.all(this.#underway), late])
    timer?.cancel()
  }

  async #run<T>(want: ActionRequest, perform: (permit: Permit) => Promise<T>, measure?: (result: T) => Partial<Outcome>): Promise<T> {
    this.#ending.signal.throwIfAborted()
    const permit = await this.#permit(want)
    const { clock, audit } = this.#options
    const end = await this.#begin(permit)
    try {
      // Nothing is done that is not written down: when this rejects, nothing was done.
      const intent = await audit.intent(entryOf(permit.action, permit.decision, permit.answer, permit.ruled))
      const started = clock.now()
      let outcome: Outcome
      let result: T
      try {
        // Writing took its time: somebody must still want it, and it must still be what was decided about.
        want.signal?.throwIfAborted()
        checkUnchanged(want.describe(), permit.action)
        result = await perform(permit)
        outcome = { kind: 'done', durationMs: clock.now() - started, ...measure?.(result) }
      } catch (error) {
        const kind = want.signal?.aborted ? 'cancelled' : 'failed'
        // That it was begun is written. Where its end cannot be, the log has its say at the next intent; here the failure matters.
        await intent.outcome({ kind, durationMs: clock.now() - started, error: codeOf(error) }).catch(() => {})
        throw error
      }
      await intent.outcome(outcome).catch((error: unknown) => {
        throw new McpError('ERR_AUDIT', `${nameOf(permit.action)} was done, but how it ended could not be written down`, { cause: error })
      })
      return result
    } finally {
      end()
    }
  }

  /** What would be decided now, without asking anybody or counting anything. */
  async foresee(want: Pick<ActionRequest, 'describe'>): Promise<{ action: Action; decision: Decision }> {
    const grants = await this.#options.grants.live(this.#options.wallNow())
    const action = await this.#completed(want.describe(), grants)
    return { action, decision: decide(this.#options.policy(), action, grants) }
  }

  /** Others may have begun since it was decided: a limit is looked at once more, in the same moment as it is counted. */
  async #begin({ action, decision }: Permit): Promise<() => void> {
    const { usage } = this.#options
    const limit = describeExceeded(decision.limits, usage.usageOf(counted(action)))
    if (limit === undefined) return usage.begin(counted(action))
    const reason = { id: 'limit', layer: 'built-in', effect: 'deny', text: limit } as const
    return this.#refuse(action, { ...decision, effect: 'deny', reasons: [reason, ...decision.reasons] }, undefined, decision.effect)
  }

  async #permit(want: ActionRequest): Promise<Permit> {
    this.#options.usage.attempt(counted({ ...want.describe(), principal: this.#options.principal }))
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      want.signal?.throwIfAborted()
      const { action, decision } = await this.foresee(want)
      if (decision.effect === 'ask')
        return this.#permitByPerson(want, action, decision).catch((error) => this.#orWritten(error, action, decision))
      if (decision.effect !== 'allow') return this.#refuse(action, decision, undefined)
      if (decision.grant === undefined || (await this.#use(decision.grant))) return { action, decision, answer: undefined }
      // Somebody else took its last use, or it was revoked just now: look again.
    }
    throw new McpError('ERR_CONSENT', 'What had been allowed was taken back, or used up by somebody else, again and again')
  }

  async #permitByPerson(want: ActionRequest, asked: Action, decision: Decision): Promise<Permit> {
    const answer = await this.#ask(want, asked, decision)
    if (answer.kind !== 'allow') return this.#refuse(asked, decision, answer)
    if (answer.edited !== undefined) {
      if (!want.edit) throw new McpError('ERR_ANSWER_INVALID', `${nameOf(asked)} cannot be edited, only allowed or refused`)
      await want.edit(answer.edited)
    }
    const grant = await this.#grantFor(want, asked, decision, answer)
    try {
      return await this.#permitByGrant(want, asked, answer, grant)
    } catch (error) {
      // A yes to this one time that came to nothing is not one to the next time.
      if (grant.scope === 'once') await this.#options.grants.revoke(grant.id)
      throw error
    }
  }

  async #permitByGrant(want: ActionRequest, asked: Action, answer: Extract<Answer, { kind: 'allow' }>, grant: Grant): Promise<Permit> {
    // The world has gone on while the person was thinking: it is decided again, with the answer in hand.
    const grants = await this.#options.grants.live(this.#options.wallNow())
    const action = await this.#unchanged(want, asked, grants)
    const again = decide(this.#options.policy(), action, grants)
    const isAnswered = this.#isAnsweredBy(grant, grants, action)
    // A forced question is answered by its own answer and by no other grant.
    if (again.effect !== 'allow' && !(isAnswered && again.effect === 'ask' && again.isForced))
      return this.#refuse(action, { ...again, effect: stricter(again.effect) }, undefined, again.effect)
    // Its own first: an answer that is left over would be one for a call that nobody was asked about.
    const used = isAnswered ? grant.id : again.grant
    if (used !== undefined && !(await this.#use(used)))
      throw new McpError('ERR_CONSENT', `The permission for ${nameOf(action)} was taken back before it was used`)
    return { action, decision: { ...again, effect: 'allow', ...(used !== undefined && { grant: used }) }, answer, ruled: again.effect }
  }

  async #grantFor(want: ActionRequest, asked: Action, decision: Decision, answer: Extract<Answer, { kind: 'allow' }>): Promise<Grant> {
    const { grants, wallNow, policy, principal } = this.#options
    const live = await grants.live(wallNow())
    const action = await this.#unchanged(want, asked, live)
    // Only the person changes what they were asked about.
    if (answer.edited === undefined && argumentsDigest(action.args) !== argumentsDigest(asked.args)) throw changed(asked)
    // What was not offered was not chosen by anybody who read the question.
    const { width, ...narrow } = answer
    const isOffered = width !== undefined && widthsFor(asked, decision).includes(width)
    const grant = makeGrant(action, isOffered ? answer : narrow, {
      bounds: boundsFor(want, grantBounds(policy(), action)),
      isForced: decision.isForced ?? false,
      now: wallNow(),
      by: answer.by ?? principal,
    })
    if (!grantMatches(grant, await this.#unchanged(want, asked, [...live, grant]), policy().folders))
      throw new McpError('ERR_ANSWER_INVALID', `The pattern of the answer does not fit ${nameOf(action)} itself`)
    await grants.add(grant)
    return grant
  }

  #isAnsweredBy(grant: Grant, live: readonly Grant[], action: Action): boolean {
    return live.some(({ id }) => id === grant.id) && grantMatches(grant, action, this.#options.policy().folders)
  }

  /** A definition, or a server, that changed while the person was asked has not been looked at by anybody. */
  async #unchanged(want: ActionRequest, asked: Action, grants: readonly Grant[]): Promise<Action> {
    const now = await this.#completed(want.describe(), grants)
    if (isUnchanged(now, asked)) return now
    throw changed(asked)
  }

  async #ask(want: ActionRequest, action: Action, decision: Decision): Promise<Answer> {
    const { asker, limits, clock, principal, policy, wallNow } = this.#options
    const leave = this.#waiting.enter(action)
    const timeout = new AbortController()
    const timer = clock.after(limits.questionTimeoutMs, () => timeout.abort(unanswered(action, limits)))
    const { signal: ending } = this.#ending
    const end = (): void => timeout.abort(ending.reason)
    ending.addEventListener('abort', end, { once: true })
    try {
      ending.throwIfAborted()
      const askedAt = wallNow()
      const subject = await want.subject(action)
      // What the person may not have seen is agreed to for this one time, whatever an asker makes of it.
      const isHiding = hiddenIn(subject) > 0
      const isOnce = isHiding || decision.isForced === true
      const question: Question = {
        id: randomUUID(),
        action: action.kind,
        principal,
        run: action.run,
        askedAt,
        expiresAt: askedAt + limits.questionTimeoutMs,
        server: want.server,
        chain: want.chain,
        reasons: [...(want.because ?? []), ...decision.reasons.map(({ text }) => text)],
        subject,
        scopes: isOnce ? ['once'] : proposed(action, boundsFor(want, grantBounds(policy(), action)).scopes),
        widths: isHiding ? ['exact'] : widthsFor(action, decision),
      }
      const signal = want.signal ? AbortSignal.any([want.signal, timeout.signal]) : timeout.signal
      const answer = checkAnswer(await orAborted(asker.ask(question, signal), signal))
      return isHiding && answer.kind === 'allow' ? onceOf(answer) : answer
    } catch (error) {
      if (error instanceof McpError || want.signal?.aborted) throw error
      throw new McpError('ERR_CONSENT', `Nobody could be asked whether ${nameOf(action)} may be done`, { cause: error })
    } finally {
      timer.cancel()
      ending.removeEventListener('abort', end)
      leave()
    }
  }

  async #refuse(action: Action, decision: Decision, answer: Answer | undefined, ruled?: Decision['effect']): Promise<never> {
    await this.#options.audit.refusal(entryOf(action, decision, answer, ruled))
    const refusal = refusalOf(action, decision, answer)
    this.#written.add(refusal)
    throw refusal
  }

  /** What was asked about and came to nothing, for whatever reason, is written down like any other no. */
  async #orWritten(error: unknown, action: Action, decision: Decision): Promise<never> {
    if (this.#written.has(error as object)) throw error
    const reason = {
      id: 'question',
      layer: 'built-in',
      effect: 'deny',
      text: `It was asked about, and came to nothing: ${codeOf(error)}`,
    } as const
    const refused: Decision = { ...decision, effect: 'deny', reasons: [reason, ...decision.reasons] }
    await this.#options.audit.refusal(entryOf(action, refused, undefined, decision.effect))
    throw error
  }

  async #completed(wanted: RequestedAction, grants: readonly Grant[]): Promise<Action> {
    const { principal, project, mode, usage, policy, wallNow } = this.#options
    const action: Action = { ...wanted, principal, project, mode, at: wallNow(), realPaths: {}, usage: NOTHING_USED }
    const pointers = pathPointers(policy(), action, grants)
    const realPaths = pointers.length === 0 ? action.realPaths : await realPathsOf(action, pointers)
    return { ...action, realPaths, usage: usage.usageOf(counted(action)) }
  }

  #use(grant: string): Promise<boolean> {
    return this.#options.grants.use(grant, this.#options.wallNow())
  }
}

const boundsFor = ({ isPassing }: ActionRequest, bounds: GrantBounds): GrantBounds =>
  isPassing ? { ...bounds, scopes: bounds.scopes.filter((scope) => scope !== 'project' && scope !== 'always') } : bounds

const counted = ({
  kind,
  principal,
  run,
  server,
  primitive,
  args,
}: Omit<Action, 'usage' | 'realPaths' | 'at' | 'project' | 'mode'>): CountedCall => ({
  kind,
  principal,
  run,
  server: server.id,
  name: primitive?.name ?? '',
  args,
})

const NOTHING_USED: Usage = { identicalInARow: 1, concurrent: 0, lastMinute: 0, lastHour: 0, lastDay: 0, tokensToday: 0 }

/** What is still a question after the person has answered it is a no. */
const stricter = (effect: Decision['effect']): Decision['effect'] => (effect === 'ask' ? 'deny' : effect)

const unanswered = (action: Action, { questionTimeoutMs }: GateLimits): McpError =>
  new McpError('ERR_CONSENT', `Nobody answered within ${questionTimeoutMs} ms (questionTimeoutMs) whether ${nameOf(action)} may be done`)

function onceOf({ width: _width, pattern: _pattern, ...answer }: Extract<Answer, { kind: 'allow' }>): Answer {
  return { ...answer, scope: 'once' }
}

/** Answers come from other processes as well, and through files. */
function checkAnswer(answer: Answer): Answer {
  const kinds: readonly unknown[] = ['allow', 'deny', 'cancel']
  if (!kinds.includes(answer?.kind) || (answer.kind === 'allow' && !GRANT_SCOPES.includes(answer.scope)))
    throw new McpError('ERR_ANSWER_INVALID', `An answer must be allow with a scope (${GRANT_SCOPES.join(', ')}), deny or cancel`)
  return answer
}

/** The kind of failure, and none of its text: that may hold what must not be kept. */
const codeOf = (error: unknown): string => (error instanceof McpError ? error.code : error instanceof Error ? error.name : 'unknown')
