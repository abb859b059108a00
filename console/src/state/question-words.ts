/** The words of a question's buttons, and when an "allow" counts. */

import type { GivenAnswer, QuestionView } from '../../../src/console/api.ts'

type Question = QuestionView['question']
type Subject = Question['subject']
type Allow = Extract<GivenAnswer, { kind: 'allow' }>

/** After a question appears, clicks and keys meant for something else do not answer it. */
const QUIET_MS = 500

/** Whether an answer counts already. */
export const isQuiet = (shownAt: number, now: number): boolean => now - shownAt < QUIET_MS

/** The button that says yes, this time. */
export function yesText(subject: Subject): string {
  switch (subject.kind) {
    case 'launch':
      return 'Start and enable'
    case 'connect':
      return 'Connect and enable'
    case 'approve':
      return subject.isFirst ? 'Enable' : 'Approve'
    case 'import':
      return 'Import'
    case 'form':
    case 'compose':
      return 'Send'
    case 'sampled':
      return 'Send the answer'
    case 'url':
      return 'Open the page'
    case 'say':
      return 'Send'
    case 'app':
      return 'Show it'
    case 'roots':
      return 'Share'
    default:
      return 'Allow once'
  }
}

/** The button that says no. */
export const noText = ({ kind }: Subject): string => (PLAIN_NO.has(kind) ? 'Not now' : 'Deny')

const PLAIN_NO: ReadonlySet<Subject['kind']> = new Set(['launch', 'connect', 'approve', 'import', 'form', 'compose', 'url'])

/** The answer of the first button: the scope that the host proposes. A start holds until the command or the address changes. */
export const yesAnswer = ({ scopes, subject }: Question, edited?: unknown): Allow => ({
  kind: 'allow',
  scope: scopes[0] ?? 'once',
  // The person opens it in this browser. The host would open it a second time.
  ...(subject.kind === 'url' && { isOpened: true }),
  ...(edited !== undefined && { edited }),
})

/** Starting or reaching a server. */
export const isStart = ({ kind }: Subject): boolean => kind === 'launch' || kind === 'connect'

/** The button that starts a server and asks about each part of its offering. */
export const CHOOSE_TEXT = 'Start, let me choose'

/** Below the buttons of a start. */
export const ENABLE_HINT = 'What it offers is enabled, except for skills and what needs a warning: you are asked about those.'

/** The button for other lengths of time. */
export const otherText = (subject: Subject): string => (isStart(subject) ? 'For a shorter time …' : 'Always allow …')

/** Up to this size a question is shown as a whole. */
const MAX_SHOWN = 1_500
const MAX_SHOWN_LINES = 40

/** Kinds of lines that say who asks and for how long. The card shows them in its details. */
const ASIDE: ReadonlySet<string> = new Set(['title', 'server', 'location', 'requester', 'scopes', 'expiry', 'hidden'])

/** Whether the card draws the arguments of a call itself, as a whole: to mark where they came from, or because they are short. */
export const showsArguments = ({ question: { subject }, summary, folded }: QuestionView): boolean =>
  subject.kind === 'call' && folded === 0 && (subject.origins.length > 0 || summary.folded > 0) && isSmall(subject.args)

function isSmall(args: Readonly<Record<string, unknown>>): boolean {
  const json = JSON.stringify(args)
  // A line break is two characters in JSON.
  return json.length <= MAX_SHOWN && json.split('\\n').length <= MAX_SHOWN_LINES
}

/** A later offering: the card draws its items with their differences. */
export const isChange = (subject: Subject): subject is Extract<Subject, { kind: 'approve' }> =>
  subject.kind === 'approve' && !subject.isFirst

/** The card draws the text of such a question as a whole, and the person writes the answer or visits a page. */
export const hasOwnAnswer = ({ kind }: Subject): boolean => kind === 'form' || kind === 'compose' || kind === 'url'

/** The lines of a card: the summary. If the summary folds something and the whole is short, the whole. */
export function cardLines(view: QuestionView): QuestionView['lines'] {
  const { question, summary, folded } = view
  if (showsArguments(view)) return summary.lines.filter(({ kind }) => kind !== 'title' && kind !== 'hidden' && kind !== 'argument')
  // The items of a changed offering are drawn with their differences.
  if (isChange(question.subject)) return summary.lines.filter(({ kind }) => kind === 'reason')
  const all = allLines(view)
  const length = all.reduce((sum, { label, text }) => sum + label.length + text.length, 0)
  const isShort = folded === 0 && length <= MAX_SHOWN && all.every(({ text }) => text.split('\n').length <= MAX_SHOWN_LINES)
  return summary.folded > 0 && isShort ? all : summary.lines.filter(({ kind }) => kind !== 'title' && kind !== 'hidden')
}

/** The lines of a card after "Show everything". */
export const allLines = ({ lines }: QuestionView): QuestionView['lines'] => lines.filter(({ kind }) => !ASIDE.has(kind))

/** Whether the person has to open something before an "allow" counts. Commands and addresses are never folded. */
export const mustOpen = (view: QuestionView): boolean =>
  !isChange(view.question.subject) &&
  !hasOwnAnswer(view.question.subject) &&
  !showsArguments(view) &&
  view.summary.folded > 0 &&
  cardLines(view).some(({ folded = 0 }) => folded > 0)

/** `expires in 4 min`; nothing while there is plenty of time. */
export function expiryText(expiresAt: number, now: number): string | undefined {
  const left = expiresAt - now
  if (left > 5 * 60_000) return undefined
  if (left <= 0) return 'The time to answer is over'
  return left < 60_000 ? `${Math.ceil(left / 1_000)} s left` : `${Math.ceil(left / 60_000)} min left`
}

/** How a question ended that this window did not answer. */
export function endText({ how, answer, reason }: { how: 'answered' | 'ended'; answer?: string; reason?: string }): string {
  if (how === 'answered') return answer === 'allow' ? 'Allowed' : answer === 'deny' ? 'Denied' : 'Closed'
  return reason === undefined ? 'Answered elsewhere, or no longer needed' : `Ended: ${reason}`
}
