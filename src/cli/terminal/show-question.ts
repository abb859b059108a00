/** Shows a question, in short or with all details, and marks the text that a server wrote. */

import { describeQuestion, type Question, type QuestionLine, type QuestionSummary, visibleLine } from '../../host/index.ts'
import { compactJson } from '../output/compact-json.ts'
import { LINE_BREAK, NOTHING, SafeText, safe, untrusted } from '../output/safe-text.ts'
import type { Screen } from '../output/screen.ts'
import { type Styles, stylesFor } from '../output/style.ts'
import { expandTabs, widthOf, wrapTo } from '../output/width.ts'

/** Free columns, for characters that a terminal draws wider than computed. */
const MARGIN = 2
const INDENT = 4
const GAP = 2
/** The widest name of an item that has its description beside it, and the narrowest description. */
const MAX_NAME = 28
const LEAST_DESCRIPTION = 16

interface Place {
  style: Styles
  /** Undefined without a terminal. */
  columns: number | undefined
  /** The width of the names of items, so that their descriptions are aligned. */
  nameWidth?: number
  link(href: string): SafeText
}

const noteOn = (screen: Screen): Place => ({
  style: screen.noteStyle,
  columns: screen.noteColumns,
  link: (href) => screen.noteLink(href),
})

/** Details are printed as ordinary lines, with nothing left out. */
export function showQuestion(screen: Screen, question: Question, options: { isWhole?: boolean } = {}): void {
  screen.note(safe``)
  for (const line of describeQuestion(question, options)) if (!SAID_BY_CHOICES.has(line.kind)) screen.note(shownLine(noteOn(screen), line))
}

/** The details in pages that fit on the screen. Without styles: a style could go on over the end of a page. */
export function detailPages(
  screen: Screen,
  question: Question,
  { isWhole = false, rows }: { isWhole?: boolean; rows: number },
): SafeText[] {
  const place: Place = { style: stylesFor(false), columns: screen.noteColumns, link: untrusted }
  const all = describeQuestion(question, { isWhole }).flatMap((line) => {
    if (SAID_BY_CHOICES.has(line.kind)) return []
    // The terminal breaks an address, so its rows are counted only if they are broken here.
    return shownLine(place, line.kind === 'address' ? { ...line, kind: 'detail' } : line).text.split('\n')
  })
  const pages: SafeText[] = []
  for (let at = 0; at < all.length; at += rows) pages.push(SafeText.lines(all.slice(at, at + rows).join('\n')))
  return pages
}

/** Lines that the choices below the question repeat. */
const SAID_BY_CHOICES: ReadonlySet<QuestionLine['kind']> = new Set(['scopes', 'expiry'])

/** Returns the number of rows. @param position where the question stands among those that wait: `1 of 3` */
export function showSummary(screen: Screen, { lines }: QuestionSummary, position?: string): number {
  const items = lines.filter(({ kind }) => kind === 'item')
  const nameWidth = Math.min(MAX_NAME, Math.max(0, ...items.map(({ label }) => widthOf(expandTabs(label)))))
  const place = { ...noteOn(screen), nameWidth }
  screen.note(safe``)
  let rows = 1
  for (const line of lines) {
    const isTitle = line.tone === 'title' && position !== undefined
    // The address has a line of its own, and the title says what it is.
    const shown = isTitle ? { ...line, text: `(${position}) ${line.text}` } : line.kind === 'address' ? { ...line, label: '' } : line
    const drawn = shownLine(place, shown)
    rows += drawn.text.split('\n').length + brokenRows(line, place.columns)
    screen.note(drawn)
  }
  return rows
}

/** The terminal breaks an address, which is not broken here. */
const brokenRows = ({ kind, text }: QuestionLine, columns = Number.POSITIVE_INFINITY): number =>
  kind === 'address' ? Math.floor((widthOf(text) + INDENT) / columns) : 0

/** Repeats the title on one line, because it may have scrolled away. */
export const showTitle = (screen: Screen, question: Question): void =>
  screen.note(screen.noteStyle.bold(untrusted(titleText(question)).cut(Math.max(1, (screen.noteColumns ?? 80) - MARGIN))))

/** Prints one more detail in the same form. */
export const showLine = (screen: Screen, line: QuestionLine): void => screen.note(shownLine(noteOn(screen), visibleLine(line)))

/** Prints the details as a result, without a question. */
export function printLines(screen: Screen, lines: readonly QuestionLine[]): void {
  const place: Place = { style: screen.style, columns: screen.columns, link: untrusted }
  for (const line of lines) screen.print(shownLine(place, line))
}

/**
 * The lines as rows of a list that is redrawn: each fits the width, also an address, and has its own style, because any of them may
 * be the first on the screen.
 */
export function listRows(screen: Screen, lines: readonly QuestionLine[], columns: number): SafeText[] {
  const place: Place = { style: stylesFor(false), columns, link: untrusted }
  return lines.flatMap((line) => {
    const shown = shownLine(place, line.kind === 'address' ? { ...line, kind: 'detail' } : line).split()
    return line.tone === 'warning' ? shown.map((row) => screen.noteStyle.yellow(row)) : shown
  })
}

const titleText = (question: Question): string => describeQuestion(question)[0]?.text ?? question.action

/**
 * Wraps here, not in the terminal. Every line of untrusted text gets a bar, and so does every continuation line that may begin with
 * text from a server: none of it may look like a line of the host. Only an address is left to the terminal.
 */
