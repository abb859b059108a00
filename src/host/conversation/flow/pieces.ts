/**
 * Hashes overlapping pieces of a text, to recognise it elsewhere. The text is first reduced to letters and digits without case, marks
 * or space, so that another layout does not matter.
 */

export interface Folded {
  /** The letters and digits, as UTF-16. */
  codes: Uint16Array
  /** The position of each in the text. */
  places: Uint32Array
}

export function fold(text: string): Folded {
  const codes = new Uint16Array(text.length)
  const places = new Uint32Array(text.length)
  let length = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    const plain = PLAIN_CODES[code] || lookedUp(code)
    if (plain !== NONE) {
      codes[length] = plain
      places[length++] = at
    }
  }
  return { codes: codes.subarray(0, length), places: places.subarray(0, length) }
}

/** Neither letter nor digit. */
const NONE = 1
/** The reduced code of each UTF-16 unit; 0 if not computed yet. */
const PLAIN_CODES = new Uint16Array(0x10000)

function lookedUp(code: number): number {
  const plain = plainCode(String.fromCharCode(code))
  PLAIN_CODES[code] = plain
  return plain
}

function plainCode(unit: string): number {
  // Half of a surrogate pair (a letter of a rare script): returned unchanged, without folding upper and lower case.
  if (/[\ud800-\udfff]/.test(unit)) return unit.charCodeAt(0)
  // Removes marks, but keeps Korean syllables composed.
  const plain = unit.normalize('NFKD').replace(/\p{M}/gu, '').normalize('NFC').toLowerCase()
  return /[\p{L}\p{N}]/u.exec(plain)?.[0].charCodeAt(0) ?? NONE
}

/** Pieces with fewer different characters, such as a row of zeros, occur in every text. */
const MIN_DIFFERENT = 6

/** Marks a piece with too few different characters. */
export const PLAIN = -1

/** A rolling hash of each piece of `size` characters, by its start. The cost does not depend on `size`. */
export function pieceHashes(codes: Uint16Array, size: number): Float64Array {
  const count = Math.max(0, codes.length - size + 1)
  const hashes = new Float64Array(count)
  if (count === 0) return hashes
  const counts = new Uint16Array(0x10000)
  let different = 0
  let one = 0
  let other = 0
  let oneTop = 1
  let otherTop = 1
  for (let at = 0; at < size; at++) {
    oneTop = Math.imul(oneTop, ONE)
    otherTop = Math.imul(otherTop, OTHER)
  }
  for (let at = 0; at < codes.length; at++) {
    const code = codes[at] as number
    one = (Math.imul(one, ONE) + code + 1) | 0
    other = (Math.imul(other, OTHER) + code + 1) | 0
    if (counts[code] === 0) different++
    counts[code] = (counts[code] as number) + 1
    const begin = at - size + 1
    if (begin > 0) {
      const gone = codes[begin - 1] as number
      one = (one - Math.imul(oneTop, gone + 1)) | 0
      other = (other - Math.imul(otherTop, gone + 1)) | 0
      counts[gone] = (counts[gone] as number) - 1
      if (counts[gone] === 0) different--
    }
    if (begin >= 0) hashes[begin] = different < MIN_DIFFERENT ? PLAIN : joined(one, other)
  }
  return hashes
}

const ONE = 0x01000193
const OTHER = 0x85ebca6b

/** 53 bits, the precision of a number: collisions are negligible. */
const joined = (one: number, other: number): number => mixed(one) * 0x200000 + (mixed(other) & 0x1fffff)

/** Spreads the bits: the low bits of a rolling hash depend little on early characters. */
function mixed(value: number): number {
  let hash = value ^ (value >>> 16)
  hash = Math.imul(hash, 0x7feb352d)
  hash ^= hash >>> 15
  hash = Math.imul(hash, 0x846ca68b)
  return (hash ^ (hash >>> 16)) >>> 0
}

/**
 * The smallest of every `window` consecutive hashes. Few are stored, and still every passage of `size + window - 1` characters
 * contains one.
 */
export function* winnowed(hashes: Float64Array, window: number): Generator<number> {
  // Positions with increasing hashes; the first is the smallest of the window.
  const queue = new Uint32Array(hashes.length)
  let head = 0
  let tail = 0
  let last = -1
  for (let at = 0; at < hashes.length; at++) {
    const hash = hashes[at] as number
    if (head < tail && (queue[head] as number) <= at - window) head++
    if (hash !== PLAIN) {
      while (head < tail && (hashes[queue[tail - 1] as number] as number) >= hash) tail--
      queue[tail++] = at
    }
    if (head === tail || (at < window - 1 && at < hashes.length - 1)) continue
    const least = queue[head] as number
    if (least !== last) yield hashes[least] as number
    last = least
  }
}
