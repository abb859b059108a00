/** Splits text into words for comparison: without endings and without filler words. */

const SILENT = new Set(
  'a an the my our your me i you we it its this that these those to of for in on at by with from into and or as is are be do does please can could would will all any some what which how there here now just let us have has s t'.split(
    ' ',
  ),
)

/** Synonyms: words of people, and the words in names of tools. */
const SAME: ReadonlyMap<string, string> = new Map([
  ['show', 'list'],
  ['see', 'list'],
  ['display', 'list'],
  ['enumerate', 'list'],
  ['create', 'add'],
  ['make', 'add'],
  ['new', 'add'],
  ['write', 'add'],
  ['remember', 'add'],
  ['save', 'add'],
  ['remove', 'delete'],
  ['erase', 'delete'],
  ['drop', 'delete'],
  ['find', 'search'],
  ['look', 'search'],
  ['summary', 'summarise'],
  ['summarize', 'summarise'],
  ['release', 'deploy'],
  ['ship', 'deploy'],
  ['publish', 'deploy'],
])

/** Splits a text or a name into words: `deploy__listServices` becomes deploy, list, service. */
export const words = (text: string): string[] =>
  text
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '' && !SILENT.has(word))
    .map(stem)

export function stem(word: string): string {
  const known = SAME.get(word)
  if (known) return known
  const bare =
    word.length > 5 && word.endsWith('ies')
      ? `${word.slice(0, -3)}y`
      : word.length > 3 && word.endsWith('s') && !word.endsWith('ss')
        ? word.slice(0, -1)
        : word
  return SAME.get(bare) ?? bare
}
