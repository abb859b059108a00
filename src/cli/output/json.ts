/** JSON for scripts: the same values, written so that nothing in them acts on a terminal that happens to show them. */

// JSON.stringify escapes what is below U+0020 and lone surrogates. The rest that is no visible sign is escaped here, which JSON reads
// back as it was. A line break is there by indentation only.
const UNSEEN = /(?!\n)[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/gu

export const jsonText = (value: unknown, indent?: number): string =>
  (JSON.stringify(value, null, indent) ?? 'null').replaceAll(UNSEEN, escaped)

const escaped = (character: string): string =>
  Array.from({ length: character.length }, (_, i) => `\\u${character.charCodeAt(i).toString(16).padStart(4, '0')}`).join('')
