/** The short form of an offering: a table with one line per item, its warnings, and its changes. */

import { isObject } from '../../../base/json.ts'
import type { ApprovedItem, Subject } from '../../model/question.ts'
import { differenceText } from './difference-text.ts'
import { foldedText, shortText } from './fold.ts'
import { line, nameText, type QuestionLine, warning } from './question-line.ts'

/** A description is cut here, and the person has to open the definition. */
const MAX_DESCRIPTION = 120

/** A change is shown up to this size. */
const CHANGE = { maxLength: 600, maxLines: 12 }

export function approveSummary({ items, isFirst }: Extract<Subject, { kind: 'approve' }>): QuestionLine[] {
  const length = items.reduce((sum, { definition }) => sum + lengthOf(definition), 0)
  // With a warning the definitions have to be opened: the text that caused the warning is in one of them. The same holds for text that
  // the table does not show.
  const isWarned = items.some(({ flags }) => flags.length > 0)
  const isOpened = isWarned || items.some((item) => isCut(item.definition) || (!isFirst && !hasChanges(item)))
  const [first, ...rest] = items.flatMap((item) => [itemLine(item), ...item.flags.map((text) => warning(text)), ...changeLines(item)])
  if (!first) return []
  if (isOpened) return [{ ...first, folded: length }, ...rest]
  return [first, ...rest, line('definitions', foldedText(length), 'muted', 'hidden')]
}

/** Of a changed definition, the person reads the changes. A new one in a later offering is read as a whole. */
const hasChanges = ({ difference }: ApprovedItem): boolean => (difference?.changes.length ?? 0) > 0

const isCut = (definition: unknown): boolean => descriptionOf(definition).endsWith(CUT)

const lengthOf = (definition: unknown): number => JSON.stringify(definition)?.length ?? 0

function itemLine({ kind, name, definition, difference }: ApprovedItem): QuestionLine {
  const claim = claimOf(definition)
  const formerly = difference?.formerly === undefined ? '' : `, formerly ${nameText(difference.formerly)}`
  return {
    ...line(
      `${kind === 'tool' || kind === name ? '' : `${kind} `}${nameText(name)}${formerly}`,
      descriptionOf(definition),
      'theirs',
      'item',
    ),
    ...(claim !== undefined && { claim }),
  }
}

/** The first line of what an item says about itself. Capabilities are listed by name. */
function descriptionOf(definition: unknown): string {
  const said = isObject(definition) ? definition.description : definition
  if (typeof said !== 'string') return isObject(definition) && definition.name === undefined ? cut(Object.keys(definition).join(', ')) : ''
  const [first = ''] = said.trim().split('\n')
  return first === said ? cut(first) : `${first.slice(0, MAX_DESCRIPTION)}${CUT}`
}

const CUT = ' …'
const cut = (text: string): string => (text.length <= MAX_DESCRIPTION ? text : `${text.slice(0, MAX_DESCRIPTION)}${CUT}`)

/** What a tool says about itself, in words: `says it only reads`. */
function claimOf(definition: unknown): string | undefined {
  const hints = isObject(definition) && isObject(definition.annotations) ? definition.annotations : {}
  const claims = [...(hints.destructiveHint === true ? ['may destroy data'] : []), ...(hints.readOnlyHint === true ? ['only reads'] : [])]
  return claims.length === 0 ? undefined : `says it ${claims.join(' and ')}`
}

const changeLines = ({ difference }: ApprovedItem): QuestionLine[] =>
  (difference?.changes ?? []).flatMap((change) => shortText('changed', changeText(change), 'difference', CHANGE))

/** `/description: text changed`, and below it the lines that changed. */
export function changeText({ pointer, text, before, after }: NonNullable<ApprovedItem['difference']>['changes'][number]): string {
  const head = `${pointer}: ${text}`
  return before === undefined && after === undefined ? head : `${head}\n${differenceText(before, after)}`
}
