/** One change of a definition: its place, its class and a description for the person. */

import { isEqual } from '../../protocol/schema/equality.ts'
import { DIFFERENCE_CLASSES, type DifferenceClass, type PinDifference } from '../model/difference.ts'

export type Change = PinDifference['changes'][number]

/** A path with dots, because people read it next to the definition. */
export const at = (pointer: string, name: string): string => {
  const segment = /^[\w$-]+$/.test(name) ? name : JSON.stringify(name)
  return pointer === '' ? segment : `${pointer}.${segment}`
}

/** The names that `at` put together. */
export const namesIn = (pointer: string): string[] =>
  (pointer.match(/"(?:[^"\\]|\\.)*"|[\w$-]+/g) ?? []).map((segment) => (segment.startsWith('"') ? JSON.parse(segment) : segment))

export const changeOf = (pointer: string, changeClass: DifferenceClass, text: string, before: unknown, after: unknown): Change => ({
  pointer,
  class: changeClass,
  text,
  ...(before !== undefined && { before }),
  ...(after !== undefined && { after }),
})

/** A change of a text that a model or a person reads. A change of spaces and line ends only is cosmetic. */
export function textChange(before: unknown, after: unknown, pointer: string): Change {
  if (isEqual(spaced(before), spaced(after))) return changeOf(pointer, 'cosmetic', 'only spaces or line ends changed', before, after)
  const text = before === undefined ? 'text added' : after === undefined ? 'text removed' : 'text changed'
  return changeOf(pointer, 'text', text, before, after)
}

/** Not `\s`, because it also matches invisible characters. */
const spaced = (value: unknown): unknown => (typeof value === 'string' ? value.replace(/[ \t\r\n]+/g, ' ').replace(/^ | $/g, '') : value)

export const worstOf = (changes: readonly Change[]): DifferenceClass =>
  DIFFERENCE_CLASSES.findLast((each) => changes.some((change) => change.class === each)) ?? 'cosmetic'
