/** The fields of a form that a server asks a person to fill in, and which of them nobody should. */

import { isSecretName } from '../../../base/text/redact.ts'
import type { Field, FormSchema } from '../../../protocol/model/elicitation.ts'
import { nameText, type QuestionLine, valueLine } from './question-line.ts'

/**
 * Fields that ask for what a server may not ask for in a form: passwords, keys and the like belong on a page of the server's own.
 * By name and title; a server that wants to can call them something else, so the person is told who asks all the same.
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
    { label: `field ${nameText(name)}`, text: fieldText(field, required.has(name)), tone: 'theirs' },
    ...(Object.hasOwn(defaults, name)
      ? [{ ...valueLine(`field ${nameText(name)} is filled with`, defaults[name]), text: JSON.stringify(defaults[name]) ?? 'nothing' }]
      : []),
  ])
}

export const secretWarnings = (schema: FormSchema): QuestionLine[] =>
  secretFields(schema).map((name) => ({
    label: 'look twice',
    text: `${nameText(name)} looks like a secret. A server may not ask for one in a form: whatever you enter goes to the server as it is`,
    tone: 'warning',
  }))

function fieldText(field: Field, isRequired: boolean): string {
  const { title, description, type, default: _default, ...bounds } = field
  const rules = Object.entries(bounds).map(([name, value]) => `${name} ${JSON.stringify(value)}`)
  const head = [title, `${type}${isRequired ? ', required' : ''}`, ...rules].filter((part) => part !== undefined).join('; ')
  return description === undefined ? head : `${head}\n${description}`
}
