/** `portico policy`: whether rules make sense, what they would decide, and what they would have decided. */

import { resolve } from 'node:path'
import { type Command, InvalidArgumentError } from 'commander'
import { openPins } from '../../host/approval/pin-store.ts'
import { testPolicy } from '../../host/config/lazy-readers.ts'
import { realPathsOf } from '../../host/consent/gate/real-paths.ts'
import { openGrants } from '../../host/consent/grants/grant-store.ts'
import { ACTION_KINDS, type ActionKind } from '../../host/model/action.ts'
import type { CompiledPolicy } from '../../host/policy/compile-policy.ts'
import { loadPolicy } from '../../host/policy/load-policy.ts'
import { pathPointers } from '../../host/policy/path-pointers.ts'
import { explain } from '../../host/policy-tools/explain.ts'
import { lintPolicy } from '../../host/policy-tools/lint.ts'
import { completeAction } from '../../host/policy-tools/policy-case.ts'
import { type DecisionRecord, type Replayed, replayDecisions } from '../../host/policy-tools/replay.ts'
import { readAudit } from '../../host/storage/audit/read.ts'
import { assign } from '../arguments/assignment.ts'
import type { ExitName } from '../exit-codes.ts'
import { UsageError, unknownName } from '../faults.ts'
import type { Frame, Invocation } from '../frame.ts'
import { keptIn, policyFiles } from '../hosting/host-files.ts'
import { configuredServers } from '../hosting/open-host.ts'
import { untrustedLines, words } from '../output/shown.ts'

interface PolicyOptions {
  with?: string
}

export function registerPolicy(program: Command, frame: Frame): void {
  const policy = program
    .command('policy')
    .summary('check, explain, test and replay the rules')
    .description('The rules: what is allowed, asked about, or refused.')
  const command = (name: string, text: string): Command =>
    policy.command(name).description(text).option('--with <file>', 'these rules instead of yours').option('--json', 'write JSON')
  command('lint', 'Finds rules that cannot match, contradict each other, or allow more than they seem to.').action(frame.action(lintAction))
  command('explain', 'Says what would be decided about a call, and by which rule.')
    .argument('<server/tool>')
    .argument('[key=value...]')
    .option('--by <who>', 'who wants it: user, model, app or server', toInitiator, 'model')
    .option('--action <kind>', 'what is wanted', toKind, 'tool.call')
    .action(frame.action(explainAction))
  command('test', 'Runs the cases of a folder (YAML or JSON) against the rules.').argument('<folder>').action(frame.action(testAction))
  command('replay', 'Decides everything in the audit log again under the rules, and shows what would be decided otherwise.').action(
    frame.action(replayAction),
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

/** As a host in this folder would have them. */
async function rulesOf({ io }: Invocation, { with: file }: PolicyOptions): Promise<CompiledPolicy> {
  return loadPolicy({ project: io.cwd, policy: file === undefined ? policyFiles(io) : { user: resolve(io.cwd, file) } })
}

async function lintAction(invocation: Invocation, options: PolicyOptions): Promise<ExitName> {
  const { io, screen } = invocation
  const policy = await rulesOf(invocation, options)
  const pins = (await openPins({ file: keptIn(io, 'pins') })).list()
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
      screen.print(words`${severity === 'error' ? screen.style.red('✗') : screen.style.yellow('!')} ${screen.style.bold(rule)}: ${text}`)
    screen.note(words`${policy.rules.length} rules, ${findings.length} findings`)
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
  if (slash < 0 && options.action === 'tool.call') throw new UsageError('Write SERVER/TOOL')
  const args = await assign(pairs, { schema: {}, cwd: io.cwd })
  const action = completeAction({
    kind: options.action,
    server,
    ...(slash >= 0 && { tool: what.slice(slash + 1) }),
    initiator: options.by,
    tier: spec?.tier ?? 'untrusted',
    isKnown: spec !== undefined,
    serverLabels: spec?.labels ?? [],
    args,
  })
  const grants = await (await openGrants({ file: keptIn(io, 'grants') })).live(Date.now())
  const policy = await rulesOf(invocation, options)
  const realPaths = await realPathsOf(action, pathPointers(policy, action, grants))
  const explanation = explain(policy, { ...action, realPaths }, grants)
  if (screen.isJson) return screen.printJson(explanation)
  screen.print(untrustedLines(explanation.text))
  if (!spec)
    screen.note(
      words`${
        unknownName(
          'server',
          server,
          servers.map(({ id }) => id),
        ).message
      }, so it is judged as one that is not configured`,
    )
}

async function testAction(invocation: Invocation, folder: string, options: PolicyOptions): Promise<ExitName> {
  const { io, screen } = invocation
  const results = await testPolicy(await rulesOf(invocation, options), resolve(io.cwd, folder))
  const wrong = results.filter(({ isAsExpected }) => !isAsExpected)
  if (screen.isJson) screen.printJson(results)
  else {
    for (const { file, name, isAsExpected, expected, got, explanation } of results) {
      screen.print(
        words`${isAsExpected ? screen.style.green('✓') : screen.style.red('✗')} ${file}: ${name}${isAsExpected ? '' : `: expected ${expected}, got ${got}`}`,
      )
      if (explanation !== undefined) screen.print(untrustedLines(explanation).indented(4))
    }
    screen.note(words`${results.length} cases, ${wrong.length} not as expected`)
  }
  return wrong.length === 0 ? 'ok' : 'different'
}

async function replayAction(invocation: Invocation, options: PolicyOptions): Promise<ExitName> {
  const { io, screen } = invocation
  const policy = await rulesOf(invocation, options)
  const counts = { same: 0, changed: 0, unknown: 0, unreadable: 0 }
  for await (const record of readAudit(keptIn(io, 'audit'), { kinds: ['intent', 'refusal'] })) {
    if (record.kind !== 'intent' && record.kind !== 'refusal') continue
    const { effect, ruled = effect, facts, grant, args, server, primitive, action } = record.entry
    const past: DecisionRecord = {
      seq: record.seq,
      effect: ruled,
      facts,
      ...(grant !== undefined && { grant }),
      ...(args?.isWhole && { args: args.preview as Record<string, unknown> }),
    }
    for (const replayed of replayDecisions([past], policy)) {
      counts[replayed.kind]++
      if (replayed.kind === 'same') continue
      if (screen.isJson) screen.printJsonLine(replayed)
      else
        screen.print(
          words`${String(record.seq).padStart(6)} ${action} ${[server, primitive].filter((part) => part !== undefined).join('/')}: ${inWords(replayed)}`,
        )
    }
  }
  screen.note(
    words`${counts.same} as before, ${counts.changed} otherwise, ${counts.unknown} depend on arguments that are not known any more, ${counts.unreadable} cannot be read`,
  )
  return counts.changed > 0 ? 'different' : 'ok'
}

function inWords(replayed: Exclude<Replayed, { kind: 'same' }> | Replayed): string {
  switch (replayed.kind) {
    case 'unknown':
      return `${replayed.before}, and now ${replayed.possible.join(' or ')}, by the arguments`
    case 'unreadable':
      return replayed.why
    default:
      return `${replayed.before} → ${replayed.after} (${replayed.reasons.join('; ')})`
  }
}
