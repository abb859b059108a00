/** Recognises text of servers in outgoing arguments. It stores hashes of pieces, not the text. */

import { decodings } from '../../../base/text/decodings.ts'
import type { ArgumentOrigin } from '../../model/question.ts'
import { jsonTexts } from './json-texts.ts'
import { fold, PLAIN, pieceHashes, winnowed } from './pieces.ts'

export interface ProvenanceLimits {
  /** Letters and digits per piece. Short pieces match by chance; long ones are easy to evade. */
  pieceLength: number
  /** Maximum number of stored pieces. Beyond it every second piece is dropped, so that long passages are still found. */
  pieces: number
  /** Maximum number of sources with a name. */
  sources: number
  /** How many characters of one result, and of the arguments of one call, are examined. */
  textLength: number
  /** Maximum number of origins reported for one call. */
  origins: number
}

export const DEFAULT_PROVENANCE_LIMITS: ProvenanceLimits = {
  pieceLength: 24,
  pieces: 200_000,
  sources: 10_000,
  textLength: 4_000_000,
  origins: 50,
}

/** A `Provenance` as JSON. */
export interface ProvenanceRecord {
  /** Length of its pieces: pieces of different lengths cannot be compared. */
  pieceLength: number
  spacing: number
  sources: readonly string[]
  /** Pairs: a piece and the index of its source. */
  pieces: readonly number[]
}

/** Every stretch of `pieceLength + WINDOW - 1` letters and digits leaves at least one piece. */
const WINDOW = 8
const EXCERPT_LENGTH = 120

export class Provenance {
  readonly #limits: ProvenanceLimits
  readonly #pieces = new Map<number, number>()
  readonly #sources: string[] = []
  /** Only hashes divisible by this are stored. A power of two. */
  #spacing = 1

  constructor(limits: ProvenanceLimits) {
    this.#limits = limits
  }

  /** Whether pieces were dropped for lack of room. Then only long parts of private text are recognised reliably. */
  get isThinned(): boolean {
    return this.#spacing > 1
  }

  remember(source: string, value: unknown): void {
    const { pieceLength, textLength } = this.#limits
    const index = this.#indexOf(source)
    let left = textLength
    for (const { text } of jsonTexts(value)) {
      if (left <= 0) break
      const { codes } = fold(text.slice(0, left))
      left -= text.length
      for (const hash of winnowed(pieceHashes(codes, pieceLength), WINDOW)) {
        if (hash % this.#spacing !== 0 || this.#pieces.has(hash)) continue
        this.#pieces.set(hash, index)
        if (this.#pieces.size > this.#limits.pieces) this.#thin()
      }
    }
  }

  toJSON(): ProvenanceRecord {
    const pieces = [...this.#pieces].flat()
    return { pieceLength: this.#limits.pieceLength, spacing: this.#spacing, sources: [...this.#sources], pieces }
  }

  /** False when the record has pieces of another length, and nothing was restored. */
  restore({ pieceLength, spacing, sources, pieces }: ProvenanceRecord): boolean {
    if (pieceLength !== this.#limits.pieceLength) return false
    this.#spacing = spacing
    const places = sources.map((source) => this.#indexOf(source))
    for (let at = 0; at + 1 < pieces.length; at += 2) {
      const piece = pieces[at] as number
      // The record may hold more pieces than the limit here.
      if (piece % this.#spacing !== 0) continue
      this.#pieces.set(piece, places[pieces[at + 1] as number] as number)
      if (this.#pieces.size > this.#limits.pieces) this.#thin()
    }
    return true
  }

  /** Sources of the arguments, the largest first. */
  originsOf(args: unknown): ArgumentOrigin[] {
    if (this.#pieces.size === 0) return []
    const found = new Map<string, ArgumentOrigin>()
    const note = (pointer: string, text: string, isAsGiven: boolean): void => {
      for (const { ranges, ...origin } of this.#find(pointer, text)) {
        const key = `${origin.source}\n${pointer}`
        if (origin.bytes > (found.get(key)?.bytes ?? 0)) found.set(key, { ...origin, ...(isAsGiven && { ranges }) })
      }
    }
    let left = this.#limits.textLength
    const texts: string[] = []
    for (const { pointer, text } of jsonTexts(args)) {
      if (left <= 0) break
      const part = text.slice(0, left)
      left -= part.length
      texts.push(part)
      note(pointer, part, true)
      for (const reading of decodings(part)) note(pointer, reading, false)
    }
    // A single text can be too short to be recognised. The joined texts can be long enough.
    if (found.size === 0 && texts.length > 1) note('', texts.join(''), false)
    return [...found.values()].sort((one, other) => other.bytes - one.bytes).slice(0, this.#limits.origins)
  }

  #find(pointer: string, text: string): (ArgumentOrigin & { ranges: [number, number][] })[] {
    const { pieceLength } = this.#limits
    const { codes, places } = fold(text)
    const hashes = pieceHashes(codes, pieceLength)
    // Maximum distance between two stored pieces of one passage; approximate once pieces were dropped.
    const reach = (pieceLength + WINDOW) * this.#spacing
    const spans = new Map<number, { begin: number; end: number }[]>()
    for (let at = 0; at < hashes.length; at++) {
      const hash = hashes[at] as number
      if (hash === PLAIN || hash % this.#spacing !== 0) continue
      const source = this.#pieces.get(hash)
      if (source === undefined) continue
      const ofSource = spans.get(source) ?? []
      const last = ofSource.at(-1)
      if (last && at - last.end <= reach) last.end = at + pieceLength
      else ofSource.push({ begin: at, end: at + pieceLength })
      spans.set(source, ofSource)
    }
    return [...spans].map(([source, ofSource]) => {
      const ranges = ofSource.map(({ begin, end }) => wholeCharacters(text, places[begin] as number, (places[end - 1] as number) + 1))
      const parts = ranges.map(([start, end]) => text.slice(start, end))
      const [first = ''] = parts
      return {
        pointer,
        source: this.#sources[source] ?? '',
        bytes: parts.reduce((sum, part) => sum + Buffer.byteLength(part), 0),
        characters: parts.reduce((sum, part) => sum + part.length, 0),
        excerpt: first.length > EXCERPT_LENGTH ? `${first.slice(...wholeCharacters(first, 0, EXCERPT_LENGTH))}…` : first,
        ranges: ranges.slice(0, MAX_RANGES),
      }
    })
  }

  #indexOf(source: string): number {
    const { sources } = this.#limits
    if (this.#sources.length < sources) return this.#sources.push(source) - 1
    this.#sources[sources - 1] = 'one of many later results'
    return sources - 1
  }

  #thin(): void {
    this.#spacing *= 2
    for (const hash of this.#pieces.keys()) if (hash % this.#spacing !== 0) this.#pieces.delete(hash)
  }
}

/** More pieces are counted, but not located. */
const MAX_RANGES = 1_000

/** Moves both ends outwards where they would cut a character of two UTF-16 units. */
function wholeCharacters(text: string, start: number, end: number): [start: number, end: number] {
  const isCut = (at: number): boolean => /^[\ud800-\udbff][\udc00-\udfff]$/.test(text.slice(at - 1, at + 1))
  return [start - (isCut(start) ? 1 : 0), end + (isCut(end) ? 1 : 0)]
}
