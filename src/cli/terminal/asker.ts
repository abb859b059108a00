/** Asks the host's questions at the terminal. Everything is shown, and closing a question means no. */

import { Cancelled, type CreateMessageResult, McpError } from '../../client/index.ts'
import {
  type Answer,
  type ArgumentRules,
  type Asker,
  argumentChecker,
  foldedOf,
  type GrantScope,
  type GrantWidth,
  type Question,
  queued,
  type Subject,
} from '../../host/index.ts'
import type { Io } from '../io.ts'
import { safe, untrusted } from '../output/safe-text.ts'
import { Screen } from '../output/screen.ts'
import { editObject } from './edit-json.ts'
import { fillForm } from './form.ts'
import { type Choice, Prompts } from './prompts.ts'
import { questionTitle, showQuestion } from './show-question.ts'

export interface TerminalAskerOptions {
  /** Opens a page after the person agreed. Default: the caller opens it. */
  openPage?(href: string): Promise<void>
  /** Milliseconds of the wall clock. */
  now?(): number
}

/** One question at a time; the others wait for their turn. */
export function terminalAsker(io: Io, options: TerminalAskerOptions = {}): Asker {
  return queued({
    ask: (question, signal) => io.terminal.ask((terminal) => askOne({ ...io, terminal }, question, signal, options)),
  })
}

async function askOne(io: Io, question: Question, signal: AbortSignal, options: TerminalAskerOptions): Promise<Answer> {
  const { now = Date.now } = options
  const leftMs = question.expiresAt - now()
  if (leftMs <= 0) throw late()
  // Not AbortSignal.timeout: inside AbortSignal.any nothing else references it, and Node may collect it before it fires.
  const over = new AbortController()
  const timer = setTimeout(() => over.abort(), Math.min(leftMs, MAX_TIMER_MS))
  const ends = AbortSignal.any([signal, over.signal])
  const screen = new Screen(io)
  showQuestion(screen, question)
  screen.note(safe`  ${screen.noteStyle.dim(`expires in ${inWords(leftMs)} (then denied)`)}`)
  try {
    return await answerTo({ io, screen, prompts: new Prompts(io, ends) }, question, options)
  } catch (error) {
    if (!(error instanceof Cancelled)) throw error
    signal.throwIfAborted()
    if (ends.aborted) {
      screen.note(safe`${screen.noteStyle.yellow('The question expired and counts as denied.')}`)
      throw late()
    }
    return { kind: 'cancel' }
  } finally {
    clearTimeout(timer)
  }
}

/** The longest delay of a timer. */
const MAX_TIMER_MS = 2 ** 31 - 1

const late = (): McpError => new McpError('ERR_CONSENT', 'Nobody answered in time')

type Next = 'yes' | 'longer' | 'edit' | 'browser' | 'no' | 'why' | 'whole'

/** Where a question is put. */
interface Desk {
  io: Io
  screen: Screen
  prompts: Prompts
}

async function answerTo(desk: Desk, question: Question, options: TerminalAskerOptions): Promise<Answer> {
  const { screen, prompts } = desk
  const { subject, scopes } = question
  const scope: GrantScope = scopes[0] ?? 'once'
  // The cursor starts on No, so that a stray Enter approves nothing. The title is repeated because it may have scrolled away.
  const choose = (folded: number): Promise<Next> =>
    prompts.choose(
      untrusted(questionTitle(question)).cut(prompts.columns),
      [...choicesFor(question, options.openPage !== undefined), ...wholeChoice(folded)],
      'no',
    )
  let next = await choose(foldedOf(question))
  if (next === 'whole') {
    showQuestion(screen, question, { isWhole: true })
    next = await choose(0)
  }
  switch (next) {
    case 'whole':
    case 'no':
      return { kind: 'deny' }
    case 'why':
      return { kind: 'deny', feedback: await prompts.line('What should be done instead?') }
    case 'longer':
      return { kind: 'allow', ...(await breadth(desk, question)) }
    case 'browser':
      await openFor(screen, subject as Extract<Subject, { kind: 'url' }>, options)
      return { kind: 'allow', scope }
    case 'edit':
      return edited(desk, subject, scope)
    case 'yes':
      return { kind: 'allow', scope }
  }
}

const wholeChoice = (folded: number): Choice<Next>[] =>
  folded === 0 ? [] : [{ value: 'whole', label: `Show the ${folded} characters that are not shown` }]

