/** Step 2 of the gate, for the effect `ask`: puts the question to the person. */

import { randomUUID } from 'node:crypto'
import { orAborted } from '../../../base/wait.ts'
import { McpError } from '../../../protocol/errors.ts'
import type { Action, Decision, Reason } from '../../model/action.ts'
import { GRANT_SCOPES } from '../../model/grant.ts'
import type { Answer, Question, Subject } from '../../model/question.ts'
import { hiddenIn } from '../ask/own-secrets.ts'
import { grantBounds } from '../grant-bounds.ts'
import { declaredAgainst } from '../hints.ts'
import { actionName } from './action-words.ts'
import type { Evaluation } from './evaluate.ts'
import { alwaysChoice, boundsFor, offeredScopes, shownWidths } from './grant-choices.ts'
import type { PendingQuestions } from './pending-questions.ts'
import type { ActionRequest, Approval, GateOptions } from './request.ts'
import { whyAsked } from './why-asked.ts'

/**
 * Asks one question and returns the answer.
 *
 * @param ending aborts when the host closes
 * @throws McpError ERR_LIMIT for too many pending questions, ERR_CONSENT when no answer comes, ERR_ANSWER_INVALID
 */
export async function askPerson(
  options: GateOptions,
  pending: PendingQuestions,
  ending: AbortSignal,
  request: ActionRequest,
  { action, decision }: Evaluation,
): Promise<Answer> {
  const { asker, limits, clock } = options
  const leave = pending.enter(action)
  const timeout = new AbortController()
  const timer = clock.after(limits.questionTimeoutMs, () => timeout.abort(unanswered(action, limits.questionTimeoutMs)))
  const end = (): void => timeout.abort(ending.reason)
  ending.addEventListener('abort', end, { once: true })
  try {
    ending.throwIfAborted()
    const { question, isHiding } = await makeQuestion(options, request, action, decision)
    const signal = request.signal ? AbortSignal.any([request.signal, timeout.signal]) : timeout.signal
    const answer = checkAnswer(await orAborted(asker.ask(question, signal), signal))
    return isHiding && answer.kind === 'allow' ? onlyOnce(answer) : answer
  } catch (error) {
    if (error instanceof McpError || request.signal?.aborted) throw error
    throw new McpError('ERR_CONSENT', `The question about ${actionName(action)} could not be asked`, { cause: error })
  } finally {
    timer.cancel()
    ending.removeEventListener('abort', end)
    leave()
  }
}

async function makeQuestion(
  { limits, principal, policy, wallNow }: GateOptions,
  request: ActionRequest,
  action: Action,
  decision: Decision,
): Promise<{ question: Question; isHiding: boolean }> {
  const askedAt = wallNow()
  const subject = await request.subject(action)
  // The person may not have seen the folded parts, so they approve this one action only, whatever the asker returns.
  const isHiding = hiddenIn(subject) > 0
  const isOnce = isHiding || decision.isForced === true
  const bounds = boundsFor(request, grantBounds(policy(), action))
  const always = isOnce ? undefined : alwaysChoice(action, decision, bounds, askedAt)
  const question: Question = {
    id: randomUUID(),
    action: action.kind,
    principal,
    run: action.run,
    askedAt,
    expiresAt: askedAt + limits.questionTimeoutMs,
    server: request.server,
    chain: request.chain,
    ...(request.task && { task: request.task }),
    reasons: [...(request.because ?? []), ...reasonsToAsk(action, decision, subject)],
    subject,
    scopes: isOnce ? ['once'] : offeredScopes(action, bounds.scopes),
    ...(!isOnce && bounds.wideScopes.length < bounds.scopes.length && { wideScopes: bounds.wideScopes }),
    widths: isHiding ? ['exact'] : shownWidths(action, decision, subject),
    ...(always && { always }),
  }
  return { question, isHiding }
}

/**
 * Reasons that speak for the action do not explain a question, and the default explains nothing beside a rule or a guard. Reasons of the
 * host stand before those of rules, so that no rule pushes them out of the short question. A claim of the server against the call is
 * first, except beside a guard that always asks.
 */
function reasonsToAsk(action: Action, { reasons, isForced }: Decision, subject: Subject): string[] {
  const declared = declaredAgainst(action)
  const against = reasons.filter(({ effect, text }) => effect !== 'allow' && text !== declared)
  const telling = against.filter(({ id, layer }) => !(layer === 'built-in' && id === 'default'))
  const own = telling.filter(isBuiltIn).map(({ text }) => text)
  const ruled = telling.filter((reason) => !isBuiltIn(reason)).map(({ text }) => text)
  const claims = declared === undefined ? [] : [declared]
  const found = [...(isForced ? [...own, ...claims] : [...claims, ...own]), ...ruled]
  if (found.length > 0) return found
  const why = whyAsked(action, subject)
  // That no rule matched is a detail: the person needs no rules.
  return [...(why === undefined ? [] : [why]), ...against.map(({ text }) => text)]
}

const isBuiltIn = ({ layer }: Reason): boolean => layer === 'built-in'

const unanswered = (action: Action, timeoutMs: number): McpError =>
  new McpError('ERR_CONSENT', `The question about ${actionName(action)} was not answered within ${timeoutMs} ms (questionTimeoutMs)`)

const onlyOnce = ({ width: _width, pattern: _pattern, ...answer }: Approval): Approval => ({ ...answer, scope: 'once' })

/** Checked because answers also come from other processes, through files. */
function checkAnswer(answer: Answer): Answer {
  const kinds: readonly unknown[] = ['allow', 'deny', 'cancel']
  if (!kinds.includes(answer?.kind) || (answer.kind === 'allow' && !GRANT_SCOPES.includes(answer.scope)))
    throw new McpError('ERR_ANSWER_INVALID', `An answer must be allow with a scope (${GRANT_SCOPES.join(', ')}), deny or cancel`)
  return answer
}
