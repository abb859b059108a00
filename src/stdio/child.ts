/** A server process: started without a shell in a group of its own, and ended with everything it started. */

import { type ChildProcess, type ChildProcessByStdio, spawn } from 'node:child_process'
import type { Readable, Writable } from 'node:stream'
import { redactText } from '../base/text/redact.ts'
import { McpError } from '../protocol/errors.ts'
import { childEnvironment } from './environment.ts'

export interface ProcessOptions {
  command: string
  args?: readonly string[]
  /** Variables beside the few that every child gets. */
  env?: Readonly<Record<string, string>>
  cwd?: string
  /** Called with each line of the server's standard error. It says nothing about success or failure. */
  onStderr?(line: string): void
  /** How much of standard error is kept for error messages. */
  maxStderrBytes?: number
  /** How long to wait after closing its input, and again after SIGTERM. */
  shutdownMs?: number
}

export type Child = ChildProcessByStdio<Writable, Readable, Readable>

const DEFAULT_MAX_STDERR_BYTES = 64 * 1024
const DEFAULT_SHUTDOWN_MS = 2000
const GROUP_POLL_MS = 20

/** Resolves once the process runs; rejects with ERR_SPAWN when it cannot be started. */
export function startChild(options: ProcessOptions): Promise<Child> {
  if (typeof options.command !== 'string' || options.command === '') {
    return Promise.reject(new McpError('ERR_SPAWN', 'A server process needs a command'))
  }
  return new Promise((resolve, reject) => {
    const refuse = (cause: NodeJS.ErrnoException): void => reject(new McpError('ERR_SPAWN', describeSpawnError(options, cause), { cause }))
    let child: Child
    try {
      child = spawnGroup(options)
    } catch (cause) {
      // Some failures are thrown: arguments that are too long, a NUL in one of them.
      return refuse(cause as NodeJS.ErrnoException)
    }
    child.on('error', refuse)
    child.once('spawn', () => {
      living.add(child)
      child.once('exit', () => living.delete(child))
      resolve(child)
    })
  })
}

const spawnGroup = ({ command, args = [], cwd, env }: ProcessOptions): Child =>
  spawn(command, [...args], {
    cwd,
    env: childEnvironment(env),
    shell: false,
    detached: process.platform !== 'win32',
    windowsHide: true,
    stdio: ['pipe', 'pipe', 'pipe'],
  })

function describeSpawnError({ command, cwd }: ProcessOptions, { code, message }: NodeJS.ErrnoException): string {
  const why =
    code === 'ENOENT'
      ? cwd === undefined
        ? 'there is no such command'
        : 'there is no such command or working directory'
      : code === 'EACCES'
        ? 'it may not be executed'
        : message
  return `Cannot start ${JSON.stringify(command)}: ${why}${code === undefined ? '' : ` (${code})`}`
}

// When this process ends without closing its clients, their servers end too.
const living = new Set<ChildProcess>()
let isWatchingExit = false

export function endChildrenAtExit(): void {
  if (isWatchingExit) return
  isWatchingExit = true
  process.on('exit', () => {
    for (const child of living) signalGroup(child, 'SIGTERM')
  })
}

/** Closes its input and waits; then SIGTERM and waits; then SIGKILL. Each signal goes to the whole group. */
export async function endChild(child: Child, shutdownMs: number = DEFAULT_SHUTDOWN_MS): Promise<void> {
  child.stdin.end()
  if (!(await exits(child, shutdownMs))) {
    signalGroup(child, 'SIGTERM')
    if (!(await exits(child, shutdownMs))) signalGroup(child, 'SIGKILL')
  }
  await endGroup(child)
}

/** Ends what a process that is gone has left behind. */
export async function endGroup(child: Child): Promise<void> {
  if (!signalGroup(child, 0)) return
  signalGroup(child, 'SIGTERM')
  for (let waited = 0; waited < 500 && signalGroup(child, 0); waited += GROUP_POLL_MS)
    await new Promise((resolve) => setTimeout(resolve, GROUP_POLL_MS))
  signalGroup(child, 'SIGKILL')
}

const hasExited = (child: ChildProcess): boolean => child.exitCode !== null || child.signalCode !== null

function exits(child: ChildProcess, ms: number): Promise<boolean> {
  if (hasExited(child)) return Promise.resolve(true)
  return new Promise((resolve) => {
    const onExit = (): void => {
      clearTimeout(timer)
      resolve(true)
    }
    const timer = setTimeout(() => {
      child.off('exit', onExit)
      resolve(false)
    }, ms)
    child.once('exit', onExit)
  })
}

/** False when nobody is left to signal. */
function signalGroup(child: ChildProcess, signal: NodeJS.Signals | 0): boolean {
  if (child.pid === undefined) return false
  try {
    process.kill(process.platform === 'win32' ? child.pid : -child.pid, signal)
    return true
  } catch {
    return false
  }
}

/** The last words of a process, bounded, with line-wise delivery of all of them. */
export class Stderr {
  readonly #max: number
  readonly #onLine: ((line: string) => void) | undefined
  #tail = ''
  #line = ''

  constructor(stream: Readable, options: Pick<ProcessOptions, 'maxStderrBytes' | 'onStderr'>) {
    this.#max = options.maxStderrBytes ?? DEFAULT_MAX_STDERR_BYTES
    this.#onLine = options.onStderr
    stream.setEncoding('utf8')
    stream.on('data', (text: string) => this.#take(text))
    stream.once('end', () => {
      if (this.#line !== '') this.#onLine?.(this.#line)
    })
    stream.on('error', () => {})
  }

  get tail(): string {
    return this.#tail
  }

  /** For an error message: the end of the tail, without secrets. */
  lastWords(): string {
    const words = redactText(this.#tail.trim())
    if (words.length <= 1000) return words
    // From the next line or word on: half a secret is known to nobody as one, and would be shown.
    return `...${words.slice(-1000).replace(/^[^\n]*\n|^\S*\s/, '')}`
  }

  #take(text: string): void {
    this.#tail = last(this.#tail + text, this.#max)
    if (!this.#onLine) return
    const lines = (this.#line + text).split('\n')
    this.#line = last(lines.pop() ?? '', this.#max)
    for (const line of lines) this.#onLine(line)
  }
}

const last = (text: string, max: number): string => text.slice(Math.max(0, text.length - max))
