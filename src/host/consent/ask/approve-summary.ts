/** The short form of an offering: a table with one line per item, its warnings, and its changes. */

import { isObject } from '../../../base/json.ts'
import type { ApprovedItem, Subject } from '../../model/question.ts'
import { differenceText, differenceWords, toldChanges } from './difference-words.ts'
import { foldedText, shortText } from './fold.ts'
import { line, nameText, type QuestionLine, warning } from './question-line.ts'
import { counted } from './title.ts'

/** A description is cut here, and the person has to open the definition. */
const MAX_DESCRIPTION = 120

/** A change is shown up to this size. */
const CHANGE = { maxLength: 600, maxLines: 12 }

/** With more rows than this, items are shown in a row or two each: the whole question then fits on a screen of 24 rows. */
const MAX_ROWS = 14
/** Columns of a narrow screen, without the marks before the text. */
const COLUMNS = 74
/** How much of an item is shown in a row or two. */
const SHORT = { name: 40, description: 50, warnings: 110 }

export function approveSummary({ items, isFirst }: Extract<Subject, { kind: 'approve' }>): QuestionLine[] {
  const length = items.reduce((sum, { definition }) => sum + lengthOf(definition), 0)
  // With a warning the definitions have to be opened: the text that caused the warning is in one of them. The same holds for text that
  // the table does not show.
  const isWarned = items.some(({ flags }) => flags.length > 0)
  const isOpened = isWarned || items.some((item) => isCut(item) || (!isFirst && !hasChanges(item)))
  const whole = items.flatMap((item) => [itemLine(item), ...item.flags.map((text) => warning(text)), ...changeLines(item)])
  // What has to be opened in any case is shown in short.
  const [first, ...rest] = isOpened && rowsOf(whole) > MAX_ROWS ? shortItems(items) : whole
  if (!first) return []
  if (isOpened) return [{ ...first, folded: length }, ...rest]
  return [first, ...rest, line('definitions', foldedText(length), 'muted', 'hidden')]
}

/** Of a changed definition, the person reads the changes. A new one in a later offering is read as a whole. */
const hasChanges = ({ difference }: ApprovedItem): boolean => (difference?.changes.length ?? 0) > 0

const isCut = (item: ApprovedItem): boolean => descriptionOf(item).endsWith(CUT)

const lengthOf = (definition: unknown): number => JSON.stringify(definition)?.length ?? 0

function itemLine({ kind, name, definition, difference }: ApprovedItem): QuestionLine {
  const claim = claimOf(definition)
  const formerly = difference?.formerly === undefined ? '' : `, formerly ${nameText(difference.formerly)}`
  return {
    ...line(
      `${kind === 'tool' || kind === name ? '' : `${kind} `}${nameText(name)}${formerly}`,
      descriptionOf({ kind, definition }),
      'theirs',
      'item',
    ),
    ...(claim !== undefined && { claim }),
  }
}

const rowsOf = (lines: readonly QuestionLine[]): number => lines.reduce((sum, { label, text }) => sum + rowCount(`${label} ${text}`), 0)

const rowCount = (text: string): number => text.split('\n').reduce((sum, each) => sum + Math.max(1, Math.ceil(each.length / COLUMNS)), 0)

/** Each item with its first warnings, those with warnings first. Items beyond the room are counted. */
function shortItems(items: readonly ApprovedItem[]): QuestionLine[] {
  const hasWarning = ({ flags }: ApprovedItem): boolean => flags.length > 0
  const ordered = [...items.filter(hasWarning), ...items.filter((item) => !hasWarning(item))]
  const lines: QuestionLine[] = []
  let shown = 0
  for (const item of ordered) {
    const own = shortItem(item)
    if (shown > 0 && rowsOf([...lines, ...own]) > MAX_ROWS) break
    lines.push(...own)
    shown++
  }
  const rest = ordered.length - shown
  return rest === 0 ? lines : [...lines, line('and', `${counted(rest, 'more item')}, see details`, 'muted', 'hidden')]
}

function shortItem({ kind, name, definition, difference, flags }: ApprovedItem): QuestionLine[] {
  const label = `${kind === 'tool' || kind === name ? '' : `${kind} `}${nameText(cut(name, SHORT.name))}`
  const said = cut(descriptionOf({ kind, definition }), SHORT.description)
  const text = difference ? differenceWords(difference) : said === '' ? 'new' : `new: ${said}`
  return [line(label, text, 'theirs', 'item'), ...shortWarnings(flags)]
}

/** As many warnings as fit into two rows, and the number of the others. */
function shortWarnings(flags: readonly string[]): QuestionLine[] {
  const [first, ...others] = flags
  if (first === undefined) return []
  let text = cut(first, SHORT.warnings)
  let shown = 1
  for (const flag of others) {
    if (text.length + flag.length > SHORT.warnings) break
    text += `; ${flag}`
    shown++
  }
  return [warning(shown === flags.length ? text : `${text}; and ${counted(flags.length - shown, 'more warning')}`)]
}

/** The first line of what an item says about itself. Capabilities are listed by name, and a skill has a name beside its address. */
function descriptionOf({ kind, definition }: Pick<ApprovedItem, 'kind' | 'definition'>): string {
  const said = kind === 'skill' ? skillText(definition) : isObject(definition) ? definition.description : definition
  if (typeof said !== 'string') return isObject(definition) && definition.name === undefined ? cut(Object.keys(definition).join(', ')) : ''
  const [first = ''] = said.trim().split('\n')
  return first === said ? cut(first) : `${first.slice(0, MAX_DESCRIPTION)}${CUT}`
}

const skillText = (definition: unknown): string => {
  const { name = '', description = '' } = isObject(definition) && isObject(definition.frontmatter) ? definition.frontmatter : {}
  return `${String(name)}: ${String(description)}`
}

const CUT = ' …'
const cut = (text: string, max = MAX_DESCRIPTION): string => (text.length <= max ? text : `${text.slice(0, max)}${CUT}`)

/** What a tool says about itself, in words: `says it only reads`. */
function claimOf(definition: unknown): string | undefined {
  const hints = isObject(definition) && isObject(definition.annotations) ? definition.annotations : {}
  const claims = [...(hints.destructiveHint === true ? ['may destroy data'] : []), ...(hints.readOnlyHint === true ? ['only reads'] : [])]
  return claims.length === 0 ? undefined : `says it ${claims.join(' and ')}`
}

const changeLines = ({ difference }: ApprovedItem): QuestionLine[] =>
  (difference ? toldChanges(difference) : []).flatMap((change) => shortText('changed', changeText(change), 'difference', CHANGE))

/** `/description: text changed`, and below it the lines that changed. */
export function changeText({ pointer, text, before, after }: NonNullable<ApprovedItem['difference']>['changes'][number]): string {
  const head = `${pointer}: ${text}`
  return before === undefined && after === undefined ? head : `${head}\n${differenceText(before, after)}`
}
