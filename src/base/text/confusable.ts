/** Detects names that look alike to a person. */

/** Letters that look like an ASCII letter and that Unicode normalization does not map to it. */
const LOOK_ALIKES: Readonly<Record<string, string>> = {
  a: 'аɑαᴀ',
  b: 'ЬƄвʙВΒ',
  c: 'сϲᴄⅽСϹ',
  d: 'ԁɗđ',
  e: 'еєҽεɛЕΕ',
  f: 'ƒſϝ',
  g: 'ɡցǥ',
  h: 'һհнʜНΗħ',
  j: 'јϳʝЈ',
  k: 'кκᴋКΚ',
  // Many typefaces draw these alike. Upper and lower case count as the same.
  l: 'iIlL1|!ıіІӏӀιΙɩłƖ∣ǀ',
  m: 'мᴍМΜ',
  n: 'пηոɴΝ',
  o: '0оοσøօᴏОΟθѳ',
  p: 'рρϼРΡ',
  q: 'ԛգ',
  r: 'гᴦʀ',
  s: 'ѕꜱЅ',
  t: 'тτᴛТΤŧ',
  u: 'υսᴜц',
  v: 'νѵᴠ',
  w: 'ѡԝωшᴡ',
  x: 'хχХΧ×',
  y: 'уγүʏУΥ',
  z: 'ᴢΖ',
}

const LETTERS: ReadonlyMap<string, string> = new Map(
  Object.entries(LOOK_ALIKES).flatMap(([letter, others]) => [...others].map((other): [string, string] => [other, letter])),
)

/** Text with all look-alike letters mapped to one. Signs and spaces stay. For comparison only, not for display. */
export const foldedLetters = (text: string): string =>
  Array.from(
    text.normalize('NFKD').replace(/[\p{M}\p{C}\p{Default_Ignorable_Code_Point}]/gu, (mark) => (mark === '\n' ? mark : '')),
    (letter) => LETTERS.get(letter) ?? LETTERS.get(letter.toLowerCase()) ?? letter.toLowerCase(),
  ).join('')

/** A name with all look-alike letters mapped to one. For comparison only, not for display. */
export function skeleton(name: string): string {
  const plain = name
    .normalize('NFKD')
    .replace(/[\p{M}\p{C}\p{Default_Ignorable_Code_Point}]/gu, '')
    .replace(/[\p{P}\p{Z}\s]+/gu, (marks) => (marks === '!' ? marks : '_'))
  const letters = Array.from(plain, (letter) => LETTERS.get(letter) ?? LETTERS.get(letter.toLowerCase()) ?? letter.toLowerCase())
  return letters.join('').replaceAll('rn', 'm').replaceAll('vv', 'w')
}

/** Whether two different names look alike. */
export const looksLike = (a: string, b: string): boolean => a !== b && skeleton(a) === skeleton(b)

/**
 * The Latin letters that letters of another alphabet imitate in a name: `['o']` for a name with a Cyrillic о among Latin letters. Empty
 * for a name in its own alphabet, in which some letters look like none of ours.
 */
export function imitatedLetters(name: string): string[] {
  const letters = name.match(/\p{L}/gu) ?? []
  const foreign = letters.filter((letter) => !/\p{Script=Latin}/u.test(letter))
  const imitated = foreign.flatMap((letter) => LETTERS.get(letter) ?? LETTERS.get(letter.toLowerCase()) ?? [])
  const isMixed = foreign.length < letters.length
  return isMixed || imitated.length === foreign.length ? [...new Set(imitated)] : []
}
