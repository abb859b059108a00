/** Wraps untrusted text at words, with its line breaks. */

import { LINE_BREAK, SafeText, untrusted, untrustedLines } from './safe-text.ts'
import { wrapTo } from './width.ts'

/**
 * The first line begins where the cursor is, at column `indent`. The others are indented by it.
 * @param columns the width of the terminal; undefined does not wrap
 */
export function wrappedLines(text: string, columns: number | undefined, indent = 0): SafeText {
  // Escapes are longer than the characters that they stand for, so the text is escaped before it is measured.
  const lines = untrustedLines(text.trimEnd()).text.split('\n')
  const room = columns === undefined ? Number.POSITIVE_INFINITY : Math.max(20, columns - indent)
  const wrapped = lines.flatMap((line) => wrapTo(line, room))
  return SafeText.join(
    wrapped.map((line, at) => (at === 0 ? untrusted(line) : untrusted(line).indented(indent))),
    LINE_BREAK,
  )
}
