/** Serves on standard input and output, and ends with its client. */

import type { Readable, Writable } from 'node:stream'
import { asText } from '../base/as-text.ts'
import { within } from '../base/wait.ts'
import { LineReader } from '../jsonrpc/lines.ts'
import { INVALID_REQUEST, PARSE_ERROR } from '../jsonrpc/message.ts'
import type { Outlet } from '../jsonrpc/outlet.ts'
import { DEFAULT_MAX_LINE_BYTES, DEFAULT_READ_BOUNDS, malformed, type ReadBounds, read } from '../jsonrpc/read.ts'
import { checkMembers } from '../protocol/check-members.ts'
import type { EndCause, Service } from '../protocol/interfaces/service.ts'
import { LineWriter } from './writer.ts'

/** Options of {@link serveStdio}. */
export interface ServeStdioOptions extends Partial<Pick<ReadBounds, 'maxValues'>> {
  /** The longest message, in bytes. A longer one is refused and skipped. Default: 10 MiB. */
  maxLineBytes?: number
  /** Bytes that may wait for a client that does not read. More end the server. Default: 64 MiB. */
  maxPendingBytes?: number
  /** How long requests in progress and tasks may take after the client has closed the input. Default: 300 ms. */
  graceMs?: number
  /** Streams to use instead of standard input and output. With them, the end of the connection does not end the process. */
  streams?: { input: Readable; output: Writable }
}

/** A server on standard input and output. */
export interface StdioServing {
  /** Resolves when the server has ended. */
  readonly closed: Promise<void>
  /** Answers the requests in progress, then ends. */
  close(): Promise<void>
}

const DEFAULT_MAX_PENDING_BYTES = 64 * 1024 * 1024
const DEFAULT_GRACE_MS = 300
const FLUSH_MS = 300
const PARENT_CHECK_MS = 1000

/**
 * Serves on standard input and output until the client closes the input or disconnects, then ends the process.
 *
 * @example
 * ```ts
 * serveStdio(server)
 * ```
 */
export function serveStdio(service: Service, options: ServeStdioOptions = {}): StdioServing {
  checkMembers('serveStdio', options, { maxValues: 1, maxLineBytes: 1, maxPendingBytes: 1, graceMs: 1, streams: 1 })
  const ownsProcess = options.streams === undefined
  const input = options.streams?.input ?? process.stdin
  const output = options.streams?.output ?? process.stdout
  const write = ownsProcess ? guardStdout() : undefined
  const { maxValues = DEFAULT_READ_BOUNDS.maxValues } = options
  const bounds: ReadBounds = { ...DEFAULT_READ_BOUNDS, maxValues }
  const maxLineBytes = options.maxLineBytes ?? DEFAULT_MAX_LINE_BYTES
  const whenOver: (() => void)[] = []
  let isFinishing = false
  let isOver = false

  const writer = new LineWriter(
    output,
    { maxPendingBytes: options.maxPendingBytes ?? DEFAULT_MAX_PENDING_BYTES, onBlocked: (isBlocked) => setFlow('output', isBlocked) },
    write,
  )
  const put = (json: string, isAnswer: boolean): undefined | Promise<void> => {
    if (isOver) return undefined
    try {
      return isAnswer ? writer.answer(json) : writer.line(json)
    } catch (error) {
      void finish(0, asText(error))
      return undefined
    }
  }
  const outlet: Outlet = { push: (json) => put(json, false), answer: (json) => void put(json, true), drop: () => {} }
  const tasks = service.serveTasks?.()
  const channel = service.open({ outlet, beginsAnew: true, isPrivate: true })
  const reader = new LineReader({
    maxLineBytes,
    onLine: (text, from, to) => channel.receive(read(text, bounds, from, to), outlet),
    onTooLong: () => refuse(INVALID_REQUEST, `The message is longer than ${maxLineBytes} bytes (maxLineBytes)`),
    onNotUtf8: () => refuse(PARSE_ERROR, 'The message is not UTF-8'),
  })
  const refuse = (code: number, message: string): void => channel.receive(malformed(undefined, code, message), outlet)

  // Input is paused when the client does not read, or when too many requests wait.
  const reasonsToWait = new Set<'output' | 'requests'>()
  const setFlow = (reason: 'output' | 'requests', mustWait: boolean): void => {
    if (mustWait) reasonsToWait.add(reason)
    else reasonsToWait.delete(reason)
    if (reasonsToWait.size > 0) input.pause()
    else input.resume()
  }
  channel.onRelief = () => setFlow('requests', false)

  const onData = (chunk: Uint8Array): void => {
    reader.push(chunk)
    if (channel.isSaturated) setFlow('requests', true)
  }
  const onEnd = (): void => {
    reader.end()
    void finish(options.graceMs ?? DEFAULT_GRACE_MS, 'The client closed the input')
  }
  const onBroken = (): void => void finish(0, 'The client is gone')
  // A destroyed stream closes without 'end' and without 'error'.
  const onClose = (): void => {
    if (!isFinishing) onBroken()
  }

  /** @param graceMs how long requests in progress may still take */
  const finish = async (graceMs: number, reason: string, cause?: EndCause): Promise<void> => {
    if (isFinishing) {
      // A second request to end does not wait.
      if (ownsProcess) process.exit(0)
      return closed
    }
    isFinishing = true
    input.off('data', onData)
    input.off('end', onEnd)
    const handedOver = tasks?.handOver()
    if (graceMs > 0) {
      // A request may still become a task.
      const idle = channel.drain().then(() => tasks?.whenIdle())
      await within(graceMs, idle, undefined).catch(() => {})
    }
    channel.close(reason, cause)
    // Lets aborted handlers write their last messages.
    await new Promise((resolve) => setImmediate(resolve))
    await within(FLUSH_MS, Promise.all([writer.end(), handedOver]), undefined)
    isOver = true
    for (const undo of whenOver) undo()
    settle()
    if (ownsProcess) process.exit(0)
  }

  let settle: () => void = () => {}
  const closed = new Promise<void>((resolve) => {
    settle = resolve
  })

  input.on('data', onData)
  input.on('end', onEnd)
  input.on('error', onBroken)
  output.on('error', onBroken)
  input.on('close', onClose)
  output.on('close', onClose)
  if (ownsProcess)
    whenOver.push(...followProcess(() => finish(options.graceMs ?? DEFAULT_GRACE_MS, 'The process was asked to end', 'shutdown'), onBroken))
  return { closed, close: () => finish(options.graceMs ?? DEFAULT_GRACE_MS, 'The server was closed', 'shutdown') }
}

/**
 * Stops serving on SIGTERM or SIGINT, or when the parent process exits. The end of input is not enough, because another process may
 * keep it open.
 */
function followProcess(onSignal: () => void, onOrphaned: () => void): (() => void)[] {
  const parent = process.ppid
  const timer = setInterval(() => {
    if (process.ppid !== parent) onOrphaned()
  }, PARENT_CHECK_MS)
  timer.unref()
  process.on('SIGTERM', onSignal)
  process.on('SIGINT', onSignal)
  return [() => clearInterval(timer), () => process.off('SIGTERM', onSignal), () => process.off('SIGINT', onSignal)]
}

/** Redirects every other write to standard output to standard error. Returns the original write. */
function guardStdout(): Writable['write'] {
  const { stdout, stderr } = process
  const write = stdout.write.bind(stdout)
  stdout.write = stderr.write.bind(stderr) as typeof stdout.write
  // A client may close its end of standard error. Only log messages are lost then.
  stderr.on('error', () => {})
  return write as Writable['write']
}
