/** `portico tasks`: lists, shows and cancels tasks, and waits for their results. */

import type { Command } from 'commander'
import { type Host, openTasks, type StoredTasks, type TaskRecord } from '../../host/index.ts'
import type { CommandRunner, Invocation } from '../command-runner.ts'
import { storagePath } from '../connections/host-files.ts'
import { shownTask } from '../connections/shown-task.ts'
import { Interrupted, UsageError, unknownName, unknownServer } from '../errors.ts'
import type { ExitName } from '../exit-codes.ts'
import { counted } from '../output/counted.ts'
import { jsonText } from '../output/json.ts'
import { minuteText } from '../output/minute-text.ts'
import { safe, untrusted } from '../output/safe-text.ts'
import { printTable } from '../output/table.ts'

interface WaitOptions {
  save?: string
  inbox?: true
}

export function registerTasks(program: Command, runner: CommandRunner): void {
  const tasks = program
    .command('tasks')
    .summary('list, await and cancel tasks')
    .description('Lists, shows and cancels tasks: tool calls that "portico call --task", the console or a model started.')
  tasks
    .command('list')
    .description('Lists tasks, the newest first. Not followed: no process asks the server about the task now; "portico tasks wait" does.')
    .option('--json', 'write JSON')
    .action(runner.action(listAction))
  tasks
    .command('show')
    .description('Shows a task and its result, as far as this computer knows them. Asks no server; "portico tasks wait" does.')
    .argument('<id>', 'the id, or the beginning of it')
    .option('--json', 'write JSON')
    .action(runner.action(showAction))
  tasks
    .command('wait')
    .description(
      'Waits until a task has ended, and prints its result. Answers its questions. Starts its server if no other process uses it.',
    )
    .argument('<id>', 'the id, or the beginning of it')
    .option('--save <folder>', 'save images and audio in this folder')
    .option('--inbox', 'without a terminal: wait until questions are answered with "portico inbox"')
    .option('--json', 'write the result as JSON')
    .action(runner.action(waitAction))
  tasks
    .command('cancel')
    .description('Cancels a task. Starts its server if no other process uses it.')
    .argument('<id>', 'the id, or the beginning of it')
    .action(runner.action(cancelAction))
}

const filesOf = ({ io }: Invocation): StoredTasks => openTasks({ folder: storagePath(io, 'tasks') })

const LEAST_DIGITS = 3

async function chosen(files: StoredTasks, typed: string): Promise<TaskRecord> {
  const records = await files.list()
  const found = records.filter(({ id }) => id === typed || (typed.length >= LEAST_DIGITS && id.startsWith(typed)))
  if (found.length > 1) throw new UsageError(`${counted(found.length, 'task')} begin with ${typed}`, 'Give more of the id')
  if (!found[0])
    throw unknownName(
      'task',
      typed,
      records.map(({ id }) => id),
    )
  return found[0]
}

/** What a person wants to know first. */
function stateText(files: StoredTasks, record: TaskRecord): string {
  if (record.outcome || files.isFollowedElsewhere(record)) return record.status === 'input_required' ? 'asks' : record.status
  return 'not followed'
}

async function listAction(invocation: Invocation): Promise<void> {
  const { screen } = invocation
  const files = filesOf(invocation)
  const records = await files.list()
  if (screen.isJson) return screen.printJson(records.map((record) => shown(files, record)))
  if (records.length === 0) return screen.note(safe`No tasks.`)
  const rows = records.map((record) => [
    record.id,
    stateText(files, record),
    `${record.server}/${record.tool}`,
    minuteText(record.startedAt),
    messageOf(record),
  ])
  printTable(
    screen,
    [{ title: 'ID', style: 'dim' }, { title: 'STATUS' }, { title: 'TOOL', style: 'bold' }, { title: 'STARTED' }, { title: 'MESSAGE' }],
    rows,
  )
}

const messageOf = ({ outcome, statusMessage, progress }: TaskRecord): string =>
  outcome && 'error' in outcome ? outcome.error.message : (statusMessage ?? progress?.message ?? '')

function shown(files: StoredTasks, record: TaskRecord): object {
  const { outcome } = record
  return { ...shownTask(record, outcome !== undefined || files.isFollowedElsewhere(record)), ...outcome }
}

