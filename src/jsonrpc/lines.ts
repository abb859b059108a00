/** Splits a byte stream into lines, one message each. Takes linear time for any size of chunks. */

import { GatheredBytes } from '../base/gathered-bytes.ts'

export interface LineReaderOptions {
  /** The maximum length of a line, in bytes. A longer line is skipped. */
  maxLineBytes: number
  /** The line is `text` from `from` to `to`. It is not cut out, because scanning a slice costs twice as much. */
  onLine(text: string, from: number, to: number): void
  /** Called once for each line that exceeds the limit, as soon as it does. */
  onTooLong(): void
  /** Called for a line that is not UTF-8. The bytes are reused after this returns. */
  onNotUtf8(line: Uint8Array): void
}

export class LineReader {
  readonly #options: LineReaderOptions
  /** The start of an unfinished line. */
  readonly #begun = new GatheredBytes()
  #isSkipping = false

  constructor(options: LineReaderOptions) {
    this.#options = options
  }

  push(chunk: Uint8Array): void {
    const last = chunk.lastIndexOf(NEWLINE)
    if (last < 0) return this.#keep(chunk)
    let from = 0
    if (this.#begun.size > 0 || this.#isSkipping) {
      from = chunk.indexOf(NEWLINE) + 1
      this.#endLine(chunk.subarray(0, from - 1))
    }
    if (from <= last) this.#emitBlock(chunk.subarray(from, last))
    this.#keep(chunk.subarray(last + 1))
  }

  /** Call at the end of the stream. Text without a final newline counts as a line. */
  end(): void {
    this.#endLine(EMPTY)
  }

  #keep(part: Uint8Array): void {
    if (this.#isSkipping || part.length === 0) return
    const { size } = this.#begun
    // The sender may reuse the bytes of its chunk.
    if (size + part.length <= this.#options.maxLineBytes) return this.#begun.add(size === 0 ? new Uint8Array(part) : part)
    this.#begun.clear()
    this.#isSkipping = true
    this.#options.onTooLong()
  }

  #endLine(rest: Uint8Array): void {
    this.#keep(rest)
    if (this.#isSkipping) {
      this.#isSkipping = false
      return
    }
    const line = this.#begun.all
    this.#begun.clear()
    this.#emit(line)
  }

  /** Decodes all complete lines of a chunk together, which costs a tenth of decoding each line. */
  #emitBlock(block: Uint8Array): void {
    const text = block.length > this.#options.maxLineBytes ? undefined : decode(block)
    if (text === undefined) return this.#emitEach(block)
    let from = 0
    for (;;) {
      const to = text.indexOf('\n', from)
      if (to < 0) break
      this.#emitText(text, from, to)
      from = to + 1
    }
    this.#emitText(text, from, text.length)
  }

  #emitEach(block: Uint8Array): void {
    let from = 0
    while (from <= block.length) {
      const newline = block.indexOf(NEWLINE, from)
      const to = newline < 0 ? block.length : newline
      if (to - from > this.#options.maxLineBytes) this.#options.onTooLong()
      else this.#emit(block.subarray(from, to))
      from = to + 1
    }
  }

  #emit(line: Uint8Array): void {
    const text = decode(line)
    if (text === undefined) this.#options.onNotUtf8(line)
    else this.#emitText(text, 0, text.length)
  }

  #emitText(text: string, from: number, to: number): void {
    for (let at = from; at < to; at++) {
      if (!isSpace(text.charCodeAt(at))) return this.#options.onLine(text, from, to)
    }
  }
}

const NEWLINE = 0x0a
const EMPTY = new Uint8Array(0)
// JSON white space only. A line with anything else was meant as a message.
const isSpace = (code: number): boolean => code === 0x20 || code === 0x09 || code === 0x0d

// A byte order mark is kept, so that the JSON parser rejects it.
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

function decode(bytes: Uint8Array): string | undefined {
  try {
    return decoder.decode(bytes)
  } catch {
    return undefined
  }
}
