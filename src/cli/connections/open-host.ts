/** Opens the user's host for the duration of a command. */

import type { ConsoleAsker, ConsoleFeed } from '../../console/index.ts'
import {
  type Asker,
  createHost,
  firstOf,
  type Host,
  type HostEvent,
  type HostOptions,
  inboxAsker,
  McpError,
  type ServerSpec,
  serverFile,
} from '../../host/index.ts'
import type { Rule } from '../../host/policy-tools/index.ts'
import { typedCommand } from '../command-name.ts'
import type { Invocation } from '../command-runner.ts'
import { unknownServer } from '../errors.ts'
import { isInteractive } from '../io.ts'
import { counted } from '../output/counted.ts'
import { safe } from '../output/safe-text.ts'
import { CLIENT_INFO } from '../version.ts'
import { rememberAnnounced } from './announced.ts'
import { auditRetention, checkRetentionVariables } from './audit-retention.ts'
import { enableServers, notEnabled } from './enable-servers.ts'
import { hostFolderOf, policyFiles, storagePath } from './host-files.ts'
import { openPage } from './open-page.ts'

export interface OpenHostOptions {
  /** Use only these servers. Default: all. */
  only?: readonly string[]
  /** Connect to none of them. Default: false. */
  startsNothing?: boolean
  /** Without a terminal, questions wait in the inbox. Default: false. */
  parks?: boolean
  /** Ask nothing: for commands that only look. Default: false. */
  asksNobody?: boolean
  /** Ask about what servers offer. False: for commands that show what there is to approve. Default: true. */
  asksAboutOfferings?: boolean
  /** Wait until the servers have started. Default: true. */
  waits?: boolean
  /** Servers in addition to the configured ones. */
  extra?: NonNullable<HostOptions['servers']>
  /** Rules for the extra servers in use. */
  rulesForExtra?(ids: readonly string[]): readonly Rule[]
  /** The console of the host. Its pages are asked as well, and the first answer counts. */
  console?: { asker: ConsoleAsker; feed: ConsoleFeed }
  options?: Partial<HostOptions>
}

/** Questions before the start may take a person this long. */
const SETTLE_MS = 10 * 60_000

/** All configured servers. Prints the entries that cannot be read. */
export async function configuredServers(invocation: Pick<Invocation, 'io' | 'screen'>): Promise<ServerSpec[]> {
  const { screen } = invocation
  checkRetentionVariables(invocation.io)
  const { servers, problems } = await serverFile(hostFolderOf(invocation.io)).list()
  for (const { file, where, text } of problems) screen.note(safe`${screen.noteStyle.yellow('!')} ${file}, ${where}: ${text}`)
  return servers
}

export async function withHost<T>(
  invocation: Invocation,
  {
    only,
    startsNothing = false,
    parks = false,
    asksNobody = false,
    asksAboutOfferings = true,
    waits = true,
    extra = {},
    rulesForExtra = () => [],
    console,
    options = {},
  }: OpenHostOptions,
  use: (host: Host) => Promise<T>,
): Promise<T> {
  const { io, screen } = invocation
  // Options count before variables, and an archive of a variable may belong to an age of an option.
  const retention = options.auditRetention ?? auditRetention(io)
  const all = await configuredServers(invocation)
  const names = [...new Set([...all.map(({ id }) => id), ...Object.keys(extra)])]
  for (const id of only ?? []) if (!names.includes(id)) throw unknownServer(id, names)
  const isChosen = (id: string): boolean => !only || only.includes(id)
  const chosen = all.filter(({ id }) => isChosen(id))
  // A configured server replaces an extra one of the same name.
  const others = Object.fromEntries(Object.entries(extra).filter(([id]) => isChosen(id) && !chosen.some((spec) => spec.id === id)))
  const announced = new Set<string>()
  const asker = asksNobody ? undefined : await askerFor(invocation, parks, console?.asker)
  const ask = asker && !asksAboutOfferings ? exceptOfferings(asker) : asker
  const host = await createHost({
    servers: {
      ...others,
      ...Object.fromEntries(chosen.map(({ id, ...spec }) => [id, startsNothing ? { ...spec, isDisabled: true } : spec])),
    },
    policy: { ...policyFiles(io), session: rulesForExtra(Object.keys(others)) },
    folder: hostFolderOf(io),
    project: io.cwd,
    hasOtherServers: only !== undefined,
    info: CLIENT_INFO,
    openUrl: (url, purpose) => openPage(invocation, url, purpose),
    ...(ask && { ask }),
    onEvent: (event) => {
      showEvent(invocation, event)
      if (event.kind === 'enabled') announced.add(event.server)
      console?.feed.onEvent(event)
    },
    ...(console && { onTraffic: (traffic) => console.feed.onTraffic(traffic) }),
    ...(retention && { auditRetention: retention }),
    ...options,
  })
  rememberAnnounced(host, announced)
  try {
    if (waits) {
      const settled = async (): Promise<void> => {
        await host.settled(SETTLE_MS)
        // A command about a server is a use of it. The state of the server tells why it did not start.
        const waiting = notEnabled(host)
        await enableServers(
          invocation,
          host,
          (only ?? []).filter((id) => waiting.includes(id)),
        )
      }
      await Promise.race([settled(), aborted(invocation.signal)])
      for (const { id } of chosen) notePending(invocation, host, id)
    }
    return await use(host)
  } finally {
    screen.clear()
    await host.close()
  }
}

