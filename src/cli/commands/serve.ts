/** `portico serve`: runs a bundled server on standard streams or HTTP. */

import { mkdir } from 'node:fs/promises'
import { resolve } from 'node:path'
import { type Command, InvalidArgumentError } from 'commander'
import { userFolder } from '../../files/user-folder.ts'
import type { Service } from '../../server/index.ts'
import type { CommandRunner, Invocation } from '../command-runner.ts'
import { UsageError, unknownName } from '../errors.ts'
import { safe } from '../output/safe-text.ts'

/** The servers that come with the command. */
export const BUNDLED_SERVERS = ['files', 'notes', 'deploy', 'rogue', 'everything'] as const

type BundledServer = (typeof BUNDLED_SERVERS)[number]

interface ServeOptions {
  http?: number
  readOnly?: true
}

interface Served {
  service: Service
  close?(): Promise<void>
}

/** How each server is created from the words after its name. */
const SERVERS: Readonly<
  Record<
    BundledServer,
    { takes: string; most: number; make(args: readonly string[], invocation: Invocation, options: ServeOptions): Promise<Served> }
  >
> = {
  files: {
    takes: 'DIR...',
    most: 64,
    make: async (folders, { io }, options) => {
      if (folders.length === 0) throw new UsageError('serve files needs at least one folder', 'portico serve files DIR')
      const { filesServer } = await import('../../demo/index.ts')
      const server = await filesServer({ folders: folders.map((folder) => resolve(io.cwd, folder)), isReadOnly: options.readOnly === true })
      return { service: server, close: () => server.close() }
    },
  },
  notes: {
    takes: '[FOLDER]',
    most: 1,
    make: async ([folder], { io }) => {
      const { notesServer } = await import('../../demo/index.ts')
      const path = folder === undefined ? userFolder('notes') : resolve(io.cwd, folder)
      await mkdir(path, { recursive: true, mode: 0o700 })
      const server = await notesServer({ folder: path })
      return { service: server, close: () => server.close() }
    },
  },
  deploy: {
    takes: '',
    most: 0,
    make: async () => {
      const { deployServer } = await import('../../demo/index.ts')
      return { service: deployServer() }
    },
  },
  rogue: {
    takes: '',
    most: 0,
    make: async () => {
      const { rogueServer } = await import('../../demo/index.ts')
      return { service: rogueServer() }
    },
  },
  everything: {
    takes: '',
    most: 0,
    make: async () => {
      const { everythingServer } = await import('../../testing/index.ts')
      return { service: everythingServer() }
    },
  },
}

export function registerServe(program: Command, runner: CommandRunner): void {
  program
    .command('serve')
    .summary('run one of the bundled servers')
    .description(
      `Runs one of the bundled servers, by default on standard streams:\n${Object.entries(SERVERS)
        .map(([name, { takes }]) => `  ${name} ${takes}`)
        .join('\n')}`,
    )
    .argument('<name>')
    .argument('[args...]')
    .option('--http <port>', 'serve over HTTP on this port of this machine; 0 picks a free port', toPort)
    .option('--read-only', 'files: offer only tools that read')
    .action(runner.action(serveAction))
}

function toPort(text: string): number {
  const port = Number(text)
  if (!Number.isInteger(port) || port < 0 || port > 65_535) throw new InvalidArgumentError('Expected a port, from 0 to 65535.')
  return port
}

const isBundled = (name: string): name is BundledServer => (BUNDLED_SERVERS as readonly string[]).includes(name)

async function serveAction(invocation: Invocation, name: string, args: string[], options: ServeOptions): Promise<void> {
  const { io, screen, signal } = invocation
  if (!isBundled(name)) throw unknownName('bundled server', name, BUNDLED_SERVERS, '')
  const kind = SERVERS[name]
  if (args.length > kind.most) throw new UsageError(`serve ${name} takes ${kind.takes === '' ? 'no arguments' : `only ${kind.takes}`}`)
  const { service, close } = await kind.make(args, invocation, options)
  try {
    if (options.http !== undefined) {
      const { listen } = await import('../../http/index.ts')
      const listening = await listen(service, { port: options.http, handleSignals: false })
      screen.note(safe`Serving ${name} at ${screen.noteStyle.cyan(listening.url)} (Ctrl-C to stop)`)
      signal.addEventListener('abort', () => void listening.close(), { once: true })
      await listening.closed
      return
    }
    const { serveStdio } = await import('../../stdio/index.ts')
    const serving = serveStdio(service, io.stdin === process.stdin ? {} : { streams: { input: io.stdin, output: io.stdout.stream } })
    signal.addEventListener('abort', () => void serving.close(), { once: true })
    await serving.closed
  } finally {
    await close?.()
  }
}
