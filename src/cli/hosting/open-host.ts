/** The host of this person, for as long as a command needs it. */

import { serverFile } from '../../host/config/server-file.ts'
import { inboxAsker } from '../../host/consent/ask/inbox.ts'
import { createHost } from '../../host/create-host.ts'
import type { Host } from '../../host/host.ts'
import type { Asker } from '../../host/model/question.ts'
import type { Rule } from '../../host/model/rule.ts'
import type { ServerSpec } from '../../host/model/server-spec.ts'
import type { HostEvent, HostOptions } from '../../host/options.ts'
import { unknownName } from '../faults.ts'
import type { Invocation } from '../frame.ts'
import { isInteractive } from '../io.ts'
import { words } from '../output/shown.ts'
import { CLIENT_INFO } from '../target/client-info.ts'
import { folderOf, keptIn, policyFiles } from './host-files.ts'

export interface OpenHostOptions {
  /** Only these of the configured servers; all unless given. */
  only?: readonly string[]
  /** Where there is no terminal, questions wait in the inbox for somebody else to answer. */
  parks?: boolean
  /** Looking only: nothing is asked, so that nothing is agreed to by looking at it. */
  asksNobody?: boolean
  /** Servers beside those of the list. */
  extra?: NonNullable<HostOptions['servers']>
  /** Rules for those of them that are there; a server of the list goes before one of the same name. */
  rulesForExtra?(ids: readonly string[]): readonly Rule[]
  options?: Partial<HostOptions>
}

/** A person may take their time to answer what is asked before a server is started. */
const SETTLE_MS = 10 * 60_000

/** Everything in the list of servers, and what could not be read of it. */
export async function configuredServers(invocation: Pick<Invocation, 'io' | 'screen'>): Promise<ServerSpec[]> {
  const { screen } = invocation
  const { servers, problems } = await serverFile(folderOf(invocation.io)).list()
  for (const { file, where, text } of problems) screen.note(words`${screen.noteStyle.yellow('!')} ${file}, ${where}: ${text}`)
  return servers
}

export async function withHost<T>(
  invocation: Invocation,
  { only, parks = false, asksNobody = false, extra = {}, rulesForExtra = () => [], options = {} }: OpenHostOptions,
  use: (host: Host) => Promise<T>,
): Promise<T> {
  const { io, screen } = invocation
  const all = await configuredServers(invocation)
  for (const id of only ?? [])
    if (!all.some((spec) => spec.id === id))
      throw unknownName(
        'server',
        id,
        all.map((spec) => spec.id),
        '(portico servers add makes one)',
      )
  const chosen = only ? all.filter(({ id }) => only.includes(id)) : all
  const ask = asksNobody ? undefined : await askerFor(invocation, parks)
  const host = await createHost({
    servers: { ...extra, ...Object.fromEntries(chosen.map(({ id, ...spec }) => [id, spec])) },
    policy: { ...policyFiles(io), session: rulesForExtra(Object.keys(extra).filter((id) => !chosen.some((spec) => spec.id === id))) },
    folder: folderOf(io),
    project: io.cwd,
    info: CLIENT_INFO,
    openUrl: (url) => openOrPrint(invocation, url),
    ...(ask && { ask }),
    onEvent: (event) => showEvent(invocation, event),
    ...options,
  })
  try {
    await Promise.race([host.settled(SETTLE_MS), aborted(invocation.signal)])
    for (const { id } of chosen) notePending(invocation, host, id)
    return await use(host)
  } finally {
    screen.clear()
    await host.close()
  }
}

async function askerFor({ io, screen }: Invocation, parks: boolean): Promise<Asker | undefined> {
  if (isInteractive(io)) return (await import('../terminal/asker.ts')).terminalAsker(io)
  if (!parks) return undefined
  const inbox = inboxAsker({ folder: keptIn(io, 'inbox'), onWarning: (text) => screen.note(words`! ${text}`) })
  return {
    ask: (question, signal) => {
      screen.note(words`A question waits for an answer: portico inbox answer ${question.id}`)
      return inbox.ask(question, signal)
    },
  }
}

async function openOrPrint({ screen }: Invocation, url: string): Promise<void> {
  const { openBrowser } = await import('../../auth/client/login/node/browser.ts')
  await openBrowser(url).catch(() => screen.note(words`No browser could be opened. Visit it yourself:\n  ${screen.noteStyle.cyan(url)}`))
}

function notePending({ screen }: Invocation, host: Host, id: string): void {
  const pending = host.health()[id]?.state === 'ready' ? (host.review(id)?.items.length ?? 0) : 0
  if (pending > 0)
    screen.note(
      words`${screen.noteStyle.yellow('!')} ${pending} things of ${id} are not in use: nobody has agreed to them (portico pins diff ${id})`,
    )
}

function showEvent({ screen }: Invocation, event: HostEvent): void {
  const { noteStyle: style } = screen
  if (event.kind === 'warning')
    screen.note(words`${style.yellow('!')} ${event.server === undefined ? '' : `${event.server}: `}${event.text}`)
}

const aborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true }))
