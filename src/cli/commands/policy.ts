/** `portico policy`: chooses a preset, checks rules, explains decisions, runs tests, and replays past decisions. */

import { resolve } from 'node:path'
import { type Command, InvalidArgumentError } from 'commander'
import type { Tool } from '../../client/index.ts'
import { openGrants, openPins, readAudit, readOnlyTools } from '../../host/index.ts'
import {
  ACTION_KINDS,
  type ActionKind,
  type CaseAction,
  type CompiledPolicy,
  explainCase,
  lintPolicy,
  loadPolicy,
  PRESETS,
  type Preset,
  pastDecision,
  type Replayed,
  replayDecisions,
  testPolicy,
  writePreset,
} from '../../host/policy-tools/index.ts'
import { assign } from '../arguments/assignment.ts'
import type { CommandRunner, Invocation } from '../command-runner.ts'
import { policyFiles, storagePath } from '../connections/host-files.ts'
import { configuredServers } from '../connections/open-host.ts'
import { UsageError, unknownName } from '../errors.ts'
import type { ExitName } from '../exit-codes.ts'
import { counted } from '../output/counted.ts'
import { safe, untrustedLines } from '../output/safe-text.ts'

interface PolicyOptions {
  with?: string
}

export function registerPolicy(program: Command, runner: CommandRunner): void {
  const policy = program
    .command('policy')
    .summary('choose a preset; check, explain, test and replay your rules')
    .description('Chooses a preset, and checks, explains, tests and replays the rules: what is allowed, asked or denied.')
  const command = (name: string, text: string): Command =>
    policy
      .command(name)
      .description(text)
      .option('--with <file>', 'use the rules in this file instead of yours')
      .option('--json', 'write JSON')
  policy
    .command('use')
    .description('Chooses how much you are asked where no rule decides: cautious, balanced or trusting.')
    .argument('[preset]', 'cautious, balanced or trusting. Default: list them', toPreset)
    .action(runner.action(useAction))
  command('lint', 'Finds rules that cannot match, contradict each other, or allow more than they seem to.').action(
    runner.action(lintAction),
  )
  command('explain', 'Shows what would be decided about a call, and by which rule.')
    .argument('<server/tool>')
    .argument('[key=value...]')
    .option('--by <who>', 'who starts the action: user, model, app or server', toInitiator, 'model')
    .option('--action <kind>', 'kind of action', toKind, 'tool.call')
    .action(runner.action(explainAction))
  command('test', 'Runs the test cases in a folder (YAML or JSON) against the rules.')
    .argument('<folder>')
    .action(runner.action(testAction))
  command('replay', 'Decides every action in the audit log again, and shows which decisions would change.').action(
    runner.action(replayAction),
  )
}

function toPreset(text: string): Preset {
  const preset = PRESETS.find((each) => each === text)
  if (!preset) throw new InvalidArgumentError(`Expected ${PRESETS.join(', ')}.`)
  return preset
}

const PRESET_TEXTS: Readonly<Record<Preset, string>> = {
  cautious: 'You are asked about every call of a model, and about what a server offers first.',
  balanced: 'You are asked about calls of a model, except calls of tools that you accepted as read-only.',
  trusting: 'You are not asked about calls of trusted servers, unless the tool is destructive or open-world.',
}

async function useAction(invocation: Invocation, preset: Preset | undefined): Promise<void> {
  const { io, screen } = invocation
  if (preset === undefined) {
    const { preset: current } = await rulesOf(invocation, {})
    for (const each of PRESETS)
      screen.print(
        safe`${each === current ? '*' : ' '} ${screen.style.bold(each)}${each === current ? ' (current)' : ''}: ${PRESET_TEXTS[each]}`,
      )
    return
  }
  const { user } = policyFiles(io)
  await writePreset(user, preset)
  const { preset: inForce } = await rulesOf(invocation, {})
  screen.note(safe`The preset is ${preset} (in ${user}). ${PRESET_TEXTS[preset]}`)
  if (inForce !== preset)
    screen.note(
      safe`${screen.noteStyle.yellow('!')} In this folder the preset is ${inForce}, because another policy file sets a stricter one`,
    )
}

function toInitiator(text: string): 'user' | 'model' | 'app' | 'server' {
  if (text === 'user' || text === 'model' || text === 'app' || text === 'server') return text
  throw new InvalidArgumentError('Expected user, model, app or server.')
}

function toKind(text: string): ActionKind {
  const kind = ACTION_KINDS.find((each) => each === text)
  if (!kind) throw new InvalidArgumentError(`Expected one of ${ACTION_KINDS.join(', ')}.`)
  return kind
}

/** The rules that a host in this folder would use. */
async function rulesOf({ io }: Invocation, { with: file }: PolicyOptions): Promise<CompiledPolicy> {
  return loadPolicy({ project: io.cwd, policy: file === undefined ? policyFiles(io) : { user: resolve(io.cwd, file) } })
}

