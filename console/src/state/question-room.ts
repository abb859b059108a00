/**
 * How much of a question is drawn at once. Others choose how long a question is, and a page that draws megabytes stands still. The person
 * asks for the rest, and cannot allow anything before all of it was drawn.
 */

import type { QuestionView } from '../../../src/console/api.ts'
import { type DiffLine, diffLines } from './diff.ts'
import { foreignText } from './foreign-text.ts'
import { counted } from './format.ts'

type Line = QuestionView['lines'][number]
type Item = Extract<QuestionView['question']['subject'], { kind: 'approve' }>['items'][number]

/** What the first portion has room for. */
const CHARACTERS = 40_000
const LINES = 500
/** Comparing two texts takes the product of their lines. */
const CELLS = 200_000

export interface Room {
  characters: number
  lines: number
  cells: number
  /** What was left out. */
  hidden: { characters: number; items: number }
}

/** @param portion 1 at first; twice as much each time the person asks for more */
export const createRoom = (portion: number): Room => ({
  characters: CHARACTERS * portion,
  lines: LINES * portion,
  cells: CELLS * portion,
  hidden: { characters: 0, items: 0 },
})

/** Whether something was left out. Then everything that follows is left out, too: a question is read in its order. */
export const isOver = ({ hidden: { characters, items } }: Room): boolean => characters > 0 || items > 0

/** `2 items and 1,200 characters`. */
export const hiddenText = ({ hidden: { characters, items } }: Room): string =>
  [...(items > 0 ? [counted(items, 'item')] : []), ...(characters > 0 ? [counted(characters, 'character')] : [])].join(' and ')

/** The text, or the beginning that there is room for. */
export function takeText(room: Room, text: string): string {
  const end = isOver(room) ? 0 : endOf(text, room)
  const shown = text.slice(0, end)
  room.characters -= shown.length
  room.lines -= shown.split('\n').length
  room.hidden.characters += text.length - end
  return shown
}

/** The index at which the text no longer fits. */
function endOf(text: string, { characters, lines }: Room): number {
  let end = Math.min(text.length, Math.max(0, characters))
  let at = -1
  for (let line = 0; line < Math.max(0, lines) && at < end; line++) {
    const next = text.indexOf('\n', at + 1)
    at = next < 0 ? text.length : next
  }
  end = Math.min(end, Math.max(0, at))
  // Half a character would be drawn as an escape that is not in the text.
  return /[\ud800-\udbff]/.test(text[end - 1] ?? '') && end < text.length ? end - 1 : end
}

/** The lines that there is room for. */
export function takeLines(room: Room, lines: readonly Line[]): Line[] {
  const shown: Line[] = []
  for (const line of lines) {
    const text = takeText(room, line.text)
    if (text !== '' || !isOver(room)) shown.push({ ...line, text })
  }
  return shown
}

/** A changed or new item of an offering, as it is drawn. */
export interface ShownItem {
  item: Item
  changes: readonly ShownChange[]
}

export interface ShownChange {
  /** Undefined: the item is new. */
  title?: string
  lines: readonly DiffLine[]
}

/** Items with the most warnings first. */
export const worstFirst = (items: readonly Item[]): Item[] => [...items].sort((a, b) => b.flags.length - a.flags.length)

/** The items that there is room for, each with its differences. An item that does not fit as a whole ends early. */
export function takeItems(room: Room, items: readonly Item[]): ShownItem[] {
  const shown: ShownItem[] = []
  for (const item of items) {
    if (isOver(room) || room.lines <= 0) room.hidden.items++
    else shown.push({ item, changes: takeChanges(room, item) })
  }
  return shown
}

function takeChanges(room: Room, { difference, definition, flags }: Item): ShownChange[] {
  room.lines -= 1 + flags.length
  if (!difference) return [{ lines: takeDiff(room, undefined, definition) }]
  const { formerly } = difference
  return difference.changes.flatMap(({ pointer, text, before, after }) => {
    // The head of the item says so.
    if (formerly !== undefined && pointer === 'name' && before === formerly) return []
    if (isOver(room)) {
      takeText(room, readable(after))
      return []
    }
    return [{ title: takeText(room, `${pointer}: ${text}`), lines: takeDiff(room, before, after) }]
  })
}

function takeDiff(room: Room, before: unknown, after: unknown): DiffLine[] {
  const [old, young] = [readable(before), readable(after)]
  const lines = diffLines(old, young, room.cells)
  room.cells = Math.max(0, room.cells - lineCount(old) * lineCount(young))
  return lines.flatMap((line): DiffLine[] => {
    const text = takeText(room, line.text)
    return text === '' && isOver(room) ? [] : [{ ...line, text: foreignText(text) }]
  })
}

const lineCount = (text: string): number => text.split('\n').length

const readable = (value: unknown): string =>
  value === undefined ? '' : typeof value === 'string' ? value : (JSON.stringify(value, undefined, 2) ?? '')
