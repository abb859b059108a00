/** `portico serve`: runs the server of a module, or a bundled server, on standard streams or HTTP. */

import { mkdir } from 'node:fs/promises'
import { resolve } from 'node:path'
import { type Command, InvalidArgumentError } from 'commander'
import { onAbort } from '../../base/on-abort.ts'
import { userFolder } from '../../files/user-folder.ts'
import type { Service } from '../../server/index.ts'
import { commandName } from '../command-name.ts'
import type { CommandRunner, Invocation } from '../command-runner.ts'
import { UsageError, unknownName } from '../errors.ts'
import { safe } from '../output/safe-text.ts'

/** The servers that come with the command. */
export const BUNDLED_SERVERS = ['files', 'notes', 'deploy', 'rogue', 'everything'] as const

type BundledServer = (typeof BUNDLED_SERVERS)[number]

interface ServeOptions {
  http?: number | true
  port?: number
  readOnly?: true
}

const DEFAULT_PORT = 3000

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
    takes: '[FOLDER]',
    most: 1,
    make: async ([folder], { io }) => {
      const { deployServer } = await import('../../demo/index.ts')
      if (folder === undefined) return { service: deployServer() }
      const taskFolder = resolve(io.cwd, folder)
      await mkdir(taskFolder, { recursive: true, mode: 0o700 })
      return { service: deployServer({ taskFolder }) }
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
    .summary('run your server, or a bundled one')
    .description(
      'Runs the server that a module exports, as its default export or as "server", on standard streams or over HTTP.\n' +
        'TypeScript runs without a build: on Node 22.18 or later, or with tsx (npm install -D tsx).\n' +
        `Bundled servers:\n${Object.entries(SERVERS)
          .map(([name, { takes }]) => `  ${name} ${takes}`)
          .join('\n')}`,
    )
    .argument('<file or name>', 'a module such as ./server.ts, or the name of a bundled server')
    .argument('[args...]')
    .option('--http [port]', `serve over HTTP on this machine. Default port: ${DEFAULT_PORT}; 0 picks a free port`, toPort)
    .option('--port <number>', 'the port for --http', toPort)
    .option('--read-only', 'files: offer only tools that read')
    .addHelpText(
      'after',
      '\nExamples:\n  portico serve ./server.ts\n  portico serve ./server.ts --http --port 8080\n  portico serve files ~/docs',
    )
    .action(runner.action(serveAction))
}

function toPort(text: string): number {
  const port = Number(text)
  if (!Number.isInteger(port) || port < 0 || port > 65_535)
    throw new InvalidArgumentError('Expected a port, from 0 to 65535. Write the file before --http.')
  return port
}

const isBundled = (name: string): name is BundledServer => (BUNDLED_SERVERS as readonly string[]).includes(name)

async function serveAction(invocation: Invocation, name: string, args: string[], options: ServeOptions): Promise<void> {
  const { io, screen, signal } = invocation
  if (options.port !== undefined && options.http === undefined) throw new UsageError('--port needs --http')
  const served = await serverNamed(invocation, name, args, options)
  if (!served) {
    if (options.http === undefined) return
    throw new UsageError(
      `${name} exports no server: it serves on standard streams itself`,
      'Export the server to serve it over HTTP: export const server = createServer({ ... })',
    )
  }
  const { service, close } = served
  try {
    if (options.http !== undefined) {
      const { listen } = await import('../../http/index.ts')
      const port = options.port ?? (options.http === true ? DEFAULT_PORT : options.http)
      const listening = await listen(service, { port, handleSignals: false }).catch((error: NodeJS.ErrnoException) => {
        throw error.code === 'EADDRINUSE'
          ? new UsageError(`Port ${port} is in use`, 'Choose another with --port; 0 picks a free one')
          : error
      })
      screen.note(safe`Serving ${name} at ${screen.noteStyle.cyan(listening.url)} (Ctrl-C to stop)`)
      onAbort(signal, () => void listening.close())
      await listening.closed
      return
    }
    if (io.stdin.isTTY === true) {
      const hint = isBundled(name) ? '' : ` To try it: ${commandName(io)} dev ${name}`
      screen.note(safe`Serving on standard input and output, waiting for a client.${hint}`)
    }
    const { serveStdio } = await import('../../stdio/index.ts')
    const serving = serveStdio(service, io.stdin === process.stdin ? {} : { streams: { input: io.stdin, output: io.stdout.stream } })
    onAbort(signal, () => void serving.close())
    await serving.closed
  } finally {
    await close?.()
  }
}

async function serverNamed(
  invocation: Invocation,
  name: string,
  args: readonly string[],
  options: ServeOptions,
): Promise<Served | undefined> {
  if (isBundled(name)) {
    const kind = SERVERS[name]
    if (args.length > kind.most) throw new UsageError(`serve ${name} takes ${kind.takes === '' ? 'no arguments' : `only ${kind.takes}`}`)
    return kind.make(args, invocation, options)
  }
  const { isModulePath, loadServer } = await import('../authoring/server-module.ts')
  if (!isModulePath(name)) throw unknownName('bundled server', name, BUNDLED_SERVERS, '')
  if (args.length > 0) throw new UsageError(`serve takes one file, got ${JSON.stringify(args[0])} too`)
  const service = await loadServer(invocation.io.cwd, name)
  return service && { service, close: () => Promise.resolve((service as { close?(): Promise<void> }).close?.()) }
}
