/**
 * One linear pass over the text of a message, before it is parsed: what JSON.parse would accept silently
 * and a reader must not (nesting that overflows a stack, a key given twice so that two readers disagree,
 * a key that reaches a prototype).
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
  /** How deep arrays and objects may nest. */
  maxDepth: number
  /** How many keys one object may have. */
  maxKeys: number
  /**
   * How many values the whole message may hold: members of objects and elements of arrays. An empty object or array counts as
   * two, because it takes more memory than a number. Small values are what turns little text into much memory.
   */
  maxValues: number
}

/** Tells how many values were counted. The same one can be used for every scan. */
export interface Tally {
  values: number
}

/** Returns the first flaw, or undefined. Text that is not JSON passes: the parser says what is wrong with it. */
export function scan(text: string, bounds: ScanBounds, from = 0, end = text.length, tally: Tally = UNREAD): ErrorObject | undefined {
  // To read every key costs more than all the rest, so that is done only for text that looks flawed without.
  return walk(text, bounds, from, end, guessBits, tally) && walk(text, bounds, from, end, bitOf, tally)
}

const UNREAD: Tally = { values: 0 }

/** @param tell which names a key spells, or may spell */
function walk(text: string, bounds: ScanBounds, from: number, end: number, tell: typeof bitOf, tally: Tally): ErrorObject | undefined {
  const { maxDepth, maxKeys, maxValues } = bounds
  // Every value but the outermost follows a comma, or the beginning of what it is in.
  let values = 0
  let depth = 0
  let awaitsKey = false
  let followsConstructor = false
  // Where messages stand: one level down, or two when they are in an array.
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

// Used by one scan after another, so that a message costs no array. Each level is written before it is read.
/** Keys seen so far in each open object; -1 marks an array. */
const keys: number[] = [0]
/** Which open objects are the value of a key "constructor". */
const isConstructor: boolean[] = [false]

const PROTOTYPE_KEYS = keyNames('__proto__', 'constructor', 'prototype')
const PROTO_BIT = 1
const CONSTRUCTOR_BIT = 2
const PROTOTYPE_BIT = 4
const ENVELOPE_KEYS = keyNames('id', 'params', 'method', 'jsonrpc', 'result', 'error')
const PARAMS_BIT = 2
/** What a policy or a proxy decides on: a second value must not reach the handler behind its back. */
const TARGET_KEYS = keyNames('name', 'uri', 'arguments', '_meta', 'requestState', 'inputResponses', 'taskId')

const REACHES_PROTOTYPE: ErrorObject = {
  code: INVALID_PARAMS,
  message: 'The keys "__proto__" and "constructor"."prototype" are not accepted',
}

const invalid = (message: string): ErrorObject => ({ code: INVALID_REQUEST, message })

const tooManyValues = (maxValues: number): ErrorObject => invalid(`The message holds more than ${maxValues} values (maxValues)`)

const tooDeep = (maxDepth: number): ErrorObject => invalid(`The message nests deeper than ${maxDepth} levels (maxDepth)`)
