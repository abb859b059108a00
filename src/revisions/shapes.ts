/** Small steps that the revision tables are written in. None changes the object it is given. */

import { isObject } from '../base/json.ts'
import type { Downgrade, Json } from './revision.ts'

/** Leaves members out; the same object when it has none of them. */
export const without =
  (...keys: readonly string[]): Downgrade =>
  (value) => {
    if (!hasAny(value, keys)) return value
    const copy = { ...value }
    for (const key of keys) delete copy[key]
    return copy
  }

// A loop rather than some(): this is asked of every message, and the answer is no.
function hasAny(value: Json, keys: readonly string[]): boolean {
  for (const key of keys) if (key in value) return true
  return false
}

/** Applies a step to one member, if it is an object. */
export const within =
  (key: string, fit: Downgrade): Downgrade =>
  (value) => {
    const inner = value[key]
    if (!isObject(inner)) return value
    const fitted = fit(inner)
    return fitted === inner ? value : { ...value, [key]: fitted }
  }

/** Applies a step to each item of a list member. */
export const each =
  (key: string, fit: Downgrade): Downgrade =>
  (value) => {
    const list = value[key]
    if (!Array.isArray(list)) return value
    let isSame = true
    const fitted = list.map((item: unknown) => {
      if (!isObject(item)) return item
      const result = fit(item)
      if (result !== item) isSame = false
      return result
    })
    return isSame ? value : { ...value, [key]: fitted }
  }

/** The objects of a list; none if it is no list. */
export const objectsIn = (list: unknown): Json[] => (Array.isArray(list) ? list.filter(isObject) : [])

export const inOrder =
  (...fits: readonly Downgrade[]): Downgrade =>
  (value) => {
    let current = value
    for (const fit of fits) current = fit(current)
    return current
  }

/** Applies a step to a content block, or to each of several: a sampling message may have either. */
export const inBlocks = (fit: Downgrade): Downgrade => inOrder(within('content', fit), each('content', fit))

/** A step for the content blocks of a tool result and of prompt messages. */
export const inContent = (fit: Downgrade): Record<string, Downgrade> => ({
  'tools/call': each('content', fit),
  'prompts/get': each('messages', within('content', fit)),
})

/** Turns blocks of one type into something else. */
export const ofType =
  (type: string, fit: Downgrade): Downgrade =>
  (block) =>
    block.type === type ? fit(block) : block
