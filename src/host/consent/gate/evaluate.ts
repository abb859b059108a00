/** Step 1 of the gate: completes a requested action and decides it. */

import type { Action, Decision, Usage } from '../../model/action.ts'
import type { Grant } from '../../model/grant.ts'
import { decide } from '../decide.ts'
import { pathPointers } from '../path-pointers.ts'
import type { CountedCall } from '../usage.ts'
import { realPathsOf } from './real-paths.ts'
import type { GateOptions, RequestedAction } from './request.ts'

export interface Evaluation {
  action: Action
  decision: Decision
}

/** Decides the action by the current rules and grants. Asks no question and counts nothing. */
export async function evaluate(options: GateOptions, requested: RequestedAction): Promise<Evaluation> {
  await options.refreshPolicy?.()
  const grants = await options.grants.live(options.wallNow())
  // The policy can be replaced while paths are read. The decision needs the paths of its own rules.
  const policy = options.policy()
  const action = await completeAction({ ...options, policy: () => policy }, requested, grants)
  return { action, decision: decide(policy, action, grants) }
}

/** @param grants those that the action will be compared with: their patterns may need real paths */
export async function completeAction(options: GateOptions, requested: RequestedAction, grants: readonly Grant[]): Promise<Action> {
  const { principal, project, mode, usage, policy, wallNow } = options
  const action: Action = { ...requested, principal, project, mode, at: wallNow(), realPaths: {}, usage: NOTHING_USED }
  const pointers = pathPointers(policy(), action, grants)
  const realPaths = pointers.length === 0 ? action.realPaths : await realPathsOf(action, pointers)
  return { ...action, realPaths, usage: usage.usageOf(countedCall(action)) }
}

/** How the usage counter identifies an action. */
export const countedCall = ({
  kind,
  principal,
  run,
  turn,
  server,
  primitive,
  args,
}: RequestedAction & Pick<Action, 'principal'>): CountedCall => ({
  kind,
  principal,
  run,
  turn,
  server: server.id,
  name: primitive?.name ?? '',
  args,
})

const NOTHING_USED: Usage = { identicalInARow: 1, concurrent: 0, lastMinute: 0, lastHour: 0, lastDay: 0, tokensToday: 0 }
