/** JSON for scripts, escaped so that it is also safe to show on a terminal. */

// JSON.stringify escapes characters below U+0020 and lone surrogates. This escapes the other invisible characters, which JSON.parse
// restores. Line breaks come only from indentation.
const UNSEEN = /(?!\n)[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/gu

export const jsonText = (value: unknown, indent?: number): string =>
  (JSON.stringify(value, null, indent) ?? 'null').replaceAll(UNSEEN, escaped)

const escaped = (character: string): string =>
  Array.from({ length: character.length }, (_, i) => `\\u${character.charCodeAt(i).toString(16).padStart(4, '0')}`).join('')
