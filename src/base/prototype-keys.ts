/** Keys that reach the prototype of an object. Messages with them are refused on the way in; what we send must not have them either. */

import { isObject } from './json.ts'

/**
 * Where such a key stands in a JSON value, as a JSON pointer; undefined when there is none.
 * The rule is that of messages on the way in: `__proto__` anywhere, and `prototype` in an object under `constructor`.
 */
export function prototypeKeyIn(root: unknown): string | undefined {
  const open: { value: unknown; pointer: string; isConstructor: boolean }[] = [{ value: root, pointer: '', isConstructor: false }]
  for (let next = open.pop(); next; next = open.pop()) {
    const { value, pointer, isConstructor } = next
    if (Array.isArray(value)) {
      for (const [i, each] of value.entries())
        if (typeof each === 'object') open.push({ value: each, pointer: `${pointer}/${i}`, isConstructor: false })
    } else if (isObject(value)) {
      for (const [key, each] of Object.entries(value)) {
        if (key === '__proto__' || (isConstructor && key === 'prototype')) return `${pointer}/${key}`
        if (typeof each !== 'object') continue
        open.push({
          value: each,
          pointer: `${pointer}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`,
          isConstructor: key === 'constructor',
        })
      }
    }
  }
  return undefined
}
