/** `portico audit`: what was done and what was refused, and whether the log of it is whole. */

import { resolve } from 'node:path'
import type { Command } from 'commander'
import { McpError } from '../../client/index.ts'
import { type AuditFilter, type AuditRecord, appendAnchor, type Checkpoint, readAudit, verifyAudit } from '../../host/index.ts'
import type { CommandRunner, Invocation } from '../command-runner.ts'
import type { ExitName } from '../exit-codes.ts'
import { printVerdict } from '../output/audit-verdict.ts'
import { jsonText } from '../output/json.ts'
import { type SafeText, safe } from '../output/safe-text.ts'
import { storagePath } from '../server/host-files.ts'

export function registerAudit(program: Command, runner: CommandRunner): void {
  const audit = program
    .command('audit')
    .summary('show and check the log of what was done')
    .description('The log of what was done, and of what was refused.')
  audit
    .command('verify')
    .description(
      'Finds records that were changed, moved, put in, or taken out before others, and names the first. Records that were cut off at the end are found only with --anchors.',
    )
    .option('--anchors <file>', 'checkpoints that were kept elsewhere (audit anchor): the log must reach them')
    .option('--json', 'write JSON')
    .action(runner.action(verifyAction))
  audit
    .command('anchor')
    .description(
      'Adds the newest signed checkpoint of the log to a file, for audit verify --anchors. Keep it where the log cannot be changed from.',
    )
    .argument('<file>', 'best on another disk or machine')
    .action(runner.action(anchorAction))
  audit
    .command('show')
    .description('Shows it, the oldest first.')
    .option('--server <name>', 'only of this server')
    .option('--action <kind>', 'only of this kind, such as tool.call')
    .option('--from <seq>', 'from this record on', Number)
    .option('--json', 'write one JSON object a record')
    .action(runner.action(showAction))
}

async function verifyAction({ io, screen }: Invocation, options: { anchors?: string }): Promise<ExitName> {
  const verdict = await verifyAudit(storagePath(io, 'audit'), options.anchors === undefined ? {} : { anchors: options.anchors })
  if (screen.isJson) screen.printJson(verdict)
  else printVerdict(screen, verdict, options.anchors)
  return verdict.ok ? 'ok' : 'audit'
}

async function anchorAction({ io, screen }: Invocation, file: string): Promise<ExitName> {
  const folder = storagePath(io, 'audit')
  // A checkpoint of a log that is not whole would vouch for what somebody made of it.
  const verdict = await verifyAudit(folder)
  if (!verdict.ok) {
    printVerdict(screen, verdict)
    return 'audit'
  }
  let newest: Checkpoint | undefined
  for await (const record of readAudit(folder, { kinds: ['checkpoint'] })) if (record.kind === 'checkpoint') newest = record.checkpoint
  if (!newest)
    throw new McpError('ERR_AUDIT', 'No record of the log is signed yet: a checkpoint is written when a host ends, and as it runs')
  await appendAnchor(resolve(io.cwd, file), newest)
  screen.note(safe`${file} vouches for the log up to record ${newest.to}: portico audit verify --anchors ${file}`)
  return 'ok'
}

async function showAction({ io, screen, signal }: Invocation, options: { server?: string; action?: string; from?: number }): Promise<void> {
  const filter: AuditFilter = {
    ...(options.server !== undefined && { server: options.server }),
    ...(options.action !== undefined && { action: options.action as NonNullable<AuditFilter['action']> }),
    ...(options.from !== undefined && { fromSeq: options.from }),
  }
  for await (const record of readAudit(storagePath(io, 'audit'), filter)) {
    signal.throwIfAborted()
    if (screen.isJson) screen.printJsonLine(record)
    else screen.print(lineOf(screen.style, record))
  }
}

function lineOf(
  style: { dim(text: string): SafeText; red(text: string): SafeText; green(text: string): SafeText },
  record: AuditRecord,
): SafeText {
  const head = safe`${style.dim(String(record.seq).padStart(6))} ${style.dim(new Date(record.at).toISOString())}`
  switch (record.kind) {
    case 'intent':
    case 'refusal': {
      const { action, server, primitive, effect, reasons, answer, args } = record.entry
      const what = [server, primitive].filter((part) => part !== undefined).join('/')
      const how = answer ? `${effect}, ${answer.by} said ${answer.kind}` : effect
      const preview = args === undefined ? '' : ` ${jsonText(args.preview)}`
      return safe`${head} ${record.kind === 'refusal' ? style.red('refused') : style.green('allowed')} ${action} ${what}${preview} ${style.dim(`(${how}: ${reasons.join('; ')})`)}`
    }
    case 'outcome':
      return safe`${head} ${style.dim(`  ${record.intent} ${jsonText(record.outcome)}`)}`
    case 'recovered':
      return safe`${head} ${style.red('set aside')} ${record.bytes} bytes of a record that was not finished ${style.dim(`(${record.file})`)}`
    default:
      return safe`${head} ${style.dim(record.kind)}`
  }
}
