/** `portico audit`: shows and checks the audit log. */

import { resolve } from 'node:path'
import type { Command } from 'commander'
import { McpError } from '../../client/index.ts'
import { type AuditFilter, type AuditRecord, appendAnchor, type Checkpoint, readAudit, verifyAudit } from '../../host/index.ts'
import { typedCommand } from '../command-name.ts'
import type { CommandRunner, Invocation } from '../command-runner.ts'
import { checkRetentionVariables } from '../connections/audit-retention.ts'
import { storagePath } from '../connections/host-files.ts'
import type { ExitName } from '../exit-codes.ts'
import { printVerdict } from '../output/audit-verdict.ts'
import { counted } from '../output/counted.ts'
import { jsonText } from '../output/json.ts'
import { type SafeText, safe } from '../output/safe-text.ts'

export function registerAudit(program: Command, runner: CommandRunner): void {
  const audit = program
    .command('audit')
    .summary('show and check the audit log')
    .description('Shows and checks the audit log, the record of performed and denied actions.')
  audit
    .command('verify')
    .description(
      'Finds the first record that was changed, moved, inserted or removed. Records cut off at the end are found only with --anchors.',
    )
    .option('--anchors <file>', 'check that the log reaches these checkpoints (written by audit anchor)')
    .option('--archive <folder>', 'also check the segments that were moved to this folder')
    .option('--json', 'write JSON')
    .action(runner.action(verifyAction))
  audit
    .command('anchor')
    .description(
      'Appends the newest signed checkpoint to a file, for audit verify --anchors. Store it where people who can edit the log cannot edit it.',
    )
    .argument('<file>', 'file to append to, best on another disk or machine')
    .action(runner.action(anchorAction))
  audit
    .command('show')
    .description('Prints the log, oldest record first.')
    .option('--server <name>', 'only records of this server')
    .option('--action <kind>', 'only this kind of action, such as tool.call')
    .option('--from <seq>', 'start at this record', Number)
    .option('--json', 'write one JSON object per record')
    .action(runner.action(showAction))
}

async function verifyAction({ io, screen }: Invocation, options: { anchors?: string; archive?: string }): Promise<ExitName> {
  checkRetentionVariables(io)
  const { anchors, archive } = options
  const verdict = await verifyAudit(storagePath(io, 'audit'), {
    ...(anchors !== undefined && { anchors }),
    ...(archive !== undefined && { archive: resolve(io.cwd, archive) }),
  })
  if (screen.isJson) screen.printJson(verdict)
  else printVerdict(screen, verdict, options.anchors)
  return verdict.ok ? 'ok' : 'audit'
}

async function anchorAction({ io, screen }: Invocation, file: string): Promise<ExitName> {
  checkRetentionVariables(io)
  const folder = storagePath(io, 'audit')
  // Never anchor a damaged log: the checkpoint would vouch for the damage.
  const verdict = await verifyAudit(folder)
  if (!verdict.ok) {
    printVerdict(screen, verdict)
    return 'audit'
  }
  let newest: Checkpoint | undefined
  for await (const record of readAudit(folder, { kinds: ['checkpoint'] })) if (record.kind === 'checkpoint') newest = record.checkpoint
  if (!newest) throw new McpError('ERR_AUDIT', 'No record is signed yet. A host writes signed checkpoints while it runs and when it ends.')
  await appendAnchor(resolve(io.cwd, file), newest)
  screen.note(safe`${file} now covers the log up to record ${newest.to}. Check with: ${typedCommand(io, `audit verify --anchors ${file}`)}`)
  return 'ok'
}

async function showAction({ io, screen, signal }: Invocation, options: { server?: string; action?: string; from?: number }): Promise<void> {
  checkRetentionVariables(io)
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

/** `done in 29 ms, 175 bytes`. */
function outcomeText({ kind, durationMs, resultBytes, tokens, error }: Extract<AuditRecord, { kind: 'outcome' }>['outcome']): string {
  const parts = [
    `${kind} in ${Math.round(durationMs)} ms`,
    ...(resultBytes === undefined ? [] : [counted(resultBytes, 'byte')]),
    ...(tokens === undefined ? [] : [counted(tokens, 'token')]),
  ]
  return `${parts.join(', ')}${error === undefined ? '' : `: ${error}`}`
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
      const how = answer ? `${effect}, ${answer.by} answered ${answer.kind}` : effect
      const preview = args === undefined ? '' : ` ${jsonText(args.preview)}`
      return safe`${head} ${record.kind === 'refusal' ? style.red('denied') : style.green('allowed')} ${action} ${what}${preview} ${style.dim(`(${how}: ${reasons.join('; ')})`)}`
    }
    case 'outcome':
      return safe`${head} ${style.dim(`  ${record.intent} ${outcomeText(record.outcome)}`)}`
    case 'recovered':
      return safe`${head} ${style.red('set aside')} ${record.bytes} bytes of an incomplete record ${style.dim(`(${record.file})`)}`
    case 'retired':
      return safe`${head} ${style.dim(`records up to ${record.upToSeq} were ${record.isArchived ? 'archived' : 'removed'}`)}`
    default:
      return safe`${head} ${style.dim(record.kind)}`
  }
}
