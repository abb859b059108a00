/**
 * One linear pass over the text of a message, before it is parsed: what JSON.parse would accept silently
 * and a reader must not (nesting that overflows a stack, a key given twice so that two readers disagree,
 * a key that reaches a prototype).
 */

import { type Id, INVALID_PARAMS, INVALID_REQUEST, isId } from './message.ts'

export interface ScanBounds {
  /** How deep arrays and objects may nest. */
  maxDepth: number
  /** How many keys one object may have. */
  maxKeys: number
}

export interface Flaw {
  code: number
  message: string
  /** The id of the message, when it stands before the flaw and is readable. */
  id: Id | undefined
}

/** Returns the first flaw, or undefined. Text that is not JSON passes: the parser says what is wrong with it. */
export function scan(text: string, bounds: ScanBounds): Flaw | undefined {
  const { maxDepth, maxKeys } = bounds
  // Keys seen so far in each open object; -1 marks an array.
  const keys: number[] = [0]
  // Which open objects are the value of a key "constructor".
  const isConstructor: boolean[] = [false]
  const end = text.length
  let depth = 0
  let awaitsKey = false
  let followsConstructor = false
  let envelope = 0
  let target = 0
  let isInParams = false
  let idAt = -1

  for (let at = 0; at < end; at++) {
    switch (text.charCodeAt(at)) {
      case QUOTE: {
        const close = closingQuote(text, at + 1)
        if (close < 0) return undefined
        if (awaitsKey) {
          awaitsKey = false
          const count = (keys[depth] as number) + 1
          if (count > maxKeys) return flaw(text, idAt, INVALID_REQUEST, `An object has more than ${maxKeys} keys (maxKeys)`)
          keys[depth] = count
          const reach = bitOf(PROTOTYPE_KEYS, text, at + 1, close)
          if (reach === PROTO_BIT || (reach === PROTOTYPE_BIT && isConstructor[depth])) {
            return flaw(text, idAt, INVALID_PARAMS, 'The keys "__proto__" and "constructor"."prototype" are not accepted')
          }
          followsConstructor = reach === CONSTRUCTOR_BIT
          if (depth === 1) {
            const bit = bitOf(ENVELOPE_KEYS, text, at + 1, close)
            if (envelope & bit) return flaw(text, -1, INVALID_REQUEST, `The key ${text.slice(at, close + 1)} occurs twice`)
            envelope |= bit
            isInParams = bit === PARAMS_BIT
            if (bit === ID_BIT) idAt = close + 1
          } else if (depth === 2 && isInParams) {
            const bit = bitOf(TARGET_KEYS, text, at + 1, close)
            if (target & bit) return flaw(text, idAt, INVALID_REQUEST, `The key ${text.slice(at, close + 1)} occurs twice in params`)
            target |= bit
          }
        } else {
          followsConstructor = false
        }
        at = close
        break
      }
      case OPEN_BRACE:
        if (++depth > maxDepth) return tooDeep(text, idAt, maxDepth)
        keys[depth] = 0
        isConstructor[depth] = followsConstructor
        followsConstructor = false
        awaitsKey = true
        break
      case OPEN_BRACKET:
        if (++depth > maxDepth) return tooDeep(text, idAt, maxDepth)
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
        followsConstructor = false
        awaitsKey = (keys[depth] as number) >= 0 && depth > 0
        break
    }
  }
  return undefined
}

const QUOTE = 0x22
const COMMA = 0x2c
const BACKSLASH = 0x5c
const OPEN_BRACKET = 0x5b
const CLOSE_BRACKET = 0x5d
const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d

const PROTOTYPE_KEYS = ['__proto__', 'constructor', 'prototype']
const PROTO_BIT = 1
const CONSTRUCTOR_BIT = 2
const PROTOTYPE_BIT = 4
const ENVELOPE_KEYS = ['id', 'params', 'method', 'jsonrpc', 'result', 'error']
const ID_BIT = 1
const PARAMS_BIT = 2
/** What a policy or a proxy decides on: a second value must not reach the handler behind its back. */
const TARGET_KEYS = ['name', 'uri', 'arguments', '_meta', 'requestState', 'inputResponses', 'taskId']

function closingQuote(text: string, from: number): number {
  let at = text.indexOf('"', from)
  while (at > 0 && isEscaped(text, at, from)) at = text.indexOf('"', at + 1)
  return at
}

function isEscaped(text: string, at: number, from: number): boolean {
  let backslashes = 0
  for (let i = at - 1; i >= from && text.charCodeAt(i) === BACKSLASH; i--) backslashes++
  return backslashes % 2 === 1
}

const hasEscape = (text: string, from: number, to: number): boolean => {
  const at = text.indexOf('\\', from)
  return at >= 0 && at < to
}

function bitOf(names: readonly string[], text: string, from: number, to: number): number {
  const length = to - from
  for (let i = 0; i < names.length; i++) {
    const name = names[i] as string
    if (name.length === length && text.startsWith(name, from)) return 1 << i
  }
  if (!hasEscape(text, from, to)) return 0
  const index = names.indexOf(decodeKey(text, from - 1, to))
  return index < 0 ? 0 : 1 << index
}

function decodeKey(text: string, open: number, close: number): string {
  try {
    return JSON.parse(text.slice(open, close + 1)) as string
  } catch {
    return ''
  }
}

const tooDeep = (text: string, idAt: number, maxDepth: number): Flaw =>
  flaw(text, idAt, INVALID_REQUEST, `The message nests deeper than ${maxDepth} levels (maxDepth)`)

const flaw = (text: string, idAt: number, code: number, message: string): Flaw => ({ code, message, id: idAfter(text, idAt) })

/** Reads a string or an integer that follows the colon after `at`. */
function idAfter(text: string, at: number): Id | undefined {
  if (at < 0) return undefined
  const match = /^\s*:\s*("(?:[^"\\]|\\.)*"|-?\d+)\s*[,}]/.exec(text.slice(at, at + 1024))
  if (!match) return undefined
  const value = JSON.parse(match[1] as string) as unknown
  return isId(value) ? value : undefined
}
