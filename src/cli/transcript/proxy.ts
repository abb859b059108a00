/** Between a client on our standard streams and a server: passes everything on, and tells of it. */

import type { Readable, Writable } from 'node:stream'
import { isObject } from '../../base/json.ts'
import { MirroredParams } from '../../client/mirrored-params.ts'
import { LineReader } from '../../jsonrpc/lines.ts'
import { type Id, INTERNAL_ERROR, isId, type Params } from '../../jsonrpc/message.ts'
import { DEFAULT_MAX_LINE_BYTES } from '../../jsonrpc/read.ts'
import { META } from '../../protocol/model/base.ts'
import type { Tool } from '../../protocol/model/tools.ts'
import type { About, Link, Target } from '../../protocol/seams/link.ts'
import { type Passed, tapped } from '../target/tap.ts'

export interface ProxyOptions {
  input: Readable
  output: Writable
  signal: AbortSignal
  onPassed(passed: Passed): void
  onWarning(message: string): void
}

/** Resolves when the client has closed our input, or rejects with why the server is gone. */
export async function proxy(target: Target, { input, output, signal, onPassed, onWarning }: ProxyOptions): Promise<void> {
  let passOn: (passed: Passed) => void = () => {}
  const link = await tapped(target, (passed) => {
    onPassed(passed)
    if (passed.from === 'server') passOn(passed)
  }).open()
  const about = new Abouts(target.mirrorsHeaders === true)
  passOn = ({ message }) => {
    if (!isObject(message) || message.jsonrpc !== '2.0')
      return onWarning(`The server sent something that is no message: ${JSON.stringify(message)}`)
    about.learn(message)
    output.write(`${JSON.stringify(message)}\n`)
  }
  try {
    await new Promise<void>((resolve, reject) => {
      const refuse = (id: Id, error: Error): void =>
        void output.write(`${JSON.stringify({ jsonrpc: '2.0', id, error: { code: INTERNAL_ERROR, message: error.message } })}\n`)
      link.start({
        onMessage: () => {},
        onLost: refuse,
        onForgotten: () => reject(new Error('The server has forgotten the session')),
        onClose: (error) => (error ? reject(error) : resolve()),
      })
      const reader = new LineReader({
        maxLineBytes: DEFAULT_MAX_LINE_BYTES,
        onLine: (text, from, to) => fromClient(link, about, text.slice(from, to), onWarning),
        onTooLong: () => onWarning(`The client sent a message longer than ${DEFAULT_MAX_LINE_BYTES} bytes, which was left out`),
        onNotUtf8: () => onWarning('The client sent bytes that are not UTF-8, which were left out'),
      })
      input.on('data', (chunk: Uint8Array) => reader.push(chunk))
      input.once('end', () => {
        reader.end()
        // What is under way may still be answered.
        setTimeout(resolve, LAST_ANSWERS_MS)
      })
      signal.addEventListener('abort', () => resolve(), { once: true })
    })
  } finally {
    await link.close()
  }
}

const LAST_ANSWERS_MS = 300

function fromClient(link: Link, about: Abouts, line: string, onWarning: (message: string) => void): void {
  if (line.trim() === '') return
  let message: unknown
  try {
    message = JSON.parse(line)
  } catch {
    return onWarning('The client sent a line that is not JSON, which was left out')
  }
  if (isObject(message) && message.method === 'notifications/cancelled' && isObject(message.params)) {
    const { requestId } = message.params
    if (isId(requestId) && link.cancel?.(requestId)) return
  }
  link.send(line, about.of(message))
}

/** What a transport repeats beside a message, told from the messages themselves. */
class Abouts {
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

  /** The handshake agrees on a version; a list of tools says which arguments travel beside a call. */
  learn(message: Params): void {
    const result = isObject(message.result) ? message.result : undefined
    if (typeof result?.protocolVersion === 'string') this.#version = result.protocolVersion
    if (this.#mirrored && Array.isArray(result?.tools))
      for (const tool of result.tools) if (isObject(tool) && isObject(tool.inputSchema)) this.#mirrored.learn(tool as unknown as Tool)
  }
}
