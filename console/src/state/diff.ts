/** The difference between two texts, line by line. */

export interface DiffLine {
  /** `skipped`: a number of equal lines that are left out. */
  kind: 'same' | 'added' | 'removed' | 'skipped'
  text: string
  /** The line stands for so many blank lines: text after them must not be out of sight. */
  blanks?: number
}

/** Equal lines that stay around a change. */
const CONTEXT = 3

/** Comparing takes the product of the two lengths; beyond this everything counts as replaced. */
const MAX_CELLS = 200_000

/** More blank lines than these become one. */
const MAX_BLANKS = 2

/** @param maxCells how much may be compared; beyond it everything counts as replaced */
export function diffLines(before: string, after: string, maxCells = MAX_CELLS): DiffLine[] {
  const [old, young] = [linesOf(before), linesOf(after)]
  let start = 0
  while (start < old.length && start < young.length && old[start] === young[start]) start++
  let end = 0
  while (end < old.length - start && end < young.length - start && old[old.length - 1 - end] === young[young.length - 1 - end]) end++
  const lines: DiffLine[] = [
    ...old.slice(0, start).map((text): DiffLine => ({ kind: 'same', text })),
    ...middle(old.slice(start, old.length - end), young.slice(start, young.length - end), maxCells),
    ...old.slice(old.length - end).map((text): DiffLine => ({ kind: 'same', text })),
  ]
  return withoutBlankRuns(withoutDistantLines(lines))
}

/** An empty text has no line. */
const linesOf = (text: string): string[] => (text === '' ? [] : text.split(/\r?\n/))

function middle(old: readonly string[], young: readonly string[], maxCells: number): DiffLine[] {
  const removed = (text: string): DiffLine => ({ kind: 'removed', text })
  const added = (text: string): DiffLine => ({ kind: 'added', text })
  if (old.length * young.length > maxCells) return [...old.map(removed), ...young.map(added)]
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

function withoutBlankRuns(lines: readonly DiffLine[]): DiffLine[] {
  const kept: DiffLine[] = []
  for (let at = 0; at < lines.length; ) {
    const line = lines[at] as DiffLine
    let end = at
    while (lines[end]?.kind === line.kind && lines[end]?.text.trim() === '') end++
    if (end - at > MAX_BLANKS) kept.push({ ...line, text: '', blanks: end - at })
    else kept.push(...lines.slice(at, Math.max(end, at + 1)))
    at = Math.max(end, at + 1)
  }
  return kept
}
