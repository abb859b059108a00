/** Puts the change of a definition into words, and shows the change of a value as lines with `-` and `+`. */

import { DIFFERENCE_CLASSES, type DifferenceClass, type PinDifference } from '../../model/difference.ts'
import { nameText } from './question-line.ts'

const CLASS_WORDS: Readonly<Record<DifferenceClass, string>> = {
  cosmetic: 'changed without effect',
  narrowed: 'accepts less',
  removed: 'no longer offered',
  text: 'new texts',
  downgraded: 'fewer claims to be safe',
  widened: 'accepts or says more',
  renamed: 'renamed',
}

/**
 * What changed in a definition, in a few words, the most dangerous change first.
 *
 * @example
 * differenceWords(difference) // 'renamed (formerly convert), accepts or says more'
 */
export function differenceWords(difference: PinDifference): string {
  const { formerly } = difference
  const rest = toldChanges(difference).toSorted((one, other) => rankOf(other) - rankOf(one))
  const words = new Set(rest.filter((change) => change.class !== 'cosmetic').map(wordsOf))
  const renamed = formerly === undefined ? [] : [`renamed (formerly ${nameText(formerly)})`]
  const all = [...renamed, ...words]
  return all.length === 0 ? CLASS_WORDS[difference.class] : all.join(', ')
}

type Change = PinDifference['changes'][number]

const rankOf = ({ class: each }: Change): number => DIFFERENCE_CLASSES.indexOf(each)

const wordsOf = ({ class: each, pointer }: Change): string =>
  each === 'text' && pointer.startsWith('annotations.') ? 'new claims to be safe' : CLASS_WORDS[each]

/** The changes without the new name, which `differenceWords` tells. */
export const toldChanges = ({ formerly, changes }: PinDifference): Change[] =>
  changes.filter(({ pointer, before }) => formerly === undefined || pointer !== 'name' || before !== formerly)

/**
 * All lines of both values as JSON. A line with `-` is only in the old value, a line with `+` only in the new one. JSON keeps each text
 * on one line, so that a text cannot forge a line of the difference.
 */
export function differenceText(before: unknown, after: unknown): string {
  const old = linesOf(before)
  const now = linesOf(after)
  const shortest = Math.min(old.length, now.length)
  let head = 0
  while (head < shortest && old[head] === now[head]) head++
  let tail = 0
  while (tail < shortest - head && old[old.length - 1 - tail] === now[now.length - 1 - tail]) tail++
  return [
    ...now.slice(0, head).map((line) => `  ${line}`),
    ...old.slice(head, old.length - tail).map((line) => `- ${line}`),
    ...now.slice(head, now.length - tail).map((line) => `+ ${line}`),
    ...now.slice(now.length - tail).map((line) => `  ${line}`),
  ].join('\n')
}

const linesOf = (value: unknown): string[] => (value === undefined ? [] : JSON.stringify(value, undefined, 2).split('\n'))
