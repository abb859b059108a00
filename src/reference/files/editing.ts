/** Exact replacement in a text, and what it changes, as a person reads it. */

import { ToolError } from '../../server/index.ts'

export interface Edit {
  old: string
  new: string
  /** Everywhere, and not in the one place that there must be. */
  all?: boolean
}

/** All edits or none, one after the other. */
export function edited(text: string, edits: readonly Edit[]): string {
  return edits.reduce((current, edit, i) => editedOnce(current, edit, `Edit ${i + 1}`), text)
}

function editedOnce(text: string, edit: Edit, label: string): string {
  const found = text.split(edit.old).length - 1
  if (found === 0) throw new ToolError(`${label}: the old text is not in the file, character by character; read it again`)
  if (found > 1 && !edit.all)
    throw new ToolError(`${label}: the old text is there ${found} times; give more of what is around it, or set all`)
  return text.split(edit.old).join(edit.new)
}

const CONTEXT = 3
const MAX_DIFF_LINES = 2000

/** From the first to the last line that is other, in the form that `diff -u` has. */
export function diffOf(before: string, after: string): string {
  if (before === after) return ''
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
  return left > 0 ? [...lines.slice(0, MAX_DIFF_LINES), `... and ${left} lines more`].join('\n') : lines.join('\n')
}
