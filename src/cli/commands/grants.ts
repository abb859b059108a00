/** `portico grants`: what this person has said yes to for longer, and taking it back. */

import type { Command } from 'commander'
import { type GrantStore, openGrants } from '../../host/index.ts'
import type { CommandRunner, Invocation } from '../command-runner.ts'
import { UsageError } from '../errors.ts'
import { jsonText } from '../output/json.ts'
import { safe } from '../output/safe-text.ts'
import { table } from '../output/table.ts'
import { storagePath } from '../server/host-files.ts'

export function registerGrants(program: Command, runner: CommandRunner): void {
  const grants = program
    .command('grants')
    .summary('list and revoke what you said yes to')
    .description('What you have said yes to for longer than once.')
  grants.command('list').description('Lists it.').option('--json', 'write JSON').action(runner.action(listAction))
  grants
    .command('revoke')
    .description('Takes it back: one by its id, those of a server, or all.')
    .argument('[id]')
    .option('--server <name>', 'everything that was granted for this server')
    .option('--all', 'everything')
    .action(runner.action(revokeAction))
}

const storeOf = ({ io }: Invocation): Promise<GrantStore> => openGrants({ file: storagePath(io, 'grants') })

async function listAction(invocation: Invocation): Promise<void> {
  const { screen } = invocation
  const grants = await (await storeOf(invocation)).live(Date.now())
  if (screen.isJson) return screen.printJson(grants)
  if (grants.length === 0) return screen.note(safe`There are none.`)
  const rows = grants.map(({ id, action, scope, expiresAt, bind }) => [
    id,
    action,
    [bind.server, bind.primitive].filter((part) => part !== undefined).join('/'),
    scope,
    new Date(expiresAt).toISOString().slice(0, 16).replace('T', ' '),
    bind.args.kind === 'pattern' ? jsonText(bind.args.args) : bind.args.kind,
  ])
  screen.print(
    table(
      [
        { title: 'ID', style: 'dim' },
        { title: 'FOR' },
        { title: 'OF', style: 'bold' },
        { title: 'HOW LONG' },
        { title: 'UNTIL' },
        { title: 'ARGUMENTS' },
      ],
      rows,
      screen.style,
      screen.columns,
    ),
  )
}

async function revokeAction(invocation: Invocation, id: string | undefined, options: { server?: string; all?: true }): Promise<void> {
  if ([id, options.server, options.all].filter((each) => each !== undefined).length !== 1)
    throw new UsageError('Give one id, --server NAME, or --all')
  const store = await storeOf(invocation)
  const count = await store.revoke(id ?? (options.server === undefined ? {} : { server: options.server }))
  if (count === 0) throw new UsageError('There is no such grant', 'portico grants list shows what there is')
  invocation.screen.note(safe`${count} taken back`)
}
