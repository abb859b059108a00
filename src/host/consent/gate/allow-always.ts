/** Allows a tool for good without a question that waits: the person decides it while they look at the call. */

import { McpError } from '../../../protocol/errors.ts'
import type { Grant } from '../../model/grant.ts'
import type { GrantWidth } from '../../model/question.ts'
import { grantBounds } from '../grant-bounds.ts'
import type { GrantStore } from '../grants/grant-store.ts'
import { makeGrant } from '../grants/make-grant.ts'
import type { Gate } from './gate.ts'
import { alwaysChoice } from './grant-choices.ts'
import type { ActionRequest, GateOptions } from './request.ts'

/** What `host.allowAlways` allows. */
export interface AllowOptions {
  /** The arguments that are allowed: exactly these, or any. Default: `exact`. */
  width?: Exclude<GrantWidth, 'pattern'>
  /** Who decided it, for the list of grants. */
  by: string
}

interface AllowServices extends Pick<GateOptions, 'policy' | 'wallNow'> {
  gate: Pick<Gate, 'evaluate'>
  grants: Pick<GrantStore, 'add'>
  /** Removes secrets from what the list of grants shows. */
  scrub(text: string): string
}

/** Adds the grant that the answer "always allow" to a question about this call would add. */
export async function allowAlways(
  { gate, policy, grants, wallNow, scrub }: AllowServices,
  request: Pick<ActionRequest, 'describe'>,
  { width = 'exact', by }: AllowOptions,
): Promise<Grant> {
  const { action, decision } = await gate.evaluate(request)
  const name = action.primitive?.name ?? action.server.id
  if (decision.effect !== 'ask' && decision.effect !== 'allow')
    throw new McpError(
      'ERR_DENIED',
      `${JSON.stringify(name)} cannot be allowed from now on: ${decision.reasons[0]?.text ?? 'a rule denies it'}`,
    )
  const now = wallNow()
  const bounds = grantBounds(policy(), action)
  const isOffered = alwaysChoice(action, decision, bounds, now) !== undefined
  if (!isOffered || (width === 'any' && !bounds.wideScopes.includes('always')))
    throw new McpError(
      'ERR_DENIED',
      isOffered
        ? `${JSON.stringify(name)} cannot be allowed with any arguments from now on: allow exact ones, or write a rule`
        : `${JSON.stringify(name)} must be asked about each time, or a rule forbids to allow it for good`,
    )
  const grant = makeGrant(action, { kind: 'allow', scope: 'always', width, by }, { bounds, isForced: false, now, by, scrub })
  await grants.add(grant)
  return grant
}