async function showAction(invocation: Invocation, typed: string): Promise<void> {
  const { io, screen } = invocation
  const files = filesOf(invocation)
  const record = await chosen(files, typed)
  if (screen.isJson) return screen.printJson(shown(files, record))
  const { outcome } = record
  const facts: [string, string][] = [
    ['task', record.id],
    ['tool', `${record.server}/${record.tool}`],
    ['status', stateText(files, record)],
    ['message', messageOf(record)],
    ['asked by', record.chain.join(', ')],
    ['arguments', typeof record.args.preview === 'string' ? record.args.preview : jsonText(record.args.preview)],
    ['started', minuteText(record.startedAt)],
    ['ended', record.endedAt === undefined ? '' : minuteText(record.endedAt)],
    ['kept until', record.expiresAt === undefined ? '' : minuteText(record.expiresAt)],
  ]
  for (const [name, value] of facts) if (value !== '') screen.print(safe`${screen.style.dim(name.padEnd(11))} ${untrusted(value)}`)
  if (!outcome || !('result' in outcome)) return
  const [{ printResult }, { MediaFolder }] = await Promise.all([import('../output/content.ts'), import('../output/media.ts')])
  await printResult({ io, screen }, outcome.result, new MediaFolder(io, {}), record.tool)
}

const POLL_MS = 500

/** Resolves with the task when it has ended, or no other process follows it. */
async function whileElsewhere(
  { signal }: Invocation,
  files: StoredTasks,
  first: TaskRecord,
  forMs = Number.POSITIVE_INFINITY,
): Promise<TaskRecord> {
  let record = first
  for (const until = Date.now() + forMs; !record.outcome && files.isFollowedElsewhere(record) && Date.now() < until; ) {
    await new Promise((resolve) => setTimeout(resolve, POLL_MS))
    if (signal.aborted) throw new Interrupted('No longer waiting. The task goes on')
    record = (await files.read(record.id)) ?? record
  }
  return record
}

async function waitAction(invocation: Invocation, typed: string, options: WaitOptions): Promise<ExitName> {
  const files = filesOf(invocation)
  const found = await chosen(files, typed)
  if (!found.outcome && files.isFollowedElsewhere(found))
    invocation.screen.note(safe`Another process follows the task and answers its questions. Waiting for the result`)
  const record = await whileElsewhere(invocation, files, found)
  return withTaskHost(invocation, record, options.inbox === true, async (host) => {
    const { waitForTask } = await import('../connections/task-call.ts')
    return waitForTask(invocation, await host.task(record.id), options)
  })
}

/** How long another process may take to cancel a task. */
const CANCEL_MS = 15_000

async function cancelAction(invocation: Invocation, typed: string): Promise<ExitName> {
  const { screen } = invocation
  const files = filesOf(invocation)
  const found = await chosen(files, typed)
  if (!found.outcome && files.isFollowedElsewhere(found)) await files.requestCancel(found.id)
  const record = await whileElsewhere(invocation, files, found, CANCEL_MS)
  if (record.outcome) return told(invocation, record)
  if (files.isFollowedElsewhere(record)) {
    screen.note(safe`${screen.noteStyle.yellow('!')} The process that follows the task has not cancelled it yet`)
    return 'failed'
  }
  return withTaskHost(invocation, record, false, async (host) => {
    const task = await host.cancelTask(record.id)
    await task.result({ signal: invocation.signal }).catch(() => {})
    return told(invocation, { status: task.status, id: task.id })
  })
}

function told({ screen }: Invocation, { id, status }: Pick<TaskRecord, 'id' | 'status'>): ExitName {
  screen.note(status === 'cancelled' ? safe`Cancelled ${id}` : safe`The task ${id} has ended before: ${status}`)
  return 'ok'
}

/** A host with the server of the task, which it starts. A task that has ended needs no server. */
async function withTaskHost(
  invocation: Invocation,
  { server, outcome }: TaskRecord,
  parks: boolean,
  use: (host: Host) => Promise<ExitName>,
): Promise<ExitName> {
  const [{ withHost, configuredServers }, { bundledSamples }] = await Promise.all([
    import('../connections/open-host.ts'),
    import('../demo/embedded.ts'),
  ])
  const samples = await bundledSamples(invocation.io)
  const known = [...(await configuredServers(invocation)).map(({ id }) => id), ...Object.keys(samples.extra ?? {})]
  if (!outcome && !known.includes(server)) throw unknownServer(server, known)
  return withHost(invocation, { ...samples, only: outcome ? [] : [server], parks }, use)
}
