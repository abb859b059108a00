/** Actions, rules and grants for tests of decisions: an ordinary one each, and what is to be different about it. */

import type { Action, ActionPrimitive, ActionServer, Usage } from '../../../src/host/model/action.ts'
import { digestOf } from '../../../src/host/model/digest.ts'
import type { Grant } from '../../../src/host/model/grant.ts'
import type { Policy, PolicyLayer, Rule } from '../../../src/host/model/rule.ts'
import { type CompiledPolicy, compileRules } from '../../../src/host/policy/compile-policy.ts'

interface ActionOptions extends Partial<Omit<Action, 'server' | 'primitive' | 'usage'>> {
  server?: Partial<ActionServer>
  primitive?: Partial<ActionPrimitive> | undefined
  usage?: Partial<Usage>
}

const CALM: Usage = { identicalInARow: 1, concurrent: 0, lastMinute: 0, lastHour: 0, lastDay: 0, tokensToday: 0 }

/** The model wants to call `add` of the trusted, configured server `notes`, as it was approved. */
export function action({ server, primitive, usage, ...rest }: ActionOptions = {}, withoutPrimitive = false): Action {
  const base: Action = {
    kind: 'tool.call',
    principal: 'ada',
    run: 'run-1',
    turn: 1,
    mode: 'interactive',
    project: '/home/ada/project',
    initiator: 'model',
    claimed: {},
    asserted: {},
    args: { text: 'milk' },
    realPaths: {},
    labels: [],
    at: 1_000_000,
    ...rest,
    server: { id: 'notes', fingerprint: 'print-1', tier: 'trusted', isKnown: true, labels: [], ...server },
    usage: { ...CALM, ...usage },
  }
  return withoutPrimitive ? base : { ...base, primitive: { kind: 'tool', name: 'add', pin: 'pin-1', state: 'pinned', ...primitive } }
}

export const rule = (effect: Rule['effect'], match: Rule['match'] = {}, rest: Partial<Rule> = {}): Rule => ({
  id: `${effect}-rule`,
  effect,
  match,
  ...rest,
})

export const policy = (layers: Partial<Record<PolicyLayer, readonly Rule[]>> = {}, rest: Partial<Policy> = {}): CompiledPolicy =>
  compileRules({ layers, roots: {}, ...rest })

/** A yes for ever to just this action. */
export function grantFor(given: Action, rest: Partial<Omit<Grant, 'bind'>> & { bind?: Partial<Grant['bind']> } = {}): Grant {
  const { bind, ...others } = rest
  return {
    id: 'grant-1',
    action: given.kind,
    scope: 'always',
    expiresAt: given.at + 1_000,
    by: 'ada',
    at: given.at - 1_000,
    ...others,
    bind: {
      server: given.server.id,
      fingerprint: given.server.fingerprint,
      ...(given.primitive ? { primitive: given.primitive.name } : {}),
      ...(given.primitive?.pin !== undefined ? { pin: given.primitive.pin } : {}),
      args: { kind: 'exact', digest: digestOf(given.args) },
      principal: given.principal,
      ...bind,
    },
  }
}
