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
  /** The person accepted the tool as read-only. Default: false. */
  isAcceptedReadOnly?: boolean
  /** Real paths of the folders that the server was granted as roots. Default: none. */
  roots?: readonly string[]
  usage?: Partial<Usage>
}

/** Completes an action from a case or from the command line. */
export function completeAction(given: CaseAction): Action {
  const { kind, server, tool, tier = 'trusted', isKnown = true, serverLabels = [], state = 'pinned', usage, ...more } = given
  const { isAcceptedReadOnly = false, roots = [], asserted = {}, ...rest } = more
  const action: Action = {
    kind,
    principal: 'somebody',
    run: 'run',
    turn: 1,
    mode: 'interactive',
    project: '',
    initiator: 'model',
    server: { id: server, fingerprint: '', tier, isKnown, labels: serverLabels, ...(roots.length > 0 && { roots }) },
    claimed: {},
    // As for a tool of a host: what your configuration says comes before what you accepted.
    asserted: { ...(isAcceptedReadOnly && { readOnlyHint: true }), ...asserted },
    args: {},
    realPaths: {},
    labels: [],
    usage: { identicalInARow: 1, concurrent: 0, lastMinute: 0, lastHour: 0, lastDay: 0, tokensToday: 0, ...usage },
    at: 0,
    ...rest,
  }
  if (tool === undefined) return action
  const accepted = isAcceptedReadOnly ? { isAcceptedReadOnly: true as const } : {}
  return { ...action, primitive: { kind: primitiveKind(kind), name: tool, pin: '', state, ...accepted } }
}

const primitiveKind = (kind: Action['kind']): NonNullable<Action['primitive']>['kind'] =>
  kind.startsWith('resource.') ? 'resource' : kind.startsWith('prompt.') ? 'prompt' : 'tool'
