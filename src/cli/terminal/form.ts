/** Fills in a form of a server, field by field, with a review before it is sent. */

import { asText } from '../../base/as-text.ts'
import { Cancelled, type FormSchema } from '../../client/index.ts'
import { checkForm, nameText } from '../../host/index.ts'
import { jsonText } from '../output/json.ts'
import { safe } from '../output/safe-text.ts'
import type { Desk } from './answer-question.ts'
import { chooseByKey, type KeyChoice } from './choice-line.ts'
import { type Choice, ClosedByInterrupt, canEditOnLine, type Prompts } from './prompts.ts'
import { showLine } from './show-question.ts'

type Field = FormSchema['properties'][string]

export type Filled = { kind: 'send'; content: Record<string, unknown> } | { kind: 'decline' }

/** How often a field with a wrong value is asked for again before the review. A server can ask for a value that does not exist. */
const MAX_TRIES = 3

export interface FillOptions {
  /** A form of the host itself: it goes to no server, so it needs no review. Default: a form of a server. */
  ours?: { hidden: readonly string[] } | undefined
  /** The person pressed Esc in a field. Rejects with `Cancelled` to close the form. */
  onEscape(): Promise<'decline' | 'go-on'>
}

/** Throws `Cancelled` when the person closes it. Nothing is sent before the review at the end. */
export async function fillForm(
  { io, screen, ends }: Desk,
  prompts: Prompts,
  schema: FormSchema,
  defaults: Readonly<Record<string, unknown>>,
  { ours, onEscape }: FillOptions,
): Promise<Filled> {
  const { hidden } = ours ?? { hidden: [] }
  const required = new Set(schema.required ?? [])
  // In the order of the form, not in the order of filling in.
  const content: Record<string, unknown> = Object.fromEntries(
    Object.keys(schema.properties).map((name) => [name, Object.hasOwn(defaults, name) ? defaults[name] : undefined]),
  )
  /** False: the person declines. */
  const fill = async (name: string, field: Field): Promise<boolean> => {
    for (;;) {
      try {
        await fillOnce(name, field)
        return true
      } catch (error) {
        if (!isEscape(error, ends)) throw error
        if ((await onEscape()) === 'decline') return false
      }
    }
  }
  const fillOnce = async (name: string, field: Field): Promise<void> => {
    const isHidden = hidden.includes(name) && field.type === 'string' && choicesOf(field).length === 0
    const before = content[name]
    // The prompt starts empty for such a value, so the person must see it elsewhere.
    if (!isHidden && typeof before === 'string' && !canEditOnLine(before))
      showLine(screen, { kind: 'detail', label: `suggested for ${nameText(name)}`, text: jsonText(before), tone: 'theirs' })
    content[name] = isHidden
      ? await prompts.hidden(safe`${field.title ?? name}`)
      : await ask(prompts, name, field, required.has(name), before)
  }
  const faultOf = (name: string, field: Field): Promise<string | undefined> =>
    checkForm(
      { type: 'object', properties: { [name]: field }, ...(required.has(name) && { required: [name] }) },
      given({ [name]: content[name] }),
    )
  for (const [name, field] of Object.entries(schema.properties))
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      if (!(await fill(name, field))) return { kind: 'decline' }
      const fault = await faultOf(name, field)
      if (fault === undefined) break
      showLine(screen, { kind: 'warning', label: 'Not a valid value', text: fault, tone: 'warning' })
    }
  for (;;) {
    if (ours && (await checkForm(schema, given(content))) === undefined) return { kind: 'send', content: given(content) }
    screen.note(safe`${screen.noteStyle.bold('To be sent:')}`)
    for (const [name, value] of Object.entries(given(content)))
      showLine(screen, {
        kind: 'detail',
        label: nameText(name),
        text: hidden.includes(name) ? '(hidden)' : jsonText(value),
        tone: 'theirs',
      })
    const fault = await checkForm(schema, given(content))
    if (fault !== undefined) showLine(screen, { kind: 'warning', label: 'The form is not complete yet', text: fault, tone: 'warning' })
    screen.note(safe`${screen.noteStyle.bold('Send it?')}`)
    // One key that counts only after a moment: the Enter of the last field must not send the form.
    const choices: KeyChoice<'y' | 'e' | 'n'>[] = [
      ...(fault === undefined ? [{ key: 'y' as const, label: 'send' }] : []),
      { key: 'e', label: 'change a field' },
      { key: 'n', label: ours ? 'stop' : 'decline, and send nothing' },
    ]
    const key = await chooseByKey(io, choices, 'e', ends)
    if (key === 'y') return { kind: 'send', content: given(content) }
    if (key === 'n') return { kind: 'decline' }
    const names = Object.keys(schema.properties)
    const faults = await Promise.all(names.map((each) => faultOf(each, schema.properties[each] as Field)))
    const wrong = Math.max(
      0,
      faults.findIndex((each) => each !== undefined),
    )
    const choice = prompts.choose(
      'Which field?',
      names.map((each) => ({ value: each, label: schema.properties[each]?.title ?? each })),
      // The cursor starts at the field that is wrong.
      names[wrong],
    )
    // Esc goes back to the review.
    const name = await choice.catch((error: unknown) => (isEscape(error, ends) ? undefined : Promise.reject(error)))
    if (name !== undefined && !(await fill(name, schema.properties[name] as Field))) return { kind: 'decline' }
  }
}

