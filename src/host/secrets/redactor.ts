/**
 * Keeps values that are known to be secret out of text that leaves the host: what a server writes to its standard error,
 * logs, messages of errors. All values are looked for in one pass, so that the time does not grow with their number.
 */

import { McpError } from '../../protocol/errors.ts'
import { withDefaults } from '../../protocol/with-defaults.ts'

export interface RedactorLimits {
  /** Shorter values are not looked for: they occur in any text, and hiding them would tell where. */
  minChars: number
  /** How many characters all forms of all values may have together. */
  maxChars: number
}

export const DEFAULT_REDACTOR_LIMITS: RedactorLimits = { minChars: 4, maxChars: 1024 * 1024 }

export interface Redactor {
  /**
   * ERR_LIMIT when it would be too much: better not to start a server than to start one whose secrets leak.
   * @param handle what it is called, for people: `secret NAME`
   */
  add(value: string, handle?: string): void
  /** Whether there is anything to look for. */
  readonly isEmpty: boolean
  /** The text without the values, in clear or encoded. A value that is split over two texts is not found. */
  scrub(text: string): string
  /** The same with the handle of each value in its place, for people who decide about the text. */
  withHandles(text: string): string
}

const HIDDEN = '[redacted]'

export function redactor(values: Iterable<string> = [], limits?: Partial<RedactorLimits>): Redactor {
  const { minChars, maxChars } = withDefaults(DEFAULT_REDACTOR_LIMITS, limits)
  /** With the handle of what they are forms of. */
  const forms = new Map<string, string | undefined>()
  let chars = 0
  let find: Finder | undefined
  const add = (value: string, handle?: string): void => {
    const fresh = formsOf(value, minChars).filter((form) => !forms.has(form))
    const more = fresh.reduce((sum, { length }) => sum + length, 0)
    if (chars + more > maxChars)
      throw new McpError('ERR_LIMIT', `The secrets to be kept out of logs have more than ${maxChars} characters (maxChars)`)
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

/** Encoded forms that are shorter occur by chance. */
const MIN_ENCODED_CHARS = 6

/** As it is, line by line, as JSON and programs write it, in URLs and forms, and in the three ways that base64 of something longer may hold it. */
function formsOf(value: string, minChars: number): string[] {
  const forms = new Set<string>()
  if (value.length >= minChars) {
    forms.add(value)
    const bytes = Buffer.from(value)
    const percent = encodeURIComponent(bytes.toString())
    const json = JSON.stringify(value).slice(1, -1)
    const encoded = [
      json,
      // As programs write texts in other quotes.
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

/** The characters of base64 that depend on nothing but the value, when `offset` bytes (modulo three) come before it. */
function base64Inside(bytes: Uint8Array, offset: number): string[] {
  const padded = Buffer.concat([Buffer.alloc(offset), bytes])
  const first = Math.ceil((offset * 8) / 6)
  const last = Math.floor((padded.length * 8) / 6)
  const inside = padded.toString('base64').slice(first, last)
  return [inside, inside.replaceAll('+', '-').replaceAll('/', '_')]
}

/** Where texts were found, from left to right, as pairs of start and end that do not overlap. */
type Finder = (text: string) => [start: number, end: number][]

interface State {
  /** Most have one that follows, and a map for each would take several times the memory. */
  code: number
  only: State | undefined
  others: Map<number, State> | undefined
  /** Where to go on when no longer beginning fits: the longest end of this one that is a beginning. */
  otherwise: State | undefined
  depth: number
  /** The length of the longest text that ends here. */
  longest: number
}

/** The automaton of Aho and Corasick: every character of the text is looked at once. */
function finderOf(texts: Iterable<string>): Finder {
  const root = newState(0)
  for (const text of texts) {
    let state = root
    for (let i = 0; i < text.length; i++) state = after(state, text.charCodeAt(i)) ?? grown(state, text.charCodeAt(i))
    state.longest = state.depth
  }
  const queue = [root]
  // By rising depth, so that what a state falls back on is finished. The queue grows while it is walked.
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
      // What overlaps or touches is hidden as one.
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
