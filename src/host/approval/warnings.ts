/** Warnings about a definition. Of a first offering, only definitions without warnings are used before the person has looked at them. */

import { isObject } from '../../base/json.ts'
import { hasInvisible, visibleText } from '../../base/text/visible-text.ts'
import type { Skill } from '../../protocol/model/skills.ts'
import { nameChecker, type OtherName } from './name-warnings.ts'
import { foreignScript, orders } from './order-warnings.ts'
import type { Primitive } from './pin.ts'
import { secretParameters } from './secret-parameters.ts'
import { skillWarnings } from './skill-warnings.ts'

/** People rarely read longer texts to the end. */
const LONG_TEXT = 4000

/** Maximum number of texts examined. A warning says when there are more. */
const MAX_TEXTS = 5000
const MAX_DEPTH = 64

/** @param others the names of all other servers, indexed once */
export function flagger(others: readonly OtherName[]): (primitive: Primitive) => string[] {
  const nameWarnings = nameChecker(others)
  return (primitive) => {
    const { texts, said, descriptions, isWhole } = textsIn(textOf(primitive))
    const prose = texts.join('\n')
    return [
      ...(isWhole ? [] : [`Contains more than ${MAX_TEXTS} texts, or nests them too deeply; not all were checked`]),
      ...invisible([primitive.name, ...texts]),
      ...nameWarnings(primitive, prose),
      ...orders(prose, descriptions),
      ...foreignScript(descriptions),
      ...addresses(said.join('\n')),
      ...(prose.length > LONG_TEXT ? [`Contains ${prose.length} characters of text, too many to read carefully`] : []),
      ...secretParameters(primitive.definition),
      ...(primitive.kind === 'skill' ? skillWarnings(primitive.definition as Skill) : []),
    ]
  }
}

/** Of a skill only its frontmatter: the rest is addresses and digests. */
const textOf = ({ kind, definition }: Primitive): unknown => (kind === 'skill' ? (definition as Skill).frontmatter : definition)

interface Texts {
  texts: string[]
  /** The texts without the values of defaults and examples: an address there is data, and a question shows it before it is used. */
  said: string[]
  /** Only the descriptions, without the names between them: an order can be split over several descriptions. */
  descriptions: string[]
  isWhole: boolean
}

/** All texts of a definition, including the names of members, because a model reads them too. */
function textsIn(definition: unknown): Texts {
  const texts: string[] = []
  const said: string[] = []
  const descriptions: string[] = typeof definition === 'string' ? [definition] : []
  let isWhole = true
  const visit = (value: unknown, depth: number, isData: boolean): void => {
    if (texts.length >= MAX_TEXTS || depth > MAX_DEPTH) isWhole = false
    else if (typeof value === 'string') {
      texts.push(value)
      // A value with a space is more than an address, so it is read as a sentence even where data is expected.
      if (!isData || /\s/.test(value)) said.push(value)
    } else if (Array.isArray(value)) for (const each of value) visit(each, depth + 1, isData)
    else if (isObject(value)) {
      for (const [name, each] of Object.entries(value)) {
        texts.push(name)
        said.push(name)
        if (name === 'description' && typeof each === 'string') descriptions.push(each)
        visit(each, depth + 1, isData || DATA_MEMBERS.has(name))
      }
    }
  }
  visit(definition, 0, false)
  return { texts, said, descriptions, isWhole }
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
