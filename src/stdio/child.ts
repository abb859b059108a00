/** Starts a server process without a shell, in its own process group, and ends the whole group. */

import { type ChildProcess, type ChildProcessByStdio, spawn, spawnSync } from 'node:child_process'
import type { Readable, Writable } from 'node:stream'
import { redactText } from '../base/text/redact.ts'
import { McpError } from '../protocol/errors.ts'
import { childEnvironment } from './environment.ts'
import { systemProgram, windowsCommand } from './windows-command.ts'

/** The command of a server process. */
export interface ProcessOptions {
  /** The program, found in PATH or given as a path. */
  command: string
  /** The arguments of the program. Default: none. */
  args?: readonly string[]
  /** Environment variables, in addition to the few that every process gets (see {@link childEnvironment}). */
  env?: Readonly<Record<string, string>>
  /** The working directory. Default: that of this process. */
  cwd?: string
  /** Called with each line of the server's standard error, which may be log output or errors. */
  onStderr?(line: string): void
  /** How long to wait after closing its input, and again after SIGTERM. Default: 2 s. */
  shutdownMs?: number
}

export type Child = ChildProcessByStdio<Writable, Readable, Readable>

/** How much of standard error is kept for error messages. A longer line is delivered in parts of this size. */
const MAX_STDERR_CHARS = 64 * 1024
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
      // Node throws on arguments that are too long or contain NUL.
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

function spawnGroup({ command, args = [], cwd, env: declared }: ProcessOptions): Child {
  const env = childEnvironment(declared)
  const isWindows = process.platform === 'win32'
  const start = isWindows ? windowsCommand(command, args, { cwd, env }) : { command, args: [...args] }
  return spawn(start.command, start.args, {
    cwd,
    env,
    shell: false,
    detached: !isWindows,
    windowsHide: true,
    ...('windowsVerbatimArguments' in start && { windowsVerbatimArguments: start.windowsVerbatimArguments }),
    stdio: ['pipe', 'pipe', 'pipe'],
  })
}

function describeSpawnError({ command, cwd }: ProcessOptions, { code, message }: NodeJS.ErrnoException): string {
  const why =
    code === 'ENOENT'
      ? cwd === undefined
        ? 'there is no such command'
        : 'there is no such command or working directory'
      : code === 'EACCES'
        ? 'it is not executable'
        : message
  return `Cannot start ${JSON.stringify(command)}: ${why}${code === undefined ? '' : ` (${code})`}`
}

// If this process exits without closing its clients, their servers are ended too.
const living = new Set<ChildProcess>()
let isWatchingExit = false

export function endChildrenAtExit(): void {
  if (isWatchingExit) return
  isWatchingExit = true
  process.on('exit', () => {
    for (const child of living) signalGroup(child, 'SIGTERM')
  })
}

/** Closes the input and waits, then sends SIGTERM and waits, then sends SIGKILL. Signals go to the whole group. */
export async function endChild(child: Child, shutdownMs: number = DEFAULT_SHUTDOWN_MS): Promise<void> {
  child.stdin.end()
  if (!(await exits(child, shutdownMs))) {
    signalGroup(child, 'SIGTERM')
    if (!(await exits(child, shutdownMs))) signalGroup(child, 'SIGKILL')
  }
  await endGroup(child)
}

/** Ends the processes that are left of the group. */
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

/** Signals the group; false when no process is left. */
function signalGroup(child: ChildProcess, signal: NodeJS.Signals | 0): boolean {
  if (child.pid === undefined) return false
  const isWindows = process.platform === 'win32'
  // Windows has no groups. A script runs its program as a child of cmd.exe, and ending only cmd.exe would leave the program behind.
  if (isWindows && signal !== 0)
    spawnSync(systemProgram('taskkill.exe'), ['/pid', `${child.pid}`, '/t', '/f'], { windowsHide: true, stdio: 'ignore' })
  try {
    process.kill(isWindows ? child.pid : -child.pid, signal)
    return true
  } catch {
    return false
  }
}

/** Standard error of a process: delivers it line by line, and keeps the end for error messages. */
export class Stderr {
  readonly #max: number
  readonly #onLine: ((line: string) => void) | undefined
  #tail = ''
  #line = ''

  /** @param max only tests set it */
  constructor(stream: Readable, options: Pick<ProcessOptions, 'onStderr'>, max = MAX_STDERR_CHARS) {
    this.#max = max
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

  /** The end of the tail for an error message, with secrets redacted. */
  lastWords(): string {
    const words = redactText(this.#tail.trim())
    if (words.length <= 1000) return words
    // Begins at a line or word: half a secret would not be recognized and redacted.
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
