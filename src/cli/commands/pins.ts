/** `portico pins`: lists approved definitions, shows what changed, and approves changes. */

import type { Command } from 'commander'
import { openPins } from '../../host/index.ts'
import type { CommandRunner, Invocation } from '../command-runner.ts'
import { storagePath } from '../connections/host-files.ts'
import { type OpenHostOptions, withHost } from '../connections/open-host.ts'
import { acceptDifferences, printDifferences } from '../connections/pin-differences.ts'
import type { ExitName } from '../exit-codes.ts'
import { safe } from '../output/safe-text.ts'
import { printTable } from '../output/table.ts'

export function registerPins(program: Command, runner: CommandRunner): void {
  const pins = program
    .command('pins')
    .summary('list approved definitions, review and approve changes')
    .description('Lists the approved definitions of each server, shows what changed, and approves changes.')
  pins
    .command('list')
    .description('Lists approved definitions.')
    .argument('[server]')
    .option('--json', 'write JSON')
    .action(runner.action(listAction))
  pins
    .command('diff')
    .description('Connects to a server and shows definitions that are new or changed since you approved them.')
    .argument('<server>')
    .option('--json', 'write JSON')
    .action(runner.action(diffAction))
  pins
    .command('accept')
    .description('Connects to a server, shows new and changed definitions, and asks for your approval.')
    .argument('<server>')
    .option('--inbox', 'without a terminal: wait until the question is answered with "portico inbox"')
    .action(runner.action(acceptAction))
}

async function listAction({ io, screen }: Invocation, server: string | undefined): Promise<void> {
  const baselines = (await openPins({ file: storagePath(io, 'pins') }))
    .list()
    .filter((each) => server === undefined || each.server === server)
  if (screen.isJson) return screen.printJson(baselines)
  const rows = baselines.flatMap(({ server: id, items }) => items.map(({ kind, name }) => [id, kind, name]))
  if (rows.length === 0) return screen.note(safe`Nothing is approved yet.`)
  printTable(screen, [{ title: 'SERVER', style: 'bold' }, { title: 'KIND' }, { title: 'NAME' }], rows)
}

async function diffAction(invocation: Invocation, server: string): Promise<ExitName> {
  return withHost(invocation, { ...(await samples(invocation)), only: [server], asksNobody: true }, async (host) =>
    printDifferences(invocation, host, server),
  )
}

async function acceptAction(invocation: Invocation, server: string, { inbox }: { inbox?: true }): Promise<void> {
  await withHost(invocation, { ...(await samples(invocation)), only: [server], parks: inbox === true }, (host) =>
    acceptDifferences(invocation, host, server),
  )
}

/** Loaded on use, with the servers that they start. */
const samples = async ({ io }: Invocation): Promise<Partial<OpenHostOptions>> => (await import('../demo/embedded.ts')).bundledSamples(io)
