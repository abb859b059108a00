/** Wraps untrusted text at words, with its line breaks. Addresses are never broken: they must be clickable. */

import { LINE_BREAK, SafeText, untrusted, untrustedLines } from './safe-text.ts'
import { widthOf, wrapTo } from './width.ts'

const NARROWEST = 20

/**
 * The first line begins where the cursor is, at column `indent`. The others are indented by it.
 * @param columns the width of the terminal; undefined does not wrap
 */
export function wrappedLines(text: string, columns: number | undefined, indent = 0): SafeText {
  // Escapes are longer than the characters that they stand for, so the text is escaped before it is measured.
  const lines = untrustedLines(text.trimEnd()).text.split('\n')
  const wrapped = columns === undefined ? lines : lines.flatMap((line) => wrapWords(line, Math.max(NARROWEST, columns - indent)))
  return SafeText.join(
    wrapped.map((line, at) => (at === 0 ? untrusted(line) : untrusted(line).indented(indent))),
    LINE_BREAK,
  )
}

function wrapWords(line: string, room: number): string[] {
  const lines: string[] = []
  let current: string | undefined
  for (const word of line.split(' ')) {
    const longer: string = current === undefined ? word : `${current} ${word}`
    if (widthOf(longer) <= room) {
      current = longer
      continue
    }
    if (current !== undefined) lines.push(current)
    const parts = /^\W*https?:\/\//i.test(word) ? [word] : wrapTo(word, room)
    lines.push(...parts.slice(0, -1))
    current = parts.at(-1) as string
  }
  return current === undefined ? lines : [...lines, current]
}
