/** Answers that need more than a key: edited arguments, a form, a text, a choice of items. */

import { isObject } from '../../base/json.ts'
import type { CreateMessageResult } from '../../client/index.ts'
import { type Answer, argumentChecker, type Grant, type Subject } from '../../host/index.ts'
import { jsonText } from '../output/json.ts'
import { safe } from '../output/safe-text.ts'
import type { Desk } from './answer-question.ts'
import { chooseByKey } from './choice-line.ts'
import { editObject } from './edit-json.ts'
import { type FillOptions, fillForm } from './form.ts'
import { watchEnter } from './own-enter.ts'
import { Prompts } from './prompts.ts'
import { showLine } from './show-question.ts'

/**
 * Undefined: the person went back, and the question is still open. @throws Cancelled when the person closes it
 * @param onEscape the person pressed Esc in a field of a form
 */
export async function editedAnswer(
  desk: Desk,
  subject: Subject,
  scope: Grant['scope'],
  onEscape: FillOptions['onEscape'],
): Promise<Answer | undefined> {
  const { io, screen, ends } = desk
  const prompts = new Prompts(io, ends)
  const allow = (value: unknown): Answer | undefined => (value === undefined ? undefined : { kind: 'allow', scope, edited: value })
  switch (subject.kind) {
    case 'call': {
      const check = await argumentChecker(subject.tool)
      const { value: edited, isOwnEnter } = await watchEnter(io, () =>
        editObject({ io, prompts }, 'The arguments (Enter calls the tool with them)', subject.args, check),
      )
      // The person wrote these arguments and pressed Enter. Pasted text and the text of an editor are shown once more.
      return isOwnEnter ? allow(edited) : allow(await confirmed(desk, 'new arguments', edited, 'Call it with these arguments?'))
    }
    case 'sample': {
      const edited = await editObject({ io, prompts }, 'The request', subject.params, ({ messages }) =>
        Array.isArray(messages) ? undefined : 'Expected messages',
      )
      return allow(await confirmed(desk, 'new request', edited, 'Send this request to the model?'))
    }
    case 'sampled': {
      const before = textOf(subject.result)
      const text = await prompts.lines('The answer', { initial: before })
      if (text !== before) {
        const edited = withText(subject.result, text)
        return allow(await confirmed(desk, 'new answer', edited, 'Send this answer to the server?', { shown: text }))
      }
      screen.note(safe`Nothing was changed.`)
      return undefined
    }
    case 'compose':
      return allow(
        await prompts.lines('The answer', { validate: (text) => (text.trim() === '' ? 'Write something, or press Esc' : undefined) }),
      )
    case 'approve':
      return allow(await chooseItems(prompts, subject.items))
    case 'form': {
      const filled = await fillForm(desk, prompts, subject.schema, subject.defaults, { ours: subject.ours, onEscape })
      return filled.kind === 'send' ? allow(filled.content) : { kind: 'deny' }
    }
    default:
      return undefined
  }
}

/**
 * Shows the edited value and asks about it. Returns undefined if the value is unchanged or the person said no.
 * @param options.shown the text to show. Default: the value as JSON
 */
async function confirmed<Value>(
  { io, screen, ends }: Desk,
  label: string,
  edited: Value,
  question: string,
  { shown }: { shown?: string } = {},
): Promise<Value | undefined> {
  if (edited === undefined) return undefined
  screen.note(safe``)
  const json = shown === undefined ? { isJson: true as const } : {}
  showLine(screen, { kind: 'detail', label, text: shown ?? jsonText(edited, 2), tone: 'theirs', ...json })
  screen.note(safe`${screen.noteStyle.bold(question)}`)
  const key = await chooseByKey(
    io,
    [
      { key: 'y', label: 'yes' },
      { key: 'n', label: 'no, go back' },
    ],
    'n',
    ends,
  )
  return key === 'y' ? edited : undefined
}

type Item = Extract<Subject, { kind: 'approve' }>['items'][number]

/** First what to enable, then which of these to call without a question. Only tools that claim to be read-only are offered. */
async function chooseItems(prompts: Prompts, items: readonly Item[]): Promise<{ approved: string[]; readOnly?: string[] }> {
  const approved = await prompts.chooseSeveral(
    'Enable which? Space selects, Enter confirms.',
    items.map((item) => ({ value: keyOf(item), label: keyOf(item) })),
    [],
  )
  const reading = items.filter((item) => approved.includes(keyOf(item)) && claimsToRead(item))
  if (reading.length === 0) return { approved }
  const readOnly = await prompts.chooseSeveral(
    'These say that they only read. Call which without asking?',
    reading.map((item) => ({ value: keyOf(item), label: item.name })),
    [],
  )
  return { approved, ...(readOnly.length > 0 && { readOnly }) }
}

const keyOf = ({ kind, name }: Item): string => `${kind} ${name}`

function claimsToRead({ kind, definition }: Item): boolean {
  const annotations = isObject(definition) ? definition.annotations : undefined
  return kind === 'tool' && isObject(annotations) && annotations.readOnlyHint === true && annotations.destructiveHint !== true
}

const textOf = ({ content }: CreateMessageResult): string =>
  (Array.isArray(content) ? content : [content]).map((block) => (block.type === 'text' ? block.text : '')).join('\n')

const withText = (result: CreateMessageResult, text: string): CreateMessageResult => ({ ...result, content: { type: 'text', text } })
