/**
 * A real Redis for tests, in a folder of its own: the package of Debian, or the program that PORTICO_REDIS_SERVER names.
 *
 *   const server = redisOfFile()
 *   const store = redis((await server()).url)
 *
 * Where the package is missing it is installed, once. Where that cannot be, or a named program does not run, the tests that need it fail.
 */

import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { afterAll, beforeAll } from 'vitest'
import { INSTALL_MS, installPrograms } from './packages.ts'
import type { Certificate } from './self-signed.ts'
import { until } from './until.ts'

const run = promisify(execFile)
const CLI = 'redis-cli'

export interface RedisServer {
  readonly url: string
  readonly port: number
  readonly process: ChildProcess
  /** Runs redis-cli. */
  cli(...args: string[]): Promise<string>
  /** The names of all keys. */
  scan(): Promise<string[]>
  /** Returns a function that tells every command from now on, with the arguments of scripts. */
  listenIn(): Promise<() => string>
  /** Stops it with a signal. Its files stay. */
  stop(signal?: NodeJS.Signals): Promise<void>
  /** Stops it and removes its files. */
  close(): Promise<void>
  /** Starts it again at the same port, with its files. */
  start(): Promise<void>
}

/** One for the tests of a file, from before the first to after the last. */
export function redisOfFile(args: readonly string[] = []): () => Promise<RedisServer> {
  let started: Promise<RedisServer>
  beforeAll(async () => {
    started = startRedis(args)
    // Without it each test fails; a hook that fails would have them skipped.
    await started.catch(() => {})
  }, INSTALL_MS)
  afterAll(() =>
    started.then(
      (server) => server.close(),
      () => {},
    ),
  )
  return () => started
}

/** Valkey and other versions of Redis pass the same tests. */
function serverProgram(): string {
  const named = process.env.PORTICO_REDIS_SERVER
  installPrograms({ 'redis-cli': 'redis-tools', ...(named === undefined && { 'redis-server': 'redis-server' }) })
  if (named === undefined) return 'redis-server'
  const { status, error, stderr } = spawnSync(named, ['--version'], { encoding: 'utf8' })
  if (status === 0) return named
  throw new Error(`Expected the program of a Redis or Valkey server in PORTICO_REDIS_SERVER, got "${named}": ${error?.message ?? stderr}`)
}

export interface RedisKind {
  /** The server speaks only TLS, also with other servers. */
  tls?: Certificate | undefined
  /** What a sentinel monitors, as lines of its file. Default: not a sentinel. */
  monitor?: readonly string[]
}

export async function startRedis(args: readonly string[] = [], { tls, monitor }: RedisKind = {}): Promise<RedisServer> {
  const program = serverProgram()
  const folder = mkdtempSync(`${tmpdir()}/portico-redis-`)
  const port = await freePort()
  const settings: Record<string, string> = { ...portSettings(port, folder, tls), bind: '127.0.0.1', dir: folder }
  const all = monitor
    ? [sentinelFile(folder, settings, monitor), '--sentinel']
    : [...Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value]), '--save', '', '--appendonly', 'no', ...args]
  const address = ['-p', String(port), ...(tls ? ['--tls', '--cacert', settings['tls-ca-cert-file'] as string] : [])]
  const cli = async (...words: string[]): Promise<string> => (await run(CLI, [...address, ...words], { maxBuffer: 1e8 })).stdout.trim()
  let child: ChildProcess
  const start = async (): Promise<void> => {
    child = spawn(program, all, { stdio: ['ignore', 'ignore', 'inherit'] })
    for (let attempt = 0; ; attempt++) {
      const reply = await cli('PING').catch((error: Error) => error.message)
      if (reply === 'PONG' || reply.includes('NOAUTH')) return
      if (attempt > 200 || child.exitCode !== null) throw new Error(`${program} ${all.join(' ')} does not start: ${reply}`)
      await sleep(50)
    }
  }
  const stop = async (signal: NodeJS.Signals = 'SIGTERM'): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return
    child.kill('SIGCONT')
    child.kill(signal)
    await once(child, 'exit')
  }
  const listening: ChildProcess[] = []
  const listenIn = async (): Promise<() => string> => {
    const watching = spawn(CLI, [...address, 'MONITOR'], { stdio: ['ignore', 'pipe', 'inherit'] })
    listening.push(watching)
    let text = ''
    watching.stdout.on('data', (bytes: Buffer) => {
      text += bytes.toString('latin1')
    })
    await until(() => text.startsWith('OK'))
    return () => text
  }
  await start()
  return {
    url: `${tls ? 'rediss' : 'redis'}://127.0.0.1:${port}`,
    port,
    get process() {
      return child
    },
    cli,
    listenIn,
    scan: async () => (await cli('--scan')).split('\n').filter(Boolean),
    stop,
    close: async () => {
      for (const each of listening) each.kill()
      await stop('SIGKILL')
      rmSync(folder, { recursive: true, force: true })
    },
    start,
  }
}

function portSettings(port: number, folder: string, tls: Certificate | undefined): Record<string, string> {
  if (!tls) return { port: String(port) }
  const [key, cert] = [`${folder}/key.pem`, `${folder}/cert.pem`]
  writeFileSync(key, tls.key)
  writeFileSync(cert, tls.cert)
  const files = { 'tls-key-file': key, 'tls-cert-file': cert, 'tls-ca-cert-file': cert }
  return { port: '0', 'tls-port': String(port), 'tls-auth-clients': 'no', 'tls-replication': 'yes', 'tls-cluster': 'yes', ...files }
}

/** A sentinel writes into its file what it learns. */
function sentinelFile(folder: string, settings: Record<string, string>, monitor: readonly string[]): string {
  const file = `${folder}/sentinel.conf`
  writeFileSync(file, [...Object.entries(settings).map((each) => each.join(' ')), ...monitor, ''].join('\n'))
  return file
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  server.close()
  await once(server, 'close')
  return port
}
