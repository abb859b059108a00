/** Compiles rules into conditions that can be tested one by one, for decisions and for their explanations. */

import { isAbsolute } from 'node:path'
import { asText } from '../../base/as-text.ts'
import { nearestRealPath } from '../../files/nearest-real-path.ts'
import { McpError } from '../../protocol/errors.ts'
import type { ToolAnnotations } from '../../protocol/model/tools.ts'
import { ACTION_KINDS, type Action, type ActionKind, type ActionLimits, type Reason } from '../model/action.ts'
import { PRIVATE } from '../model/label.ts'
import { POLICY_LAYERS, type Policy, type PolicyLayer, PRESETS, PROJECT_SAYS, type Preset, type Rule, ruleName } from '../model/rule.ts'
import { type CompiledArgument, compileArguments, type Folders } from './argument-test.ts'
import { compileGlob, hasWildcard, type TextTest } from './glob.ts'
import { parseLimits } from './limits.ts'
import { hasDotSegments, otherSpellings } from './spellings.ts'

/** One condition of `match`. */
export interface Condition {
  name: string
  expected: string
  holds(action: Action): boolean
  /** The action's value for this condition, for display. */
  got(action: Action): string
  /** Whether the condition depends on the arguments of the action. */
  needsArguments(action: Action): boolean
}

export interface CompiledRule {
  rule: Rule
  layer: PolicyLayer
  /** 0 is the top layer. */
  rank: number
  kinds: ReadonlySet<ActionKind>
  conditions: readonly Condition[]
  arguments: readonly CompiledArgument[]
  limits: ActionLimits
  /** The reason to give when the rule applies. */
  reason: Reason
}

/** A policy, ready for decisions. `compilePolicy` and `loadPolicy` create it. */
export interface CompiledPolicy {
  policy: Policy
  preset: Preset
  rules: readonly CompiledRule[]
  /** The rules that can match each kind of action. */
  byKind: ReadonlyMap<ActionKind, readonly CompiledRule[]>
  folders: Folders
}

/**
 * Compiles a policy. The only I/O is resolving the real paths of the folders in `within`.
 *
 * @throws McpError ERR_CONFIG that names the rule
 * @example
 * const policy = await compilePolicy({ layers: { user: [allow('read-notes', { server: 'notes', tool: 'read_*' })] }, roots: {} })
 */
export async function compilePolicy(policy: Policy): Promise<CompiledPolicy> {
  const written = new Set(allRules(policy).flatMap(({ rule }) => Object.values(rule.args ?? {}).flatMap(({ within = [] }) => within)))
  const real = new Map<string, string>()
  for (const folder of written) if (isAbsolute(folder)) real.set(folder, (await nearestRealPath(folder)) ?? folder)
  return compileRules(policy, real)
}

/** Compiles a policy without I/O, from known real paths. */
export function compileRules(policy: Policy, real: ReadonlyMap<string, string> = new Map()): CompiledPolicy {
  const folders: Folders = { roots: policy.roots, real }
  const rules = allRules(policy).map(({ rule, layer }) => compileRule(rule, layer, folders))
  const byKind = new Map(ACTION_KINDS.map((kind) => [kind, rules.filter(({ kinds }) => kinds.has(kind))]))
  return { policy, preset: presetOf(policy), rules, byKind, folders }
}

/** The strictest preset that a layer names. Without one of the person or the administrator, a project tightens the default. */
export function presetOf({ presets = {} }: Pick<Policy, 'presets'>): Preset {
  const { project, ...others } = presets
  const named = Object.values(others)
  const ranks = [...(named.length > 0 ? named : [DEFAULT_PRESET]), ...(project ? [project] : [])].map((preset) => PRESETS.indexOf(preset))
  return PRESETS[Math.max(...ranks)] ?? DEFAULT_PRESET
}

const DEFAULT_PRESET: Preset = 'balanced'

const allRules = ({ layers }: Policy): { rule: Rule; layer: PolicyLayer }[] =>
  POLICY_LAYERS.flatMap((layer) => (layers[layer] ?? []).map((rule) => ({ rule, layer })))

function compileRule(rule: Rule, layer: PolicyLayer, folders: Folders): CompiledRule {
  try {
    return {
      rule,
      layer,
      rank: POLICY_LAYERS.indexOf(layer),
      kinds: compileKinds(rule.match.action),
      conditions: compileConditions(rule),
      arguments: compileArguments(rule.args ?? {}, folders, rule.effect === 'allow' ? 'narrow' : 'wide'),
      limits: parseLimits(rule.limits),
      reason: { id: rule.id, layer, effect: rule.effect, text: reasonText(rule, layer) },
    }
  } catch (cause) {
    throw new McpError('ERR_CONFIG', `Rule ${JSON.stringify(rule.id)} of the ${layer} layer: ${(cause as Error).message}`, { cause })
  }
}

/** Others may have written the rules of a project. Their words are quoted, so that they do not speak as the host. */
function reasonText({ id, effect, reason }: Rule, layer: PolicyLayer): string {
  if (reason === undefined) return `Rule ${ruleName(id)} of the ${layer} layer says ${effect}`
  return layer === 'project' ? `${PROJECT_SAYS}${JSON.stringify(reason)}` : reason
}

