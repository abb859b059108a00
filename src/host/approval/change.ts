/** One thing that changed in a definition: where, how bad, and in words. */

import { isEqual } from '../../protocol/schema/equality.ts'
import { DIFFERENCE_CLASSES, type DifferenceClass, type PinDifference } from '../model/difference.ts'

export type Change = PinDifference['changes'][number]

/** For people, so with dots: a path they can find in the definition that is shown beside it. */
export const at = (pointer: string, name: string): string => {
  const segment = /^[\w$-]+$/.test(name) ? name : JSON.stringify(name)
  return pointer === '' ? segment : `${pointer}.${segment}`
}

export const changeOf = (pointer: string, changeClass: DifferenceClass, text: string, before: unknown, after: unknown): Change => ({
  pointer,
  class: changeClass,
  text,
  ...(before !== undefined && { before }),
  ...(after !== undefined && { after }),
})

/** Words that a model or a person reads. Only spaces and line ends between the same words are nothing. */
export function textChange(before: unknown, after: unknown, pointer: string): Change {
  if (isEqual(spaced(before), spaced(after))) return changeOf(pointer, 'cosmetic', 'other spaces or line ends', before, after)
  const text = before === undefined ? 'new text' : after === undefined ? 'the text is gone' : 'another text'
  return changeOf(pointer, 'text', text, before, after)
}

/** Not `\s`, which takes invisible characters for spaces. */
const spaced = (value: unknown): unknown => (typeof value === 'string' ? value.replace(/[ \t\r\n]+/g, ' ').replace(/^ | $/g, '') : value)

export const worstOf = (changes: readonly Change[]): DifferenceClass =>
  DIFFERENCE_CLASSES.findLast((each) => changes.some((change) => change.class === each)) ?? 'cosmetic'
