/** A server process with nothing between it and the test: bytes in, lines out. */

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { afterEach } from 'vitest'

export interface Message {
  jsonrpc?: unknown
  id?: string | number | null
  method?: string
  params?: Record<string, unknown>
  result?: Record<string, unknown>
  error?: { code: number; message: string; data?: unknown }
}

export interface Exit {
  code: number | null
  signal: NodeJS.Signals | null
}

export interface StdioProcess {
  child: ChildProcess
  pid: number
  /** Every line of its output so far. */
  lines: string[]
  /** The same, parsed; a line that is no JSON makes the test fail. */
  messages: Message[]
  stderr(): string
  write(bytes: string | Uint8Array): void
  send(message: unknown): void
  ask(method: string, params?: unknown, id?: string | number): Promise<Message>
  /** Resolves with the first message that fits, past or future; rejects when the process ends before. */
  until(fits: (message: Message) => boolean): Promise<Message>
  /** Resolves when its standard error contains the text. */
  untilStderr(text: string): Promise<void>
  initialize(revision?: string, capabilities?: object): Promise<Message>
  readonly exit: Promise<Exit>
}

const running = new Set<ChildProcess>()

afterEach(() => {
  for (const child of running) child.kill('SIGKILL')
  running.clear()
})

export const fixture = (name: string): string => fileURLToPath(new URL(`../stdio/fixtures/${name}`, import.meta.url))

export function startServer(path: string, args: readonly string[] = []): StdioProcess {
  const child = spawn(process.execPath, [path, ...args], { stdio: ['pipe', 'pipe', 'pipe'] })
  running.add(child)
  const lines: string[] = []
  const messages: Message[] = []
  const waiting = new Set<() => void>()
  let rest = ''
  let stderr = ''
  let nextId = 1
  const wake = (): void => {
    for (const look of [...waiting]) look()
  }
  child.stdin.on('error', () => {})
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    const all = (rest + text).split('\n')
    rest = all.pop() as string
    for (const line of all) {
      lines.push(line)
      messages.push(JSON.parse(line))
    }
    wake()
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
    wake()
  })
  const exit = once(child, 'close').then(([code, signal]): Exit => {
    running.delete(child)
    queueMicrotask(wake)
    return { code, signal }
  })
  const untilFound = <T>(find: () => T | undefined, what: string): Promise<T> =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        const found = find()
        if (found === undefined && running.has(child)) return
        waiting.delete(look)
        if (found !== undefined) resolve(found)
        else reject(new Error(`The process ended without ${what}; its standard error was: ${stderr.slice(-2000)}`))
      }
      waiting.add(look)
      look()
    })

  const it: StdioProcess = {
    child,
    pid: child.pid as number,
    lines,
    messages,
    exit,
    stderr: () => stderr,
    write: (bytes) => void child.stdin.write(bytes),
    send: (message) => it.write(`${JSON.stringify(message)}\n`),
    ask: (method, params, id = nextId++) => {
      it.send({ jsonrpc: '2.0', id, method, ...(params === undefined ? {} : { params }) })
      return it.until((message) => message.id === id && message.method === undefined)
    },
    until: (fits) => untilFound(() => messages.find(fits), 'the message waited for'),
    untilStderr: async (text) => {
      await untilFound(() => stderr.includes(text) || undefined, `writing ${JSON.stringify(text)} to standard error`)
    },
    initialize: async (protocolVersion = '2025-06-18', capabilities = {}) => {
      const answer = await it.ask('initialize', { protocolVersion, capabilities, clientInfo: { name: 'test', version: '1' } })
      it.send({ jsonrpc: '2.0', method: 'notifications/initialized' })
      return answer
    },
  }
  return it
}
