/** Where two JSON values differ, by JSON pointer. */

import { isObject } from '../../base/json.ts'

/** A member in which two JSON values differ. */
export interface Difference {
  /** JSON pointer. */
  pointer: string
  /** Absent when it was not there. */
  before?: unknown
  /** Absent when it is not there any more. */
  after?: unknown
}

const MAX_DIFFERENCES = 100

export function differences(before: unknown, after: unknown): Difference[] {
  const found: Difference[] = []
  compare('', before, after, found)
  return found
}

function compare(pointer: string, before: unknown, after: unknown, found: Difference[]): void {
  if (found.length >= MAX_DIFFERENCES || Object.is(before, after)) return
  if (Array.isArray(before) && Array.isArray(after)) {
    for (let i = 0; i < Math.max(before.length, after.length); i++) compare(`${pointer}/${i}`, before[i], after[i], found)
    return
  }
  if (isObject(before) && isObject(after)) {
    for (const key of new Set([...Object.keys(before), ...Object.keys(after)]))
      compare(`${pointer}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`, own(before, key), own(after, key), found)
    return
  }
  found.push({ pointer, ...(before !== undefined && { before }), ...(after !== undefined && { after }) })
}

const own = (object: Record<string, unknown>, key: string): unknown => (Object.hasOwn(object, key) ? object[key] : undefined)
