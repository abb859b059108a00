/** Finds prototype keys in values before they are sent. `jsonrpc/scan.ts` rejects the same keys in text that arrives. */

import { isObject } from './json.ts'

/**
 * The JSON pointer of the first prototype key in a JSON value: `__proto__` anywhere, or `prototype` in an object under
 * `constructor`. Undefined when there is none.
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
