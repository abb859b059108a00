/** The kinds of values that settings have: as JSON in a file, as text in a flag or a variable. */

import { isIP } from 'node:net'
import { isEndpointPath, PATH_RULES } from '../../base/address/endpoint-path.ts'
import { API_KEY_RULES, faultInApiKey } from '../../base/api-key.ts'
import { isMetricsToken, METRICS_TOKEN_RULES } from '../../base/metrics-token.ts'
import { isRate } from '../../base/rate.ts'

/** How a value is read and checked. */
export interface SettingKind {
  /** Completes "expected ...". */
  readonly expects: string
  /** What the help shows for the value. */
  readonly placeholder: string
  /** The value that a text stands for. Text that makes no sense is returned as it is, and `isValid` refuses it. */
  fromText(text: string): unknown
  isValid(value: unknown): boolean
  /** Where a secret is wrong and why, in a text or a list that is not valid. It never contains a part of the secret. */
  faultIn?(given: unknown): string | undefined
}

const isText = (value: unknown): value is string => typeof value === 'string' && value.trim() !== ''

export const TEXT: SettingKind = {
  expects: 'a text',
  placeholder: 'text',
  fromText: (text) => text,
  isValid: isText,
}

export const PATH: SettingKind = {
  ...TEXT,
  expects: `the path of an endpoint such as /mcp: it must ${PATH_RULES}`,
  isValid: (value) => isText(value) && isEndpointPath(value as string),
}

const HOST_NAME = /^(?=.{1,253}$)(?:[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?\.)*[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?$/i

/** Digits and dots that form no IP address are not a name either. */
const isListenAddress = (text: string): boolean => isIP(text) !== 0 || (HOST_NAME.test(text) && !/^[\d.]+$/.test(text))

export const ADDRESS: SettingKind = {
  ...TEXT,
  expects: 'an IP address or the name of a machine, such as 127.0.0.1',
  isValid: (value) => isText(value) && isListenAddress(value as string),
}

export const METRICS_TOKEN: SettingKind = {
  ...TEXT,
  expects: `a text of ${METRICS_TOKEN_RULES}`,
  isValid: isMetricsToken,
}

/** Redis reads braces in the name of a key. */
export const KEY_PREFIX: SettingKind = {
  ...TEXT,
  expects: 'a text without braces',
  isValid: (value) => isText(value) && !/[{}]/.test(value),
}

/** @param placeholder what the text is: `url`, `file` */
export const textOf = (placeholder: string): SettingKind => ({ ...TEXT, placeholder })

/** Texts for true and false. */
const WORDS: Readonly<Record<string, boolean>> = { true: true, yes: true, on: true, 1: true, false: false, no: false, off: false, 0: false }

export const YES_NO: SettingKind = {
  expects: 'true or false',
  placeholder: 'true|false',
  fromText: (text) => WORDS[text.trim().toLowerCase()] ?? text,
  isValid: (value) => typeof value === 'boolean',
}

export const numberFrom = (min: number, max = Number.MAX_SAFE_INTEGER, name = 'a whole number'): SettingKind => ({
  expects: max === Number.MAX_SAFE_INTEGER ? `${name}, at least ${min}` : `${name} from ${min} to ${max}`,
  placeholder: 'number',
  fromText: (text) => (/^\d+$/.test(text.trim()) ? Number(text) : text),
  isValid: (value) => Number.isInteger(value) && (value as number) >= min && (value as number) <= max,
})

export const LIST: SettingKind = {
  expects: 'a list of texts (in a flag or a variable: with commas between them)',
  placeholder: 'list',
  fromText: (text) =>
    text
      .split(/[,\n]/)
      .map((each) => each.trim())
      .filter((each) => each !== ''),
  isValid: (value) => Array.isArray(value) && value.length > 0 && value.every(isText),
}

/** @param what each text is, with an example */
export const listOfTexts = (what: string, isRight: (text: string) => boolean): SettingKind => ({
  ...LIST,
  expects: `a list of ${what} (in a flag or a variable: with commas between them)`,
  isValid: (value) => LIST.isValid(value) && (value as string[]).every(isRight),
})

/** The length that `keyRing` requires. */
const MIN_KEY_LENGTH = 32

export const KEYS: SettingKind = {
  ...LIST,
  expects: `a list of secrets of at least ${MIN_KEY_LENGTH} characters (openssl rand -base64 32)`,
  isValid: (value) => LIST.isValid(value) && (value as string[]).every((each) => each.length >= MIN_KEY_LENGTH),
}

/** What is wrong with one `name=key`. The name is not shown: without a name, the text before a final `=` is the key. */
function apiKeyFault(entry: unknown): string | undefined {
  const [, name = '', key] = (typeof entry === 'string' && /^([^=]*)=(.*)$/s.exec(entry)) || []
  if (key === undefined) return 'not name=key'
  if (name.trim() === '') return 'no name before the "="'
  const fault = faultInApiKey(key.trim())
  return fault === undefined ? undefined : `the key ${fault}`
}

const isComment = (line: string): boolean => line.trim().startsWith('#')

/** One caller on each line. */
export const API_KEYS: SettingKind = {
  ...KEYS,
  expects: `a list of name=key, ${API_KEY_RULES}`,
  fromText: (text) =>
    LIST.fromText(
      text
        .split('\n')
        .filter((line) => !isComment(line))
        .join('\n'),
    ),
  isValid: (value) => Array.isArray(value) && value.length > 0 && value.every((each) => apiKeyFault(each) === undefined),
  faultIn: (given) => {
    const hasLines = typeof given === 'string' && given.includes('\n')
    const parts: readonly unknown[] = Array.isArray(given) ? given : String(given).split(hasLines ? '\n' : ',')
    for (const [index, part] of parts.entries()) {
      const entries = typeof part === 'string' && !Array.isArray(given) ? (API_KEYS.fromText(part) as string[]) : [part]
      const fault = entries.map(apiKeyFault).find((each) => each !== undefined)
      if (fault !== undefined) return `${hasLines ? 'line' : 'entry'} ${index + 1}: ${fault}`
    }
    return undefined
  },
}

export const oneOf = (...words: readonly string[]): SettingKind => ({
  expects: words.join(' or '),
  placeholder: words.join('|'),
  fromText: (text) => text.trim(),
  isValid: (value) => words.includes(value as string),
})

/** A value of one of two kinds. */
export const either = (first: SettingKind, second: SettingKind): SettingKind => ({
  expects: `${first.expects}, or ${second.expects}`,
  placeholder: `${first.placeholder}|${second.placeholder}`,
  fromText: (text) => {
    const value = first.fromText(text)
    return first.isValid(value) ? value : second.fromText(text)
  },
  isValid: (value) => first.isValid(value) || second.isValid(value),
})

/** `0.2/10` is ten at once, and then one each five seconds. */
export const RATE: SettingKind = {
  expects: 'perSecond and burst (in a flag or a variable: perSecond/burst, such as 0.2/10)',
  placeholder: 'rate',
  fromText: (text) => {
    const [, perSecond, burst] = /^\s*([\d.]+)\/(\d+)\s*$/.exec(text) ?? []
    return burst === undefined ? text : { perSecond: Number(perSecond), burst: Number(burst) }
  },
  isValid: isRate,
}

/** Switches a limit off. `0` and `no` do not: who writes them may want to allow nothing. */
export const OFF: SettingKind = {
  expects: 'false',
  placeholder: 'false',
  fromText: (text) => (/^\s*(?:false|off)\s*$/i.test(text) ? false : text),
  isValid: (value) => value === false,
}
