/** Step 3 of the gate, after an approval: turns the answer into a grant, and decides again with it. */

import { McpError } from '../../../protocol/errors.ts'
import type { Action, Decision } from '../../model/action.ts'
import { digestOf } from '../../model/digest.ts'
import type { Grant } from '../../model/grant.ts'
import { decide } from '../decide.ts'
import { grantBounds } from '../grant-bounds.ts'
import { grantMatches } from '../grant-match.ts'
import { makeGrant } from '../grants/make-grant.ts'
import { actionName } from './action-words.ts'
import { changed, isUnchanged } from './check-unchanged.ts'
import { completeAction, type Evaluation } from './evaluate.ts'
import { boundsFor, offeredWidths } from './grant-choices.ts'
import { refuse } from './refusal.ts'
import type { ActionRequest, Approval, GateOptions, Permit, RequestedAction } from './request.ts'

/** @param asked what the person was asked about */
export async function applyAnswer(options: GateOptions, request: ActionRequest, asked: Evaluation, answer: Approval): Promise<Permit> {
  if (answer.edited !== undefined) {
    if (!request.edit) throw new McpError('ERR_ANSWER_INVALID', `${actionName(asked.action)} cannot be edited, only approved or denied`)
    await request.edit(answer.edited)
  }
  const requested = request.describe()
  checkAsked(requested, asked.action, answer)
  const grant = await addGrant(options, request, requested, asked, answer)
  try {
    return await permitByGrant(options, requested, answer, grant)
  } catch (error) {
    // The approval was for this action. It must not remain for the next one.
    if (grant.scope === 'once') await options.grants.revoke(grant.id)
    throw error
  }
}

/** A person approves what the question showed. Only their own edit may change the arguments. */
function checkAsked(requested: RequestedAction, asked: Action, { edited }: Approval): void {
  if (!isUnchanged(requested, asked)) throw changed(asked)
  if (edited === undefined && digestOf(requested.args) !== digestOf(asked.args)) throw changed(asked)
}

async function addGrant(
  options: GateOptions,
  request: ActionRequest,
  requested: RequestedAction,
  asked: Evaluation,
  answer: Approval,
): Promise<Grant> {
  const { grants, wallNow, policy, principal, scrub = (text) => text } = options
  const action = await completeAction(options, requested, [])
  // A width that the question did not offer is ignored: the person cannot have chosen it.
  const { width, ...narrow } = answer
  const isOffered = width !== undefined && offeredWidths(asked.action, asked.decision).includes(width)
  const grant = makeGrant(action, isOffered ? answer : narrow, {
    bounds: boundsFor(request, grantBounds(policy(), action)),
    isForced: asked.decision.isForced ?? false,
    now: wallNow(),
    by: answer.by ?? principal,
    scrub,
  })
  if (!grantMatches(grant, await completeAction(options, requested, [grant]), policy().folders))
    throw new McpError('ERR_ANSWER_INVALID', `The pattern in the answer does not match ${actionName(action)} itself`)
  await grants.add(grant)
  return grant
}

/** Rules and grants may have changed since the question, so the action is decided again. */
async function permitByGrant(options: GateOptions, requested: RequestedAction, answer: Approval, grant: Grant): Promise<Permit> {
  const { grants, audit, wallNow } = options
  await options.refreshPolicy?.()
  const live = await grants.live(wallNow())
  const policy = options.policy()
  const action = await completeAction({ ...options, policy: () => policy }, requested, live)
  const again = decide(policy, action, live)
  const isAnswered = live.some(({ id }) => id === grant.id) && grantMatches(grant, action, policy.folders)
  // Only its own answer satisfies a forced question; other grants do not.
  const isAllowed = again.effect === 'allow' || (isAnswered && again.effect === 'ask' && again.isForced === true)
  if (!isAllowed) return refuse(audit, action, { ...again, effect: askBecomesDeny(again.effect) }, undefined, again.effect)
  // Use up the new grant first: left over, it would allow a later action without a question.
  const used = isAnswered ? grant.id : again.grant
  if (used !== undefined && !(await grants.use(used, wallNow())))
    throw new McpError('ERR_CONSENT', `The approval of ${actionName(action)} was revoked before it was used`)
  return { action, decision: { ...again, effect: 'allow', ...(used !== undefined && { grant: used }) }, answer, ruled: again.effect }
}

/** The person has answered already: an action that still needs a question is denied. */
const askBecomesDeny = (effect: Decision['effect']): Decision['effect'] => (effect === 'ask' ? 'deny' : effect)
