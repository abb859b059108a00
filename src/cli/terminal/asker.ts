/** Asks the host's questions at the terminal: a few lines and one key. Closing a question means no. */

import { basename } from 'node:path'
import { Cancelled, McpError } from '../../client/index.ts'
import { type Answer, type Asker, type Question, queued } from '../../host/index.ts'
import { typedCommand } from '../command-name.ts'
import type { Io } from '../io.ts'
import { safe } from '../output/safe-text.ts'
import { Screen } from '../output/screen.ts'
import { type AnswerOptions, answerTo, type Desk } from './answer-question.ts'
import { answersTo } from './answer-together.ts'

export interface TerminalAskerOptions extends AnswerOptions {
  /** Milliseconds of the wall clock. */
  now?(): number
}

/** One question at a time; the others wait for their turn. */
export function terminalAsker(io: Io, options: TerminalAskerOptions = {}): Asker {
  const line = new WaitingLine()
  const one = queued({
    ask: (question, signal) => io.terminal.ask((terminal) => askOne({ ...io, terminal }, question, signal, options, line.next())),
  })
  return {
    ask: (question, signal) => line.during(() => one.ask(question, signal)),
    askTogether: (questions, signal) => io.terminal.ask((terminal) => askAll({ ...io, terminal }, questions, signal, options)),
  }
}

/** Counts the questions that wait, so that the person sees how many there are. */
class WaitingLine {
  #waiting = 0
  #shown = 0
  #all = 0

  async during<T>(ask: () => Promise<T>): Promise<T> {
    this.#waiting++
    this.#all++
    try {
      return await ask()
    } finally {
      this.#waiting--
      if (this.#waiting === 0) this.#shown = this.#all = 0
    }
  }

  /** `2 of 3`. Undefined for a question that is alone. */
  next(): string | undefined {
    this.#shown++
    return this.#all > 1 ? `${this.#shown} of ${this.#all}` : undefined
  }
}

async function askOne(
  io: Io,
  question: Question,
  signal: AbortSignal,
  options: TerminalAskerOptions,
  position: string | undefined,
): Promise<Answer> {
  return untilItEnds(io, [question], signal, options, async (desk, leftMs) => {
    const answer = await answerTo(desk, question, { ...options, position, leftMs })
    const { screen } = desk
    screen.note(
      safe`${screen.noteStyle[answer.kind === 'allow' ? 'green' : 'yellow'](outcomeText(question, answer, typedCommand(io, 'grants')))}`,
    )
    return answer
  }).catch(closedAs<Answer>({ kind: 'cancel' }))
}

/** One screen for all of them. */
async function askAll(io: Io, questions: readonly Question[], signal: AbortSignal, options: TerminalAskerOptions): Promise<Answer[]> {
  return untilItEnds(io, questions, signal, options, (desk) => answersTo(desk, questions)).catch(
    closedAs(questions.map((): Answer => ({ kind: 'cancel' }))),
  )
}

const closedAs =
  <Value>(value: Value) =>
  (error: unknown): Value => {
    if (error instanceof Cancelled) return value
    throw error
  }

/** @throws Cancelled when the person closes the question, McpError ERR_CONSENT when it expires, and the reason of the signal */
async function untilItEnds<T>(
  io: Io,
  questions: readonly Question[],
  signal: AbortSignal,
  { now = Date.now }: TerminalAskerOptions,
  answer: (desk: Desk, leftMs: number) => Promise<T>,
): Promise<T> {
  const leftMs = Math.min(...questions.map(({ expiresAt }) => expiresAt)) - now()
  if (leftMs <= 0) throw late()
  // Not AbortSignal.timeout: inside AbortSignal.any nothing else references it, and Node may collect it before it fires.
  const over = new AbortController()
  const timer = setTimeout(() => over.abort(), Math.min(leftMs, MAX_TIMER_MS))
  const ends = AbortSignal.any([signal, over.signal])
  const screen = new Screen(io)
  const say = (text: string): void => screen.note(safe`${screen.noteStyle.yellow(text)}`)
  try {
    return await answer({ io, screen, ends }, leftMs)
  } catch (error) {
    if (!(error instanceof Cancelled)) throw error
    if (signal.aborted) say(endText(signal))
    signal.throwIfAborted()
    if (ends.aborted) {
      say('The question expired and counts as denied.')
      throw late()
    }
    say('Closed without an answer, which counts as denied.')
    throw error
  } finally {
    clearTimeout(timer)
  }
}

/** Why the question needs no answer here: it was answered in the console, took too long, or its call ended. */
const endText = ({ reason }: AbortSignal): string =>
  reason instanceof McpError ? `${reason.message}.` : 'The question was withdrawn: it no longer needs an answer.'

/** The longest delay of a timer. */
const MAX_TIMER_MS = 2 ** 31 - 1

const late = (): McpError => new McpError('ERR_CONSENT', 'The question was not answered in time')

/** Programs that fetch a package before they run it. */
const DOWNLOADERS: ReadonlySet<string> = new Set(['npx', 'bunx', 'pnpx', 'uvx', 'pipx'])

function outcomeText({ subject, server }: Question, answer: Answer, command: string): string {
  if (answer.kind !== 'allow') return 'Denied.'
  if (subject.kind === 'approve') return 'Approved.'
  if (subject.kind === 'form' && subject.ours === undefined) return 'Sent.'
  if (subject.kind === 'launch') {
    const program = basename(subject.command)
    // A download takes a while, and prints nothing.
    return DOWNLOADERS.has(program) ? `Allowed. Starting ${server?.id ?? 'it'} (${program} may download it) ...` : 'Allowed.'
  }
  if (subject.kind === 'connect') return 'Allowed.'
  return {
    once: 'Allowed once.',
    turn: 'Allowed for this message.',
    session: 'Allowed for this conversation.',
    project: `Allowed in this project. To list and revoke: ${command}`,
    always: `Always allowed. To list and revoke: ${command}`,
  }[answer.scope]
}
