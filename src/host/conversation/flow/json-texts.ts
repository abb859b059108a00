/** The texts in a JSON value, with where they stand. */

export interface PlacedText {
  /** JSON pointer. The name of a member is a text as well, at the place of its value. */
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
