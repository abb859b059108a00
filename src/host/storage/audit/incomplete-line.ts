/** Reads an incomplete last line of a log, and decides whether a crash can have left it. */

/** The bytes after the last complete line. */
export interface IncompleteLine {
  bytes: Buffer
  /** The number of bytes before the zeros that a power failure may leave. */
  begun: number
  /** The record is complete; only the newline is missing. */
  isComplete: boolean
}

export type ReadIncompleteLine = IncompleteLine | { fault: string }

/**
 * A crash of the process leaves the beginning of one record. A crash of the machine may leave zeros after it, up to the end of the
 * file. Anything else cannot come from a crash.
 */
export function readIncompleteLine(bytes: Buffer, maxLineBytes: number): ReadIncompleteLine {
  const zero = bytes.indexOf(0)
  const begun = zero === -1 ? bytes.length : zero
  for (let at = begun; at < bytes.length; at++) if (bytes[at] !== 0) return { fault: 'it has zeros with other bytes after them' }
  if (begun > maxLineBytes) return { fault: `it is longer than a record can be (${maxLineBytes} bytes)` }
  const zeros = bytes.length - begun
  // A crash leaves zeros only for the record that was being written. More zeros would have overwritten existing records.
  if (zeros > maxLineBytes) return { fault: `it ends with ${zeros} zeros, more than the size of a record (${maxLineBytes} bytes)` }
  const text = bytes.subarray(0, begun).toString('latin1')
  if (!isBeginning(text)) return { fault: 'it does not begin like a record' }
  const end = endOf(text)
  if (end !== -1 && end < text.length) return { fault: 'it has more text after the record' }
  return { bytes, begun, isComplete: end !== -1 }
}

const HEAD = '{"at":'

/** Members are sorted, so every record begins with `at`. */
const isBeginning = (text: string): boolean =>
  text.length <= HEAD.length ? HEAD.startsWith(text) : text.startsWith(HEAD) && /^\d{1,16}(?:,"|,?$)/.test(text.slice(HEAD.length))

/** The end of the object at the beginning of the text, or -1. Records never contain unescaped control characters. */
function endOf(text: string): number {
  let depth = 0
  let isText = false
  for (let at = 0; at < text.length; at++) {
    const character = text[at]
    if (isText) {
      if (character === '\\') at++
      else if (character === '"') isText = false
    } else if (character === '"') isText = true
    else if (character === '{' || character === '[') depth++
    else if ((character === '}' || character === ']') && --depth === 0) return at + 1
  }
  return -1
}
