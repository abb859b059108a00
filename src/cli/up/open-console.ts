/** Serves the console of the command's host, on a port that people can remember. */

import { type Console, type ConsoleAsker, type ConsoleFeed, createConsole } from '../../console/index.ts'
import type { Host } from '../../host/index.ts'
import type { Invocation } from '../command-runner.ts'
import { UsageError } from '../errors.ts'
import { safe } from '../output/safe-text.ts'
import type { SampleServers } from './sample-servers.ts'

/** Then the next ones, and any free one at last. */
const FIRST_PORT = 4711
const PORTS: readonly number[] = [...Array.from({ length: 20 }, (_, i) => FIRST_PORT + i), 0]

export interface OpenConsoleOptions {
  /** The parts that the host was created with. */
  parts: { asker: ConsoleAsker; feed: ConsoleFeed }
  servers: SampleServers
  /** Only this port. Default: 4711, or the next free one. */
  port: number | undefined
}

/** @throws UsageError if the given port cannot be used */
export async function openConsole(
  { io, screen }: Pick<Invocation, 'io' | 'screen'>,
  host: Host,
  { parts, servers, port }: OpenConsoleOptions,
): Promise<Console> {
  const opened = createConsole(host, {
    ...parts,
    imports: { home: io.home, project: io.cwd },
    port: port ?? PORTS,
    tour: { startRogue: () => servers.startTourRogue() },
    onError: (error) => screen.note(safe`${screen.noteStyle.red('!')} console: ${(error as Error).message}`),
  })
  return opened.catch((error: NodeJS.ErrnoException) => {
    if (port === undefined || !(error.code === 'EADDRINUSE' || error.code === 'EACCES')) throw error
    const why = error.code === 'EADDRINUSE' ? 'another program uses it' : 'the system does not permit it'
    throw new UsageError(`Port ${port} cannot be used: ${why}`, 'Choose another with --port. Without --port the next free one is used')
  })
}

/** @throws UsageError */
export function portNumber(text: string): number {
  const port = Number(text)
  if (/^\d+$/.test(text) && port <= 65_535) return port
  throw new UsageError(`--port: expected a number from 0 to 65535, got ${JSON.stringify(text)}`)
}
