/** Shows one turn of a chat: the model's text, its tool calls and their results. */

import type { ContentBlock } from '../../client/index.ts'
import type { ChatPart, Conversation, Host } from '../../host/index.ts'
import type { Invocation } from '../command-runner.ts'
import type { ExitName } from '../exit-codes.ts'
import { jsonText } from '../output/json.ts'
import { safe, untrustedLines } from '../output/safe-text.ts'
import type { Screen } from '../output/screen.ts'

const MAX_SHOWN_RESULT = 2000

/** Ctrl-C stops the turn. */
export async function runTurn(
  { screen, signal }: Pick<Invocation, 'screen' | 'signal'>,
  host: Host,
  conversation: Conversation,
  said: string,
): Promise<ExitName> {
  let exit: ExitName = 'ok'
  const line = new ModelText(screen)
  for await (const part of host.chat(said, { conversation, signal })) {
    if (screen.isJson)
      screen.printJsonLine(part.type === 'error' ? { type: 'error', error: part.error.message, code: part.error.code } : part)
    else show(screen, line, part)
    if (part.type === 'end' && part.reason !== 'done') exit = part.reason === 'cancelled' ? 'interrupted' : 'failed'
  }
  line.end()
  return exit
}

/** The model's text as it streams in, on a line of its own. */
class ModelText {
  readonly #screen: Screen
  #isOpen = false

  constructor(screen: Screen) {
    this.#screen = screen
  }

  add(text: string): void {
    this.#isOpen = true
    this.#screen.printPart(untrustedLines(text))
  }

  end(): void {
    if (this.#isOpen) this.#screen.print()
    this.#isOpen = false
  }
}

function show(screen: Screen, line: ModelText, part: ChatPart): void {
  const { style } = screen
  if (part.type === 'text') return line.add(part.text)
  line.end()
  switch (part.type) {
    case 'tool-call':
      return screen.print(safe`${style.cyan('→')} ${style.bold(part.name)} ${style.dim(jsonText(part.args))}`)
    case 'tool-result': {
      const text = part.result.content.map(contentText).join('\n')
      const shown = text.length > MAX_SHOWN_RESULT ? `${text.slice(0, MAX_SHOWN_RESULT)} ...` : text
      return screen.print(safe`${part.result.isError ? style.red('✗') : style.green('←')} ${style.dim(untrustedLines(shown))}`)
    }
    case 'refused':
      return screen.print(
        safe`${style.red('✗')} ${part.name} was denied: ${part.reason}${part.feedback === undefined ? '' : ` (${part.feedback})`}`,
      )
    case 'error':
      return screen.note(safe`${screen.noteStyle.red('✗')} ${part.error.message}`)
    case 'end':
      if (part.reason !== 'done') screen.note(safe`${screen.noteStyle.yellow('■')} ${END_WORDS[part.reason]}`)
  }
}

const contentText = (block: ContentBlock): string => (block.type === 'text' ? block.text : `[${block.type}]`)

const END_WORDS = {
  done: '',
  cancelled: 'Stopped.',
  failed: 'The model failed.',
  steps: 'Stopped: too many steps in one turn.',
  tokens: 'Stopped: too many tokens in one turn.',
  'cut-off': 'The answer was cut off.',
  refused: 'The model refused to answer.',
} as const
