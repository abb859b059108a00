/** Finds a text in what a person is shown, however it was written out: as it is, with escapes, as JSON, in quotes of a shell. */

/** Every way in which one character may stand on a screen. */
function formsOf(character: string, next: string | undefined, isSpaceless: boolean): string[] {
  const code = character.codePointAt(0) as number
  const hex = code.toString(16)
  const forms = [character, `<U+${hex.toUpperCase().padStart(4, '0')}>`, JSON.stringify(character).slice(1, -1)]
  if (code < 0x100) forms.push(`\\x${hex.padStart(2, '0')}`)
  forms.push(Array.from({ length: character.length }, (_, i) => `\\u${character.charCodeAt(i).toString(16).padStart(4, '0')}`).join(''))
  if (character === "'") forms.push("'\\''")
  if (character === '\n') forms.push('\\n')
  if (character === '\r') forms.push('\\r')
  // The other half of a line end of Windows, which the line end stands for.
  if (character === '\r' && next === '\n') forms.push('')
  if (isSpaceless && /\s/.test(character)) forms.push('')
  return forms
}

/** @param isSpaceless white space was taken out of what is shown */
export function isShownIn(shown: string, text: string, isSpaceless = false): boolean {
  if (shown.includes(text)) return true
  const characters = [...text]
  // All places at once: what one character took may be the beginning of another.
  let places = new Set(Array.from({ length: shown.length + 1 }, (_, i) => i))
  for (const [i, character] of characters.entries()) {
    const forms = formsOf(character, characters[i + 1], isSpaceless)
    const next = new Set<number>()
    for (const place of places) for (const form of forms) if (shown.startsWith(form, place)) next.add(place + form.length)
    if (next.size === 0) return false
    places = next
  }
  return true
}

/** Every text in a value, keys and all. */
export function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  if (Array.isArray(value)) return value.flatMap(textsIn)
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, each]) => [key, ...textsIn(each)])
}
