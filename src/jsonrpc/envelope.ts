/** The kind and the id of a message that `scan` rejected. Reads the text without parsing it, so that the error can be sent to the right request. */

import { bitOf, CLOSE_BRACE, CLOSE_BRACKET, COMMA, closingQuote, keyNames, OPEN_BRACE, OPEN_BRACKET, parseOr, QUOTE } from './json-text.ts'
import { type Id, isId } from './message.ts'

export interface Envelope {
  kind: 'request' | 'notification' | 'response' | 'unknown'
  /** Undefined when there is no usable id. */
  id: Id | undefined
  /** The second id, of a response that has two. */
  otherId?: Id | undefined
}

/** Reads the outermost object in one pass, to its end: some clients write the id last. */
export function envelopeOf(text: string): Envelope {
  let depth = 0
  let awaitsKey = false
  let seen = 0
  const ids: (Id | undefined)[] = []
  if (!/^\s*\{/.test(text)) return UNKNOWN
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case QUOTE: {
        const close = closingQuote(text, at + 1)
        if (close < 0) return told(seen, ids, false)
        if (awaitsKey) {
          awaitsKey = false
          const bit = bitOf(KEYS, text, at + 1, close)
          if (bit === ID_BIT && ids.length < 2) ids.push(idAfter(text, close + 1))
          seen |= bit
        }
        at = close
        break
      }
      case OPEN_BRACE:
        awaitsKey = ++depth === 1
        break
      case OPEN_BRACKET:
        depth++
        break
      case CLOSE_BRACE:
      case CLOSE_BRACKET:
        if (--depth === 0) return told(seen, ids, true)
        break
      case COMMA:
        awaitsKey = depth === 1
        break
    }
  }
  return told(seen, ids, false)
}

const KEYS = keyNames('id', 'method', 'result', 'error')
const ID_BIT = 1
const METHOD_BIT = 2
const ANSWER_BITS = 4 | 8
const UNKNOWN: Envelope = { kind: 'unknown', id: undefined }

function told(seen: number, ids: readonly (Id | undefined)[], isWhole: boolean): Envelope {
  const [first, second] = ids
  // A request with two ids has no usable id.
  const id = ids.length > 1 ? undefined : first
  if (seen & METHOD_BIT) {
    if (seen & ID_BIT) return { kind: 'request', id }
    return isWhole ? { kind: 'notification', id } : UNKNOWN
  }
  if (!(seen & ANSWER_BITS)) return { kind: 'unknown', id }
  // A response with two ids fails the requests of both.
  return second === undefined || second === first ? { kind: 'response', id: first } : { kind: 'response', id: first, otherId: second }
}

/** Reads the string or integer after the colon that follows `at`. */
function idAfter(text: string, at: number): Id | undefined {
  COLON.lastIndex = at
  if (!COLON.test(text)) return undefined
  const from = COLON.lastIndex
  const isString = text.charCodeAt(from) === QUOTE
  INTEGER.lastIndex = from
  const json = isString ? text.slice(from, closingQuote(text, from + 1) + 1) : INTEGER.exec(text)?.[0]
  const value = parseOr(json ?? '', undefined)
  return isId(value) ? value : undefined
}

const COLON = /\s*:\s*/y
const INTEGER = /-?\d{1,16}(?=\s*[,}])/y
