/** The strings in a JSON value, with their JSON pointers. */

export interface PlacedText {
  /** JSON pointer. The name of a member counts as a string too, at the pointer of its value. */
  pointer: string
  text: string
}

const MAX_DEPTH = 100

export function* jsonTexts(value: unknown, pointer = '', depth = 0): Generator<PlacedText> {
  if (typeof value === 'string') yield { pointer, text: value }
  if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) return
  for (const [name, each] of Object.entries(value)) {
    const at = `${pointer}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`
    if (!Array.isArray(value)) yield { pointer: at, text: name }
    yield* jsonTexts(each, at, depth + 1)
  }
}
