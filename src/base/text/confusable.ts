/** Names that a person would take for one another. */

/** Letters of other alphabets, and Latin letters beyond ASCII that no decomposition reaches, by the ASCII letter they look like. */
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
  // A person tells these from each other only in some typefaces, and letters of both cases are the same name to most.
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

/** What is left of a name when all that looks alike is the same: for comparing, not for showing. */
export function skeleton(name: string): string {
  const plain = name
    .normalize('NFKD')
    .replace(/[\p{M}\p{C}\p{Default_Ignorable_Code_Point}]/gu, '')
    .replace(/[\p{P}\p{Z}\s]+/gu, (marks) => (marks === '!' ? marks : '_'))
  const letters = Array.from(plain, (letter) => LETTERS.get(letter) ?? LETTERS.get(letter.toLowerCase()) ?? letter.toLowerCase())
  return letters.join('').replaceAll('rn', 'm').replaceAll('vv', 'w')
}

/** Whether two names differ and a person might not see it. */
export const looksLike = (a: string, b: string): boolean => a !== b && skeleton(a) === skeleton(b)
