/** A proxy between a client on standard streams and a server: it forwards every message and reports it. */

import type { Readable, Writable } from 'node:stream'
import { isObject } from '../../base/json.ts'
import { onAbort } from '../../base/on-abort.ts'
import { MirroredParams } from '../../client/mirrored-params.ts'
import { type TappedMessage, tapTarget } from '../../client/tap-target.ts'
import { LineReader } from '../../jsonrpc/lines.ts'
import { type Id, INTERNAL_ERROR, isId, type Params } from '../../jsonrpc/message.ts'
import { DEFAULT_MAX_LINE_BYTES } from '../../jsonrpc/read.ts'
import { checkMembers } from '../../protocol/check-members.ts'
import type { About, Link, Target } from '../../protocol/interfaces/link.ts'
import { META } from '../../protocol/model/base.ts'
import type { Tool } from '../../protocol/model/tools.ts'

/** Options for `proxyStdio`. */
export interface ProxyOptions {
  /** Where the client writes, such as `process.stdin`. */
  input: Readable
  /** Where the client reads, such as `process.stdout`. */
  output: Writable
  /** Ends the proxy. */
  signal: AbortSignal
  /** Called with every message of both sides. */
  onMessage(message: TappedMessage): void
  /** Called for input that is not passed on, with the reason. */
  onWarning(text: string): void
}

/**
 * Connects a client on standard streams to a server and reports every message.
 * Resolves when the client closes the input; rejects when the connection to the server fails.
 *
 * @example
 * await proxyStdio(processTarget({ command: 'node', args: ['server.mjs'] }), {
 *   input: process.stdin,
 *   output: process.stdout,
 *   signal: new AbortController().signal,
 *   onMessage: ({ from, message }) => console.error(from, JSON.stringify(message)),
 *   onWarning: console.error,
 * })
 */
export async function proxyStdio(target: Target, options: ProxyOptions): Promise<void> {
  checkMembers('proxyStdio', options, { input: 1, output: 1, signal: 1, onMessage: 1, onWarning: 1 })
  const { input, output, signal, onMessage, onWarning } = options
  let forward: (passed: TappedMessage) => void = () => {}
  const link = await tapTarget(target, (passed) => {
    onMessage(passed)
    if (passed.from === 'server') forward(passed)
  }).open()
  const about = new TransportMetadata(target.mirrorsHeaders === true)
  forward = ({ message }) => {
    if (!isObject(message) || message.jsonrpc !== '2.0') return onWarning(`The server sent an invalid message: ${JSON.stringify(message)}`)
    about.learn(message)
    output.write(`${JSON.stringify(message)}\n`)
  }
  let onData: (chunk: Uint8Array) => void = () => {}
  try {
    await new Promise<void>((resolve, reject) => {
      const refuse = (id: Id, error: Error): void =>
        void output.write(`${JSON.stringify({ jsonrpc: '2.0', id, error: { code: INTERNAL_ERROR, message: error.message } })}\n`)
      link.start({
        onMessage: () => {},
        onLost: refuse,
        onForgotten: () => reject(new Error('The server no longer knows the session')),
        onClose: (error) => (error ? reject(error) : resolve()),
      })
      const reader = new LineReader({
        maxLineBytes: DEFAULT_MAX_LINE_BYTES,
        onLine: (text, from, to) => fromClient(link, about, text.slice(from, to), onWarning),
        onTooLong: () => onWarning(`The client sent a message longer than ${DEFAULT_MAX_LINE_BYTES} bytes; it was dropped`),
        onNotUtf8: () => onWarning('The client sent bytes that are not UTF-8; they were dropped'),
      })
      onData = (chunk) => reader.push(chunk)
      input.on('data', onData)
      input.once('end', () => {
        reader.end()
        // Requests in flight may still be answered.
        setTimeout(resolve, LAST_ANSWERS_MS)
      })
      // It may have been aborted while the connection was opened.
      onAbort(signal, resolve)
    })
  } finally {
    // An input that is still read keeps the process alive.
    input.off('data', onData)
    input.pause()
    await link.close()
  }
}

const LAST_ANSWERS_MS = 300

function fromClient(link: Link, about: TransportMetadata, line: string, onWarning: (message: string) => void): void {
  if (line.trim() === '') return
  let message: unknown
  try {
    message = JSON.parse(line)
  } catch {
    return onWarning('The client sent a line that is not JSON; it was dropped')
  }
  if (isObject(message) && message.method === 'notifications/cancelled' && isObject(message.params)) {
    const { requestId } = message.params
    if (isId(requestId) && link.cancel?.(requestId)) return
  }
  link.send(line, about.of(message))
}

/** Rebuilds the transport metadata (headers) from the messages. */
class TransportMetadata {
  readonly #mirrored: MirroredParams | undefined
  #version: string | undefined

  constructor(mirrorsHeaders: boolean) {
    this.#mirrored = mirrorsHeaders ? new MirroredParams() : undefined
  }

  of(message: unknown): About | undefined {
    if (!isObject(message) || typeof message.method !== 'string') return undefined
    const params: Params | undefined = isObject(message.params) ? message.params : undefined
    const meta = isObject(params?._meta) ? params._meta : {}
    const version = meta[META.protocolVersion] ?? this.#version
    return {
      method: message.method,
      ...(isId(message.id) && { id: message.id }),
      params,
      ...(typeof version === 'string' && { version }),
      ...(this.#mirrored && message.method === 'tools/call' && params && { mirrored: this.#mirrored.of(params) }),
    }
  }

  /** The handshake names the version; the list of tools names the arguments that are repeated in headers. */
  learn(message: Params): void {
    const result = isObject(message.result) ? message.result : undefined
    if (typeof result?.protocolVersion === 'string') this.#version = result.protocolVersion
    if (this.#mirrored && Array.isArray(result?.tools))
      for (const tool of result.tools) if (isObject(tool) && isObject(tool.inputSchema)) this.#mirrored.learn(tool as unknown as Tool)
  }
}
