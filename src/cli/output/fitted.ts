/** Breaks the lines of an output at words, so that the terminal does not break them within one. */

import { untrustedLines } from './safe-text.ts'
import { expandTabs, widthOf, wrapTo } from './width.ts'

/** Our own styles and links, which take no columns. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: styles begin with the escape character
const STYLES = /\u001b(?:\[[0-9;]*m|\]8;;[^\u001b]*\u001b\\)/g

/** Indentation, and the mark of a line: `✗ `, `  → `, `- `. */
const LEAD = /^\s*(?:[^\s\p{L}\p{N}"'([{<]\s+)?/u

/** The first of two columns, as in a list of commands. */
const FIRST_COLUMN = /^\s*\S.*?\s{2,}(?=\S)/

/** A second column that would be narrower than this part of the line starts below the first. */
const WIDEST_FIRST = 0.7

/** Commands that the person may copy: in quotes, on a line of their own, or after a colon. */
const COMMAND =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: a style may begin before the command
  /"(?:npx |npm start -- )?portico [^"]*"|(?<=(?:: |^\s*)(?:\u001b\[[0-9;]*m)*)(?:(?:npx |npm start -- )?portico|servers|secrets|policy|grants|pins|skills|inbox|tasks|doctor|audit|approve|enable) \S.*?(?=\. |\s{2}|$)/g

/** Stands for a space that is not broken. Text for the screen has no such character. */
const UNBROKEN = '\u0000'

/**
 * Breaks every line that is wider than the terminal, at a space. Later lines begin below the text of the first one. A word is never
 * broken, and neither is a command: an address or a command in two parts cannot be copied.
 * @param columns undefined: nothing is broken
 */
export const fitted = (text: string, columns: number | undefined): string =>
  columns === undefined
    ? text
    : text
        .split('\n')
        .map((line) => fittedLine(line, columns))
        .join('\n')

/**
 * The lines of a text of others, for a place that is narrower than the terminal. A word that is wider than the place is broken, unless it
 * is an address. The text is escaped before it is measured, because escapes are wider than what they stand for.
 */
export const fittedLines = (text: string, columns: number | undefined): string[] => {
  const lines = fitted(expandTabs(untrustedLines(text).text), columns).split('\n')
  if (columns === undefined) return lines
  return lines.flatMap((line) => (widthOf(line) > columns && !line.includes('://') ? wrapTo(line, columns) : [line]))
}

const shownWidth = (text: string): number => widthOf(text.replaceAll(STYLES, ''))

function fittedLine(line: string, columns: number): string {
  if (shownWidth(line) <= columns) return line
  const bare = line.replaceAll(STYLES, '')
  const lead = LEAD.exec(bare)?.[0] ?? ''
  const below = startOfLaterLines(bare, lead, columns)
  const start = widthOf(below)
  const kept = line.replaceAll(COMMAND, (command) => command.replaceAll(' ', UNBROKEN))
  let broken = ''
  let column = 0
  for (const [, space = '', word = ''] of kept.matchAll(/(\s*)(\S+)/g)) {
    const width = shownWidth(word)
    if (column > start && column + space.length + width > columns) {
      broken += `\n${below}${word}`
      column = start + width
    } else {
      broken += `${space}${word}`
      column += space.length + width
    }
  }
  return broken.replaceAll(UNBROKEN, ' ')
}

/** A bar marks text of others, so every line has it. */
function startOfLaterLines(bare: string, lead: string, columns: number): string {
  if (lead.includes('│')) return lead
  const first = FIRST_COLUMN.exec(bare)?.[0] ?? ''
  const isList = first.length > lead.length && widthOf(first) <= columns * WIDEST_FIRST
  return ' '.repeat(widthOf(isList ? first : lead))
}
