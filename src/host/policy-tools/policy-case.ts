/** One case of a policy test: an action in short form, and the expected decision. */

import type { Action, Effect, Usage } from '../model/action.ts'

export interface PolicyCase {
  name: string
  action: CaseAction
  expect: Effect
  /** The id of the rule or guard that must be a decisive reason. */
  because?: string
}

/** An action in short form. Defaults: requested by a model, interactive, trusted and known server, approved definition. */
export interface CaseAction extends Partial<Pick<Action, 'initiator' | 'mode' | 'claimed' | 'asserted' | 'args' | 'realPaths' | 'labels'>> {
  kind: Action['kind']
  server: string
  tool?: string
  tier?: Action['server']['tier']
  isKnown?: boolean
  serverLabels?: readonly string[]
  state?: NonNullable<Action['primitive']>['state']
  usage?: Partial<Usage>
}

/** Completes an action from a case or from the command line. */
export function completeAction(given: CaseAction): Action {
  const { kind, server, tool, tier = 'trusted', isKnown = true, serverLabels = [], state = 'pinned', usage, ...rest } = given
  const action: Action = {
    kind,
    principal: 'somebody',
    run: 'run',
    turn: 1,
    mode: 'interactive',
    project: '',
    initiator: 'model',
    server: { id: server, fingerprint: '', tier, isKnown, labels: serverLabels },
    claimed: {},
    asserted: {},
    args: {},
    realPaths: {},
    labels: [],
    usage: { identicalInARow: 1, concurrent: 0, lastMinute: 0, lastHour: 0, lastDay: 0, tokensToday: 0, ...usage },
    at: 0,
    ...rest,
  }
  return tool === undefined ? action : { ...action, primitive: { kind: primitiveKind(kind), name: tool, pin: '', state } }
}

const primitiveKind = (kind: Action['kind']): NonNullable<Action['primitive']>['kind'] =>
  kind.startsWith('resource.') ? 'resource' : kind.startsWith('prompt.') ? 'prompt' : 'tool'