async function lintAction(invocation: Invocation, options: PolicyOptions): Promise<ExitName> {
  const { io, screen } = invocation
  const policy = await rulesOf(invocation, options)
  const pins = (await openPins({ file: storagePath(io, 'pins') })).list()
  const known = Object.fromEntries(
    (await configuredServers(invocation)).map(({ id }) => [
      id,
      pins.find(({ server }) => server === id)?.items.map(({ name }) => name) ?? [],
    ]),
  )
  const findings = lintPolicy(policy, Object.keys(known).length === 0 ? undefined : known)
  if (screen.isJson) screen.printJson(findings)
  else {
    for (const { severity, rule, text } of findings)
      screen.print(safe`${severity === 'error' ? screen.style.red('✗') : screen.style.yellow('!')} ${screen.style.bold(rule)}: ${text}`)
    screen.note(safe`${counted(policy.rules.length, 'rule')}, ${counted(findings.length, 'finding')}`)
  }
  return findings.some(({ severity }) => severity === 'error') ? 'failed' : 'ok'
}

interface ExplainOptions extends PolicyOptions {
  by: 'user' | 'model' | 'app' | 'server'
  action: ActionKind
}

async function explainAction(invocation: Invocation, what: string, pairs: string[], options: ExplainOptions): Promise<void> {
  const { io, screen } = invocation
  const slash = what.indexOf('/')
  const server = slash < 0 ? what : what.slice(0, slash)
  const servers = await configuredServers(invocation)
  const spec = servers.find(({ id }) => id === server)
  if (slash < 0 && options.action === 'tool.call') throw new UsageError('Expected SERVER/TOOL')
  const args = await assign(pairs, { schema: {}, cwd: io.cwd })
  const grants = await (await openGrants({ file: storagePath(io, 'grants') })).live(Date.now())
  const tool = slash < 0 ? undefined : what.slice(slash + 1)
  const described: CaseAction = {
    kind: options.action,
    server,
    initiator: options.by,
    tier: spec?.tier ?? 'untrusted',
    isKnown: spec !== undefined,
    serverLabels: spec?.labels ?? [],
    args,
    ...(tool !== undefined && { tool, ...(await approvedFacts(invocation, server, tool)) }),
  }
  const explanation = await explainCase(await rulesOf(invocation, options), described, grants)
  if (screen.isJson) return screen.printJson(explanation)
  screen.print(untrustedLines(explanation.text))
  if (!spec)
    screen.note(
      safe`${
        unknownName(
          'server',
          server,
          servers.map(({ id }) => id),
        ).message
      }: explained as a server that is not configured`,
    )
}

/** What is stored about an approved tool: its claims, and whether the person accepted it as read-only. */
async function approvedFacts(
  { io }: Invocation,
  server: string,
  tool: string,
): Promise<Pick<CaseAction, 'claimed' | 'isAcceptedReadOnly'>> {
  const pins = await openPins({ file: storagePath(io, 'pins') })
  const definition = pins
    .list()
    .find((each) => each.server === server)
    ?.items.find(({ kind, name }) => kind === 'tool' && name === tool)?.definition as Partial<Tool> | undefined
  const isAcceptedReadOnly = readOnlyTools(pins, server).some(({ name, isAccepted }) => name === tool && isAccepted)
  return { ...(definition?.annotations && { claimed: definition.annotations }), ...(isAcceptedReadOnly && { isAcceptedReadOnly }) }
}

async function testAction(invocation: Invocation, folder: string, options: PolicyOptions): Promise<ExitName> {
  const { io, screen } = invocation
  const results = await testPolicy(await rulesOf(invocation, options), resolve(io.cwd, folder))
  const wrong = results.filter(({ isAsExpected }) => !isAsExpected)
  if (screen.isJson) screen.printJson(results)
  else {
    for (const { file, name, isAsExpected, expected, got, explanation } of results) {
      screen.print(
        safe`${isAsExpected ? screen.style.green('✓') : screen.style.red('✗')} ${file}: ${name}${isAsExpected ? '' : `: expected ${expected}, got ${got}`}`,
      )
      if (explanation !== undefined) screen.print(untrustedLines(explanation).indented(4))
    }
    screen.note(safe`${counted(results.length, 'case')}, ${wrong.length} failed`)
  }
  return wrong.length === 0 ? 'ok' : 'different'
}

async function replayAction(invocation: Invocation, options: PolicyOptions): Promise<ExitName> {
  const { io, screen } = invocation
  const policy = await rulesOf(invocation, options)
  const counts = { same: 0, changed: 0, unknown: 0, unreadable: 0 }
  for await (const record of readAudit(storagePath(io, 'audit'), { kinds: ['intent', 'refusal'] })) {
    if (record.kind !== 'intent' && record.kind !== 'refusal') continue
    const { server, primitive, action } = record.entry
    for (const replayed of replayDecisions([pastDecision(record)], policy)) {
      counts[replayed.kind]++
      if (replayed.kind === 'same') continue
      if (screen.isJson) screen.printJsonLine(replayed)
      else
        screen.print(
          safe`${String(record.seq).padStart(6)} ${action} ${[server, primitive].filter((part) => part !== undefined).join('/')}: ${inWords(replayed)}`,
        )
    }
  }
  screen.note(
    safe`${counts.same} unchanged, ${counts.changed} changed, ${counts.unknown} undecidable (arguments not recorded), ${counts.unreadable} unreadable`,
  )
  return counts.changed > 0 ? 'different' : 'ok'
}

function inWords(replayed: Exclude<Replayed, { kind: 'same' }> | Replayed): string {
  switch (replayed.kind) {
    case 'unknown':
      return `${replayed.before} → ${replayed.possible.join(' or ')}, depending on the arguments`
    case 'unreadable':
      return replayed.why
    default:
      return `${replayed.before} → ${replayed.after} (${replayed.reasons.join('; ')})`
  }
}
