/** Replaces exact text, and shows the change as a readable diff. */

import { counted } from '../../base/text/counted.ts'
import { ToolError } from '../../server/index.ts'

export interface Edit {
  old: string
  new: string
  /** Replaces every occurrence. Default: false, and the text must occur exactly once. */
  all?: boolean
}

/** Applies all edits in order, or none. The size is checked for each edit, because each one can double the text. */
export function applyEdits(text: string, edits: readonly Edit[], maxFileBytes: number): string {
  return edits.reduce((current, edit, i) => applyEdit(current, edit, `Edit ${i + 1}`, maxFileBytes), text)
}

function applyEdit(text: string, edit: Edit, label: string, maxFileBytes: number): string {
  const found = countOf(text, edit.old)
  if (found === 0) throw new ToolError(`${label}: the exact old text is not in the file; read the file again`)
  if (found > 1 && !edit.all)
    throw new ToolError(`${label}: the old text occurs ${found} times; include more of the surrounding text, or set all`)
  const size = Buffer.byteLength(text) + found * (Buffer.byteLength(edit.new) - Buffer.byteLength(edit.old))
  if (size > maxFileBytes)
    throw new ToolError(`${label}: the content would have ${size} bytes; the limit is ${maxFileBytes} (maxFileBytes)`)
  return text.split(edit.old).join(edit.new)
}

/** Counts occurrences without building a list of the parts. */
function countOf(text: string, wanted: string): number {
  let count = 0
  for (let at = text.indexOf(wanted); at !== -1; at = text.indexOf(wanted, at + wanted.length)) count++
  return count
}

const CONTEXT = 3
const MAX_DIFF_LINES = 2000
const MAX_DIFF_LENGTH = 256 * 1024
/** Longer texts are not compared. */
const MAX_COMPARED_LINES = 500_000

/** One hunk in the format of `diff -u`, from the first changed line to the last. */
export function makeDiff(before: string, after: string): string {
  if (before === after) return ''
  if (countOf(before, '\n') + countOf(after, '\n') > MAX_COMPARED_LINES) return '... too many lines to compare'
  const [old, now] = [before.split('\n'), after.split('\n')]
  let start = 0
  while (start < old.length && start < now.length && old[start] === now[start]) start++
  let end = 0
  while (end < old.length - start && end < now.length - start && old[old.length - 1 - end] === now[now.length - 1 - end]) end++
  const from = Math.max(0, start - CONTEXT)
  const until = (lines: readonly string[]): number => Math.min(lines.length, lines.length - end + CONTEXT)
  const lines = [
    `@@ -${from + 1},${until(old) - from} +${from + 1},${until(now) - from} @@`,
    ...old.slice(from, start).map((line) => ` ${line}`),
    ...old.slice(start, old.length - end).map((line) => `-${line}`),
    ...now.slice(start, now.length - end).map((line) => `+${line}`),
    ...now.slice(now.length - end, until(now)).map((line) => ` ${line}`),
  ]
  const left = lines.length - MAX_DIFF_LINES
  const diff = left > 0 ? [...lines.slice(0, MAX_DIFF_LINES), `... and ${counted(left, 'more line')}`].join('\n') : lines.join('\n')
  if (diff.length <= MAX_DIFF_LENGTH) return diff
  return `${diff.slice(0, MAX_DIFF_LENGTH)}\n... and ${diff.length - MAX_DIFF_LENGTH} more characters`
}
