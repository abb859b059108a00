/** The client's connection to a server process: its messages, its standard error and its exit. */

import { within } from '../base/wait.ts'
import { LineReader } from '../jsonrpc/lines.ts'
import type { Incoming } from '../jsonrpc/message.ts'
import { answerBounds, DEFAULT_MAX_LINE_BYTES, type ReadBounds, read } from '../jsonrpc/read.ts'
import { isUnusable } from '../jsonrpc/unusable.ts'
import { McpError } from '../protocol/errors.ts'
import type { Link, LinkReceiver } from '../protocol/interfaces/link.ts'
import { type Child, endChild, endChildrenAtExit, endGroup, Stderr, startChild } from './child.ts'
import type { ProcessTargetOptions } from './connect.ts'
import { LineWriter } from './writer.ts'

const MAX_GARBAGE_WARNINGS = 10
const DEFAULT_MAX_GARBAGE_LINES = 1000
const NOT_UTF8 = 'bytes that are not UTF-8'
const DEFAULT_MAX_PENDING_BYTES = 64 * 1024 * 1024
/** How long a server may take to read the last messages before its input is closed. */
const LAST_INPUT_MS = 100
/** How long the last output may take to arrive after the exit. */
const LAST_OUTPUT_MS = 50
/** How long to wait for the exit after the end of the output, because the exit tells more. */
const EXIT_AFTER_OUTPUT_MS = 500

/** Starts the process. @param label names it in errors */
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
  #hasWritten = false
  /** Lines that were not messages. */
  #garbage = 0
  /** The same since the last message. */
  #garbageInARow = 0

  constructor(child: Child, label: string, options: ProcessTargetOptions) {
    this.#child = child
    this.#label = label
    this.#options = options
    this.#bounds = answerBounds(options.maxValues)
    this.#stderr = new Stderr(child.stderr, options)
    this.#writer = new LineWriter(child.stdin, { maxPendingBytes: options.maxPendingBytes ?? DEFAULT_MAX_PENDING_BYTES })
    // A broken pipe is reported by the exit that caused it.
    child.stdin.on('error', () => {})
    child.stdout.on('error', () => {})
  }

  get pid(): number | undefined {
    return this.#child.pid
  }

  /** Not judged by standard error: programs such as npx write to it before they start the server. */
  get isStarting(): boolean {
    return !this.#hasWritten
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
      this.#hasWritten = true
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
    await within(LAST_INPUT_MS, this.#writer.end(), undefined)
    await endChild(this.#child, this.#options.shutdownMs)
  }

  #onLine(text: string, from: number, to: number): void {
    if (this.#isOver) return
    const message = messageIn(text, from, to, this.#bounds)
    if (!message) return this.#skip(excerpt(text.slice(from, to)))
    this.#garbageInARow = 0
    this.#receiver?.onMessage(message)
  }

  /** Reads the line with replacement characters, because an answer with a few of them is better than none. */
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
      new McpError('ERR_LIMIT', `${this.#label} wrote ${max} lines in a row that are not messages (maxGarbageLines); the last: ${what}`),
    )
  }

  #warn(what: string): void {
    if (++this.#garbage > MAX_GARBAGE_WARNINGS) return
    this.#options.onWarning?.(
      `${this.#label} wrote a line that is not a message: ${what}${this.#garbage === MAX_GARBAGE_WARNINGS ? ' (further warnings of this kind are dropped)' : ''}`,
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
    // The last answers may still be in the pipe. The wait is limited, because a grandchild may keep the pipe open.
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

/** The message on a line; undefined when the line is unusable. */
function messageIn(text: string, from: number, to: number, bounds: ReadBounds): Incoming | undefined {
  const message = read(text, bounds, from, to)
  if (!isUnusable(message)) return message
  // An answer without a result ends the request that it names. A log line that happens to contain an id does not.
  if (message.kind !== 'malformed' || message.id === undefined || !VERSIONED.test(text.slice(from, to))) return undefined
  return { kind: 'ignored', id: message.id, reason: message.error.message }
}

const VERSIONED = /"jsonrpc"\s*:\s*"2\.0"/

// Keeps a byte order mark, like the reader of valid UTF-8.
const lenient = new TextDecoder('utf-8', { ignoreBOM: true })

/** Cut at whole words: half a secret would not be recognized and redacted. */
const excerpt = (text: string): string => JSON.stringify(text.length > 80 ? `${text.slice(0, 77).replace(/\S+$/, '')}...` : text)
