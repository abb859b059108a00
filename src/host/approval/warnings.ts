/** Warnings about a definition. Of a first offering, only definitions without any are in use before the person has looked at them. */

import { isObject } from '../../base/json.ts'
import { skeleton } from '../../base/text/confusable.ts'
import { hasInvisible, visibleText } from '../../base/text/visible-text.ts'
import type { Primitive } from './pin.ts'

/** A name that another server offers. */
export interface OtherName {
  server: string
  name: string
}

/** People rarely read longer texts to the end. */
const LONG_TEXT = 4000

/** Maximum number of texts examined. A warning says when there are more. */
const MAX_TEXTS = 5000
const MAX_DEPTH = 64

/** @param others the names of all other servers, indexed once */
export function flagger(others: readonly OtherName[]): (primitive: Primitive) => string[] {
  const names = groupBy(others, ({ name }) => name.toLowerCase())
  const skeletons = groupBy(others, ({ name }) => skeleton(name))
  const servers = new Set(others.map(({ server }) => server))
  return (primitive) => {
    const { texts, said, isWhole } = textsIn(primitive.definition)
    const prose = texts.join('\n')
    return [
      ...(isWhole ? [] : [`Contains more than ${MAX_TEXTS} texts, or nests them too deeply; not all were checked`]),
      ...invisible([primitive.name, ...texts]),
      ...alike(primitive, skeletons),
      ...mentions(primitive, prose, names, servers),
      ...orders(prose),
      ...addresses(said.join('\n')),
      ...(prose.length > LONG_TEXT ? [`Contains ${prose.length} characters of text, too many to read carefully`] : []),
      ...secretParameters(primitive.definition),
    ]
  }
}

type Groups = ReadonlyMap<string, readonly OtherName[]>

function groupBy(others: readonly OtherName[], keyOf: (other: OtherName) => string): Groups {
  const groups = new Map<string, OtherName[]>()
  for (const other of others) {
    const group = groups.get(keyOf(other))
    if (group) group.push(other)
    else groups.set(keyOf(other), [other])
  }
  return groups
}

interface Texts {
  texts: string[]
  /** Without the values of defaults and examples. An address there is data, and a question shows it before it is used. */
  said: string[]
  isWhole: boolean
}

/** All texts of a definition, including the names of members, because a model reads them too. */
function textsIn(definition: unknown): Texts {
  const texts: string[] = []
  const said: string[] = []
  let isWhole = true
  const visit = (value: unknown, depth: number, isData: boolean): void => {
    if (texts.length >= MAX_TEXTS || depth > MAX_DEPTH) isWhole = false
    else if (typeof value === 'string') {
      texts.push(value)
      // More than an address is a sentence, wherever it stands.
      if (!isData || /\s/.test(value)) said.push(value)
    } else if (Array.isArray(value)) for (const each of value) visit(each, depth + 1, isData)
    else if (isObject(value)) {
      for (const [name, each] of Object.entries(value)) {
        texts.push(name)
        said.push(name)
        visit(each, depth + 1, isData || DATA_MEMBERS.has(name))
      }
    }
  }
  visit(definition, 0, false)
  return { texts, said, isWhole }
}

const DATA_MEMBERS: ReadonlySet<string> = new Set(['default', 'examples', 'example'])

function invisible(texts: readonly string[]): string[] {
  const found = texts.filter(hasInvisible)
  const hidden = taggedText(found.join(''))
  return [
    ...(found.length > 0 ? [`Contains invisible characters: ${excerpt(found[0] as string)}`] : []),
    ...(hidden === '' ? [] : [`Contains invisible text that a model can read: ${JSON.stringify(visibleText(hidden))}`]),
  ]
}

/** The text around the first invisible character. */
function excerpt(text: string): string {
  const shown = visibleText(text)
  let at = 0
  while (at < shown.length && shown[at] === text[at]) at++
  return `"${shown.slice(Math.max(0, at - 20), at + 40)}"`
}

/** Tag characters are invisible copies of ASCII characters. */
const taggedText = (text: string): string =>
  Array.from(text.matchAll(/[\u{e0020}-\u{e007e}]/gu), ([tag]) => String.fromCodePoint((tag.codePointAt(0) as number) - 0xe0000)).join('')

function alike({ kind, name }: Primitive, skeletons: Groups): string[] {
  if (kind === 'instructions' || kind === 'capabilities') return []
  return (skeletons.get(skeleton(name)) ?? []).map((other) =>
    other.name === name
      ? `Has the same name as one of server ${other.server}`
      : `Has a name that looks like ${visibleText(other.name)} of server ${other.server}`,
  )
}

/** A short or common word can occur by chance. Only longer names with several parts count. */
const isTelling = (name: string): boolean => name.length >= 5 && /[_.-]|\p{Ll}\p{Lu}/u.test(name)

