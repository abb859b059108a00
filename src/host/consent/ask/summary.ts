/**
 * The short form of a question: who wants what, the arguments, and the one reason that matters. It shows foreign text in full or folds
 * it, and says how much it folds. The full text is in `describeQuestion`.
 */

import { commandText } from '../../../base/text/command-text.ts'
import type { Question, Subject } from '../../model/question.ts'
import { approveSummary } from './approve-summary.ts'
import { contentLines, contentsOf } from './content-lines.ts'
import { visibleLine } from './describe.ts'
import { argumentsLine, foldedText, shortLines, shortText } from './fold.ts'
import { secretWarnings } from './form-lines.ts'
import { foldSecrets } from './own-secrets.ts'
import { line, nameText, type QuestionLine, reasonLine, warning } from './question-line.ts'
import { appLines, callWarnings, originWarnings, resultLines, urlLines } from './subject-lines.ts'
import { counted, titleOf } from './title.ts'

/** A question in a few lines. */
export interface QuestionSummary {
  /** The title is the first line. */
  lines: readonly QuestionLine[]
  /** How many characters of foreign text are folded. If there are any, show the details before you accept "allow". */
  folded: number
}

/**
 * Puts a question into a few lines. Show `describeQuestion(question)` on request, and always before an approval if `folded` is not 0.
 *
 * @example
 * const { lines, folded } = summaryOf(question)
 * console.log(questionText(lines))
 * if (folded > 0) console.log(questionText(describeQuestion(question)))
 */
export function summaryOf(question: Question): QuestionSummary {
  const { reasons, subject } = question
  const body = subjectSummary(subject)
  const folded = body.reduce((sum, { folded: each = 0 }) => sum + each, 0)
  const [reason] = reasons
  const lines = [
    line('', titleOf(question), 'title', 'title'),
    ...body,
    ...(reason === undefined ? [] : [reasonLine('why', reason)]),
    ...(folded === 0 ? [] : [line('folded', `${counted(folded, 'character')}; open the details before you allow it`, 'muted', 'hidden')]),
  ]
  return { lines: lines.map(visibleLine), folded }
}

/** Parts of a message or result that are shown before the others are folded. */
const MAX_PARTS = 3

function subjectSummary(subject: Subject): QuestionLine[] {
  switch (subject.kind) {
    case 'launch':
      return launchSummary(subject)
    case 'connect':
      return [
        ...addressLines(subject),
        ...joinedNames('sends headers', subject.headerNames),
        ...shortText('receives', joined(subject.fills)),
        ...warnings(subject.changes),
      ]
    case 'approve':
      return approveSummary(subject)
    case 'call':
      return [...givenArguments(subject), ...callWarnings(subject)]
    case 'result':
      return shortResult(subject)
    case 'read':
      // The title has the address.
      return originWarnings(subject)
    case 'prompt':
      return [...givenArguments(subject), ...originWarnings(subject)]
    case 'complete':
      return [
        ...givenArguments({ args: { [subject.argument]: subject.value }, ...(subject.isOwn && { isOwn: true }) }),
        ...originWarnings(subject),
      ]
    case 'sample':
      return [...samplingSummary(subject.params), budgetLine(subject)]
    case 'sampled':
      return sampledSummary(subject)
    case 'compose':
      return samplingSummary(subject.params)
    case 'form':
      return formSummary(subject)
    case 'url':
      return [...shortText('message', subject.message, 'message'), ...addressLines(subject)]
    case 'app':
      return appLines(subject)
    case 'say':
      return subject.content.flatMap((each) => contentLines('message', each, false))
    case 'roots':
      return subject.roots.map(({ uri, name }) => line('folder', name === undefined ? uri : `${uri} (${name})`, 'theirs'))
    case 'import':
      return subject.servers.flatMap(({ id, where, warnings: texts }) => [
        line(nameText(id), where, 'theirs', 'command'),
        ...warnings(texts),
      ])
  }
}

