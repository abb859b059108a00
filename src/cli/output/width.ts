/** How many columns a terminal gives to a text. */

const COMBINING = /^\p{M}$/u
// Blocks that terminals draw two columns wide: East Asian scripts, full-width forms and pictures.
const WIDE: readonly (readonly [number, number])[] = [
  [0x1100, 0x115f],
  [0x2e80, 0x303e],
  [0x3041, 0xa4cf],
  [0xac00, 0xd7a3],
  [0xf900, 0xfaff],
  [0xfe30, 0xfe6f],
  [0xff00, 0xff60],
  [0xffe0, 0xffe6],
  [0x1f300, 0x1f64f],
  [0x1f680, 0x1f6ff],
  [0x1f900, 0x1faff],
  [0x20000, 0x3fffd],
]

export const widthOf = (text: string): number => {
  let width = 0
  for (const character of text) width += widthOfCharacter(character)
  return width
}

/** The longest beginning that takes no more than `columns`. */
export function cutTo(text: string, columns: number): string {
  let width = 0
  let end = 0
  for (const character of text) {
    width += widthOfCharacter(character)
    if (width > columns) break
    end += character.length
  }
  return text.slice(0, end)
}

/** One line as several that take no more than `columns` each, broken at spaces where there are any. @param first columns of the first one */
export function brokenTo(line: string, columns: number, first = columns): string[] {
  const lines: string[] = []
  let rest = line
  for (let room = Math.max(1, first); widthOf(rest) > room; room = Math.max(1, columns)) {
    const fits = cutTo(rest, room)
    const space = rest[fits.length] === ' ' ? fits.length : fits.lastIndexOf(' ')
    const end = space > fits.length / 2 ? space : Math.max(fits.length, firstCharacter(rest).length)
    lines.push(rest.slice(0, end))
    rest = rest.slice(rest[end] === ' ' ? end + 1 : end)
  }
  return [...lines, rest]
}

const firstCharacter = (text: string): string => String.fromCodePoint(text.codePointAt(0) ?? 0x20)

function widthOfCharacter(character: string): number {
  const code = character.codePointAt(0) as number
  if (code < 0x300) return 1
  if (COMBINING.test(character)) return 0
  return WIDE.some(([from, to]) => code >= from && code <= to) ? 2 : 1
}
