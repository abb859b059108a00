/** `portico serve`: runs the server of a module, or a bundled server, on standard streams or HTTP. */

import cluster from 'node:cluster'
import { mkdir } from 'node:fs/promises'
import { resolve } from 'node:path'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { notices } from '../../base/notices.ts'
import { onAbort } from '../../base/on-abort.ts'
import { counted } from '../../base/text/counted.ts'
import { userFolder } from '../../files/user-folder.ts'
import type { Listening } from '../../http/index.ts'
import type { Service } from '../../server/index.ts'
import { commandName } from '../command-name.ts'
import type { CommandRunner, Invocation } from '../command-runner.ts'
import { CommandFailure, explainError, UsageError, unknownName } from '../errors.ts'
import type { ExitName } from '../exit-codes.ts'
import { safe } from '../output/safe-text.ts'
import { consoleLines, writeJsonLine } from '../serving/console-lines.ts'
import { type Flags, problemOf, readSettings, type Settings } from '../serving/read-settings.ts'
import { YES_NO } from '../serving/setting-kinds.ts'
import { DEFAULT_PORT, fileNameOf, flagOf, LIMITS, SETTINGS, type Setting } from '../serving/settings.ts'
import type { Output } from '../shared-terminal.ts'

/** The servers that come with the command. */
export const BUNDLED_SERVERS = ['files', 'notes', 'deploy', 'rogue', 'everything'] as const

type BundledServer = (typeof BUNDLED_SERVERS)[number]

/** The options of the command line. Settings are in it under their names. */
interface ServeOptions extends Record<string, unknown> {
  http?: number | boolean
  port?: number
  limit?: readonly string[]
  config?: string
  showConfig?: true
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
  const command = program
    .command('serve')
    .summary('run your server, or a bundled one')
    .description(
      'Runs the server that a module exports, as its default export or as "server", on standard streams or over HTTP.\n' +
        'TypeScript runs without a build: on Node 22.18 or later, or with tsx (npm install -D tsx).\n' +
        `Bundled servers:\n${Object.entries(SERVERS)
          .map(([name, { takes }]) => `  ${name} ${takes}`)
          .join('\n')}`,
    )
    .argument('[file or name]', 'a module such as ./server.ts, or the name of a bundled server')
    .argument('[args...]')
    .option('--read-only', 'files: offer only tools that read')
    .option('--config <file>', 'read settings from this YAML or JSON file')
    .option('--show-config', 'print the settings in use and where each came from, and end')
    .option('--json', 'with --show-config: write JSON')
    .optionsGroup('Settings (also as variables and in the file, see docs/cli.md):')
  for (const setting of SETTINGS) addFlags(command, setting)
  command
    .option(
      '--limit <name=value>',
      'another value for a limit of HTTP or of the server in docs/limits.md; can be repeated',
      (text, before: string[] = []) => [...before, text],
    )
    .addHelpText(
      'after',
      '\nExamples:\n  portico serve ./server.ts\n  portico serve ./server.ts --http --port 8080\n  portico serve files ~/docs\n' +
        '  PORTICO_HTTP=true PORTICO_STORE=redis://redis:6379 portico serve ./server.ts --show-config',
    )
    .action(runner.action(serveAction))
}

function addFlags(command: Command, setting: Setting): void {
  const { name, kind, help, isSecret, hasFlag } = setting
  if (name === 'server') return
  if (name === 'http') {
    command
      .option('--http [port]', `serve over HTTP. Default port: ${DEFAULT_PORT}; 0 picks a free port`, toHttpPort)
      .addOption(new Option('--no-http').hideHelp())
  } else if (name === 'port') command.option('--port <number>', help, toPort)
  else if (kind === YES_NO) {
    // The help shows the flag that changes something.
    const [on, off] = [new Option(flagOf(name), help), new Option(`--no-${flagOf(name).slice(2)}`, `do not ${help}`)]
    command.addOption(on.hideHelp(setting.default === true)).addOption(off.hideHelp(setting.default !== true))
  } else if (!isSecret || hasFlag) command.option(`${flagOf(name)} <${kind.placeholder}>`, help)
  const inFile = hasFlag ? `a file with the value of ${flagOf(name)}: other users of the machine can see flags` : `the file with ${help}`
  if (isSecret) command.option(`${flagOf(fileNameOf(setting))} <file>`, inFile)
}

