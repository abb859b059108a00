/** Serves the console of the command's host. */

import { type Console, type ConsoleAsker, type ConsoleFeed, createConsole } from '../../console/index.ts'
import type { Host } from '../../host/index.ts'
import type { Invocation } from '../command-runner.ts'
import { CommandFailure, UsageError } from '../errors.ts'
import { safe } from '../output/safe-text.ts'
import type { SampleServers } from './sample-servers.ts'

/**
 * Another one at each start. A program that once had the port could have left a service worker in the browser, which would control the page
 * of the console.
 */
const ANY_FREE_PORT = 0

export interface OpenConsoleOptions {
  /** The parts that the host was created with. */
  parts: { asker: ConsoleAsker; feed: ConsoleFeed }
  servers: SampleServers
  /** Default: a free one. */
  port: number | undefined
}

/** @throws CommandFailure if the given port cannot be used */
export async function openConsole(
  { io, screen }: Pick<Invocation, 'io' | 'screen'>,
  host: Host,
  { parts, servers, port }: OpenConsoleOptions,
): Promise<Console> {
  const opened = createConsole(host, {
    ...parts,
    imports: { home: io.home, project: io.cwd },
    port: port ?? ANY_FREE_PORT,
    tour: { startRogue: () => servers.startTourRogue() },
    onError: (error) => screen.note(safe`${screen.noteStyle.red('!')} console: ${(error as Error).message}`),
  })
  return opened.catch((error: NodeJS.ErrnoException) => {
    if (port === undefined || !(error.code === 'EADDRINUSE' || error.code === 'EACCES')) throw error
    const why = error.code === 'EADDRINUSE' ? 'another program uses it' : 'the system does not permit it'
    throw new CommandFailure(`Port ${port} cannot be used: ${why}`, 'Choose another with --port. Without --port the next free one is used')
  })
}

/** @throws UsageError */
export function portNumber(text: string): number {
  const port = Number(text)
  if (/^\d+$/.test(text) && port <= 65_535) return port
  throw new UsageError(`--port: expected a number from 0 to 65535, got ${JSON.stringify(text)}`)
}
