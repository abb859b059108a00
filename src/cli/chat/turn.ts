/** Shows one turn of a chat: the model's text, its tool calls and their results, each once. */

import type { CallToolResult } from '../../client/index.ts'
import type { ChatPart, Conversation, Host } from '../../host/index.ts'
import type { Invocation } from '../command-runner.ts'
import type { ExitName } from '../exit-codes.ts'
import { resultLines } from '../output/content.ts'
import { counted } from '../output/counted.ts'
import { jsonText } from '../output/json.ts'
import { type SafeText, safe, untrustedLines } from '../output/safe-text.ts'
import type { Screen } from '../output/screen.ts'
import { StreamedText } from '../output/streamed-text.ts'

const MAX_SHOWN_LINES = 60

/** Ctrl-C stops the turn. */
export async function runTurn(
  { screen, signal }: Pick<Invocation, 'screen' | 'signal'>,
  host: Host,
  conversation: Conversation,
  said: string,
): Promise<ExitName> {
  let exit: ExitName = 'ok'
  const shown = new ShownTurn(screen, isScripted(host))
  for await (const part of host.chat(said, { conversation, signal })) {
    if (screen.isJson)
      screen.printJsonLine(part.type === 'error' ? { type: 'error', error: part.error.message, code: part.error.code } : part)
    else shown.show(part)
    if (part.type === 'end' && part.reason !== 'done') exit = part.reason === 'cancelled' ? 'interrupted' : 'failed'
  }
  shown.end()
  return exit
}

/** Whether the host's model is the script, which understands a few sentences only. */
export const isScripted = ({ models }: Pick<Host, 'models'>): boolean => models[0]?.id === 'scripted'

class ShownTurn {
  readonly #screen: Screen
  /** The script repeats the results of tools as its answer. They are on the screen already. */
  readonly #repeatsResults: boolean
  readonly #text: StreamedText
  readonly #names = new Set<string>()
  /** Text of the script that may turn out to repeat a result. */
  #held = ''
  #isOpen = false

  constructor(screen: Screen, repeatsResults: boolean) {
    this.#screen = screen
    this.#repeatsResults = repeatsResults
    this.#text = new StreamedText(
      () => screen.columns,
      (text) => screen.printPart(text),
    )
  }

  show(part: ChatPart): void {
    const { style } = this.#screen
    if (part.type === 'text') {
      if (this.#repeatsResults && this.#names.size > 0) this.#held += part.text
      else this.#add(part.text)
      return
    }
    this.end()
    switch (part.type) {
      case 'tool-call':
        return this.#line(style.cyan('→'), part.name, jsonText(part.args))
      case 'tool-result': {
        this.#names.add(part.name)
        return this.#result(part.result)
      }
      case 'refused': {
        this.#names.add(part.name)
        const feedback = part.feedback === undefined || part.reason.includes(part.feedback) ? '' : ` (${part.feedback})`
        return this.#line(style.red('✗'), '', `${part.reason}${feedback}`)
      }
      case 'error':
        return this.#screen.note(safe`${this.#screen.noteStyle.red('✗')} ${part.error.message}`)
      case 'end':
        if (part.reason !== 'done') this.#screen.note(safe`${this.#screen.noteStyle.yellow('■')} ${END_WORDS[part.reason]}`)
    }
  }

  /** Ends the model's text, which has lines of its own. */
  end(): void {
    const held = this.#held
    this.#held = ''
    if (held !== '' && ![...this.#names].some((name) => isReportOf(name, held))) this.#add(held)
    if (!this.#isOpen) return
    this.#text.end()
    this.#screen.print()
    this.#isOpen = false
  }

  #add(text: string): void {
    this.#isOpen = true
    this.#text.add(text)
  }

  #result(result: CallToolResult): void {
    const { style, columns } = this.#screen
    const lines = resultLines(result, style, columns === undefined ? undefined : columns - INDENT)
    const lead = result.isError ? style.red('✗') : style.green('←')
    for (const [i, line] of lines.slice(0, MAX_SHOWN_LINES).entries())
      this.#screen.print(i === 0 ? safe`${lead} ${line}` : line.indented(INDENT))
    if (lines.length === 0) this.#screen.print(safe`${lead} ${style.dim('(no output)')}`)
    if (lines.length > MAX_SHOWN_LINES) this.#screen.print(style.dim(`  ... ${counted(lines.length - MAX_SHOWN_LINES, 'more line')}`))
  }

  /** @param name before the text, in bold */
  #line(mark: SafeText, name: string, text: string): void {
    const { style } = this.#screen
    const body = untrustedLines(text).hanging(INDENT)
    this.#screen.print(name === '' ? safe`${mark} ${body}` : safe`${mark} ${style.bold(name)} ${style.dim(body)}`)
  }
}

const INDENT = 2

/** How the script begins an answer that repeats the result of a tool. */
export const isReportOf = (name: string, text: string): boolean => [':', ',', ' failed:'].some((next) => text.startsWith(`${name}${next}`))

const END_WORDS = {
  done: '',
  cancelled: 'Stopped.',
  failed: 'The model failed.',
  steps: 'Stopped: too many steps in one turn.',
  tokens: 'Stopped: too many tokens in one turn.',
  'cut-off': 'The answer was cut off.',
  refused: 'The model refused to answer.',
} as const