function shownLine(place: Place, line: QuestionLine): SafeText {
  const { style, columns: all = Number.POSITIVE_INFINITY } = place
  const { label, text, tone, kind, isJson } = line
  const columns = all - MARGIN
  const bar = safe`  ${style.magenta('│')} `
  const plain = expandTabs(text)
  if (tone === 'title') return style.bold(style.cyan(sentence(plain, wrapTo(plain, columns - INDENT, columns), bar)))
  if (kind === 'item') return shownItem(place, line, columns - INDENT, bar)

  const labels = label === '' ? [] : wrapTo(`${tone === 'warning' ? '! ' : ''}${expandTabs(label)}:`, columns - INDENT, columns - 2)
  const head = safe`  ${tone === 'warning' ? style.yellow(joined(labels, bar)) : style.dim(joined(labels, bar))}`
  const said = (lines: readonly string[]): SafeText => {
    const shown = OWN_SENTENCES.has(kind) && tone !== 'theirs' ? sentence(plain, lines, bar) : joined(lines, bar)
    return tone === 'warning' ? style.yellow(shown) : tone === 'muted' ? style.dim(shown) : shown
  }
  const underHead = (body: SafeText): SafeText => (label === '' ? safe`${bar}${body}` : safe`${head}\n${bar}${body}`)
  if (kind === 'address' && !/\s/.test(text)) return underHead(place.link(text))
  const mark = tone === 'theirs' ? safe`${style.magenta('│')} ` : NOTHING
  // The width left beside a short label.
  const beside = labels.length !== 1 ? 0 : columns - 2 - widthOf(labels[0] ?? '') - 1 - (tone === 'theirs' ? 2 : 0)
  const lines = linesOf(plain, columns - INDENT, isJson ?? false)
  const [only = ''] = lines
  if (lines.length === 1 && widthOf(only) <= beside) return safe`${head} ${mark}${said([only])}`
  const isFlowing = tone !== 'theirs' && beside > columns / 3
  const broken = lines.flatMap((each, i) => wrapTo(each, columns - INDENT, isFlowing && i === 0 ? beside : columns - INDENT))
  return isFlowing ? safe`${head} ${said(broken)}` : underHead(said(broken))
}

/** A row of a table: the name and the description in full, and the claim of the server. */
function shownItem({ style, nameWidth = 0 }: Place, { label, text, claim = '' }: QuestionLine, columns: number, bar: SafeText): SafeText {
  const names = wrapTo(expandTabs(label), columns)
  const [name = ''] = names
  const isBeside = names.length === 1 && widthOf(name) <= nameWidth && columns - nameWidth - GAP >= LEAST_DESCRIPTION
  const indent = isBeside ? nameWidth + GAP : GAP
  const claimWidth = claim === '' ? 0 : widthOf(claim) + GAP
  const hasClaimBeside = columns - indent - claimWidth >= LEAST_DESCRIPTION
  const width = columns - indent - (hasClaimBeside ? claimWidth : 0)
  // Wrapped, not cut: the person agrees to all of it.
  const [start = '', ...others] = wrapTo(expandTabs(text), width)
  const isAligned = claim !== '' && hasClaimBeside
  const head = untrusted(start)
  const description = isAligned ? safe`${head.padEnd(Number.isFinite(width) ? width : 0)}${' '.repeat(GAP)}${style.cyan(claim)}` : head
  const first = isBeside ? style.bold(untrusted(name).padEnd(indent)) : safe`${style.bold(joined(names, bar))}\n${bar}${' '.repeat(indent)}`
  const rows = [safe`${bar}${first}${description}`, ...others.map((each) => safe`${bar}${' '.repeat(indent)}${untrusted(each)}`)]
  if (claim === '' || isAligned) return SafeText.join(rows, LINE_BREAK)
  const below = wrapTo(claim, columns - GAP).map((each) => safe`${bar}${' '.repeat(GAP)}${style.cyan(each)}`)
  return SafeText.join([...rows, ...below], LINE_BREAK)
}

/** JSON with one line per member is too long to read. Shows the same in fewer lines, with nothing left out. */
function linesOf(text: string, columns: number, isJson: boolean): string[] {
  if (!isJson || columns === Number.POSITIVE_INFINITY) return text.split('\n')
  try {
    return compactJson(JSON.parse(text), columns)
  } catch {
    return text.split('\n')
  }
}

/** Lines in the words of the host. Warnings are not among them: they quote what a server wrote. */
const OWN_SENTENCES: ReadonlySet<QuestionLine['kind']> = new Set(['reason', 'hidden', 'budget'])

/** Joins the lines of a sentence of the host. A line that begins within a quoted name, or within a word, gets the bar. */
function sentence(text: string, lines: readonly string[], bar: SafeText): SafeText {
  const mayHaveLayout = /\n| {2}/.test(text)
  let end = 0
  const led = lines.map((each, i) => {
    const start = text.startsWith(each, end) ? end : end + 1
    end = start + each.length
    if (i === 0) return untrusted(each)
    const isWithin = mayHaveLayout || text[start - 1] !== ' ' || isWithinQuotes(text.slice(0, start))
    return safe`${isWithin ? bar : ' '.repeat(INDENT)}${each}`
  })
  return SafeText.join(led, LINE_BREAK)
}

const isWithinQuotes = (before: string): boolean => before.replaceAll(/\\./g, '').split('"').length % 2 === 0

/** Joins lines, with `lead` before each but the first. */
const joined = (lines: readonly string[], lead: SafeText): SafeText => SafeText.join(lines, SafeText.join([LINE_BREAK, lead]))