/** The settings among the options, by name. */
function flagsIn(name: string | undefined, { http, limit = [], ...options }: ServeOptions): Flags {
  const flags = new Map<string, string | boolean>()
  if (name !== undefined) flags.set('server', name)
  if (http !== undefined) flags.set('http', http !== false)
  if (typeof http === 'number') flags.set('port', String(http))
  for (const [key, value] of Object.entries(options)) {
    if (typeof value === 'boolean' || typeof value === 'string') flags.set(key, value)
    else if (typeof value === 'number') flags.set(key, String(value))
  }
  const names = LIMITS.map((each) => each.name.slice('limits.'.length))
  for (const text of limit) {
    const [, limited = '', value = ''] = /^(\w+)=(.*)$/.exec(text) ?? []
    if (limited === '') throw new UsageError(`--limit must be name=value, not ${JSON.stringify(text)}`)
    if (!names.includes(limited)) throw unknownName('limit', limited, names)
    flags.set(`limits.${limited}`, value)
  }
  return flags
}

const EXPECTED_PORT = 'Expected a port, from 0 to 65535.'

function toPort(text: string): number {
  const port = Number(text)
  if (text.trim() === '' || !Number.isInteger(port) || port < 0 || port > 65_535) throw new InvalidArgumentError(EXPECTED_PORT)
  return port
}

/** The word after `--http` may be the file. */
function toHttpPort(text: string): number {
  if (!/^[\d.-]+$/.test(text)) throw new InvalidArgumentError(`${EXPECTED_PORT} Write the file before --http.`)
  return toPort(text)
}

const isBundled = (name: string): name is BundledServer => (BUNDLED_SERVERS as readonly string[]).includes(name)

async function serveAction(
  invocation: Invocation,
  typed: string | undefined,
  args: string[],
  options: ServeOptions,
): Promise<ExitName | undefined> {
  const { io, screen, signal } = invocation
  const settings = await readSettings(flagsIn(typed, options), io)
  if (options.showConfig) {
    await (await import('../serving/show-settings.ts')).showSettings(screen, settings)
    return undefined
  }
  const isHttp = settings.get('http') === true
  if (!isHttp) refuseHttpSettings(settings)
  const endLines = isHttp ? linesOf(settings, io.stderr) : undefined
  // Over HTTP the output is only a log, and clients need the server also without it.
  if (isHttp) io.outliveReader()
  try {
    await serve(invocation, args, options, settings)
    return undefined
  } catch (error) {
    if (!isHttp || settings.get('logFormat') !== 'json' || signal.aborted) throw error
    const { exit, json } = explainError(error)
    const { message, hint } = json.error
    writeJsonLine(io.stderr, 'error', `portico: ${message}`, hint === undefined ? {} : { hint })
    return exit
  } finally {
    endLines?.()
  }
}

async function serve(invocation: Invocation, args: readonly string[], options: ServeOptions, settings: Settings): Promise<void> {
  const isHttp = settings.get('http') === true
  const name = settings.get('server') as string | undefined
  if (name === undefined) throw new UsageError('serve needs a file or the name of a bundled server', 'portico serve ./server.ts')
  const served = await serverNamed(invocation, name, args, options).catch((error: unknown) => {
    throw withSource(error, settings)
  })
  if (!served) {
    if (!isHttp) return
    throw withSource(
      new UsageError(
        `${name} exports no server: it serves on standard streams itself`,
        'Export the server to serve it over HTTP: export const server = createServer({ ... })',
      ),
      settings,
    )
  }
  let askedAt: number | undefined
  try {
    askedAt = await (isHttp ? serveOverHttp : serveOnStreams)(invocation, name, served.service, settings)
  } finally {
    await served.close?.()
  }
  // Only now nothing is left that could take long or fail.
  if (askedAt !== undefined) notices.write('info', `portico: ended after ${((performance.now() - askedAt) / 1000).toFixed(1)} s`)
}

/** A server that a variable or the file names wrongly is a mistake there, and not on the command line. */
function withSource(error: unknown, { sourceOf }: Settings): unknown {
  const source = sourceOf('server')
  if (source === 'argument' || !(error instanceof UsageError)) return error
  const hint = error.hint === undefined ? '' : `. ${error.hint}`
  return problemOf([`${source}: ${error.message}${hint}`], error)
}

