/** The difference between two texts, line by line. */

export interface DiffLine {
  /** `skipped`: a number of equal lines that are left out. */
  kind: 'same' | 'added' | 'removed' | 'skipped'
  text: string
}

/** Equal lines that stay around a change. */
const CONTEXT = 3

/** Comparing takes the product of the two lengths; beyond this everything counts as replaced. */
const MAX_CELLS = 4_000_000

export function diffLines(before: string, after: string): DiffLine[] {
  const [old, young] = [linesOf(before), linesOf(after)]
  let start = 0
  while (start < old.length && start < young.length && old[start] === young[start]) start++
  let end = 0
  while (end < old.length - start && end < young.length - start && old[old.length - 1 - end] === young[young.length - 1 - end]) end++
  const lines: DiffLine[] = [
    ...old.slice(0, start).map((text): DiffLine => ({ kind: 'same', text })),
    ...middle(old.slice(start, old.length - end), young.slice(start, young.length - end)),
    ...old.slice(old.length - end).map((text): DiffLine => ({ kind: 'same', text })),
  ]
  return withoutDistantLines(lines)
}

/** An empty text has no line. */
const linesOf = (text: string): string[] => (text === '' ? [] : text.split('\n'))

function middle(old: readonly string[], young: readonly string[]): DiffLine[] {
  const removed = (text: string): DiffLine => ({ kind: 'removed', text })
  const added = (text: string): DiffLine => ({ kind: 'added', text })
  if (old.length * young.length > MAX_CELLS) return [...old.map(removed), ...young.map(added)]
  // The length of the longest common subsequence of the rest, from the end.
  const width = young.length + 1
  const common = new Uint32Array((old.length + 1) * width)
  const at = (i: number, j: number): number => common[i * width + j] ?? 0
  for (let i = old.length - 1; i >= 0; i--) {
    for (let j = young.length - 1; j >= 0; j--) {
      common[i * width + j] = old[i] === young[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1))
    }
  }
  const lines: DiffLine[] = []
  let [i, j] = [0, 0]
  while (i < old.length && j < young.length) {
    if (old[i] === young[j]) {
      lines.push({ kind: 'same', text: old[i] as string })
      i++
      j++
    } else if (at(i + 1, j) >= at(i, j + 1)) lines.push(removed(old[i++] as string))
    else lines.push(added(young[j++] as string))
  }
  return [...lines, ...old.slice(i).map(removed), ...young.slice(j).map(added)]
}

function withoutDistantLines(lines: readonly DiffLine[]): DiffLine[] {
  const isNear = lines.map(() => false)
  lines.forEach(({ kind }, index) => {
    if (kind === 'same') return
    for (let near = Math.max(0, index - CONTEXT); near <= Math.min(lines.length - 1, index + CONTEXT); near++) isNear[near] = true
  })
  if (!isNear.includes(true)) return [...lines]
  const kept: DiffLine[] = []
  let skipped = 0
  const flush = (): void => {
    if (skipped > 0) kept.push({ kind: 'skipped', text: `${skipped} equal ${skipped === 1 ? 'line' : 'lines'}` })
    skipped = 0
  }
  lines.forEach((line, index) => {
    if (isNear[index]) {
      flush()
      kept.push(line)
    } else skipped++
  })
  flush()
  return kept
}
