/** Marks the pieces of arguments that came from elsewhere. */

export interface Piece {
  text: string
  /** Where it came from. Undefined: nothing is known about it. */
  source?: string
}

export interface Origin {
  /** JSON pointer into the arguments. */
  pointer: string
  source: string
  /** The beginning of the piece. It ends with `…` if the piece is longer. */
  excerpt: string
  bytes: number
}

export interface MarkedArgument {
  name: string
  pieces: readonly Piece[]
}

/** The arguments by name: texts as they are, everything else as JSON. All texts are as they will be sent. */
export const markedArguments = (args: Readonly<Record<string, unknown>>, origins: readonly Origin[]): MarkedArgument[] =>
  Object.entries(args).map(([name, value]) => {
    const start = `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`
    const own = origins.filter(({ pointer }) => pointer === start || pointer.startsWith(`${start}/`) || pointer === '')
    return { name, pieces: markOrigins(typeof value === 'string' ? value : (JSON.stringify(value, undefined, 2) ?? ''), own) }
  })

/** Shorter excerpts would mark words that are everywhere. */
const MIN_EXCERPT = 4

interface Range {
  start: number
  end: number
  source: string
}

/** The text in pieces: what came from elsewhere, and what is between. */
export function markOrigins(text: string, origins: readonly Omit<Origin, 'pointer'>[]): Piece[] {
  const ranges = origins.flatMap((origin) => rangeOf(text, origin) ?? []).sort((a, b) => a.start - b.start)
  const pieces: Piece[] = []
  let at = 0
  for (const { start, end, source } of ranges) {
    if (end <= at) continue
    const from = Math.max(start, at)
    if (from > at) pieces.push({ text: text.slice(at, from) })
    pieces.push({ text: text.slice(from, end), source })
    at = end
  }
  if (at < text.length) pieces.push({ text: text.slice(at) })
  return pieces
}

function rangeOf(text: string, { excerpt, source, bytes }: Omit<Origin, 'pointer'>): Range | undefined {
  const isCut = excerpt.endsWith('…')
  const given = excerpt.replace(/\s*…$/, '')
  // In JSON quotes and line breaks inside a text are escapes.
  for (const wanted of new Set([given, JSON.stringify(given).slice(1, -1)])) {
    if (wanted.length < MIN_EXCERPT) continue
    const start = text.indexOf(wanted)
    if (start < 0) continue
    return { start, end: isCut ? Math.max(start + wanted.length, endAfter(text, start, bytes)) : start + wanted.length, source }
  }
  return undefined
}

/** The index after so many bytes of UTF-8. */
function endAfter(text: string, start: number, bytes: number): number {
  const encoder = new TextEncoder()
  let end = start
  let left = bytes
  for (const character of text.slice(start)) {
    left -= encoder.encode(character).length
    if (left < 0) break
    end += character.length
  }
  return end
}
