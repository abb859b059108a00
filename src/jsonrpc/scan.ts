/**
 * Rejects dangerous JSON text before it is parsed, in one linear pass: nesting that overflows a stack, too many values,
 * duplicate keys that two readers would read differently, and keys that reach a prototype. JSON.parse accepts all of them.
 */

import {
  bitOf,
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COMMA,
  closingQuote,
  guessBits,
  keyNames,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
} from './json-text.ts'
import { type ErrorObject, INVALID_PARAMS, INVALID_REQUEST } from './message.ts'

export interface ScanBounds {
  /** The maximum depth of arrays and objects. */
  maxDepth: number
  /** The maximum number of keys in an object. */
  maxKeys: number
  /**
   * The maximum number of values in a message: members of objects and elements of arrays. An empty object or array counts
   * as two, because it takes more memory than a number. This limits how much memory a short text can use.
   */
  maxValues: number
}

/** Receives the number of values. It can be reused for every scan. */
export interface Tally {
  values: number
}

/** Returns the first problem, or undefined. Text that is not JSON passes, because the parser reports that. */
export function scan(text: string, bounds: ScanBounds, from = 0, end = text.length, tally: Tally = UNREAD): ErrorObject | undefined {
  // Reading every key costs more than all the rest, so the second pass runs only when the first finds a possible problem.
  return walk(text, bounds, from, end, guessBits, tally) && walk(text, bounds, from, end, bitOf, tally)
}

const UNREAD: Tally = { values: 0 }

/** @param tell `guessBits` for the names that a key may spell, `bitOf` for the name that it spells */
function walk(text: string, bounds: ScanBounds, from: number, end: number, tell: typeof bitOf, tally: Tally): ErrorObject | undefined {
  const { maxDepth, maxKeys, maxValues } = bounds
  // Every value except the outermost follows a comma or an opening bracket.
  let values = 0
  let depth = 0
  let awaitsKey = false
  let followsConstructor = false
  // The depth of the members of a message: 1, or 2 inside a batch.
  let envelopeDepth = 1
  let envelope = 0
  let target = 0
  let isInParams = false

  for (let at = from; at < end; at++) {
    switch (text.charCodeAt(at)) {
      case QUOTE: {
        const close = closingQuote(text, at + 1)
        if (close < 0 || close >= end) return undefined
        if (awaitsKey) {
          awaitsKey = false
          const count = (keys[depth] as number) + 1
          if (count > maxKeys) return invalid(`An object has more than ${maxKeys} keys (maxKeys)`)
          keys[depth] = count
          const reach = tell(PROTOTYPE_KEYS, text, at + 1, close)
          if (reach & PROTO_BIT || (reach & PROTOTYPE_BIT && isConstructor[depth])) return REACHES_PROTOTYPE
          followsConstructor = (reach & CONSTRUCTOR_BIT) !== 0
          if (depth === envelopeDepth) {
            const bit = tell(ENVELOPE_KEYS, text, at + 1, close)
            if (envelope & bit) return invalid(`The key ${text.slice(at, close + 1)} occurs twice`)
            envelope |= bit
            isInParams = (bit & PARAMS_BIT) !== 0
          } else if (isInParams && depth === envelopeDepth + 1) {
            const bit = tell(TARGET_KEYS, text, at + 1, close)
            if (target & bit) return invalid(`The key ${text.slice(at, close + 1)} occurs twice in params`)
            target |= bit
          }
        } else {
          followsConstructor = false
        }
        at = close
        break
      }
      case OPEN_BRACE:
        if (++depth > maxDepth) return tooDeep(maxDepth)
        if (++values > maxValues) return tooManyValues(maxValues)
        if (depth === envelopeDepth) {
          envelope = 0
          target = 0
          isInParams = false
        }
        keys[depth] = 0
        isConstructor[depth] = followsConstructor
        followsConstructor = false
        awaitsKey = true
        break
      case OPEN_BRACKET:
        if (++depth > maxDepth) return tooDeep(maxDepth)
        if (++values > maxValues) return tooManyValues(maxValues)
        if (depth === 1) envelopeDepth = 2
        keys[depth] = -1
        followsConstructor = false
        awaitsKey = false
        break
      case CLOSE_BRACE:
      case CLOSE_BRACKET:
        if (--depth < 0) return undefined
        awaitsKey = false
        break
      case COMMA:
        if (++values > maxValues) return tooManyValues(maxValues)
        followsConstructor = false
        awaitsKey = (keys[depth] as number) >= 0 && depth > 0
        break
    }
  }
  tally.values = values
  return undefined
}

// Reused by all scans, so that a scan allocates nothing. Each level is written before it is read.
/** The number of keys so far in each open object; -1 for an array. */
const keys: number[] = [0]
/** Whether each open object is the value of a key "constructor". */
const isConstructor: boolean[] = [false]

const PROTOTYPE_KEYS = keyNames('__proto__', 'constructor', 'prototype')
const PROTO_BIT = 1
const CONSTRUCTOR_BIT = 2
const PROTOTYPE_BIT = 4
const ENVELOPE_KEYS = keyNames('id', 'params', 'method', 'jsonrpc', 'result', 'error')
const PARAMS_BIT = 2
/** Members of params that policies and proxies read. With a duplicate, the handler could see another value than they do. */
const TARGET_KEYS = keyNames('name', 'uri', 'arguments', '_meta', 'requestState', 'inputResponses', 'taskId')

const REACHES_PROTOTYPE: ErrorObject = {
  code: INVALID_PARAMS,
  message: 'The keys "__proto__" and "constructor"."prototype" are not accepted',
}

const invalid = (message: string): ErrorObject => ({ code: INVALID_REQUEST, message })

const tooManyValues = (maxValues: number): ErrorObject => invalid(`The message contains more than ${maxValues} values (maxValues)`)

const tooDeep = (maxDepth: number): ErrorObject => invalid(`The message nests deeper than ${maxDepth} levels (maxDepth)`)
