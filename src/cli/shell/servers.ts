/** The servers of a host and their states, for a person at the prompt. */

import { setTimeout as sleep } from 'node:timers/promises'
import type { Health, Host } from '../../host/index.ts'
import { counted } from '../output/counted.ts'
import { safe } from '../output/safe-text.ts'
import type { Screen } from '../output/screen.ts'
import { table } from '../output/table.ts'

const SETTLE_MS = 20_000

/** Waits for servers that are starting, so that their tools can be listed and called. */
export async function settled(host: Host, signal: AbortSignal): Promise<void> {
  const stop = new AbortController()
  const ended = sleep(SETTLE_MS, undefined, { signal: AbortSignal.any([signal, stop.signal]) })
  await Promise.race([host.settled(SETTLE_MS), ended.catch(() => {})])
  stop.abort()
  signal.throwIfAborted()
}

/** The server waits for its first use, because its start needs a question. */
export const isNotEnabled = ({ state }: Health): boolean => (state as string) === 'not-enabled'

/** One line about servers that are not enabled yet. @param how what to type before the name: `Enable: portico servers enable` */
export function notEnabledNote(screen: Screen, host: Host, how: string): void {
  const names = Object.entries(host.health()).flatMap(([id, health]) => (isNotEnabled(health) && !hasFailed(health) ? [id] : []))
  if (names.length === 0) return
  screen.note(screen.noteStyle.dim(`Not enabled yet: ${names.join(', ')}. ${how} ${names[0]}`))
}

export function printServers(screen: Screen, host: Host): void {
  const rows = Object.entries(host.health()).map(([id, health]) => {
    const tools = host.tools().filter(({ server }) => server === id).length
    return [id, stateWord(health), String(tools), adviceFor(host, id, health)]
  })
  if (rows.length === 0) return screen.note(safe`No servers yet. Type "servers add NAME URL" or "servers import".`)
  const columns = [{ title: 'SERVER', style: 'bold' as const }, { title: 'STATE' }, { title: 'TOOLS' }, { title: '' }]
  screen.print(table(columns, rows, screen.style, screen.columns))
}

const STATE_WORDS: Readonly<Partial<Record<Health['state'], string>>> = {
  idle: 'not started',
  permitting: 'starting',
  connecting: 'starting',
  waiting: 'failed',
  'open-circuit': 'failed',
  refused: 'off',
}

/** The server ran before and failed, and another start needs a question. */
const hasFailed = (health: Health): boolean => health.state === 'not-enabled' && health.lastError !== undefined

function stateWord(health: Health): string {
  if (isNotEnabled(health)) return hasFailed(health) ? 'failed' : 'not enabled'
  return STATE_WORDS[health.state] ?? health.state
}

function adviceFor(host: Host, id: string, health: Health): string {
  if (health.state === 'not-enabled')
    return health.lastError ? `${health.lastError.message}. To start it again: enable ${id}` : `enable ${id}`
  if (health.state === 'refused') return `${health.error.message}. To be asked again: enable ${id}`
  if (health.state === 'waiting' || health.state === 'open-circuit') return health.lastError.message
  const waiting = host.review(id)?.items.length ?? 0
  return waiting === 0 ? '' : `${counted(waiting, 'item')} ${waiting === 1 ? 'awaits' : 'await'} approval: approve ${id}`
}
