/** Marks the pieces of arguments that came from elsewhere. */

export interface Piece {
  text: string
  /** Where it came from. Undefined: nothing is known about it. */
  source?: string
  /** The rest of the words in which the piece begins and ends: it is not known to come from there. */
  before?: string
  after?: string
}

export interface Origin {
  /** JSON pointer into the arguments. */
  pointer: string
  source: string
  /** The beginning of the piece. It ends with `…` if the piece is longer. */
  excerpt: string
  bytes: number
  /** Where the pieces are in the text at the pointer. */
  ranges?: readonly (readonly [start: number, end: number])[]
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
    if (typeof value === 'string') return { name, pieces: markOrigins(value, own) }
    // In JSON the pieces are elsewhere: quotes and line breaks are escapes.
    const searched = own.map(({ ranges: _, ...origin }) => origin)
    return { name, pieces: markOrigins(JSON.stringify(value, undefined, 2) ?? '', searched) }
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
  const ranges = origins.flatMap((origin) => rangesOf(text, origin)).sort((a, b) => a.start - b.start)
  const pieces: Piece[] = []
  let at = 0
  for (const [index, { start, end, source }] of ranges.entries()) {
    if (end <= at) continue
    const from = Math.max(start, at)
    const before = startOfWord(text, from, at)
    const after = endOfWord(text, end, ranges[index + 1]?.start ?? text.length)
    if (before > at) pieces.push({ text: text.slice(at, before) })
    pieces.push({
      text: text.slice(from, end),
      source,
      ...(before < from && { before: text.slice(before, from) }),
      ...(after > end && { after: text.slice(end, after) }),
    })
    at = after
  }
  if (at < text.length) pieces.push({ text: text.slice(at) })
  return pieces
}

/** A mark does not grow by more than this. */
const MAX_WORD = 30

const WORD_END = new RegExp(`[\\p{L}\\p{N}\\p{M}]{1,${MAX_WORD}}$`, 'u')
const WORD_START = new RegExp(`^[\\p{L}\\p{N}\\p{M}]{1,${MAX_WORD}}`, 'u')

/** The index where the word begins in which the piece begins. @param least the piece before ends there */
function startOfWord(text: string, start: number, least: number): number {
  if (!WORD_START.test(text.slice(start, start + 2))) return start
  return start - (WORD_END.exec(text.slice(Math.max(least, start - 2 * MAX_WORD), start))?.[0].length ?? 0)
}

/** The index after the word in which the piece ends. @param most the next piece begins there */
function endOfWord(text: string, end: number, most: number): number {
  if (!WORD_END.test(text.slice(Math.max(0, end - 2), end))) return end
  return end + (WORD_START.exec(text.slice(end, Math.max(end, Math.min(most, end + 2 * MAX_WORD))))?.[0].length ?? 0)
}

function rangesOf(text: string, { excerpt, source, bytes, ranges }: Omit<Origin, 'pointer'>): Range[] {
  if (ranges) return ranges.filter(([start, end]) => start < end && end <= text.length).map(([start, end]) => ({ start, end, source }))
  const isCut = excerpt.endsWith('…')
  const given = excerpt.replace(/\s*…$/, '')
  // In JSON quotes and line breaks inside a text are escapes.
  for (const wanted of new Set([given, JSON.stringify(given).slice(1, -1)])) {
    if (wanted.length < MIN_EXCERPT) continue
    const start = text.indexOf(wanted)
    if (start < 0) continue
    return [{ start, end: isCut ? Math.max(start + wanted.length, endAfter(text, start, bytes)) : start + wanted.length, source }]
  }
  return []
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