function compileKinds(action: Rule['match']['action']): ReadonlySet<ActionKind> {
  if (action === undefined) return new Set(ACTION_KINDS)
  const kinds = new Set<ActionKind>()
  for (const pattern of [action].flat()) {
    const test = nameTest(pattern)
    const matching = ACTION_KINDS.filter((kind) => test(kind))
    if (matching.length === 0) {
      throw new McpError(
        'ERR_CONFIG',
        `match.action: expected ${ACTION_KINDS.join(', ')} or a pattern of these, got ${JSON.stringify(pattern)}`,
      )
    }
    for (const kind of matching) kinds.add(kind)
  }
  return kinds
}

/** In a name, `*` also matches slashes: `send*` matches `send/now`. Only rules that allow a URI are stricter. */
export const nameTest = (pattern: string): TextTest => compileGlob(pattern.replace(/\*+/g, '**'))

function compileConditions({ effect, match }: Rule): Condition[] {
  const conditions: Condition[] = []
  const add = (
    name: string,
    expected: unknown,
    holds: Condition['holds'],
    got: (action: Action) => unknown,
    needsArguments: Condition['needsArguments'] = () => false,
  ): void => {
    conditions.push({
      name,
      expected: JSON.stringify(expected),
      holds,
      got: (action) => JSON.stringify(got(action)) ?? 'nothing',
      needsArguments,
    })
  }
  // A server's own hints never allow anything, so a rule that relies on them must not match.
  if (effect === 'allow' && match.claimed) {
    add(
      'claimed',
      match.claimed,
      () => false,
      () => 'hints of the server, which never allow anything (use "asserted")',
    )
  }
  const { server, tool, tier, initiator, mode, labels, claimed, asserted } = match
  if (server !== undefined) {
    const test = anyName(server)
    add(
      'server',
      server,
      (action) => test(action.server.id),
      (action) => action.server.id,
    )
  }
  if (tool !== undefined) {
    const test = anyName(tool)
    const uriTest = effect === 'allow' ? allowedUri(tool) : (uri: string) => test(uri) || otherSpellings(uri).some(test)
    add(
      'tool',
      tool,
      (action) => namesOf(action).some(RESOURCE_KINDS.has(action.kind) ? uriTest : test),
      (action) => (isThroughTemplate(action) ? namesOf(action) : action.primitive?.name),
      isThroughTemplate,
    )
  }
  if (tier !== undefined)
    add(
      'tier',
      tier,
      (action) => action.server.tier === tier,
      (action) => action.server.tier,
    )
  if (initiator !== undefined) {
    const initiators = [initiator].flat()
    add(
      'initiator',
      initiator,
      (action) => initiators.includes(action.initiator),
      (action) => action.initiator,
    )
  }
  if (mode !== undefined)
    add(
      'mode',
      mode,
      (action) => action.mode === mode,
      (action) => action.mode,
    )
  if (labels !== undefined) {
    add(
      'labels',
      labels,
      (action) => labels.every((label) => hasLabel(action, label)),
      (action) => [...action.labels, ...action.server.labels],
    )
  }
  if (claimed)
    add(
      'claimed',
      claimed,
      (action) => agrees(action.claimed, claimed),
      (action) => action.claimed,
    )
  if (asserted)
    add(
      'asserted',
      asserted,
      (action) => agrees(action.asserted, asserted),
      (action) => action.asserted,
    )
  return conditions
}

/** A resource read through a template has two names, its URI and the template; so has a file of a skill, its URI and the skill. */
const namesOf = (action: Action): string[] =>
  action.primitive === undefined
    ? []
    : isThroughTemplate(action)
      ? [action.primitive.name, asText(action.args.uri)]
      : [action.primitive.name]

const RESOURCE_KINDS: ReadonlySet<ActionKind> = new Set<ActionKind>(['resource.read', 'resource.subscribe'])

const isThroughTemplate = ({ kind, primitive, args }: Action): boolean =>
  RESOURCE_KINDS.has(kind) &&
  (primitive?.kind === 'template' || primitive?.kind === 'skill') &&
  (args.uri === undefined || typeof args.uri === 'string')

/** In a rule that allows a URI, `*` matches one segment, and ambiguous URIs must match in every form. */
function allowedUri(patterns: string | readonly string[]): TextTest {
  const tests = [patterns].flat().map((pattern) => compileGlob(pattern === '*' ? '**' : pattern))
  const test = (uri: string): boolean => tests.some((each) => each(uri))
  return (uri) => test(uri) && (!hasDotSegments(uri) || otherSpellings(uri).every(test))
}

function anyName(patterns: string | readonly string[]): TextTest {
  const list = [patterns].flat()
  const names = new Set(list.filter((pattern) => !hasWildcard(pattern)))
  const globs = list.filter(hasWildcard).map(nameTest)
  return (name) => names.has(name) || globs.some((test) => test(name))
}

function hasLabel({ labels, server }: Action, wanted: string): boolean {
  const test = wanted === `${PRIVATE}*` ? (label: string) => label.startsWith(PRIVATE) : (label: string) => label === wanted
  return labels.some(test) || server.labels.some(test)
}

const agrees = (hints: ToolAnnotations, wanted: ToolAnnotations): boolean =>
  Object.entries(wanted).every(([name, value]) => hints[name as keyof ToolAnnotations] === value)