/** A text about tools of another server can tell the model how to use them. */
function mentions({ name }: Primitive, prose: string, names: Groups, servers: ReadonlySet<string>): string[] {
  const words = new Set(prose.match(/[\p{L}\p{N}_.-]+/gu)?.map((word) => word.replace(/\.+$/, '')))
  return [...words].flatMap((word) => {
    const others = (names.get(word.toLowerCase()) ?? []).filter((other) => other.name !== name && isTelling(other.name))
    return [
      ...others.map((other) => `Mentions ${visibleText(other.name)} of another server: ${other.server}`),
      ...(servers.has(word) && word.length >= 5 ? [`Mentions another server: ${word}`] : []),
    ]
  })
}

const HIDES_SOMETHING = 'Tells the model to hide something from you, or not to ask you'

/** Phrases addressed to a model. Each pattern takes linear time. */
const ORDERS: readonly [pattern: RegExp, text: string][] = [
  [
    /\b(?:ignore|disregard|forget|override) (?:all |any |the |your )?(?:previous|prior|above|earlier|other|system)\b/i,
    'Tells the model to ignore other instructions',
  ],
  [
    /\b(?:do not|don't|never|without) (?:tell|telling|mention|mentioning|inform|informing|show|showing|notify|notifying|reveal|ask|asking)\b/i,
    HIDES_SOMETHING,
  ],
  [/<\/?\s?(?:important|system|secret|instructions?|critical|hidden|admin)\s?>/i, 'Contains tags that imitate system instructions'],
  [
    /\b(?:before|after|instead of) (?:using|calling|invoking|running) (?:this|any|other|another|the)\b/i,
    'Tells the model what to do before, after or instead of a call',
  ],
  [/\b(?:you must|always|make sure to) (?:first |also )?(?:call|read|send|include|pass|use|forward|copy|add)\b/i, 'Gives the model orders'],
  [
    /\b(?:secretly|silently|covertly|in secret)\b|\buser (?:must|should|may|need|does|can) ?not (?:know|see|notice|be (?:told|shown|asked|informed))\b|\bwithout the user\b/i,
    HIDES_SOMETHING,
  ],
  [
    /\b(?:pass|put|include|attach|append|send|copy|forward|upload)\b[^.]{0,60}\b(?:conversation|chat history|system prompt|previous messages|credentials?|passwords?|secrets?|api keys?|contents? of)\b/i,
    'Tells the model to hand over data',
  ],
  [/\b(?:you are now|from now on|act as if|pretend (?:to be|that)|new instructions)\b/i, 'Gives the model orders'],
  [
    /\b(?:mcp\.json|claude_desktop_config|credentials\.json|authorized_keys|\.git-credentials|\.npmrc)\b|(?<![\w.])\.env\b/i,
    'Mentions files that usually hold secrets',
  ],
  [/(?:~\/\.|\/\.)(?:ssh|aws|gnupg|kube|env|netrc|config)\b|\bid_rsa\b|\/etc\/passwd\b/i, 'Mentions files that usually hold secrets'],
]

const orders = (prose: string): string[] => {
  const text = prose.replace(/[ \t\r\n]+/g, ' ')
  return [...new Set(ORDERS.filter(([pattern]) => pattern.test(text)).map(([, words]) => words))]
}

/** Identifiers of JSON Schema dialects look like URLs, but are never opened. */
const KNOWN_ADDRESS = /^https?:\/\/json-schema\.org\//i
const SHOWN_ADDRESSES = 5

function addresses(prose: string): string[] {
  const urls = (prose.match(/\b(?:https?|wss?|ftp):\/\/[^\s"'<>)\]]+/gi) ?? []).filter((url) => !KNOWN_ADDRESS.test(url))
  const mails = prose.match(/(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}/g) ?? []
  const all = [...new Set([...urls, ...mails])]
  if (all.length === 0) return []
  const more = all.length > SHOWN_ADDRESSES ? ` and ${all.length - SHOWN_ADDRESSES} more` : ''
  return [
    `Contains addresses: ${all
      .slice(0, SHOWN_ADDRESSES)
      .map((each) => visibleText(each))
      .join(', ')}${more}`,
  ]
}

const SECRET = /pass(?:word|wd|phrase)|secret|token(?!s$)|api[-_]?key|private[-_]?key|credential|cookie|^pin$|^otp$/i

/** Arguments whose names suggest a secret. */
function secretParameters(definition: unknown): string[] {
  const schema = isObject(definition) ? definition.inputSchema : undefined
  const properties = isObject(schema) && isObject(schema.properties) ? Object.keys(schema.properties) : []
  const listed = isObject(definition) && Array.isArray(definition.arguments) ? definition.arguments : []
  const names = [...properties, ...listed.flatMap((each) => (isObject(each) && typeof each.name === 'string' ? [each.name] : []))]
  return names.filter((name) => SECRET.test(name)).map((name) => `Asks for ${visibleText(name)}, which may be a secret`)
}
