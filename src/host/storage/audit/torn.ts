/** What may stand after the last whole line of a log, and what may not: only a crash leaves less than a record. */

/** Bytes after the last whole line of a log. */
export interface Torn {
  bytes: Buffer
  /** How many of them come before the zeros that a machine may leave when it goes down. */
  begun: number
  /** They are all of a record, and lack only the end of the line. */
  isClosed: boolean
}

export type TornBytes = Torn | { fault: string }

/**
 * A crash of the process leaves the beginning of one record; a crash of the machine may leave zeros after it, up to the end of
 * the file. Anything else was not left by a crash.
 */
export function readTorn(bytes: Buffer, maxLineBytes: number): TornBytes {
  const zero = bytes.indexOf(0)
  const begun = zero === -1 ? bytes.length : zero
  for (let at = begun; at < bytes.length; at++) if (bytes[at] !== 0) return { fault: 'zeros stand in it, and other bytes after them' }
  if (begun > maxLineBytes) return { fault: `it is longer than a record may be (${maxLineBytes} bytes)` }
  const zeros = bytes.length - begun
  // A crash leaves zeros in the place of the record that was being written. More of them were put over records that were there.
  if (zeros > maxLineBytes) return { fault: `${zeros} zeros stand at its end, more than a record may have bytes (${maxLineBytes})` }
  const text = bytes.subarray(0, begun).toString('latin1')
  if (!isBeginning(text)) return { fault: 'it does not begin like a record' }
  const end = endOf(text)
  if (end !== -1 && end < text.length) return { fault: 'more follows a record in the same line' }
  return { bytes, begun, isClosed: end !== -1 }
}

const HEAD = '{"at":'

/** Members are sorted, and `at` comes first in every record. */
const isBeginning = (text: string): boolean =>
  text.length <= HEAD.length ? HEAD.startsWith(text) : text.startsWith(HEAD) && /^\d{1,16}(?:,"|,?$)/.test(text.slice(HEAD.length))

/** Where the object ends that the text begins with; -1 when that is not in it. Control characters are never written as they are. */
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
