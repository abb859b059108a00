/** One expectation of a policy: an action, written short, and what should be decided about it. */

import { McpError } from '../../protocol/errors.ts'
import { compile } from '../../protocol/schema/compile.ts'
import { describeIssues } from '../../protocol/schema/json-schema.ts'
import { ACTION_KINDS, type Action, EFFECTS, type Effect, type Usage } from '../model/action.ts'
import { parseYaml } from '../policy/policy-file.ts'

export interface PolicyCase {
  name: string
  action: CaseAction
  expect: Effect
  /** The rule or guard that must be the decisive reason. */
  because?: string
}

/** What is left out is ordinary: a model wants it, a person is there, the server is trusted, all is as it was approved. */
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

const MAX_CASES = 10_000

/** @param where the file, for errors @throws McpError ERR_CONFIG */
export function parseCases(text: string, where: string): PolicyCase[] {
  const value = parseYaml(text, where)
  const checked = compile(CASES)(value)
  if (!checked.ok) throw new McpError('ERR_CONFIG', `${where}: ${describeIssues(checked.issues, 20)}`)
  return (value as { cases: PolicyCase[] }).cases
}

/** The action that a case, or a person at the command line, means. */
export function actionOf(given: CaseAction): Action {
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

const TEXTS = { type: 'array', items: { type: 'string' } }
const HINTS = {
  type: 'object',
  additionalProperties: false,
  properties: Object.fromEntries(
    ['readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint'].map((hint) => [hint, { type: 'boolean' }]),
  ),
}
const COUNTS = ['identicalInARow', 'concurrent', 'lastMinute', 'lastHour', 'lastDay', 'tokensToday'] satisfies (keyof Usage)[]

const CASES = {
  type: 'object',
  additionalProperties: false,
  required: ['cases'],
  properties: {
    cases: {
      type: 'array',
      maxItems: MAX_CASES,
      items: {
        type: 'object',
        additionalProperties: false,
        required: ['name', 'action', 'expect'],
        properties: {
          name: { type: 'string' },
          expect: { enum: EFFECTS },
          because: { type: 'string' },
          action: {
            type: 'object',
            additionalProperties: false,
            required: ['kind', 'server'],
            properties: {
              kind: { enum: ACTION_KINDS },
              server: { type: 'string' },
              tool: { type: 'string' },
              tier: { enum: ['trusted', 'untrusted'] },
              isKnown: { type: 'boolean' },
              serverLabels: TEXTS,
              state: { enum: ['pinned', 'new', 'changed', 'unseen'] },
              initiator: { enum: ['user', 'model', 'app', 'server'] },
              mode: { enum: ['interactive', 'headless'] },
              claimed: HINTS,
              asserted: HINTS,
              args: { type: 'object' },
              realPaths: { type: 'object', additionalProperties: { type: 'string' } },
              labels: TEXTS,
              usage: {
                type: 'object',
                additionalProperties: false,
                properties: Object.fromEntries(COUNTS.map((name) => [name, { type: 'integer', minimum: 0 }])),
              },
            },
          },
        },
      },
    },
  },
}
