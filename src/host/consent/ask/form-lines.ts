/** Renders the fields of a form, with a warning for each field that asks for a secret. */

import { isSecretName } from '../../../base/text/redact.ts'
import type { Field, FormSchema } from '../../../protocol/model/elicitation.ts'
import { line, nameText, type QuestionLine, valueLine, warning } from './question-line.ts'

/**
 * Fields that ask for a secret. The protocol forbids that: secrets belong on a page of the server. Fields are recognised by their
 * texts only, so a server can avoid detection; the question therefore always names the server.
 *
 * @example
 * if (secretFields(subject.schema).length > 0) console.warn('The form asks for a secret')
 */
export const secretFields = (schema: FormSchema): string[] =>
  Object.entries(schema.properties).flatMap(([name, { title = '', description = '' }]) => {
    const isSecret =
      isSecretName(name) ||
      isSecretName(title) ||
      [name, title, description].some((text) => SECRET_WORDS.test(text) || /\bPIN\b/.test(text))
    return isSecret ? [name] : []
  })

const SECRET_WORDS =
  /pass ?(?:word|code|phrase)|api[ _-]?key|access[ _-]?token|secret key|\botp\b|\bcvv2?\b|\bcvc\b|card[ _-]?number|(?:security|recovery|backup)[ _-]?code|seed[ _-]?phrase|\bssn\b/i

export function formLines(schema: FormSchema, defaults: Readonly<Record<string, unknown>>): QuestionLine[] {
  const required = new Set(schema.required ?? [])
  return Object.entries(schema.properties).flatMap(([name, field]): QuestionLine[] => [
    line(`field ${nameText(name)}`, fieldText(field, required.has(name)), 'theirs'),
    ...(Object.hasOwn(defaults, name)
      ? [{ ...valueLine(`field ${nameText(name)}, value`, defaults[name]), text: JSON.stringify(defaults[name]) ?? 'nothing' }]
      : []),
  ])
}

export const secretWarnings = (schema: FormSchema): QuestionLine[] =>
  secretFields(schema).map((name) =>
    warning(`${nameText(name)} looks like a secret. Servers must not ask for secrets in a form: the server receives what you enter`),
  )

function fieldText(field: Field, isRequired: boolean): string {
  const { title, description, type, default: _default, ...bounds } = field
  const rules = Object.entries(bounds).map(([name, value]) => `${name} ${JSON.stringify(value)}`)
  const head = [title, `${type}${isRequired ? ', required' : ''}`, ...rules].filter((part) => part !== undefined).join('; ')
  return description === undefined ? head : `${head}\n${description}`
}
