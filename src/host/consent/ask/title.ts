/** The title of a question: who wants what. */

import type { ApprovedItem, Question, Subject } from '../../model/question.ts'
import { nameText } from './question-line.ts'

/** One sentence for each subject, and what a yes means. */
export function titleOf(question: Pick<Question, 'server' | 'chain' | 'subject'>): string {
  const { subject, server } = question
  const { id } = server
  switch (subject.kind) {
    case 'launch':
      return `Start ${id}${versionText(subject)}?`
    case 'connect':
      return `Connect to ${id} at ${subject.url.host}?`
    case 'approve':
      return approveTitle(id, subject)
    case 'call':
      return wanted(question, `call ${id}/${nameText(subject.tool.name)}`)
    case 'result':
      return `Use the result of ${nameText(subject.tool)} from ${id} in the conversation?`
    case 'read':
      return wanted(question, `${subject.isSubscription ? 'subscribe to' : 'read'} ${nameText(subject.uri)} from ${id}`)
    case 'prompt':
      return `Use the prompt ${nameText(subject.name)} from ${id}?`
    case 'complete':
      return `Send ${nameText(subject.argument)} of ${nameText(subject.of)} to ${id} for suggestions?`
    case 'sample':
      return `${id} wants to ask your model (${subject.model}). Allow it?`
    case 'sampled':
      return `Send the model's answer to ${id}?`
    case 'compose':
      return `${id} asks a model, but no model is available. Write the answer yourself?`
    case 'form':
      return subject.ours ? `The configuration of ${id} needs values. Enter them?` : `${id} asks you for information. Answer?`
    case 'url':
      return `${id} asks you to open a page on ${subject.url.host}. Open it?`
    case 'app':
      return wanted(question, `show the view of ${id}/${nameText(subject.tool)}`)
    case 'say':
      return `The app of ${id} wants to send a message to the chat in your name. Send it?`
    case 'roots':
      return `Share ${counted(subject.roots.length, 'folder')} with ${id}?`
    case 'import':
      return `Import ${counted(subject.servers.length, 'server')}?`
  }
}

function approveTitle(id: string, { items, isFirst, isNew, revision }: Extract<Subject, { kind: 'approve' }>): string {
  const what = itemCounts(items)
  if (isFirst) return `${id} offers ${what}. Enable ${items.length === 1 ? 'it' : 'them'}?`
  if (revision !== undefined) return `Approve ${what} of ${id} in revision ${revision}?`
  return `Approve what ${isNew ? 'is new' : 'changed'} on ${id} (${what})?`
}

/** `The model wants to call notes/add. Allow it?`, or `Call notes/add?` if the person wants it. */
function wanted({ chain }: Pick<Question, 'chain'>, what: string): string {
  // The last part of the chain is the server that would act.
  const who = chain.at(-2) ?? 'you'
  if (who === 'you') return `${what[0]?.toUpperCase()}${what.slice(1)}?`
  if (isModel(who)) return `The model wants to ${what}. Allow it?`
  if (who.startsWith('app of ')) return `The app of ${nameText(who.slice('app of '.length))} wants to ${what}. Allow it?`
  return `${nameText(who.replace(/^server /, ''))} wants to ${what}. Allow it?`
}

/** Whether a part of a chain is a model: `model`, or with its name `model scripted`. */
export const isModel = (part: string): boolean => /^model(?: |$)/.test(part)

const versionText = ({ version, isLatest = false }: Extract<Subject, { kind: 'launch' }>): string =>
  version === undefined ? (isLatest ? ', latest version (not pinned)' : '') : `, version ${nameText(version)}`

const ITEM_WORDS = [
  ['tool', 'tool'],
  ['prompt', 'prompt'],
  ['resource', 'resource'],
  ['template', 'resource template'],
  ['skill', 'skill'],
] as const

/** `5 tools, 2 prompts and instructions for the model`. */
function itemCounts(items: readonly ApprovedItem[]): string {
  const counts = ITEM_WORDS.flatMap(([kind, word]) => {
    const count = items.filter((item) => item.kind === kind).length
    return count === 0 ? [] : [counted(count, word)]
  })
  const all = [...counts, ...(items.some(({ kind }) => kind === 'instructions') ? ['instructions for the model'] : [])]
  // Capabilities come with every offering, and their name says little.
  return all.length < 2 ? (all[0] ?? 'the capabilities') : `${all.slice(0, -1).join(', ')} and ${all.at(-1)}`
}

/** `1 tool`, `2 tools`. */
export const counted = (count: number, word: string): string => `${count.toLocaleString('en-US')} ${word}${count === 1 ? '' : 's'}`
