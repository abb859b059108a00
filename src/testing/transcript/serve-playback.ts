/** Serves a recording on standard streams. */

import type { Readable, Writable } from 'node:stream'
import { onAbort } from '../../base/on-abort.ts'
import { LineReader } from '../../jsonrpc/lines.ts'
import { DEFAULT_MAX_LINE_BYTES } from '../../jsonrpc/read.ts'
import { checkMembers } from '../../protocol/check-members.ts'
import type { Playback } from './playback.ts'

/** Options for `servePlayback`. */
export interface ServePlaybackOptions {
  /** Where the client writes, such as `process.stdin`. */
  input: Readable
  /** Where the client reads, such as `process.stdout`. */
  output: Writable
  /** Ends serving. */
  signal: AbortSignal
}

/**
 * Answers a client on standard streams from a recording. Resolves when the client closes the input.
 *
 * @example
 * await servePlayback(new Playback(messages), { input: process.stdin, output: process.stdout, signal })
 */
export function servePlayback(playback: Playback, options: ServePlaybackOptions): Promise<void> {
  checkMembers('servePlayback', options, { input: 1, output: 1, signal: 1 })
  const { input, output, signal } = options
  return new Promise((resolve) => {
    const reader = new LineReader({
      maxLineBytes: DEFAULT_MAX_LINE_BYTES,
      onLine: (text, from, to) => {
        for (const answer of playback.answersTo(parsed(text.slice(from, to)))) output.write(`${JSON.stringify(answer)}\n`)
      },
      onTooLong: () => {},
      onNotUtf8: () => {},
    })
    const onData = (chunk: Uint8Array): void => reader.push(chunk)
    input.on('data', onData)
    input.once('end', () => {
      reader.end()
      resolve()
    })
    const stop = (): void => {
      // An input that is still read keeps the process alive.
      input.off('data', onData)
      input.pause()
      resolve()
    }
    onAbort(signal, stop)
  })
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}
