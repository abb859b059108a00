/** Shows one question and turns the keys that the person presses into an answer. */

import { Cancelled } from '../../client/index.ts'
import {
  type Answer,
  type AnswerChoice,
  answerChoices,
  foldedOf,
  type Grant,
  isOfferedTime,
  patternText,
  type Question,
  SCOPE_WORDS,
  type Subject,
  summaryOf,
  widthText,
} from '../../host/index.ts'
import type { ArgumentRules } from '../../host/policy-tools/index.ts'
import type { Io } from '../io.ts'
import { safe } from '../output/safe-text.ts'
import type { Screen } from '../output/screen.ts'
import { chooseByKey, type KeyChoice } from './choice-line.ts'
import { editedAnswer } from './edit-answer.ts'
import { editObject } from './edit-json.ts'
import { Prompts } from './prompts.ts'
import { detailPages, showLine, showQuestion, showSummary, showTitle } from './show-question.ts'
import { skillHint } from './skill-hint.ts'
import { untilQuiet } from './until-quiet.ts'

export interface AnswerOptions {
  /** Opens a page after the person agreed. Default: the caller opens it. */
  openPage?(href: string): Promise<void>
}

/** Where a question is put. */
export interface Desk {
  io: Io
  screen: Screen
  /** Aborts when the question is withdrawn or expires. */
  ends: AbortSignal
}

interface AnswerToOptions extends AnswerOptions {
  /** `1 of 3`. */
  position: string | undefined
  leftMs: number
}

/** Rows for the choices, at most. */
const CHOICE_ROWS = 4
/** The empty row above a page, the rest of the time and the title below the last one. */
const PAGE_FRAME = 3

const THEIR_FORM = 'Nothing is sent before your last y. Esc: decline, or see details.'
const OWN_FORM = 'Esc: do not enter it, or see details.'

type Key = AnswerChoice['key'] | ScopeKey

/** Other scopes have numbers. */
type ScopeKey = '1' | '2' | '3' | '4' | '5'

/** @throws Cancelled when the person closes the question, and when it ends */
export async function answerTo(desk: Desk, question: Question, options: AnswerToOptions): Promise<Answer> {
  const { io, screen, ends } = desk
  const summary = summaryOf(question)
  const choices = answerChoices(question).filter(({ key }) => key !== 'o' || options.openPage)
  const hint = skillHint(io, question)
  const above = showSummary(screen, summary, options.position) + (hint === undefined ? 0 : 1) - (screen.noteRows - CHOICE_ROWS)
  if (hint !== undefined) screen.note(safe`  ${screen.noteStyle.dim(hint)}`)
  if (above > 0) {
    const what = above === 1 ? 'A row of the question is' : `${above} rows of the question are`
    screen.note(safe`${screen.noteStyle.yellow(`${what} above this screen. Read it page by page (d) before you allow it.`)}`)
    showTitle(screen, question)
  }
  // The first field of a form that is on the screen as a whole. Nothing is sent before the review.
  if (question.subject.kind === 'form' && summary.folded === 0 && above <= 0) {
    screen.note(safe`  ${screen.noteStyle.dim(question.subject.ours ? OWN_FORM : THEIR_FORM)}`)
    await untilQuiet(io, ends)
    const yes = choices.find(({ key }) => key === 'y')
    const answer = yes && (await answerOf(desk, question, yes, options))
    if (answer) return answer
  }
  let isOpened = false
  let isWhole = false
  for (;;) {
    const offered: KeyChoice<Key>[] = choices.flatMap((choice) =>
      choice.key === 'd' ? detailsChoice(question, isOpened, isWhole) : [choice],
    )
    const key = await chooseByKey<Key>(io, [...offered, ...(isOpened ? scopeChoices(question) : [])], 'n', ends)
    const choice = choices.find((each) => each.key === key)
    if (key === 'd') {
      // A second time it shows data and the person's own secrets, which the details fold.
      const isSecond = isOpened
      const isRead = await showDetails(desk, question, isSecond, options.leftMs)
      isOpened ||= isRead
      isWhole = isSecond && isRead
    } else if ((summary.folded > 0 || above > 0) && !isOpened && mustBeRead(question.subject, key)) {
      const why = summary.folded > 0 ? 'a part of the question is folded' : 'a part of the question is above this screen'
      screen.note(safe`${screen.noteStyle.yellow(`Open the details first (d): ${why}.`)}`)
    } else {
      const answer = choice ? await answerOf(desk, question, choice, options) : await breadth(desk, question, key as ScopeKey)
      if (answer) return answer
      showTitle(screen, question)
    }
  }
}

