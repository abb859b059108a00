/** Puts a JSON result into a sentence: what it is called, or how many things there are. The call itself shows the JSON. */

import { isObject } from '../../base/json.ts'

/** Members that say what a thing is called, the best one first. */
const LABELS = ['title', 'name', 'label', 'summary', 'message', 'uri', 'id']
const MAX_NAMED = 5
const MAX_PAIRS = 4
const MAX_CHARS = 80

/** @param name of the tool */
export function jsonSentence(name: string, value: unknown): string {
  if (Array.isArray(value)) return `${name} gave ${listText('items', value)}.`
  if (!isObject(value)) return `${name} gave ${plainText(value)}.`
  const list = Object.entries(value).find((entry): entry is [string, unknown[]] => Array.isArray(entry[1]) && entry[1].every(isObject))
  // A thing with a name of its own is one thing, also if it has parts.
  const label = labelOf(value)
  if (list && label === undefined) return `${name} gave ${listText(...list)}.`
  if (label !== undefined) return `${name} is done: ${label}.`
  const pairs = Object.entries(value).filter(([, each]) => !isObject(each) && !Array.isArray(each))
  const told = pairs.slice(0, MAX_PAIRS).map(([key, each]) => `${key} ${plainText(each)}`)
  return told.length === 0 ? `${name} is done.` : `${name} is done: ${told.join(', ')}.`
}

/** `2 notes: Milk, Eggs`. */
function listText(noun: string, items: readonly unknown[]): string {
  if (items.length === 0) return `no ${noun}`
  const count = items.length === 1 ? `1 ${noun.replace(/(?<=.)s$/, '')}` : `${items.length} ${noun}`
  const names = items.slice(0, MAX_NAMED).flatMap((item) => (isObject(item) ? (labelOf(item) ?? []) : plainText(item)))
  if (names.length === 0) return count
  return `${count}: ${names.join(', ')}${items.length > MAX_NAMED ? ` and ${items.length - MAX_NAMED} more` : ''}`
}

function labelOf(thing: Readonly<Record<string, unknown>>): string | undefined {
  const label = LABELS.map((key) => thing[key]).find((each): each is string => typeof each === 'string' && each.trim() !== '')
  return label === undefined ? undefined : plainText(label)
}

function plainText(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  const line = text.replace(/\s+/g, ' ').trim()
  return line.length > MAX_CHARS ? `${line.slice(0, MAX_CHARS)} …` : line
}
