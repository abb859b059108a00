/** Finds the arguments of a tool in a sentence, by the tool's schema. */

import { asText } from '../../base/as-text.ts'
import { isObject } from '../../base/json.ts'
import type { JsonSchema } from '../../protocol/schema/json-schema.ts'
import { stem, words } from './words.ts'

export interface Filled {
  args: Record<string, unknown>
  /** The required arguments that are missing, as text: `environment (staging, production)`. */
  missing: string[]
}

interface Field {
  name: string
  type: string
  choices: readonly unknown[] | undefined
  isRequired: boolean
}

/** @param toolWords the words that identify the tool; they are not arguments */
export function fillArguments(text: string, schema: JsonSchema, toolWords: ReadonlySet<string>): Filled {
  const fields = fieldsOf(schema)
  const sentence = new Sentence(text)
  const args: Record<string, unknown> = {}
  const open = (): Field[] => fields.filter(({ name }) => !Object.hasOwn(args, name))
  const put = ({ name }: Field, value: unknown): void => {
    Object.defineProperty(args, name, { value, enumerable: true, writable: true, configurable: true })
  }
  for (const field of open()) {
    const written = sentence.takeNamed(field.name)
    const value = written === undefined ? undefined : read(written, field)
    if (value !== undefined) put(field, value)
  }
  for (const field of open()) {
    const choice = field.choices?.find((each) => sentence.takeWord(asText(each)))
    if (choice !== undefined) put(field, choice)
  }
  for (const field of open()) {
    const value = field.type === 'boolean' ? sentence.takeSwitch(field.name) : isNumber(field) ? sentence.takeNumber(field.name) : undefined
    if (value !== undefined) put(field, field.type === 'integer' ? Math.trunc(Number(value)) : value)
  }
  fillTexts(sentence, { open, put, toolWords })
  const missing = open().filter(({ isRequired }) => isRequired)
  return { args, missing: missing.map(({ name, choices }) => (choices ? `${name} (${choices.join(', ')})` : name)) }
}

const MAX_FIELDS = 100
const MAX_NAME_CHARS = 128

function fieldsOf({ properties, required }: JsonSchema): Field[] {
  const needed = new Set(Array.isArray(required) ? required : [])
  const fields = Object.entries(isObject(properties) ? properties : {})
    .filter(([name]) => name.length <= MAX_NAME_CHARS)
    .slice(0, MAX_FIELDS)
    .map(([name, property]): Field => {
      const { type, enum: choices } = isObject(property) ? property : {}
      const first: unknown = Array.isArray(type) ? type[0] : type
      return {
        name,
        type: typeof first === 'string' ? first : 'string',
        choices: Array.isArray(choices) ? choices : undefined,
        isRequired: needed.has(name),
      }
    })
  // Required fields are filled first.
  return [...fields.filter(({ isRequired }) => isRequired), ...fields.filter(({ isRequired }) => !isRequired)]
}

const isNumber = ({ type }: Field): boolean => type === 'number' || type === 'integer'

/** Converts the text of a named argument; undefined when it has the wrong type. */
function read(written: string, { type, choices }: Field): unknown {
  if (choices) return choices.find((choice) => asText(choice).toLowerCase() === written.toLowerCase())
  if (type === 'number' || type === 'integer')
    return written.trim() !== '' && Number.isFinite(Number(written)) ? Number(written) : undefined
  if (type === 'boolean') return /^(true|yes|on)$/i.test(written) ? true : /^(false|no|off)$/i.test(written) ? false : undefined
  if (type === 'array' && !written.startsWith('[')) return written.split(',').map((each) => each.trim())
  if (type !== 'array' && type !== 'object') return written
  try {
    return JSON.parse(written)
  } catch {
    return undefined
  }
}

interface Filling {
  open(): Field[]
  put(field: Field, value: unknown): void
  toolWords: ReadonlySet<string>
}

const NAME_LIKE = /name|title|subject|label/i
const TEXT_LIKE = /text|body|content|message|note|description|value|data/i
const QUERY_LIKE = /query|search|term|topic|keyword|pattern|^q$/i
const PLACE_LIKE = /url|uri|path|file|folder|directory/i
const VERSION_LIKE = /version|release|tag$/i
const GOAL_LIKE = /env|target|dest|recipient|^to$|stage/i
const TITLE_WORDS = 6

