/** Long runs of blanks and line breaks: they would push the text after them out of sight, so a mark takes their place. */

/** Text as it is, or a mark in words of the page. */
export type TextPiece = { text: string } | { mark: string }

/** Four line breaks, also with blanks between them; blanks that fill about a line of a card. */
const RUNS = /\n(?:[^\S\n]*\n){3,}|[^\S\n]{40,}|\t{6,}/g

/** `a`, `600 line breaks`, `b`. @param text made visible already (state/foreign-text.ts) */
export function blankRuns(text: string): TextPiece[] {
  const pieces: TextPiece[] = []
  let at = 0
  for (const { 0: run, index } of text.matchAll(RUNS)) {
    const isLines = run[0] === '\n'
    const before = text.slice(at, index) + (isLines ? '\n' : '')
    if (before !== '') pieces.push({ text: before })
    pieces.push({ mark: isLines ? `${number(run.split('\n').length - 1)} line breaks` : `${number(run.length)} blanks` })
    at = isLines ? index + run.length - 1 : index + run.length
  }
  if (at < text.length || pieces.length === 0) pieces.push({ text: text.slice(at) })
  return pieces
}

const number = (value: number): string => value.toLocaleString('en')