/** Whether the folded details must be opened before this answer. Not for an edit, which shows everything; but a choice of items shows only names. */
const mustBeRead = ({ kind }: Subject, key: Key): boolean =>
  key === 'y' || key === 'o' || key === 'a' || (key === 'e' && kind === 'approve')

function detailsChoice(question: Question, isOpened: boolean, isWhole: boolean): KeyChoice<Key>[] {
  if (!isOpened) return [{ key: 'd', label: 'details' }]
  const folded = isWhole ? 0 : foldedOf(question)
  return folded === 0 ? [] : [{ key: 'd', label: `show the ${folded} hidden characters` }]
}

/** Returns false if the person stopped before the last page. */
async function showDetails(desk: Desk, question: Question, isWhole: boolean, leftMs: number): Promise<boolean> {
  const { io, screen, ends } = desk
  const pages = detailPages(screen, question, { isWhole, rows: Math.max(1, screen.noteRows - CHOICE_ROWS - PAGE_FRAME) })
  if (pages.length === 1) showQuestion(screen, question, { isWhole })
  else
    for (const [i, page] of pages.entries()) {
      screen.note(safe`\n${page}`)
      if (i === pages.length - 1) break
      const choices = [
        { key: 'd', label: `next page (${i + 2} of ${pages.length})` },
        { key: 's', label: 'stop reading' },
      ] as const
      if ((await chooseByKey<'d' | 's'>(io, choices, 'd', ends)) === 's') return false
    }
  screen.note(safe`  ${screen.noteStyle.dim(`expires in ${inWords(leftMs)} (then denied)`)}`)
  showTitle(screen, question)
  return true
}

/** Undefined: the question is still open. */
async function answerOf(
  desk: Desk,
  question: Question,
  { key, answer }: AnswerChoice,
  options: AnswerToOptions,
): Promise<Answer | undefined> {
  const { io, ends } = desk
  if (answer) return answer
  if (key === 'w') return { kind: 'deny', feedback: await new Prompts(io, ends).line('What should be done instead?') }
  const { subject } = question
  const scope = question.scopes[0] ?? 'once'
  if (subject.kind === 'url') {
    await openFor(desk, subject, options)
    return { kind: 'allow', scope }
  }
  return editedAnswer(desk, subject, scope, () => leaveForm(desk, question, options.leftMs))
}

/** After Esc in a field. Esc once more closes the question without an answer. */
async function leaveForm(desk: Desk, question: Question, leftMs: number): Promise<'decline' | 'go-on'> {
  const isOurs = question.subject.kind === 'form' && question.subject.ours !== undefined
  const choices = [
    { key: 'n', label: isOurs ? 'stop' : 'decline, and send nothing' },
    { key: 'd', label: 'details' },
    { key: 'e', label: 'go on filling in' },
  ] as const
  for (;;) {
    const key = await chooseByKey<'n' | 'd' | 'e'>(desk.io, choices, 'n', desk.ends)
    if (key === 'd') await showDetails(desk, question, false, leftMs)
    else return key === 'n' ? 'decline' : 'go-on'
  }
}