function fillTexts(sentence: Sentence, { open, put, toolWords }: Filling): void {
  const texts = (): Field[] => open().filter(({ type, choices }) => type === 'string' && !choices)
  const like = (pattern: RegExp): Field | undefined => texts().find(({ name }) => pattern.test(name))
  const needed = (): Field | undefined => texts().find(({ isRequired }) => isRequired)
  const give = (field: Field | undefined, take: () => string | undefined): void => {
    const value = field && take()
    if (field && value) put(field, value)
  }
  give(like(PLACE_LIKE), () => sentence.take(/(?:[a-z][a-z0-9+.-]*:\/\/\S+|(?:\.{0,2}\/)?[\w.-]+\/[\w./-]*|\b[\w-]+\.[a-z]{1,5}\b)/i))
  give(like(VERSION_LIKE), () => sentence.take(/(?<![\w.])v?(\d+\.\d+[\w.+-]*\w)/i))
  give(like(NAME_LIKE) ?? needed(), () => sentence.takeAfter('called|titled|named'))
  give(like(QUERY_LIKE) ?? like(NAME_LIKE), () => sentence.takeAfter('about|matching|containing|for'))
  give(like(GOAL_LIKE), () => sentence.takeAfter('to|into|onto', 1))
  const payload = sentence.payload
  if (payload !== undefined) give(like(TEXT_LIKE) ?? like(QUERY_LIKE) ?? needed() ?? texts()[0], () => payload)
  for (const quoted of sentence.takeQuoted()) give(needed() ?? like(TEXT_LIKE) ?? like(QUERY_LIKE) ?? like(NAME_LIKE), () => quoted)
  // The rest of the sentence is the argument.
  give(needed(), () => sentence.rest(toolWords))
  // A required title is taken from the first words of the text.
  if (payload !== undefined) give(needed(), () => payload.split(/\s+/).slice(0, TITLE_WORDS).join(' '))
}

// The part before the colon. The text after it may be longer.
const MAX_HEAD_CHARS = 2000
const QUOTE = /\uE000\d+\uE000/

/** A sentence. Parts that are recognised are removed from it. */
class Sentence {
  /** The text after the first colon. It is not searched. */
  readonly payload: string | undefined
  #head: string
  readonly #quoted: string[] = []

  constructor(text: string) {
    const whole = text.replaceAll('\uE000', '')
    // Quotes first, because they may contain a colon.
    const bare = whole.replace(/"([^"]*)"|“([^”]*)”|(?<=\s|^|=)'([^']*)'(?=\s|$|[.,;])/g, (_all, ...groups: (string | undefined)[]) => {
      const at = this.#quoted.push(groups.slice(0, 3).find((each) => each !== undefined) ?? '') - 1
      return `\uE000${at}\uE000`
    })
    const colon = /:\s+(?=\S)/.exec(bare)
    this.#head = (colon ? bare.slice(0, colon.index) : bare).slice(0, MAX_HEAD_CHARS)
    this.payload = colon ? this.#unquoted(bare.slice(colon.index + colon[0].length)).trim() : undefined
  }

  /** `name=value`; a value with spaces is quoted. */
  takeNamed(name: string): string | undefined {
    return this.take(new RegExp(`(?<![\\w-])${literally(name)}=(\uE000\\d+\uE000|\\{.*\\}|\\[.*\\]|\\S+)`, 'i'))
  }

  takeWord(word: string): boolean {
    return this.take(new RegExp(`(?<![\\w-])(${literally(word)})(?![\\w-])`, 'i')) !== undefined
  }

  takeSwitch(name: string): boolean | undefined {
    const word = literally(name).replace(/[_-]/g, '[_ -]?')
    if (this.take(new RegExp(`(?:no|not|without)[ -](${word})\\b`, 'i')) !== undefined) return false
    return this.take(new RegExp(`(?:--)?\\b(${word})\\b`, 'i')) === undefined ? undefined : true
  }

  /** The number after its name, otherwise the first number. */
  takeNumber(name: string): number | undefined {
    const taken =
      this.take(new RegExp(`\\b${literally(name)}\\s+(-?\\d+(?:\\.\\d+)?)\\b`, 'i')) ?? this.take(/(?<![\w.-])(-?\d+(?:\.\d+)?)(?![\w.])/)
    return taken === undefined ? undefined : Number(taken)
  }

  /** The text after one of these words, up to the next such word. */
  takeAfter(introduction: string, maxWords = 8): string | undefined {
    const stop = 'called|titled|named|about|matching|containing|for|to|into|onto|in|on|with|from|and'
    return this.take(new RegExp(`\\b(?:${introduction})\\s+((?:(?!(?:${stop})\\b)\\S+\\s*){1,${maxWords}})`, 'i'))?.trim()
  }

  takeQuoted(): string[] {
    const taken: string[] = []
    for (let next = this.take(QUOTE); next !== undefined; next = this.take(QUOTE)) taken.push(next)
    return taken
  }

  /** The remaining words, without words for the tool and filler words. */
  rest(toolWords: ReadonlySet<string>): string {
    const kept = this.#head.split(/\s+/).filter((word) => {
      const bare = word.replace(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu, '')
      return words(bare).length > 0 && !toolWords.has(stem(bare.toLowerCase()))
    })
    this.#head = ''
    return kept.join(' ').replace(/[.,;!?]+$/, '')
  }

  /** Removes the first match. Returns its first group, or the whole match. */
  take(pattern: RegExp): string | undefined {
    const match = pattern.exec(this.#head)
    if (!match) return undefined
    this.#head = `${this.#head.slice(0, match.index)} ${this.#head.slice(match.index + match[0].length)}`
    return this.#unquoted(match[1] ?? match[0])
  }

  #unquoted(text: string): string {
    // A quotation inside a larger text keeps its quotes.
    const only = /^\uE000(\d+)\uE000$/.exec(text.trim())
    if (only) return this.#quoted[Number(only[1])] ?? ''
    return text.replace(/\uE000(\d+)\uE000/g, (_all, at: string) => `"${this.#quoted[Number(at)] ?? ''}"`)
  }
}

const literally = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
