/** Explaining a decision about an action that a person describes in a few words. */

import { realPathsOf } from '../consent/gate/real-paths.ts'
import { pathPointers } from '../consent/path-pointers.ts'
import type { Grant } from '../model/grant.ts'
import type { CompiledPolicy } from '../policy/compile-policy.ts'
import { type Explanation, explain } from './explain.ts'
import { type CaseAction, completeAction } from './policy-case.ts'

export type { CaseAction } from './policy-case.ts'

/**
 * Explains the decision of the policy about an action. Resolves paths in the arguments on this machine, like a host.
 *
 * @param grants stored grants of the person. Default: none.
 * @example
 * const { decision, text } = await explainCase(policy, { kind: 'tool.call', server: 'mail', tool: 'send', args: { to: 'a@b.example' } })
 */
export async function explainCase(policy: CompiledPolicy, described: CaseAction, grants: readonly Grant[] = []): Promise<Explanation> {
  const action = completeAction(described)
  return explain(policy, { ...action, realPaths: await realPathsOf(action, pathPointers(policy, action, grants)) }, grants)
}