/** The command is never folded. Variables are folded like arguments. */
function launchSummary(subject: Extract<Subject, { kind: 'launch' }>): QuestionLine[] {
  const { command, args, cwd, env, envNames, fills, changes } = subject
  return [
    line('it runs', commandText(command, args), 'theirs', 'command'),
    line('in', cwd, 'theirs'),
    ...(env ? argumentsLine(env, 'variables') : joinedNames('variables', envNames)),
    ...shortText('receives', joined(fills)),
    ...warnings(changes),
  ]
}

const warnings = (texts: readonly string[]): QuestionLine[] => texts.map((text) => warning(text))

const joined = (texts: readonly string[]): string | undefined => (texts.length === 0 ? undefined : texts.join('; '))

const joinedNames = (label: string, names: readonly string[]): QuestionLine[] => shortText(label, joined(names.map(nameText)))

const addressLines = ({ url }: Extract<Subject, { kind: 'connect' | 'url' }>): QuestionLine[] =>
  urlLines(url).filter(({ kind }) => kind === 'address' || kind === 'warning')

/** Secrets that the person wrote stay hidden: the person knows them, and bystanders should not. */
function givenArguments({ args, isOwn }: { args: Readonly<Record<string, unknown>>; isOwn?: boolean }): QuestionLine[] {
  const { value, hidden } = isOwn ? foldSecrets(args) : { value: args, hidden: 0 }
  const lines = argumentsLine(value as Readonly<Record<string, unknown>>)
  if (lines.length === 0) return [line('arguments', 'none', 'plain', 'argument')]
  return [...lines, ...(hidden === 0 ? [] : [line('hidden', `your own secrets (${foldedText(hidden)})`, 'muted', 'hidden')])]
}

function shortResult(subject: Extract<Subject, { kind: 'result' }>): QuestionLine[] {
  const lines = resultLines(subject, false)
  const isWarning = ({ tone }: QuestionLine): boolean => tone === 'warning'
  return [
    ...lines.filter(isWarning),
    ...shortLines(
      lines.filter((each) => !isWarning(each)),
      MAX_PARTS,
    ),
  ]
}

function samplingSummary({ messages, systemPrompt, maxTokens: _bound, ...settings }: Sampling): QuestionLine[] {
  const given = Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined))
  const parts = messages.flatMap(({ role, content, ...rest }) => [
    ...contentsOf(content).flatMap((each) => contentLines(nameText(role), each, false)),
    ...argumentsLine(rest, `${nameText(role)}, other members`),
  ])
  return [...shortText('system prompt', systemPrompt), ...shortLines(parts, MAX_PARTS), ...argumentsLine(given, 'settings')]
}

function sampledSummary({ result }: Extract<Subject, { kind: 'sampled' }>): QuestionLine[] {
  const { content, role: _role, ...rest } = result
  const given = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined))
  const parts = contentsOf(content).flatMap((each) => contentLines('answer', each, false))
  return [...shortLines(parts, MAX_PARTS), ...argumentsLine(given, 'with')]
}

type Sampling = Extract<Subject, { kind: 'sample' }>['params']

const budgetLine = ({ params, budget }: Extract<Subject, { kind: 'sample' }>): QuestionLine =>
  line(
    'uses',
    `up to ${counted(params.maxTokens, 'token')}; left: ${counted(budget.requestsLeft, 'request')}, ${counted(budget.tokensLeft, 'token')}`,
    'plain',
    'budget',
  )

function formSummary({ message, schema, ours, warnings: texts }: Extract<Subject, { kind: 'form' }>): QuestionLine[] {
  const names = Object.entries(schema.properties).map(([name, { title }]) => nameText(title ?? name))
  return [
    ...(ours ? [line('message', message, 'plain', 'message')] : shortText('message', message, 'message')),
    ...shortText('asks for', joined(names)),
    ...(ours ? [] : secretWarnings(schema)),
    ...warnings(texts),
  ]
}