async function askerFor({ io, screen }: Invocation, parks: boolean, pages: Asker | undefined): Promise<Asker | undefined> {
  if (isInteractive(io)) {
    const terminal = (await import('../terminal/asker.ts')).terminalAsker(io)
    return pages ? firstOf(terminal, pages) : terminal
  }
  if (pages) return pages
  if (!parks) return undefined
  const inbox = inboxAsker({ folder: storagePath(io, 'inbox'), onWarning: (text) => screen.note(safe`! ${text}`) })
  return {
    ask: (question, signal) => {
      screen.note(safe`A question waits for your answer: ${typedCommand(io, `inbox answer ${question.id}`)}`)
      return inbox.ask(question, signal)
    },
  }
}

/** `notePending` tells what waits. */
const LEFT_OPEN = 'This command does not ask about what servers offer'

const exceptOfferings = (asker: Asker): Asker => ({
  ask: async (question, signal) => {
    if (question.action === 'server.approve') throw new McpError('ERR_CONSENT', LEFT_OPEN)
    return asker.ask(question, signal)
  },
})

function notePending({ io, screen }: Invocation, host: Host, id: string): void {
  const pending = host.health()[id]?.state === 'ready' ? (host.review(id)?.items.length ?? 0) : 0
  if (pending > 0)
    screen.note(
      safe`${screen.noteStyle.yellow('!')} ${id}: ${counted(pending, 'item')} ${pending === 1 ? 'awaits' : 'await'} approval. Review: ${io.isShell ? `approve ${id}` : typedCommand(io, `pins diff ${id}`)}`,
    )
}

function showEvent({ io, screen }: Invocation, event: HostEvent): void {
  const { noteStyle: style } = screen
  if (event.kind === 'enabled') screen.note(safe`${enabledLine(event, typedCommand(io, `servers accept ${event.server}`))}`)
  if (event.kind === 'warning' && event.text !== LEFT_OPEN)
    screen.note(safe`${style.yellow('!')} ${event.server === undefined ? '' : `${event.server}: `}${event.text}`)
}

function enabledLine(
  { server, tools, prompts, resources, readOnly, held }: Extract<HostEvent, { kind: 'enabled' }>,
  command: string,
): string {
  const parts = [
    counted(tools, 'tool'),
    ...(prompts > 0 ? [counted(prompts, 'prompt')] : []),
    ...(resources > 0 ? [counted(resources, 'resource')] : []),
  ]
  return [
    `${server} enabled: ${parts.join(', ')}.`,
    ...(readOnly > 0 ? [`${counted(readOnly, 'tool')} ${readOnly === 1 ? 'says it only reads' : 'say they only read'}: ${command}`] : []),
    ...(held > 0 ? [`Not in use: ${counted(held, 'item')} with warnings.`] : []),
  ].join(' ')
}

const aborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true }))
