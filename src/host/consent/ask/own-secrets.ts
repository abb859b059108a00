/**
 * Secrets of the person among arguments that they wrote themselves, so that nobody reads them over their shoulder. Each is
 * hidden as a whole value, and it is said how long it is. What others wrote is never hidden: see `Subject`.
 */

import { isObject } from '../../../base/json.ts'
import { isSecretName, redactText } from '../../../base/text/redact.ts'
import { isCodeName } from '../../launch/code-name.ts'
import type { Subject } from '../../model/question.ts'

export interface Folded {
  value: unknown
  /** How many characters are hidden. */
  hidden: number
}

/** Deeper than this nothing is hidden: a person's own secret is seldom there, and somebody else's text may be. */
const MAX_DEPTH = 4

/** A copy with what looks like a secret hidden: a value under the name of a secret, one that is a token as a whole, the password of a URL. */
export function foldSecrets(args: Readonly<Record<string, unknown>>): Folded {
  let hidden = 0
  const hide = (text: string): string => {
    hidden += text.length
    return `[${text.length} characters hidden]`
  }
  const fold = (value: unknown, name: string, depth: number): unknown => {
    if (depth > MAX_DEPTH || isCodeName(name)) return value
    if (Array.isArray(value)) return value.map((each) => fold(each, name, depth + 1))
    if (isObject(value)) return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, fold(each, key, depth + 1)]))
    if (typeof value === 'number') return isSecretName(name) ? hide(String(value)) : value
    // Never past the end of a line: a password has one, and a script has several.
    if (typeof value !== 'string' || value === '' || /[\r\n]/.test(value)) return value
    if (isSecretName(name) || isToken(value)) return hide(value)
    return value.replace(URL_PASSWORD, (_match, before: string, password: string) => `${before}${hide(password)}`)
  }
  const value = fold(args, '', 0)
  return { value, hidden }
}

/** One word, or one after the name of a scheme: nothing that could be run is in it. */
const isToken = (text: string): boolean => /^(?:(?:Bearer|Basic|DPoP) )?[\w.~+/=-]+$/i.test(text) && redactText(text) === '[redacted]'

const URL_PASSWORD = /^([a-z][a-z0-9+.-]{1,20}:\/\/[^\s/:@]{0,256}:)([^\s/@]{1,256})(?=@\S*$)/i

/** How many characters of what a yes would let happen are hidden in the short form. While there are any, a yes holds once. */
export function hiddenIn(subject: Subject): number {
  switch (subject.kind) {
    case 'call':
    case 'prompt':
      return subject.isOwn ? foldSecrets(subject.args).hidden : 0
    case 'complete':
      return subject.isOwn ? foldSecrets({ [subject.argument]: subject.value }).hidden : 0
    default:
      return 0
  }
}