/** Writes what is said from now on as `logFormat` wants it. Returns a function that ends it. */
function linesOf({ get }: Settings, stderr: Output): (() => void) | undefined {
  const format = get('logFormat') as 'none' | 'text' | 'json'
  return format === 'none' ? undefined : consoleLines(format, stderr)
}

/** Variables may be meant for other commands of the same environment, but a flag or a line that does nothing is a mistake. */
function refuseHttpSettings({ all }: Settings): void {
  const useless = all.find(
    ({ setting: { name }, source }) => name !== 'server' && name !== 'http' && source !== 'default' && !source.startsWith('PORTICO_'),
  )
  if (useless) throw problemOf([`${useless.source} needs --http, PORTICO_HTTP=true, or "http: true" in the file`])
}

/** Returns when it was asked to end, unless this is a worker. */
async function serveOverHttp(
  { io, screen, signal }: Invocation,
  name: string,
  service: Service,
  settings: Settings,
): Promise<number | undefined> {
  const secrets = settings.get('keys') as readonly string[] | undefined
  const keys = secrets && (await import('../../server/index.ts')).keyRing(secrets)
  const { useKeys, ...rest } = service
  if (keys && !useKeys) {
    throw problemOf([`${settings.sourceOf('keys')}: ${name} has keys of its own. Remove one: keys of createServer, or this setting`])
  }
  if (keys) useKeys?.(keys, true)
  const [{ listen }, { limitServer, serveOptions }] = await Promise.all([
    import('../../http/index.ts'),
    import('../serving/serve-options.ts'),
  ])
  limitServer(service, name, settings)
  const { options, close } = await serveOptions(settings, { service, keys, stderr: io.stderr })
  try {
    // Workers must not replace the keys. A worker that is asked to end alone ends alone.
    const listening = await listen(keys ? rest : service, { ...options, handleSignals: cluster.isWorker }).catch(
      (error: NodeJS.ErrnoException) => {
        throw error.code === 'EADDRINUSE'
          ? new CommandFailure(`Port ${options.port} is in use`, 'Choose another with --port; 0 picks a free one')
          : error
      },
    )
    if (listening.worker === undefined) {
      const { url } = listening
      if (settings.get('logFormat') === 'json') writeJsonLine(io.stderr, 'info', `Serving ${name} at ${url}`, { url })
      else screen.note(safe`Serving ${name} at ${screen.noteStyle.cyan(url)} (Ctrl-C to stop)`)
    }
    let askedAt: number | undefined
    if (!cluster.isWorker)
      onAbort(signal, () => {
        askedAt = performance.now()
        void end(listening, settings)
      })
    await listening.closed
    return askedAt
  } finally {
    await close()
  }
}

/** An operator wants to know why the process still runs, and that it ended as it should. */
function end({ handler, close }: Listening, { get }: Settings): Promise<void> {
  const { inFlight, tasks } = handler.counts
  const work = [counted(inFlight, 'request'), ...(tasks > 0 ? [counted(tasks, 'task')] : [])].join(' and ')
  const [delayMs, graceMs] = [Number(get('drainDelayMs')), Number(get('graceMs'))]
  // The work is at the workers, or there will be more of it when the delay is over.
  const what = get('workers') === 0 && delayMs === 0 ? work : 'requests and tasks'
  const first = delayMs > 0 ? `serves for ${delayMs / 1000} s, then ` : ''
  notices.write('info', `portico: ending, ${first}waits at most ${graceMs / 1000} s for ${what} in progress`)
  return close()
}

async function serveOnStreams({ io, screen, signal }: Invocation, name: string, service: Service): Promise<undefined> {
  if (io.stdin.isTTY === true) {
    const hint = isBundled(name) ? '' : ` To try it: ${commandName(io)} dev ${name}`
    screen.note(safe`Serving on standard input and output, waiting for a client.${hint}`)
  }
  const { serveStdio } = await import('../../stdio/index.ts')
  const ownsProcess = io.stdin === process.stdin
  const serving = serveStdio(service, ownsProcess ? {} : { streams: { input: io.stdin, output: io.stdout.stream } })
  // It ends with the signals of its own process by itself. A second request to end would not wait for calls in progress.
  if (!ownsProcess) onAbort(signal, () => void serving.close())
  await serving.closed
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
