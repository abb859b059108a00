/** Changes of a value: each returns a new value and leaves the old one as it was. */

import { define } from './initial.ts'
import { isObject } from './schema.ts'

export type Path = readonly (string | number)[]

/** The key of a path, to find its issues. */
export const pathKey = (path: Path): string => JSON.stringify(path)

/** A copy of the object with one member set. Undefined removes it. */
export function withMember(object: unknown, name: string, value: unknown): Record<string, unknown> {
  const copy: Record<string, unknown> = {}
  for (const [each, before] of Object.entries(isObject(object) ? object : {}))
    if (each !== name || value !== undefined) define(copy, each, before)
  if (value !== undefined) define(copy, name, value)
  return copy
}

/** A copy with another name for one member, in its place. */
export function withRenamed(object: Readonly<Record<string, unknown>>, from: string, to: string): Record<string, unknown> {
  const copy: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(object)) define(copy, name === from ? to : name, value)
  return copy
}

export const withItem = (list: unknown, index: number, value: unknown): unknown[] => {
  const copy = Array.isArray(list) ? [...list] : []
  copy[index] = value === undefined ? null : value
  return copy
}

/** Swaps two rows. */
export function withSwapped(list: readonly unknown[], a: number, b: number): unknown[] {
  const copy = [...list]
  ;[copy[a], copy[b]] = [copy[b], copy[a]]
  return copy
}

/** The number that a person typed. Text that is no number stays text, so that nothing is lost and the check can name it. */
export function typedNumber(text: string): number | string | undefined {
  const trimmed = text.trim()
  if (trimmed === '') return undefined
  if (!/^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i.test(trimmed)) return text
  const value = Number(trimmed)
  // A number that would change when it is sent stays text, too.
  if (!Number.isFinite(value) || (/^[-+]?\d+$/.test(trimmed) && !Number.isSafeInteger(value))) return text
  return value
}

/** Whether two JSON values are equal. */
export function isSame(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true
  if (Array.isArray(a) && Array.isArray(b)) return a.length === b.length && a.every((each, index) => isSame(each, b[index]))
  if (!isObject(a) || !isObject(b)) return false
  const names = Object.keys(a)
  return names.length === Object.keys(b).length && names.every((name) => Object.hasOwn(b, name) && isSame(a[name], b[name]))
}

/** The variant of a union that fits a value best, from its shape alone. -1: none. */
export function fittingVariant(
  variants: readonly { schema: unknown }[],
  value: unknown,
  fits: (schema: unknown, value: unknown) => boolean,
): number {
  return value === undefined ? -1 : variants.findIndex(({ schema }) => fits(schema, value))
}
