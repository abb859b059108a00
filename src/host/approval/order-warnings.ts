/** Finds phrases addressed to a model. Only known phrasings are found: a list of words cannot find every order. */

import { foldedLetters } from '../../base/text/confusable.ts'
import { decodings } from '../../base/text/decodings.ts'
import { INJECTIONS } from '../../base/text/injections.ts'

const HIDES_SOMETHING = 'Tells the model to hide something from you, or not to ask you'
const IMITATES_SYSTEM = 'Contains tags that imitate system instructions'
const SECRET_FILES = 'Mentions files that usually hold secrets'

/** Each pattern takes linear time. */
const ORDERS: readonly [pattern: RegExp, text: string][] = [
  [
    /\b(?:ignore|disregard|forget|override) (?:(?:all|any|the|your|of|my|these|those) ){0,4}(?:previous|prior|above|earlier|preceding|other|system)\b/i,
    'Tells the model to ignore other instructions',
  ],
  [
    /\b(?:do not|don't|never|without) (?:ever |even )?(?:tell|telling|mention|mentioning|inform|informing|show|showing|notify|notifying|reveal|ask|asking)\b/i,
    HIDES_SOMETHING,
  ],
  [
    /<\/?\s?(?:important|system|secret|instructions?|critical|hidden|admin)\s?>|<\/?\s?(?:important|system|critical)[_-][\w-]{1,40}>/i,
    IMITATES_SYSTEM,
  ],
  [/\[\/?system\]/i, IMITATES_SYSTEM],
  // In capitals only: an ordinary sentence can contain `system:`.
  [/\bSYSTEM ?:/, IMITATES_SYSTEM],
  [
    /\b(?:before|after|instead of) (?:using|calling|invoking|running) (?:this|any|other|another|the)\b/i,
    'Tells the model what to do before, after or instead of a call',
  ],
  [/\b(?:you must|always|make sure to) (?:first |also )?(?:call|read|send|include|pass|use|forward|copy|add)\b/i, 'Gives the model orders'],
  [
    /\b(?:secretly|covertly|in secret)\b|\bsilently (?!fail|succeed|ignor|skip|drop|return|overwrit|replac|do)\w|\buser (?:must|should|may|need|does|can) ?not (?:know|see|notice|be (?:told|shown|asked|informed))\b|\bwithout the user\b/i,
    HIDES_SOMETHING,
  ],
  [
    /\b(?:pass|put|include|attach|append|send|copy|forward|upload)\b[^.]{0,60}\b(?:conversation|chat history|system prompt|previous messages|credentials?|passwords?|secrets?|api keys?|contents? of)\b/i,
    'Tells the model to hand over data',
  ],
  [/\b(?:you are now|from now on|act as if|pretend (?:to be|that)|new instructions)\b/i, 'Gives the model orders'],
  [/\b(?:mcp\.json|claude_desktop_config|credentials\.json|authorized_keys|\.git-credentials|\.npmrc)\b|(?<![\w.])\.env\b/i, SECRET_FILES],
  [
    /(?:~\/\.|\/\.)(?:ssh|aws|gnupg|kube|env|netrc|config|docker)\b|\bid_(?:rsa|dsa|ecdsa|ed25519)\b|\.docker\/config\.json|\/etc\/(?:passwd|shadow)\b/i,
    SECRET_FILES,
  ],
]

interface Phrase {
  pattern: RegExp
  /** The same pattern for text with folded letters, in which `i` and `l` are one letter. */
  folded: RegExp | undefined
  text: string
}

const phrase = (pattern: RegExp, text: string): Phrase => ({
  pattern,
  // Folded text has no capitals, so a pattern that needs them cannot be used.
  folded: pattern.ignoreCase ? new RegExp(pattern.source.replace(/(?<!\\)i/gi, 'l'), pattern.flags) : undefined,
  text,
})

const OWN_PHRASES: readonly Phrase[] = ORDERS.map(([pattern, text]) => phrase(pattern, text))

/** The phrases that are looked for in results too. */
const SHARED_PHRASES: readonly Phrase[] = INJECTIONS.map(({ what, pattern }) =>
  phrase(pattern, `${what.replace(/^it (.)/, (_it, first: string) => first.toUpperCase())}`),
)

/** Longer text is neither decoded nor folded. Its length alone causes a warning, which keeps it out of use. */
const MAX_DECODED = 16_000

/** Characters that can stand for other letters. Most texts have none of them and need no second match. */
const MAY_LOOK_ALIKE = /[^\0-\x7f]|[a-z][01|!]|[01|!][a-z]/i
const LOOKS_ENCODED = /[\w+/-]{24}|(?:[\w+/-]{8,23}\s{1,9}){3}|%[0-9a-f]{2}|\\[ux]|&#/i

/** @param descriptions an order may be split over them, so they are also read as one text without the names between */
export function orders(prose: string, descriptions: readonly string[]): string[] {
  const said = descriptions.join(' ')
  const texts = [...new Set([prose, said, said.replaceAll('_', ' ')])]
  const own = found(OWN_PHRASES, texts.map(inOneLine))
  if (own.length > 0) return own
  const shared = found(SHARED_PHRASES, texts.map(plainText))
  if (shared.length > 0) return shared
  if (prose.length > MAX_DECODED || !LOOKS_ENCODED.test(prose)) return []
  for (const text of new Set([prose, said])) {
    for (const reading of decodings(text)) {
      const [first] = [...matching(OWN_PHRASES, inOneLine(reading)), ...matching(SHARED_PHRASES, plainText(reading))]
      if (first !== undefined) return [`Contains encoded text. Decoded, it matches: ${first}`]
    }
  }
  return []
}

function found(phrases: readonly Phrase[], texts: readonly string[]): string[] {
  const plain = new Set(texts.flatMap((text) => matching(phrases, text)))
  if (plain.size > 0 || texts.some(({ length }) => length > MAX_DECODED)) return [...plain]
  const folded = texts.filter((text) => MAY_LOOK_ALIKE.test(text)).map(foldedLetters)
  return phrases
    .filter((each) => folded.some((text) => each.folded?.test(text)))
    .map(({ text }) => text)
    .filter(isFirst)
}

const isFirst = (text: string, at: number, all: readonly string[]): boolean => all.indexOf(text) === at

const matching = (phrases: readonly Phrase[], text: string): string[] =>
  phrases.filter(({ pattern }) => pattern.test(text)).map((each) => each.text)

/** Without other forms of letters, spaces and apostrophes, and without marks of emphasis. Line breaks stay. */
const plainText = (text: string): string =>
  text
    .normalize('NFKC')
    .replace(/[\u2018\u2019\u201b\u02bc\u00b4]|(?<=\p{L})`(?=\p{L})/gu, "'")
    .replace(/[\p{Zs}\t]+/gu, ' ')
    .replace(/[*~`]+|(?<![\p{L}\p{N}])_{1,3}(?=[\p{L}\p{N}])|(?<=[\p{L}\p{N}])_+(?![\p{L}\p{N}_])/gu, '')

const inOneLine = (text: string): string => plainText(text).replace(/[\s\p{Z}]+/gu, ' ')

/** Fewer letters say too little about the script. */
const MIN_LETTERS = 12

/** The phrases above are English. They find nothing in text of another script, so such text gets a warning of its own. */
export function foreignScript(descriptions: readonly string[]): string[] {
  const isForeign = descriptions.some((text) => {
    const letters = text.match(/\p{L}/gu)?.length ?? 0
    const latin = text.match(/\p{Script=Latin}/gu)?.length ?? 0
    return letters >= MIN_LETTERS && latin * 2 < letters
  })
  return isForeign ? ['Written in an alphabet other than Latin, so Portico cannot check it for hidden instructions to the model'] : []
}
