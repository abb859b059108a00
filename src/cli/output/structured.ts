/** Structured content for people: objects as lines of key and value, lists of objects as tables. Nothing is left out. */

import { isObject } from '../../base/json.ts'
import { fittedLines } from './fitted.ts'
import { jsonText } from './json.ts'
import { type SafeText, safe, untrusted } from './safe-text.ts'
import type { Styles } from './style.ts'
import { tableLines } from './table.ts'

interface Place {
  style: Styles
  columns: number
}

/** Deeper values are shown as JSON. */
const MAX_DEPTH = 4
const INDENT = 2
/** A table with more columns is harder to read than lines. */
const MAX_TABLE_COLUMNS = 8
/** Keys wider than this do not widen the column of keys. */
const MAX_KEY_WIDTH = 24
const LEAST_TEXT = 20

/** @param place.columns the width of the terminal */
export const structuredLines = (value: unknown, place: Place): SafeText[] => linesOf(value, place, 0)

function linesOf(value: unknown, place: Place, depth: number): SafeText[] {
  if (depth >= MAX_DEPTH || !isContainer(value)) return textLines(scalarText(value), place.columns)
  if (!Array.isArray(value)) return memberLines(value as Record<string, unknown>, place, depth)
  if (value.length === 0) return [place.style.dim('(none)')]
  if (value.every((each) => isObject(each))) return listOfObjects(value as Record<string, unknown>[], place, depth)
  return value.flatMap((each) => bulleted(linesOf(each, narrower(place, INDENT), depth + 1)))
}

function memberLines(value: Record<string, unknown>, place: Place, depth: number): SafeText[] {
  const entries = Object.entries(value)
  if (entries.length === 0) return [place.style.dim('(empty)')]
  const width = Math.min(MAX_KEY_WIDTH, Math.max(...entries.map(([key]) => untrusted(key).width)))
  return entries.flatMap(([key, each]) => {
    const name = untrusted(key)
    if (isContainer(each) && !isShort(each, place.columns - width - INDENT)) {
      return [place.style.dim(name), ...indented(linesOf(each, narrower(place, INDENT), depth + 1))]
    }
    const room = Math.max(LEAST_TEXT, place.columns - width - INDENT)
    const lines = textLines(scalarText(each), room)
    if (name.width > width) return [place.style.dim(name), ...indented(lines)]
    return lines.map((line, i) => safe`${place.style.dim(i === 0 ? name.padEnd(width + INDENT) : safe``.padEnd(width + INDENT))}${line}`)
  })
}

function listOfObjects(list: readonly Record<string, unknown>[], place: Place, depth: number): SafeText[] {
  const keys = [...new Set(list.flatMap((each) => Object.keys(each)))]
  const rows = list.map((each) => keys.map((key) => (each[key] === undefined ? '' : scalarText(each[key]))))
  if (isTable(keys, rows, place.columns))
    return tableLines(
      keys.map((key, i) => ({ title: headingOf(key), ...(i === 0 && { style: 'bold' as const }) })),
      rows,
      place.style,
      undefined,
    )
  return list.flatMap((each) => bulleted(memberLines(each, narrower(place, INDENT), depth + 1)))
}

/** A table only if every cell fits whole on its line. */
function isTable(keys: readonly string[], rows: readonly (readonly string[])[], columns: number): boolean {
  if (keys.length === 0 || keys.length > MAX_TABLE_COLUMNS || rows.some((row) => row.some((cell) => cell.includes('\n')))) return false
  const widths = keys.map((key, i) => Math.max(untrusted(headingOf(key)).width, ...rows.map((row) => untrusted(row[i] ?? '').width)))
  return widths.reduce((sum, each) => sum + each + INDENT, -INDENT) <= columns
}

const isContainer = (value: unknown): value is object => typeof value === 'object' && value !== null

/** Lists of plain values, and empty objects, go beside their key. */
const isShort = (value: object, room: number): boolean =>
  Object.keys(value).length === 0 ||
  (Array.isArray(value) && value.every((each) => !isContainer(each)) && untrusted(scalarText(value)).width <= room)

function scalarText(value: unknown): string {
  if (typeof value === 'string') return value === '' ? '""' : value
  if (value === null) return 'null'
  if (!isContainer(value)) return String(value)
  if (Array.isArray(value) && value.length === 0) return '(none)'
  if (Array.isArray(value) && value.every((each) => !isContainer(each))) return value.map(scalarText).join(', ')
  return jsonText(value)
}

/** `updatedAt` as `UPDATED AT`. */
const headingOf = (key: string): string => key.replaceAll(/(?<=[a-z0-9])(?=[A-Z])/g, ' ').toUpperCase()

const textLines = (text: string, columns: number): SafeText[] => fittedLines(text, columns).map((line) => untrusted(line))

const indented = (lines: readonly SafeText[]): SafeText[] => lines.map((line) => line.indented(INDENT))

const bulleted = (lines: readonly SafeText[]): SafeText[] => lines.map((line, i) => (i === 0 ? safe`- ${line}` : line.indented(INDENT)))

const narrower = (place: Place, by: number): Place => ({ ...place, columns: Math.max(LEAST_TEXT, place.columns - by) })
