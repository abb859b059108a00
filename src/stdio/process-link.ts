/** The connection to a server process: its lines, its last words and its end. */

import { LineReader } from '../jsonrpc/lines.ts'
import type { Incoming } from '../jsonrpc/message.ts'
import { answerBounds, DEFAULT_MAX_LINE_BYTES, type ReadBounds, read } from '../jsonrpc/read.ts'
import { McpError } from '../protocol/errors.ts'
import type { Link, LinkReceiver } from '../protocol/seams/link.ts'
import { type Child, endChild, endChildrenAtExit, endGroup, Stderr, startChild } from './child.ts'
import type { ProcessTargetOptions } from './connect.ts'
import { within } from './within.ts'
import { LineWriter } from './writer.ts'

const MAX_GARBAGE_WARNINGS = 10
const DEFAULT_MAX_GARBAGE_LINES = 1000
const NOT_UTF8 = 'bytes that are not UTF-8'
const DEFAULT_MAX_PENDING_BYTES = 64 * 1024 * 1024
/** How long a server that is closed may take to read what was sent right before. */
const LAST_INPUT_MS = 100
/** How long after an exit its last output may take to arrive. */
const LAST_OUTPUT_MS = 50
/** How long after the end of its output an exit, which says more, may take to follow. */
const EXIT_AFTER_OUTPUT_MS = 500

/** Starts the process. @param label its name for people */
export async function openProcess(options: ProcessTargetOptions, label: string): Promise<Link> {
  endChildrenAtExit()
  return new ProcessLink(await startChild(options), label, options)
}

class ProcessLink implements Link {
  readonly #child: Child
  readonly #label: string
  readonly #options: ProcessTargetOptions
  readonly #stderr: Stderr
  readonly #writer: LineWriter
  readonly #bounds: ReadBounds
  #receiver: LinkReceiver | undefined
  #isOver = false
  /** Lines that were no messages: all of them, and those since the last message. */
  #garbage = 0
  #garbageInARow = 0

  constructor(child: Child, label: string, options: ProcessTargetOptions) {
    this.#child = child
    this.#label = label
    this.#options = options
    this.#bounds = answerBounds(options.maxValues)
    this.#stderr = new Stderr(child.stderr, options)
    this.#writer = new LineWriter(child.stdin, { maxPendingBytes: options.maxPendingBytes ?? DEFAULT_MAX_PENDING_BYTES })
    // A broken pipe shows as the exit that caused it.
    child.stdin.on('error', () => {})
    child.stdout.on('error', () => {})
  }

  start(receiver: LinkReceiver): void {
    this.#receiver = receiver
    const maxLineBytes = this.#options.maxLineBytes ?? DEFAULT_MAX_LINE_BYTES
    const reader = new LineReader({
      maxLineBytes,
      onLine: (text, from, to) => this.#onLine(text, from, to),
      onTooLong: () =>
        this.#fail(new McpError('ERR_LIMIT', `${this.#label} sent a message longer than ${maxLineBytes} bytes (maxLineBytes)`)),
      onNotUtf8: (line) => this.#onNotUtf8(line),
    })
    this.#child.stdout.on('data', (chunk: Uint8Array) => {
      if (!this.#isOver) reader.push(chunk)
    })
    this.#child.stdout.once('end', () => {
      reader.end()
      setTimeout(() => this.#fail(new McpError('ERR_CLOSED', `${this.#label} closed its output`)), EXIT_AFTER_OUTPUT_MS).unref()
    })
    this.#child.once('exit', () => this.#onExit())
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) this.#onExit()
  }

  send(json: string): void {
    if (this.#isOver) return
    try {
      void this.#writer.line(json)
    } catch (error) {
      this.#fail(error as Error)
    }
  }

  async close(): Promise<void> {
    this.#isOver = true
    await within(LAST_INPUT_MS, this.#writer.end())
    await endChild(this.#child, this.#options.shutdownMs)
  }

  #onLine(text: string, from: number, to: number): void {
    if (this.#isOver) return
    const message = messageIn(text, from, to, this.#bounds)
    if (!message) return this.#skip(excerpt(text.slice(from, to)))
    this.#garbageInARow = 0
    this.#receiver?.onMessage(message)
  }

  /** An answer with a few unreadable characters is worth more than none. */
  #onNotUtf8(line: Uint8Array): void {
    if (this.#isOver) return
    const text = lenient.decode(line)
    const message = messageIn(text, 0, text.length, this.#bounds)
    if (!message) return this.#skip(NOT_UTF8)
    this.#warn(NOT_UTF8)
    this.#garbageInARow = 0
    this.#receiver?.onMessage(message)
  }

  #skip(what: string): void {
    this.#warn(what)
    const max = this.#options.maxGarbageLines ?? DEFAULT_MAX_GARBAGE_LINES
    if (++this.#garbageInARow < max) return
    this.#fail(
      new McpError('ERR_LIMIT', `${this.#label} wrote ${max} lines in a row that are no messages (maxGarbageLines); the last: ${what}`),
    )
  }

  #warn(what: string): void {
    if (++this.#garbage > MAX_GARBAGE_WARNINGS) return
    this.#options.onWarning?.(
      `${this.#label} wrote something that is no message: ${what}${this.#garbage === MAX_GARBAGE_WARNINGS ? ' (no more of these are told)' : ''}`,
    )
  }

  #onExit(): void {
    const settle = (): void => {
      const { exitCode, signalCode } = this.#child
      const how = signalCode === null ? `exited with code ${exitCode}` : `was ended by ${signalCode}`
      const words = this.#stderr.lastWords()
      this.#end(new McpError('ERR_EXIT', `${this.#label} ${how}${words === '' ? '' : `: ${words}`}`, { data: { exitCode, signalCode } }))
      void endGroup(this.#child)
    }
    // Its last answers may still be in the pipe; a grandchild may hold the pipe open for ever.
    const timer = setTimeout(settle, LAST_OUTPUT_MS)
    this.#child.once('close', () => {
      clearTimeout(timer)
      settle()
    })
  }

  #fail(error: Error): void {
    if (this.#isOver) return
    this.#end(error)
    void endChild(this.#child, this.#options.shutdownMs)
  }

  #end(error: Error): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#receiver?.onClose(error)
  }
}

/** The message on a line; undefined when there is none that anybody could use or would have to answer. */
function messageIn(text: string, from: number, to: number, bounds: ReadBounds): Incoming | undefined {
  const message = read(text, bounds, from, to)
  if (!isNoise(message)) return message
  // An answer that lacks its result ends the request it names; a line of a log with an id in it ends nothing.
  if (message.kind !== 'malformed' || message.id === undefined || !VERSIONED.test(text.slice(from, to))) return undefined
  return { kind: 'ignored', id: message.id, reason: message.error.message }
}

const VERSIONED = /"jsonrpc"\s*:\s*"2\.0"/

// A byte order mark is kept, as it is where the bytes are UTF-8.
const lenient = new TextDecoder('utf-8', { ignoreBOM: true })

/** Noise on standard output is the server's mistake; only something that asks for an answer gets one. */
function isNoise(message: Incoming): boolean {
  if (message.kind === 'batch') return message.messages.every(isNoise)
  if (message.kind === 'malformed') return message.id === undefined || !message.isRequest
  return message.kind === 'ignored' && message.id === undefined
}

/** Whole words: half a secret is known to nobody as one, and would be shown. */
const excerpt = (text: string): string => JSON.stringify(text.length > 80 ? `${text.slice(0, 77).replace(/\S+$/, '')}...` : text)
