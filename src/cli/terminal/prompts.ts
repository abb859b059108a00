/** Prompts at a terminal. All text is escaped first; Esc and Ctrl-C cancel. */

import type { Writable } from 'node:stream'
import { isCancel, multiline, multiselect, password, select, settings, text } from '@clack/prompts'
import { hasInvisible } from '../../base/text/visible-text.ts'
import { Cancelled } from '../../client/index.ts'
import type { Io } from '../io.ts'
import { SafeText, type Showable, safe } from '../output/safe-text.ts'
import { Screen } from '../output/screen.ts'
import { wrapTo } from '../output/width.ts'

// Letters must not move the cursor: text typed for something else would change the answer.
for (const letter of ['h', 'j', 'k', 'l']) settings.aliases.delete(letter)

export interface Choice<Value> {
  value: Value
  label: Showable
  hint?: Showable
}

/** The person pressed Ctrl-C, not Esc. */
export class ClosedByInterrupt extends Cancelled {
  constructor() {
    super('The question was closed without an answer')
  }
}

interface Common {
  input: Io['stdin']
  output: Writable
  withGuide: false
}

export interface LineOptions {
  initial?: string
  validate?(value: string): string | undefined
}

/** Columns before a message or a choice, plus a free one. */
const LEAD = 8
/** Lines that a prompt needs in addition to the edited text. */
const FRAME_LINES = 6

/** Use only inside `SharedTerminal.ask`. Lines that are redrawn are never wider than the terminal. */
export class Prompts {
  readonly #io: Io
  readonly #screen: Screen
  readonly #signal: AbortSignal

  constructor(io: Io, signal: AbortSignal) {
    this.#io = io
    this.#screen = new Screen(io)
    this.#signal = signal
    // Input typed before the question was visible is not an answer.
    while (io.stdin.read() !== null);
  }

  async choose<Value extends string>(message: Showable, choices: readonly Choice<Value>[], initial?: Value): Promise<Value> {
    const title = this.#titled(message)
    const options = this.#options(choices)
    const answer = await this.#ask((common) =>
      select<string>({ ...common, message: title, options, ...(initial !== undefined && { initialValue: initial }) }),
    )
    return answer as Value
  }

  async chooseSeveral(message: Showable, choices: readonly Choice<string>[], initial: readonly string[]): Promise<string[]> {
    const title = this.#titled(message)
    const options = this.#options(choices)
    return this.#ask((common) => multiselect<string>({ ...common, message: title, options, initialValues: [...initial], required: false }))
  }

  /** @param options.initial is put in only if `canEditOnLine` */
  async line(message: Showable, options: LineOptions = {}): Promise<string> {
    const { initial = '', validate } = options
    const title = this.#titled(message)
    const answer = await this.#ask((common) =>
      text({
        ...common,
        message: title,
        ...(canEditOnLine(initial) && { initialValue: initial }),
        ...(validate && { validate: (value: string | undefined) => shownFault(validate(value ?? '')) }),
      }),
    )
    // An empty line comes back as undefined.
    return answer ?? ''
  }

  /** Reads input without showing it. */
  async hidden(message: Showable): Promise<string> {
    const title = this.#titled(message)
    return this.#ask((common) => password({ ...common, message: title, validate: (value) => (value ? undefined : 'A value is required') }))
  }

  async lines(message: Showable, options: LineOptions = {}): Promise<string> {
    const { initial = '', validate } = options
    const title = this.#titled(message)
    const answer = await this.#ask((common) =>
      multiline({
        ...common,
        message: title,
        showSubmit: true,
        ...(!hasInvisible(initial) && { initialValue: initial }),
        ...(validate && { validate: (value: string | undefined) => shownFault(validate(value ?? '')) }),
      }),
    )
    return answer ?? ''
  }

  /** Whether a prompt with this text fits on the screen, with room to type more. */
  fits(initial: string): boolean {
    const lines = initial.split('\n').flatMap((line) => wrapTo(line, this.columns))
    return lines.length <= Math.max(1, Math.floor((this.#rows - FRAME_LINES) / 2))
  }

  /** Width for a message or a choice. */
  get columns(): number {
    return Math.max(1, (this.#screen.noteColumns ?? 80) - LEAD)
  }

  get #rows(): number {
    return (this.#io.stderr.stream as { rows?: number }).rows ?? 24
  }

  /** One line for the prompt. A longer message is printed in full above it. */
  #titled(message: Showable): string {
    const shown = SafeText.join([message])
    if (shown.width <= this.columns) return shown.text
    this.#note(shown.text)
    return shown.cut(this.columns).text
  }

  /** May contain untrusted text, so every line gets the bar that marks such text. */
  #note(text: string): void {
    const bar = safe`  ${this.#screen.noteStyle.magenta('│')} `
    this.#screen.note(safe`${bar}${SafeText.join(wrapTo(text, this.columns), safe`\n${bar}`)}`)
  }

  #options<Value extends string>(choices: readonly Choice<Value>[]): { value: string; label: string; hint?: string }[] {
    const labels = choices.map(({ label }) => SafeText.join([label]))
    if (labels.some(({ width }) => width > this.columns)) for (const [i, label] of labels.entries()) this.#note(`${i + 1}. ${label.text}`)
    return choices.map(({ value, hint }, i) => {
      const label = labels[i] as SafeText
      const shownHint = hint === undefined ? undefined : SafeText.join([hint])
      const hasRoom = shownHint !== undefined && label.width + shownHint.width + 3 <= this.columns
      return { value, label: label.cut(this.columns).text, ...(hasRoom && { hint: shownHint.text }) }
    })
  }

  async #ask<Value>(prompt: (common: Common) => Promise<Value>): Promise<Exclude<Value, symbol>> {
    const { stdin, stderr } = this.#io
    if (this.#signal.aborted) throw closed()
    // Closed by a simulated Esc, so that the prompt is redrawn as closed.
    const close = (): void => void stdin.emit('keypress', ESCAPE, { name: 'escape', sequence: ESCAPE })
    this.#signal.addEventListener('abort', close, { once: true })
    let isInterrupted = false
    const onKey = (_text: unknown, key: { ctrl?: boolean; name?: string } | undefined): void => {
      isInterrupted = key?.ctrl === true && key.name === 'c'
    }
    stdin.on('keypress', onKey)
    try {
      const answer = await prompt({ input: stdin, output: stderr.stream, withGuide: false })
      if (isCancel(answer)) throw isInterrupted ? new ClosedByInterrupt() : closed()
      return answer as Exclude<Value, symbol>
    } finally {
      stdin.off('keypress', onKey)
      this.#signal.removeEventListener('abort', close)
    }
  }
}

/** Whether all of a text can be seen on one line. */
export const canEditOnLine = (text: string): boolean => !hasInvisible(text) && !/[\r\n]/.test(text)

const ESCAPE = '\u001b'
const MAX_FAULT = 300

const closed = (): Cancelled => new Cancelled('The question was closed without an answer')

const shownFault = (fault: string | undefined): string | undefined =>
  fault === undefined ? undefined : SafeText.oneLine(fault).cut(MAX_FAULT).text
