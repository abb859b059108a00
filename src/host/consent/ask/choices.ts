/** The answers that a question offers, each with one key and a few words. */

import type { GrantScope } from '../../model/grant.ts'
import type { AlwaysChoice, Answer, GrantWidth, Question, Subject } from '../../model/question.ts'
import { isModel } from './title.ts'

/** One answer that a question offers: its key, its words and the answer itself. */
export interface AnswerChoice {
  /**
   * `y` yes, `o` yes without opening the page, `a` always, `n` no, `d` details, `e` edit or choose, `w` no, with words for the
   * model.
   */
  key: 'y' | 'o' | 'a' | 'n' | 'd' | 'e' | 'w'
  label: string
  /** Undefined if more input is needed: details, an edit, a form, words for the model. */
  answer?: Answer
}

/**
 * The answers to a question, in the order in which to show them. "No" is the default.
 *
 * @example
 * for (const { key, label } of answerChoices(question)) console.log(`[${key}] ${label}`)
 */
export function answerChoices(question: Question): AnswerChoice[] {
  const { subject, scopes, always, chain } = question
  const scope = scopes[0] ?? 'once'
  const edit = EDIT_WORDS[subject.kind]
  return [
    { key: 'y', label: yesText(subject, scope), ...(!ASKS_MORE.has(subject.kind) && { answer: { kind: 'allow', scope } }) },
    ...(subject.kind === 'url' ? [{ key: 'o' as const, label: 'I open it myself', answer: { kind: 'allow' as const, scope } }] : []),
    ...(always ? [alwaysChoice(subject, always)] : []),
    { key: 'n', label: PLAIN_NO.has(subject.kind) ? 'no' : 'deny', answer: { kind: 'deny' } },
    { key: 'd', label: 'details' },
    ...(edit === undefined ? [] : [{ key: 'e' as const, label: edit }]),
    ...(chain.some(isModel) ? [{ key: 'w' as const, label: 'say what to do instead' }] : []),
  ]
}

/** A yes leads to a form, an editor or a page. */
const ASKS_MORE: ReadonlySet<Subject['kind']> = new Set(['form', 'compose', 'url'])

const PLAIN_NO: ReadonlySet<Subject['kind']> = new Set(['launch', 'connect', 'approve', 'import', 'form', 'compose', 'url'])

const EDIT_WORDS: Readonly<Partial<Record<Subject['kind'], string>>> = {
  call: 'edit',
  sample: 'edit',
  sampled: 'edit',
  approve: 'choose',
}

function yesText(subject: Subject, scope: GrantScope): string {
  switch (subject.kind) {
    case 'form':
      return 'fill in the form'
    case 'compose':
      return 'write the answer'
    case 'url':
      return 'open it in the browser'
    case 'approve':
      return subject.isFirst ? 'enable all' : 'approve all'
    case 'import':
      return 'import all'
    case 'launch':
    case 'connect':
      return `yes, ${scope === 'always' ? `until the ${subject.kind === 'launch' ? 'command' : 'address'} changes` : SERVER_SCOPE_WORDS[scope]}`
    default:
      return `allow ${SCOPE_WORDS[scope]}`
  }
}

/** How long a grant lasts, in words. */
export const SCOPE_WORDS: Readonly<Record<GrantScope, string>> = {
  once: 'once',
  turn: 'for this message',
  session: 'for this conversation',
  project: 'in this project',
  always: 'always',
}

const SERVER_SCOPE_WORDS = { ...SCOPE_WORDS, once: 'this time' }

const alwaysChoice = (subject: Subject, { scope, width, expiresAt }: AlwaysChoice): AnswerChoice => ({
  key: 'a',
  label: [
    SCOPE_WORDS[scope],
    widthText(subject, width),
    ...(expiresAt === undefined ? [] : [`until ${new Date(expiresAt).toISOString().slice(0, 10)}`]),
  ].join(', '),
  answer: { kind: 'allow', scope, width },
})

const ANY_WORDS: Readonly<Partial<Record<Subject['kind'], string>>> = {
  read: 'this resource with any parameters',
  sample: 'any request of this server',
  sampled: 'any answer to this server',
}

/**
 * Whether a question offers this length of time for these arguments. A longer one would be shortened, so do not offer it.
 *
 * @example
 * const scopes = question.scopes.filter((scope) => isOfferedTime(question, scope, 'any'))
 */
export const isOfferedTime = ({ scopes, wideScopes = scopes }: Question, scope: GrantScope, width: GrantWidth | undefined): boolean =>
  (width === undefined || width === 'exact' ? scopes : wideScopes).includes(scope)

/**
 * Which arguments a grant covers, in words.
 *
 * @example
 * widthText(question.subject, 'exact')
 */
export function widthText({ kind }: Subject, width: GrantWidth): string {
  const hasArguments = kind === 'call' || kind === 'prompt' || kind === 'complete'
  if (width === 'exact') return hasArguments ? 'with exactly these arguments' : 'exactly this'
  if (width === 'pattern') return 'with similar arguments'
  return hasArguments ? 'with any arguments' : (ANY_WORDS[kind] ?? 'anything of this kind')
}
