/** A unified diff of two texts. */

import type { DiffLine } from '../clients/line-diff.ts'

const AROUND = 3
/** Above this, the changed part is shown as a whole. */
const MAX_CELLS = 4_000_000

/** The changed places, each with a few lines around it. */
export function textDiff(before: string, after: string): DiffLine[][] {
  const lines = allLines(before.split('\n'), after.split('\n'))
  const isNear = lines.map(() => false)
  for (const [i, { sign }] of lines.entries()) if (sign !== ' ') isNear.fill(true, Math.max(0, i - AROUND), i + AROUND + 1)
  const places: DiffLine[][] = []
  for (const [i, line] of lines.entries()) {
    if (!isNear[i]) continue
    if (i === 0 || !isNear[i - 1]) places.push([])
    places.at(-1)?.push(line)
  }
  return places
}

function allLines(old: readonly string[], next: readonly string[]): DiffLine[] {
  let top = 0
  while (top < old.length && top < next.length && old[top] === next[top]) top += 1
  let bottom = 0
  while (bottom < Math.min(old.length, next.length) - top && old.at(-1 - bottom) === next.at(-1 - bottom)) bottom += 1
  const same = (text: string): DiffLine => ({ sign: ' ', text })
  return [
    ...next.slice(0, top).map(same),
    ...changed(old.slice(top, old.length - bottom), next.slice(top, next.length - bottom)),
    ...next.slice(next.length - bottom).map(same),
  ]
}

/** The longest common lines stay. */
function changed(old: readonly string[], next: readonly string[]): DiffLine[] {
  const [rows, columns] = [old.length + 1, next.length + 1]
  if (rows * columns > MAX_CELLS)
    return [...old.map((text): DiffLine => ({ sign: '-', text })), ...next.map((text): DiffLine => ({ sign: '+', text }))]
  const common = new Uint32Array(rows * columns)
  const at = (i: number, j: number): number => common[i * columns + j] as number
  for (let i = old.length - 1; i >= 0; i -= 1)
    for (let j = next.length - 1; j >= 0; j -= 1)
      common[i * columns + j] = old[i] === next[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1))
  const lines: DiffLine[] = []
  let [i, j] = [0, 0]
  while (i < old.length || j < next.length) {
    if (i < old.length && j < next.length && old[i] === next[j]) {
      lines.push({ sign: ' ', text: old[i] as string })
      i += 1
      j += 1
    } else if (j >= next.length || (i < old.length && at(i + 1, j) >= at(i, j + 1))) lines.push({ sign: '-', text: old[i++] as string })
    else lines.push({ sign: '+', text: next[j++] as string })
  }
  return lines
}
