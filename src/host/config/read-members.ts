/** Reads an object from a file member by member, checks the types, and reports unknown members at the end. */

import { Refused, within } from './problem.ts'

export interface Members {
  readonly where: string
  has(name: string): boolean
  text(name: string): string | undefined
  flag(name: string): boolean | undefined
  number(name: string): number | undefined
  list(name: string): readonly unknown[] | undefined
  /** A list of texts. Numbers and booleans are converted to text, as every client does. */
  texts(name: string): string[] | undefined
  /** An object of texts. Members that are null are left out. */
  table(name: string): Record<string, string> | undefined
  inner(name: string): Members | undefined
  /** All members. All of them count as read. */
  entries(): [name: string, value: unknown][]
  /** Marks members as known but unused. */
  pass(...names: string[]): void
  /** Reports the members that were neither read nor passed. */
  finish(report: (where: string, text: string) => void): void
}

export function readMembers(value: unknown, where: string): Members {
  if (!isObject(value)) throw new Refused(where, `Expected an object, got ${nameOf(value)}`)
  const asked = new Set<string>()
  const at = (name: string): string => within(where, name)
  const get = (name: string): unknown => {
    asked.add(name)
    const member = Object.hasOwn(value, name) ? value[name] : undefined
    return member === null ? undefined : member
  }
  const typed = <T>(name: string, expected: string, is: (member: unknown) => member is T): T | undefined => {
    const member = get(name)
    if (member === undefined || is(member)) return member
    throw new Refused(at(name), `Expected ${expected}, got ${nameOf(member)}`)
  }
  const list = (name: string): readonly unknown[] | undefined => typed(name, 'a list', Array.isArray)
  return {
    where,
    has: (name) => get(name) !== undefined,
    text: (name) => typed(name, 'text', (member) => typeof member === 'string'),
    flag: (name) => typed(name, 'true or false', (member) => typeof member === 'boolean'),
    number: (name) => typed(name, 'a number', (member): member is number => Number.isFinite(member)),
    list,
    texts: (name) => list(name)?.map((each, i) => plainText(each, `${at(name)}[${i}]`)),
    table: (name) => {
      const member = get(name)
      if (member === undefined) return undefined
      if (!isObject(member)) throw new Refused(at(name), `Expected an object, got ${nameOf(member)}`)
      const filled = Object.entries(member).filter(([, each]) => each !== null)
      return Object.fromEntries(filled.map(([key, each]) => [key, plainText(each, within(at(name), key))]))
    },
    inner: (name) => {
      const member = get(name)
      return member === undefined ? undefined : readMembers(member, at(name))
    },
    entries: () => {
      const all = Object.entries(value)
      for (const [name] of all) asked.add(name)
      return all
    },
    pass: (...names) => {
      for (const name of names) asked.add(name)
    },
    finish: (report) => {
      for (const name of Object.keys(value)) if (!asked.has(name)) report(at(name), 'Unknown member: it has no effect')
    },
  }
}

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date)

function plainText(value: unknown, where: string): string {
  if (typeof value === 'string') return value
  if (typeof value === 'number' || typeof value === 'boolean' || typeof value === 'bigint') return String(value)
  throw new Refused(where, `Expected text, got ${nameOf(value)}`)
}

function nameOf(value: unknown): string {
  if (value === null || value === undefined) return 'nothing'
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'string') return 'text'
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`
}
