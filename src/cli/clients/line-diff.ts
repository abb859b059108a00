/** The lines that differ between two texts, with a few lines around them. */

export interface DiffLine {
  sign: '+' | '-' | ' '
  text: string
}

const AROUND = 3

/** The texts differ in one place: an entry that was added, replaced or removed. */
export function lineDiff(before: string, after: string): DiffLine[] {
  const [old, next] = [linesOf(before), linesOf(after)]
  const shorter = Math.min(old.length, next.length)
  let top = 0
  while (top < shorter && old[top] === next[top]) top += 1
  let bottom = 0
  while (bottom < shorter - top && old[old.length - 1 - bottom] === next[next.length - 1 - bottom]) bottom += 1
  const same = (lines: readonly string[]): DiffLine[] => lines.map((text) => ({ sign: ' ', text }))
  return [
    ...same(next.slice(Math.max(0, top - AROUND), top)),
    ...old.slice(top, old.length - bottom).map((text): DiffLine => ({ sign: '-', text })),
    ...next.slice(top, next.length - bottom).map((text): DiffLine => ({ sign: '+', text })),
    ...same(next.slice(next.length - bottom, next.length - bottom + AROUND)),
  ]
}

const linesOf = (text: string): string[] => (text === '' ? [] : text.replace(/\n$/, '').split(/\r?\n/))
