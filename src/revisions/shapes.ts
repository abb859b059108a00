/** Building blocks for the revision tables. They never change the object that they get. */

import { isObject } from '../base/json.ts'
import type { Downgrade, Json } from './revision.ts'

/** Removes members. Returns the same object if it has none of them. */
export const without =
  (...keys: readonly string[]): Downgrade =>
  (value) => {
    if (!hasAny(value, keys)) return value
    const copy = { ...value }
    for (const key of keys) delete copy[key]
    return copy
  }

// A loop is faster than some(), and this runs for every message.
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

/** The objects in a list; empty if the value is not a list. */
export const objectsIn = (list: unknown): Json[] => (Array.isArray(list) ? list.filter(isObject) : [])

export const inOrder =
  (...fits: readonly Downgrade[]): Downgrade =>
  (value) => {
    let current = value
    for (const fit of fits) current = fit(current)
    return current
  }

/** Applies a step to one content block or to each of several, because a sampling message may have either. */
export const inBlocks = (fit: Downgrade): Downgrade => inOrder(within('content', fit), each('content', fit))

/** Applies a step to the content blocks of tool results and prompt messages. */
export const inContent = (fit: Downgrade): Record<string, Downgrade> => ({
  'tools/call': each('content', fit),
  'prompts/get': each('messages', within('content', fit)),
})

/** Applies a step to blocks of one type. */
export const ofType =
  (type: string, fit: Downgrade): Downgrade =>
  (block) =>
    block.type === type ? fit(block) : block