/** The person pressed Esc. Ctrl-C closes the form, and so does the end of its question. */
const isEscape = (error: unknown, ends: AbortSignal): boolean =>
  error instanceof Cancelled && !(error instanceof ClosedByInterrupt) && !ends.aborted

const given = (content: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(content).filter(([, value]) => value !== undefined))

async function ask(prompts: Prompts, name: string, field: Field, isRequired: boolean, before: unknown): Promise<unknown> {
  const title = safe`${field.title ?? name}${field.description === undefined ? '' : ` (${field.description})`}${isRequired ? '' : ' (optional)'}`
  if (field.type === 'boolean') {
    const skip = isRequired ? [] : [{ value: 'skip', label: 'Leave empty' }]
    const chosen = await prompts.choose(
      title,
      [{ value: 'yes', label: 'Yes' }, { value: 'no', label: 'No' }, ...skip],
      before === true ? 'yes' : 'no',
    )
    return chosen === 'skip' ? undefined : chosen === 'yes'
  }
  if (field.type === 'array') {
    const chosen = await prompts.chooseSeveral(title, choicesOf(field.items), Array.isArray(before) ? before.map(asText) : [])
    return chosen.length === 0 && !isRequired ? undefined : chosen
  }
  const choices = field.type === 'string' ? choicesOf(field) : []
  if (choices.length > 0) return chooseOne(prompts, title, choices, isRequired, before)
  const typed = await prompts.line(title, {
    initial: before === undefined ? '' : asText(before),
    validate: (text) => {
      if (text === '') return isRequired && field.type !== 'string' ? 'A value is required' : undefined
      return field.type === 'string' ? undefined : numberFault(text, field.type)
    },
  })
  if (typed === '' && !(isRequired && field.type === 'string')) return undefined
  return field.type === 'string' ? typed : Number(typed)
}

/** Cannot be mistaken for a choice of the server: those are indexes. */
const SKIP = 'skip'

/** By index: a value may be any text. */
async function chooseOne(
  prompts: Prompts,
  title: Parameters<Prompts['choose']>[0],
  choices: readonly Choice<string>[],
  isRequired: boolean,
  before: unknown,
): Promise<unknown> {
  const options: Choice<string>[] = choices.map(({ label }, i) => ({ value: String(i), label }))
  if (!isRequired) options.push({ value: SKIP, label: 'Leave empty' })
  const at = choices.findIndex(({ value }) => value === before)
  const chosen = await prompts.choose(title, options, at < 0 ? undefined : String(at))
  return chosen === SKIP ? undefined : choices[Number(chosen)]?.value
}

interface Listed {
  enum?: readonly string[]
  enumNames?: readonly string[]
  oneOf?: readonly { const: string; title: string }[]
  anyOf?: readonly { const: string; title: string }[]
}

function choicesOf(field: object): Choice<string>[] {
  const { enum: values, enumNames, oneOf, anyOf } = field as Listed
  if (values) return values.map((value, i) => ({ value, label: enumNames?.[i] ?? value }))
  return (oneOf ?? anyOf ?? []).map(({ const: value, title }) => ({ value, label: title ?? value }))
}

function numberFault(text: string, type: 'number' | 'integer'): string | undefined {
  const number = Number(text)
  if (!Number.isFinite(number) || text.trim() === '') return `Expected a number, got ${JSON.stringify(text)}`
  return type === 'integer' && !Number.isInteger(number) ? `Expected a whole number, got ${text}` : undefined
}
