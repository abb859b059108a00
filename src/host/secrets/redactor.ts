/**
 * Removes known secrets from text that leaves the host: standard error of servers, logs, error messages. One pass finds all
 * values, so the time does not depend on their number.
 */

import { McpError } from '../../protocol/errors.ts'
import { withDefaults } from '../../protocol/with-defaults.ts'

export interface RedactorLimits {
  /** Shorter values are not redacted: they also occur in ordinary text, and gaps in known words would reveal them. */
  minChars: number
  /** Maximum number of characters of all secrets together, each in all its encoded forms. */
  maxChars: number
}

export const DEFAULT_REDACTOR_LIMITS: RedactorLimits = { minChars: 4, maxChars: 1024 * 1024 }

export interface Redactor {
  /**
   * @param handle the name of the secret for people: `secret NAME`
   * @throws McpError ERR_LIMIT if there are too many secrets; the server is not started then, because its secrets could leak
   */
  add(value: string, handle?: string): void
  /** Whether no secret is known. */
  readonly isEmpty: boolean
  /** Removes all values, plain or encoded. A value that is split over two texts is not found. */
  scrub(text: string): string
  /** Replaces each value by its handle, for people who decide about the text. */
  withHandles(text: string): string
}

const HIDDEN = '[redacted]'

export function redactor(values: Iterable<string> = [], limits?: Partial<RedactorLimits>): Redactor {
  const { minChars, maxChars } = withDefaults(DEFAULT_REDACTOR_LIMITS, limits)
  /** All forms, with the handle of their value. */
  const forms = new Map<string, string | undefined>()
  let chars = 0
  let find: Finder | undefined
  const add = (value: string, handle?: string): void => {
    const fresh = formsOf(value, minChars).filter((form) => !forms.has(form))
    const more = fresh.reduce((sum, { length }) => sum + length, 0)
    if (chars + more > maxChars) throw new McpError('ERR_LIMIT', `The secrets to redact have more than ${maxChars} characters (maxChars)`)
    for (const form of fresh) forms.set(form, handle)
    chars += more
    if (fresh.length > 0) find = undefined
  }
  for (const value of values) add(value)
  const replaced = (text: string, instead: (found: string) => string): string => {
    if (forms.size === 0) return text
    find ??= finderOf(forms.keys())
    return hidden(text, find(text), instead)
  }
  return {
    add,
    get isEmpty() {
      return forms.size === 0
    },
    scrub: (text) => replaced(text, () => HIDDEN),
    withHandles: (text) =>
      replaced(text, (found) => {
        const handle = forms.get(found)
        return handle === undefined ? HIDDEN : `[${handle}]`
      }),
  }
}

/** Shorter encoded forms occur by chance. */
const MIN_ENCODED_CHARS = 6

/** The forms of a value: plain, each line, JSON, percent-encoding, hexadecimal, and base64 at each of the three offsets in a longer text. */
function formsOf(value: string, minChars: number): string[] {
  const forms = new Set<string>()
  if (value.length >= minChars) {
    forms.add(value)
    const bytes = Buffer.from(value)
    const percent = encodeURIComponent(bytes.toString())
    const json = JSON.stringify(value).slice(1, -1)
    const encoded = [
      json,
      // The form in single quotes.
      json.replaceAll('\\"', '"'),
      percent,
      percent.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase()),
      percent.replaceAll('%20', '+'),
      bytes.toString('hex'),
      ...[0, 1, 2].flatMap((offset) => base64Inside(bytes, offset)),
    ]
    for (const form of encoded) if (form.length >= MIN_ENCODED_CHARS) forms.add(form)
  }
  const lines = value.split(/\r?\n/)
  if (lines.length > 1) for (const line of lines) if (line.trim().length >= Math.max(minChars, MIN_LINE_CHARS)) forms.add(line.trim())
  return [...forms]
}

const MIN_LINE_CHARS = 16

/** The base64 characters that depend on the value alone, with `offset` bytes (modulo three) before it. */
function base64Inside(bytes: Uint8Array, offset: number): string[] {
  const padded = Buffer.concat([Buffer.alloc(offset), bytes])
  const first = Math.ceil((offset * 8) / 6)
  const last = Math.floor((padded.length * 8) / 6)
  const inside = padded.toString('base64').slice(first, last)
  return [inside, inside.replaceAll('+', '-').replaceAll('/', '_')]
}

/** Finds texts, from left to right. The places do not overlap. */
type Finder = (text: string) => [start: number, end: number][]

interface State {
  /** The character of the first successor, `only`. Most states have just one; `others` is created for the rest, to save memory. */
  code: number
  only: State | undefined
  others: Map<number, State> | undefined
  /** The state of the longest suffix that is a prefix of a text. */
  otherwise: State | undefined
  depth: number
  /** The length of the longest text that ends here. */
  longest: number
}

/** The Aho-Corasick automaton: it reads every character once. */
function finderOf(texts: Iterable<string>): Finder {
  const root = newState(0)
  for (const text of texts) {
    let state = root
    for (let i = 0; i < text.length; i++) state = after(state, text.charCodeAt(i)) ?? grown(state, text.charCodeAt(i))
    state.longest = state.depth
  }
  const queue = [root]
  // Breadth first, so that the fallback of a state is complete before the state. The queue grows during the loop.
  for (const state of queue) {
    for (const [code, next] of followersOf(state)) {
      next.otherwise = step(state.otherwise, code) ?? root
      next.longest ||= next.otherwise.longest
      queue.push(next)
    }
  }
  return (text) => {
    const found: [number, number][] = []
    let state = root
    for (let i = 0; i < text.length; i++) {
      state = step(state, text.charCodeAt(i)) ?? root
      if (state.longest === 0) continue
      let start = i + 1 - state.longest
      // Places that overlap or touch become one.
      while (found.length > 0 && (found.at(-1) as [number, number])[1] >= start)
        start = Math.min(start, (found.pop() as [number, number])[0])
      found.push([start, i + 1])
    }
    return found
  }
}

function step(from: State | undefined, code: number): State | undefined {
  for (let state = from; state; state = state.otherwise) {
    const next = after(state, code)
    if (next) return next
  }
  return undefined
}

const newState = (depth: number): State => ({ code: -1, only: undefined, others: undefined, otherwise: undefined, depth, longest: 0 })

const after = (state: State, code: number): State | undefined => (state.code === code ? state.only : state.others?.get(code))

function grown(state: State, code: number): State {
  const next = newState(state.depth + 1)
  if (state.only) {
    state.others ??= new Map()
    state.others.set(code, next)
  } else {
    state.code = code
    state.only = next
  }
  return next
}

const followersOf = ({ code, only, others }: State): [code: number, state: State][] => [
  ...(only ? [[code, only] as [number, State]] : []),
  ...(others ?? []),
]

function hidden(text: string, places: readonly [number, number][], instead: (found: string) => string): string {
  let end = 0
  let result = ''
  for (const [start, until] of places) {
    result += text.slice(end, start) + instead(text.slice(start, until))
    end = until
  }
  return result + text.slice(end)
}
