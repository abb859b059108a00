/** Prompts at a terminal: whatever is shown was made visible first, and whoever presses Esc or Ctrl-C has cancelled. */

import type { Writable } from 'node:stream'
import { isCancel, multiline, multiselect, password, select, text } from '@clack/prompts'
import { Cancelled } from '../../protocol/errors.ts'
import { hasInvisible } from '../../protocol/visible-text.ts'
import type { Io } from '../io.ts'
import { type Showable, Shown } from '../output/shown.ts'

export interface Choice<Value> {
  value: Value
  label: Showable
  hint?: Showable
}

export class Prompts {
  readonly #common: { input: Io['stdin']; output: Writable; signal: AbortSignal }

  constructor(io: Io, signal: AbortSignal) {
    this.#common = { input: io.stdin, output: io.stderr.stream, signal }
    // What was typed before the question was seen is no answer to it.
    while (io.stdin.read() !== null);
  }

  async choose<Value extends string>(message: Showable, choices: readonly Choice<Value>[], initial?: Value): Promise<Value> {
    const options = choices.map(({ value, label, hint }) => ({
      value: value as string,
      label: plain(label),
      ...(hint !== undefined && { hint: plain(hint) }),
    }))
    const answer = await select<string>({
      ...this.#common,
      message: plain(message),
      options,
      ...(initial !== undefined && { initialValue: initial }),
    })
    return given(answer) as Value
  }

  async chooseSeveral(message: Showable, choices: readonly Choice<string>[], initial: readonly string[]): Promise<string[]> {
    const options = choices.map(({ value, label, hint }) => ({
      value,
      label: plain(label),
      ...(hint !== undefined && { hint: plain(hint) }),
    }))
    return given(
      await multiselect<string>({ ...this.#common, message: plain(message), options, initialValues: [...initial], required: false }),
    )
  }

  /** @param initial is put in only if all of it can be seen */
  async line(message: Showable, options: { initial?: string; validate?(value: string): string | undefined } = {}): Promise<string> {
    const { initial = '', validate } = options
    const answer = await text({
      ...this.#common,
      message: plain(message),
      ...(!hasInvisible(initial) && !initial.includes('\n') && { initialValue: initial }),
      ...(validate && { validate: (value: string | undefined) => shownFault(validate(value ?? '')) }),
    })
    // An empty line comes back as nothing at all.
    return given(answer) ?? ''
  }

  /** What is typed is not shown. */
  async hidden(message: Showable): Promise<string> {
    return given(await password({ ...this.#common, message: plain(message), validate: (value) => (value ? undefined : 'It is empty') }))
  }

  async lines(message: Showable, options: { initial?: string; validate?(value: string): string | undefined } = {}): Promise<string> {
    const { initial = '', validate } = options
    const answer = await multiline({
      ...this.#common,
      message: plain(message),
      showSubmit: true,
      ...(!hasInvisible(initial) && { initialValue: initial }),
      ...(validate && { validate: (value: string | undefined) => shownFault(validate(value ?? '')) }),
    })
    return given(answer) ?? ''
  }
}

const plain = (text: Showable): string => Shown.join([text]).text

const shownFault = (fault: string | undefined): string | undefined => (fault === undefined ? undefined : plain(fault))

function given<Value>(answer: Value): Exclude<Value, symbol> {
  if (isCancel(answer)) throw new Cancelled('The question was closed without an answer')
  return answer as Exclude<Value, symbol>
}
