/** `portico pins`: lists approved definitions, shows what changed, and approves changes. */

import type { Command } from 'commander'
import { openPins } from '../../host/index.ts'
import type { CommandRunner, Invocation } from '../command-runner.ts'
import { storagePath } from '../connections/host-files.ts'
import { withHost } from '../connections/open-host.ts'
import type { ExitName } from '../exit-codes.ts'
import { jsonText } from '../output/json.ts'
import { safe, untrustedLines } from '../output/safe-text.ts'
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
  const { screen } = invocation
  return withHost(invocation, { only: [server], asksNobody: true }, async (host) => {
    const health = host.health()[server]
    if (health?.state === 'refused') throw health.error
    if (health?.state === 'waiting' || health?.state === 'open-circuit') throw health.lastError
    const review = host.review(server)
    if (screen.isJson) screen.printJson(review ?? null)
    if (!review) {
      const missing = host.notOffered(server)
      if (!screen.isJson) screen.note(safe`No changes since your approval.`)
      if (!screen.isJson && missing.length > 0) screen.note(safe`Approved, but not offered now: ${missing.join(', ')}.`)
      return 'ok'
    }
    if (screen.isJson) return 'different'
    const { style } = screen
    for (const { kind, name, difference, flags, definition } of review.items) {
      screen.print(safe`${style.yellow('≠')} ${style.bold(`${kind} ${name}`)} ${difference ? difference.class : 'new'}`)
      for (const flag of flags) screen.print(safe`  ${style.yellow(`! ${flag}`)}`)
      for (const { pointer, text, before, after } of difference?.changes ?? []) {
        screen.print(safe`  ${pointer}: ${text}`)
        if (before !== undefined) screen.print(safe`    ${style.red(`- ${jsonText(before)}`)}`)
        if (after !== undefined) screen.print(safe`    ${style.green(`+ ${jsonText(after)}`)}`)
      }
      if (!difference) screen.print(untrustedLines(jsonText(definition, 2)).indented(2))
    }
    for (const gone of review.gone) screen.print(safe`${style.red('-')} ${gone}: not offered now`)
    return 'different'
  })
}

async function acceptAction(invocation: Invocation, server: string, { inbox }: { inbox?: true }): Promise<void> {
  const { screen, signal } = invocation
  await withHost(invocation, { only: [server], parks: inbox === true }, async (host) => {
    if (host.review(server)) await host.approve(server, { signal })
    screen.note(host.review(server) ? safe`${server}: some items still await approval.` : safe`Nothing of ${server} awaits approval.`)
  })
}
