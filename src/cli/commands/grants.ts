/** `portico grants`: lists and revokes remembered approvals. */

import type { Command } from 'commander'
import { type Grant, type Host, openGrants, patternText } from '../../host/index.ts'
import type { CommandRunner, Invocation } from '../command-runner.ts'
import { storagePath } from '../connections/host-files.ts'
import { UsageError } from '../errors.ts'
import { counted } from '../output/counted.ts'
import { minuteText } from '../output/minute-text.ts'
import { safe } from '../output/safe-text.ts'
import { printTable } from '../output/table.ts'

export function registerGrants(program: Command, runner: CommandRunner): void {
  const grants = program
    .command('grants')
    .summary('list and revoke remembered approvals')
    .description('Lists and revokes grants: approvals that you gave for longer than once.')
  grants.command('list').description('Lists grants.').option('--json', 'write JSON').action(runner.action(listAction))
  grants
    .command('revoke')
    .description('Revokes one grant by its id or the first characters of it, all grants of a server, or all grants.')
    .argument('[id]')
    .option('--server <name>', 'revoke all grants of this server')
    .option('--all', 'revoke all grants')
    .action(runner.action(revokeAction))
}

const storeOf = ({ io }: Invocation): Promise<Host['grants']> => openGrants({ file: storagePath(io, 'grants') })

async function listAction(invocation: Invocation): Promise<void> {
  const { screen } = invocation
  const grants = await (await storeOf(invocation)).live(Date.now())
  if (screen.isJson) return screen.printJson(grants)
  if (grants.length === 0) return screen.note(safe`No grants.`)
  const rows = grants.map(({ id, action, scope, expiresAt, bind, at }) => [
    // A terminal has no room for the whole id, and "revoke" takes a part of it.
    screen.columns === undefined ? id : id.slice(0, SHOWN_DIGITS),
    action,
    [bind.server, bind.primitive].filter((part) => part !== undefined).join('/'),
    scope === 'always' && expiresAt === undefined
      ? 'until revoked'
      : expiresAt === undefined
        ? scope
        : `${scope}, to ${minuteText(expiresAt)}`,
    argumentsText(action, bind.args, at),
  ])
  printTable(
    screen,
    [{ title: 'ID', style: 'dim' }, { title: 'ACTION' }, { title: 'TARGET', style: 'bold' }, { title: 'LASTS' }, { title: 'ARGUMENTS' }],
    rows,
  )
}

const SHOWN_DIGITS = 8
const LEAST_DIGITS = 4

/** Without words for its arguments, a grant is told from others by its time. */
function argumentsText(action: Grant['action'], args: Grant['bind']['args'], at: number): string {
  if (args.kind === 'pattern') return patternText(args.args).replaceAll('\n', ', ')
  if (args.kind === 'any') return 'any'
  if (args.shown !== undefined) return args.shown
  return action.startsWith('server.') ? `as it was on ${minuteText(at)}` : `one set, given ${minuteText(at)}`
}

/** The whole id of the only grant whose id begins with `typed`. */
async function wholeId(store: Host['grants'], typed: string): Promise<string> {
  const ids = (await store.live(Date.now())).map(({ id }) => id)
  if (ids.includes(typed) || typed.length < LEAST_DIGITS) return typed
  const meant = ids.filter((id) => id.startsWith(typed))
  if (meant.length > 1) throw new UsageError(`${counted(meant.length, 'grant')} begin with ${typed}`, 'Give more of the id')
  return meant[0] ?? typed
}

async function revokeAction(invocation: Invocation, id: string | undefined, options: { server?: string; all?: true }): Promise<void> {
  if ([id, options.server, options.all].filter((each) => each !== undefined).length !== 1)
    throw new UsageError('Expected one of: an id, --server NAME, --all')
  const store = await storeOf(invocation)
  const which = id === undefined ? (options.server === undefined ? {} : { server: options.server }) : await wholeId(store, id)
  const count = await store.revoke(which)
  if (count === 0) throw new UsageError('No such grant', '"portico grants list" lists them')
  invocation.screen.note(safe`Revoked ${counted(count, 'grant')}`)
}