/** Called after the yes. The address is one argument of a program, never part of a shell line. */
async function openFor({ screen }: Desk, { url }: Extract<Subject, { kind: 'url' }>, options: AnswerOptions): Promise<void> {
  if (!options.openPage) return
  try {
    await options.openPage(url.href)
    screen.note(screen.noteStyle.dim('If no page appears, open the address above yourself.'))
  } catch {
    screen.note(safe`No browser could be opened. Open this page yourself:\n${screen.noteLink(url.href)}`)
  }
}

const SCOPE_KEYS: readonly ScopeKey[] = ['1', '2', '3', '4', '5']

/** The widths that a scope has, without the one that the key `a` gives. */
const widthsOf = (question: Question, scope: Grant['scope']): Question['widths'] =>
  question.widths.filter(
    (width) => isOfferedTime(question, scope, width) && !(scope === question.always?.scope && width === question.always.width),
  )

/** The scopes that a single key does not give. */
const otherScopes = (question: Question): Grant['scope'][] =>
  question.scopes.slice(1).filter((scope) => question.widths.length === 0 || widthsOf(question, scope).length > 0)

const scopeChoices = (question: Question): KeyChoice<Key>[] =>
  otherScopes(question).flatMap((scope, i) => {
    const key = SCOPE_KEYS[i]
    const which = scope === question.always?.scope ? ', choose the arguments' : ''
    return key === undefined ? [] : [{ key, label: `allow ${SCOPE_WORDS[scope]}${which}` }]
  })

/** Which arguments a lasting answer covers. Undefined: the person went back. */
async function breadth(desk: Desk, question: Question, key: ScopeKey): Promise<Answer | undefined> {
  const { io, screen, ends } = desk
  const { subject } = question
  const scope = otherScopes(question)[Number(key) - 1] ?? 'once'
  const widths = widthsOf(question, scope)
  if (question.widths.length < 2) return { kind: 'allow', scope, ...(widths[0] !== undefined && { width: widths[0] }) }
  const pattern = subject.kind === 'call' ? subject.pattern : {}
  const hasPattern = widths.includes('pattern') && Object.keys(pattern).length > 0
  if (hasPattern) showLine(screen, { kind: 'detail', label: 'similar arguments would cover', text: patternText(pattern), tone: 'theirs' })
  const choices: KeyChoice<WidthKey>[] = [
    ...widths.flatMap((width) =>
      width === 'pattern' && !hasPattern ? [] : [{ key: WIDTH_KEYS[width], label: widthText(subject, width) }],
    ),
    ...(Object.keys(pattern).length === 0
      ? []
      : [{ key: 'e' as const, label: hasPattern ? 'edit what similar means' : 'choose the arguments yourself' }]),
    { key: 'b', label: 'back' },
  ]
  const chosen = await chooseByKey<WidthKey>(io, choices, 'b', ends).catch((error: unknown) => {
    // Esc goes back to the question. Only a question that ended is closed.
    if (!(error instanceof Cancelled) || ends.aborted) throw error
    return 'b' as const
  })
  if (chosen === 'b') return undefined
  if (chosen === 'x' || chosen === 'a') return { kind: 'allow', scope, width: chosen === 'x' ? 'exact' : 'any' }
  if (chosen === 's') return { kind: 'allow', scope, width: 'pattern', pattern }
  const edited = await editObject({ io, prompts: new Prompts(io, ends) }, 'The pattern', pattern)
  return edited && { kind: 'allow', scope, width: 'pattern', pattern: edited as ArgumentRules }
}

type WidthKey = 'x' | 's' | 'a' | 'e' | 'b'

const WIDTH_KEYS: Readonly<Record<Question['widths'][number], WidthKey>> = { exact: 'x', pattern: 's', any: 'a' }

function inWords(ms: number): string {
  const seconds = Math.round(ms / 1000)
  if (seconds < 120) return `${seconds} seconds`
  const minutes = Math.round(seconds / 60)
  return minutes < 120 ? `${minutes} minutes` : `${Math.round(minutes / 60)} hours`
}
