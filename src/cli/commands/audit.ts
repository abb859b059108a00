/** `portico audit`: what was done and what was refused, and whether the log of it is whole. */

import { resolve } from 'node:path'
import type { Command } from 'commander'
import type { AuditRecord, Checkpoint } from '../../host/model/audit-record.ts'
import { appendAnchor } from '../../host/storage/audit/anchor.ts'
import { type AuditFilter, readAudit } from '../../host/storage/audit/read.ts'
import { type AuditVerdict, verifyAudit } from '../../host/storage/audit/verify.ts'
import { McpError } from '../../protocol/errors.ts'
import type { ExitName } from '../exit-codes.ts'
import type { Frame, Invocation } from '../frame.ts'
import { keptIn } from '../hosting/host-files.ts'
import { jsonText } from '../output/json.ts'
import type { Screen } from '../output/screen.ts'
import { type Shown, words } from '../output/shown.ts'

export function registerAudit(program: Command, frame: Frame): void {
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
    .action(frame.action(verifyAction))
  audit
    .command('anchor')
    .description(
      'Adds the newest signed checkpoint of the log to a file, for audit verify --anchors. Keep it where the log cannot be changed from.',
    )
    .argument('<file>', 'best on another disk or machine')
    .action(frame.action(anchorAction))
  audit
    .command('show')
    .description('Shows it, the oldest first.')
    .option('--server <name>', 'only of this server')
    .option('--action <kind>', 'only of this kind, such as tool.call')
    .option('--from <seq>', 'from this record on', Number)
    .option('--json', 'write one JSON object a record')
    .action(frame.action(showAction))
}

async function verifyAction({ io, screen }: Invocation, options: { anchors?: string }): Promise<ExitName> {
  const verdict = await verifyAudit(keptIn(io, 'audit'), options.anchors === undefined ? {} : { anchors: options.anchors })
  if (screen.isJson) screen.printJson(verdict)
  else printVerdict(screen, verdict, options.anchors)
  return verdict.ok ? 'ok' : 'audit'
}

async function anchorAction({ io, screen }: Invocation, file: string): Promise<ExitName> {
  const folder = keptIn(io, 'audit')
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
  screen.note(words`${file} vouches for the log up to record ${newest.to}: portico audit verify --anchors ${file}`)
  return 'ok'
}

/** @param anchors the file that the log was compared with */
export function printVerdict(
  screen: Screen,
  { firstBad, records, recovered, unmatchedIntents, signedUpTo }: AuditVerdict,
  anchors?: string,
): void {
  const { style } = screen
  if (firstBad)
    screen.print(words`${style.red('✗')} record ${firstBad.seq} (${firstBad.segment}, line ${firstBad.line}): ${firstBad.reason}`)
  else
    screen.print(
      words`${style.green('✓')} ${records} records are as they were written; ${signedUpTo > 0 ? `signed up to record ${signedUpTo}` : 'none is signed yet'}`,
    )
  if (!firstBad)
    screen.print(
      style.dim(
        anchors === undefined
          ? '  Whether records were cut off at the end was not checked: that takes a checkpoint kept elsewhere (audit anchor, verify --anchors).'
          : `  Nothing is missing up to the newest checkpoint in ${anchors}. Later records could have been cut off.`,
      ),
    )
  if (recovered > 0)
    screen.print(
      words`${style.yellow('!')} ${recovered === 1 ? 'once' : `${recovered} times`} the last record was not finished, and was set aside: a crash, or somebody cut it`,
    )
  if (unmatchedIntents.length > 0)
    screen.print(words`${style.yellow('!')} ${unmatchedIntents.length} were begun, and nothing is known of how they ended`)
}

async function showAction({ io, screen, signal }: Invocation, options: { server?: string; action?: string; from?: number }): Promise<void> {
  const filter: AuditFilter = {
    ...(options.server !== undefined && { server: options.server }),
    ...(options.action !== undefined && { action: options.action as NonNullable<AuditFilter['action']> }),
    ...(options.from !== undefined && { fromSeq: options.from }),
  }
  for await (const record of readAudit(keptIn(io, 'audit'), filter)) {
    signal.throwIfAborted()
    if (screen.isJson) screen.printJsonLine(record)
    else screen.print(lineOf(screen.style, record))
  }
}

function lineOf(style: { dim(text: string): Shown; red(text: string): Shown; green(text: string): Shown }, record: AuditRecord): Shown {
  const head = words`${style.dim(String(record.seq).padStart(6))} ${style.dim(new Date(record.at).toISOString())}`
  switch (record.kind) {
    case 'intent':
    case 'refusal': {
      const { action, server, primitive, effect, reasons, answer, args } = record.entry
      const what = [server, primitive].filter((part) => part !== undefined).join('/')
      const how = answer ? `${effect}, ${answer.by} said ${answer.kind}` : effect
      const preview = args === undefined ? '' : ` ${jsonText(args.preview)}`
      return words`${head} ${record.kind === 'refusal' ? style.red('refused') : style.green('allowed')} ${action} ${what}${preview} ${style.dim(`(${how}: ${reasons.join('; ')})`)}`
    }
    case 'outcome':
      return words`${head} ${style.dim(`  ${record.intent} ${jsonText(record.outcome)}`)}`
    case 'recovered':
      return words`${head} ${style.red('set aside')} ${record.bytes} bytes of a record that was not finished ${style.dim(`(${record.file})`)}`
    default:
      return words`${head} ${style.dim(record.kind)}`
  }
}
