/**
 * A real Redis for tests: the package of Debian, in a folder of its own. Valkey, where its program is installed.
 *
 *   const server = redisOfFile()
 *   const store = redis((await server()).url)
 *
 * Where it is missing it is installed, once. Where that cannot be, the tests that need it fail.
 */

import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { afterAll, beforeAll } from 'vitest'
import { INSTALL_MS, installPrograms } from './packages.ts'

const run = promisify(execFile)

export interface RedisServer {
  readonly url: string
  readonly port: number
  readonly process: ChildProcess
  /** Runs redis-cli. */
  cli(...args: string[]): Promise<string>
  /** The names of all keys. */
  scan(): Promise<string[]>
  /** Stops it with a signal. Its files stay. */
  stop(signal?: NodeJS.Signals): Promise<void>
  /** Stops it and removes its files. */
  close(): Promise<void>
  /** Starts it again at the same port, with its files. */
  start(): Promise<void>
}

/** One for the tests of a file, from before the first to after the last. */
export function redisOfFile(args: readonly string[] = [], program = 'redis-server'): () => Promise<RedisServer> {
  let started: Promise<RedisServer>
  beforeAll(async () => {
    started = startRedis(args, program)
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

/** Valkey speaks the same protocol. Debian 12 does not have it, so it is tested where it is installed. */
export const hasValkey = (): boolean => spawnSync('sh', ['-c', 'command -v valkey-server']).status === 0

/** @param sentinel the file and the port of a sentinel, instead of a server */
export async function startRedis(
  args: readonly string[] = [],
  program = 'redis-server',
  sentinel?: { file: string; port: number },
): Promise<RedisServer> {
  installPrograms({ 'redis-server': 'redis-server', 'redis-cli': 'redis-tools' })
  const folder = mkdtempSync(`${tmpdir()}/portico-redis-`)
  const port = sentinel?.port ?? (await freePort())
  const server = ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder, '--save', '', '--appendonly', 'no', ...args]
  const settings = sentinel ? [sentinel.file, '--sentinel'] : server
  const cli = async (...words: string[]): Promise<string> =>
    (await run('redis-cli', ['-p', String(port), ...words], { maxBuffer: 1e8 })).stdout.trim()
  let child: ChildProcess
  const start = async (): Promise<void> => {
    child = spawn(program, settings, { stdio: ['ignore', 'ignore', 'inherit'] })
    for (let attempt = 0; ; attempt++) {
      const reply = await cli('PING').catch((error: Error) => error.message)
      if (reply === 'PONG' || reply.includes('NOAUTH')) return
      if (attempt > 200 || child.exitCode !== null) throw new Error(`${program} ${settings.join(' ')} does not start: ${reply}`)
      await sleep(50)
    }
  }
  const stop = async (signal: NodeJS.Signals = 'SIGTERM'): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return
    child.kill('SIGCONT')
    child.kill(signal)
    await once(child, 'exit')
  }
  await start()
  return {
    url: `redis://127.0.0.1:${port}`,
    port,
    get process() {
      return child
    },
    cli,
    scan: async () => (await cli('--scan')).split('\n').filter(Boolean),
    stop,
    close: async () => {
      await stop('SIGKILL')
      rmSync(folder, { recursive: true, force: true })
    },
    start,
  }
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  server.close()
  await once(server, 'close')
  return port
}