function choicesFor({ subject, scopes }: Question, canOpen: boolean): Choice<Next>[] {
  const no: Choice<Next>[] = [
    { value: 'no', label: 'No' },
    { value: 'why', label: 'No, and say what to do instead' },
  ]
  switch (subject.kind) {
    case 'form':
      return [{ value: 'edit', label: 'Fill in the form', hint: 'it is shown once more before it is sent' }, ...no]
    case 'compose':
      return [{ value: 'edit', label: 'Write the answer' }, ...no]
    case 'url':
      return canOpen
        ? [{ value: 'browser', label: 'Open it in the browser' }, { value: 'yes', label: 'I open it myself' }, ...no]
        : [{ value: 'yes', label: 'Open it in the browser' }, ...no]
    default:
      return [
        // What is taken into use stays in use until it changes.
        { value: 'yes', label: subject.kind === 'approve' ? 'Yes, all of it' : `Yes, ${SCOPE_WORDS[scopes[0] ?? 'once']}` },
        ...(scopes.length > 1 ? [{ value: 'longer' as const, label: 'Yes, for longer or for more' }] : []),
        ...(subject.kind in EDITS ? [{ value: 'edit' as const, label: EDITS[subject.kind] as string }] : []),
        ...no,
      ]
  }
}

const SCOPE_WORDS: Readonly<Record<GrantScope, string>> = {
  once: 'this once',
  turn: 'until I write again',
  session: 'for this conversation',
  project: 'in this project',
  always: 'always, until I take it back',
}

const WIDTH_WORDS: Readonly<Record<GrantWidth, string>> = {
  exact: 'for exactly this',
  pattern: 'for everything that fits a pattern, which you can edit',
  any: 'whatever the arguments are',
}

const EDITS: Readonly<Partial<Record<Subject['kind'], string>>> = {
  call: 'Edit the arguments, then run it',
  sample: 'Edit the request, then send it',
  sampled: 'Edit the answer, then send it',
  approve: 'Choose what to take into use',
}

/** For how long, and for which arguments. */
async function breadth(
  desk: Desk,
  { subject, scopes, widths }: Question,
): Promise<{ scope: GrantScope; width?: GrantWidth; pattern?: ArgumentRules }> {
  const { prompts } = desk
  const scope = await prompts.choose(
    'For how long?',
    scopes.map((each) => ({ value: each, label: SCOPE_WORDS[each] })),
  )
  const [only, ...others] = widths
  if (only === undefined) return { scope }
  if (others.length === 0) return { scope, width: only }
  const width = await prompts.choose(
    'For what?',
    widths.map((each) => ({ value: each, label: WIDTH_WORDS[each] })),
  )
  if (width !== 'pattern' || subject.kind !== 'call') return { scope, width }
  const pattern = (await editObject(desk, 'The pattern', subject.pattern)) as ArgumentRules
  return { scope, width, pattern }
}

async function edited(desk: Desk, subject: Subject, scope: GrantScope): Promise<Answer> {
  const { screen, prompts } = desk
  const allow = (value: unknown): Answer => ({ kind: 'allow', scope, edited: value })
  switch (subject.kind) {
    case 'call':
      return allow(await editObject(desk, 'The arguments', subject.args, await argumentChecker(subject.tool)))
    case 'sample':
      return allow(
        await editObject(desk, 'The request', subject.params, ({ messages }) =>
          Array.isArray(messages) ? undefined : 'Expected messages',
        ),
      )
    case 'sampled':
      return allow(withText(subject.result, await prompts.lines('The answer', { initial: textOf(subject.result) })))
    case 'compose':
      return allow(
        await prompts.lines('The answer', { validate: (text) => (text.trim() === '' ? 'Write something, or press Esc' : undefined) }),
      )
    case 'approve': {
      const names = subject.items.map(({ kind, name }) => `${kind} ${name}`)
      const approved = await prompts.chooseSeveral(
        'Take into use',
        names.map((name) => ({ value: name, label: name })),
        [],
      )
      return allow({ approved })
    }
    case 'form': {
      const filled = await fillForm(screen, prompts, subject.schema, subject.defaults, subject.ours?.hidden)
      return filled.kind === 'send' ? allow(filled.content) : { kind: 'deny' }
    }
    default:
      return { kind: 'cancel' }
  }
}

const textOf = ({ content }: CreateMessageResult): string =>
  (Array.isArray(content) ? content : [content]).map((block) => (block.type === 'text' ? block.text : '')).join('\n')

const withText = (result: CreateMessageResult, text: string): CreateMessageResult => ({ ...result, content: { type: 'text', text } })

/** Called after the yes. The address is one argument of a program, never part of a shell line. */
async function openFor(screen: Screen, { url }: Extract<Subject, { kind: 'url' }>, options: TerminalAskerOptions): Promise<void> {
  try {
    await options.openPage?.(url.href)
  } catch {
    screen.note(safe`No browser could be opened. Open this page yourself:\n  ${screen.noteStyle.cyan(url.href)}`)
  }
}

function inWords(ms: number): string {
  const seconds = Math.round(ms / 1000)
  if (seconds < 120) return `${seconds} seconds`
  const minutes = Math.round(seconds / 60)
  return minutes < 120 ? `${minutes} minutes` : `${Math.round(minutes / 60)} hours`
}
