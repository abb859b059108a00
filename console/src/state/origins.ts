/** Marks the pieces of arguments that came from elsewhere. */

export interface Piece {
  text: string
  /** Where it came from. Undefined: nothing is known about it. */
  source?: string
}

export interface Origin {
  source: string
  excerpt: string
  bytes: number
}

/** Shorter excerpts would mark words that are everywhere. */
const MIN_EXCERPT = 4

/** The text in pieces: the excerpts where they occur, and what is between them. Text and excerpts are as the server wrote them. */
export function markOrigins(text: string, origins: readonly Origin[]): Piece[] {
  const found: { start: number; end: number; source: string }[] = []
  for (const { excerpt, source } of origins) {
    // JSON shows quotes and line breaks inside a text as escapes.
    for (const wanted of new Set([excerpt, JSON.stringify(excerpt).slice(1, -1)])) {
      const short = wanted.replace(/\s*…$/, '')
      if (short.length < MIN_EXCERPT) continue
      const start = text.indexOf(short)
      if (start >= 0) {
        found.push({ start, end: start + short.length, source })
        break
      }
    }
  }
  found.sort((a, b) => a.start - b.start)
  const pieces: Piece[] = []
  let at = 0
  for (const { start, end, source } of found) {
    if (end <= at) continue
    const from = Math.max(start, at)
    if (from > at) pieces.push({ text: text.slice(at, from) })
    pieces.push({ text: text.slice(from, end), source })
    at = end
  }
  if (at < text.length) pieces.push({ text: text.slice(at) })
  return pieces
}
