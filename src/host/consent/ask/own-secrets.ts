/**
 * Folds secrets among arguments that the person wrote, so that bystanders cannot read them. A secret is folded as a whole value, with
 * its length. Foreign text is never folded: see `Subject`.
 */

import { isObject } from '../../../base/json.ts'
import { counted } from '../../../base/text/counted.ts'
import { isSecretName, isSecretText } from '../../../base/text/redact.ts'
import type { Subject } from '../../model/question.ts'
import { isCodeName } from '../../server-command/code-arguments.ts'

export interface Folded {
  value: unknown
  /** How many characters are folded. */
  hidden: number
}

/** Nothing below this depth is folded: a secret of the person is unlikely there, and foreign text is likely. */
const MAX_DEPTH = 4

/** A copy with secrets folded: values under secret names, values that are tokens as a whole, and passwords in URLs. */
export function foldSecrets(args: Readonly<Record<string, unknown>>): Folded {
  let hidden = 0
  const hide = (text: string): string => {
    hidden += text.length
    return `[${counted(text.length, 'character')} hidden]`
  }
  const fold = (value: unknown, name: string, depth: number): unknown => {
    if (depth > MAX_DEPTH || isCodeName(name)) return value
    if (Array.isArray(value)) return value.map((each) => fold(each, name, depth + 1))
    if (isObject(value)) return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, fold(each, key, depth + 1)]))
    if (typeof value === 'number') return isSecretName(name) ? hide(String(value)) : value
    // Only single lines: a password has one line, a script has several.
    if (typeof value !== 'string' || value === '' || /[\r\n]/.test(value)) return value
    if (isSecretName(name) || isToken(value)) return hide(value)
    return value.replace(URL_PASSWORD, (_match, before: string, password: string) => `${before}${hide(password)}`)
  }
  const value = fold(args, '', 0)
  return { value, hidden }
}

/** One word, also after the name of an authentication scheme. A command that could be run has more words. */
const isToken = (text: string): boolean => /^(?:(?:Bearer|Basic|DPoP) )?[\w.~+/=-]+$/i.test(text) && isSecretText(text)

const URL_PASSWORD = /^([a-z][a-z0-9+.-]{1,20}:\/\/[^\s/:@]{0,256}:)([^\s/@]{1,256})(?=@\S*$)/i

/** How many characters of the person's own secrets are folded. If there are any, the question can be approved once only. */
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
