/** Multiple choices for older forms, which do not have them: the person types the choices, separated by commas. */

import { asText } from '../base/as-text.ts'
import { isObject } from '../base/json.ts'
import type { Downgrade, Json, Upgrade } from './revision.ts'
import { objectsIn, within } from './shapes.ts'

export const typedField: Downgrade = ({ items, ...field }) => {
  const list = choicesOf(items).map(({ value, title }) => (title === undefined ? value : `${value} (${title})`))
  const hint = `Any of these, separated by commas: ${list.join(', ')}`
  return { ...field, type: 'string', description: field.description === undefined ? hint : `${asText(field.description)} (${hint})` }
}

export const joinTyped: Downgrade = within('content', (content) =>
  Object.fromEntries(Object.entries(content).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : value])),
)

/** Converts the typed text to a list of choices. */
export const splitTyped: Upgrade = (answer, question) => {
  const { content } = answer
  const schema = question.requestedSchema
  if (!isObject(content) || !isObject(schema) || !isObject(schema.properties)) return answer
  const upgraded: Json = { ...content }
  for (const [name, field] of Object.entries(schema.properties)) {
    const text = Object.hasOwn(upgraded, name) ? upgraded[name] : undefined
    if (!isObject(field) || field.type !== 'array' || typeof text !== 'string') continue
    if (text.length <= MAX_TYPED_LENGTH) upgraded[name] = readChoices(text, choicesOf(field.items))
  }
  return { ...answer, content: upgraded }
}

const MAX_TYPED_LENGTH = 10_000

/** Longest first, because a choice may contain a comma. Other text is kept, and the schema rejects it. */
function readChoices(text: string, choices: readonly SelectChoice[]): string[] {
  const labels = choices.flatMap(({ value, title }) =>
    [value, ...(title === undefined ? [] : [title, `${value} (${title})`])].map((label) => ({ label: label.trim(), value })),
  )
  labels.sort((a, b) => b.label.length - a.label.length)
  const chosen: string[] = []
  for (let rest = text.trim(); rest !== ''; ) {
    const known = labels.find(({ label }) => label !== '' && rest.startsWith(label) && /^\s*(?:,|$)/.test(rest.slice(label.length)))
    const taken = known?.label ?? rest.split(',', 1)[0] ?? ''
    if (taken.trim() !== '') chosen.push(known?.value ?? taken.trim())
    rest = rest.slice(taken.length).replace(/^\s*,?\s*/, '')
  }
  return chosen
}

interface SelectChoice {
  value: string
  title: string | undefined
}

function choicesOf(items: unknown): SelectChoice[] {
  if (!isObject(items)) return []
  if (Array.isArray(items.enum)) return items.enum.map((value) => ({ value: asText(value), title: undefined }))
  return objectsIn(items.anyOf).map((choice) => ({
    value: asText(choice.const),
    title: choice.title === undefined ? undefined : asText(choice.title),
  }))
}
