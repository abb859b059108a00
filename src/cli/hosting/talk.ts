/** One turn of a chat on the screen: what the model says, what it calls, and what came of that. */

import type { ChatPart } from '../../host/conversation/chat/chat.ts'
import type { Conversation } from '../../host/conversation/chat/conversation.ts'
import type { Host } from '../../host/host.ts'
import type { ContentBlock } from '../../protocol/model/content.ts'
import type { ExitName } from '../exit-codes.ts'
import type { Invocation } from '../frame.ts'
import { jsonText } from '../output/json.ts'
import type { Screen } from '../output/screen.ts'
import { untrustedLines, words } from '../output/shown.ts'

const MAX_SHOWN_RESULT = 2000

/** Ctrl-C stops the turn. */
export async function oneTurn(
  { screen, signal }: Pick<Invocation, 'screen' | 'signal'>,
  host: Host,
  conversation: Conversation,
  said: string,
): Promise<ExitName> {
  let exit: ExitName = 'ok'
  const line = new SaidLine(screen)
  for await (const part of host.chat(said, { conversation, signal })) {
    if (screen.isJson)
      screen.printJsonLine(part.type === 'error' ? { type: 'error', error: part.error.message, code: part.error.code } : part)
    else show(screen, line, part)
    if (part.type === 'end' && part.reason !== 'done') exit = part.reason === 'cancelled' ? 'interrupted' : 'failed'
  }
  line.end()
  return exit
}

/** Words of the model as they come, on a line of their own. */
class SaidLine {
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

function show(screen: Screen, line: SaidLine, part: ChatPart): void {
  const { style } = screen
  if (part.type === 'text') return line.add(part.text)
  line.end()
  switch (part.type) {
    case 'tool-call':
      return screen.print(words`${style.cyan('→')} ${style.bold(part.name)} ${style.dim(jsonText(part.args))}`)
    case 'tool-result': {
      const text = part.result.content.map(contentText).join('\n')
      const shown = text.length > MAX_SHOWN_RESULT ? `${text.slice(0, MAX_SHOWN_RESULT)} ...` : text
      return screen.print(words`${part.result.isError ? style.red('✗') : style.green('←')} ${style.dim(untrustedLines(shown))}`)
    }
    case 'refused':
      return screen.print(
        words`${style.red('✗')} ${part.name} was refused: ${part.reason}${part.feedback === undefined ? '' : ` (${part.feedback})`}`,
      )
    case 'error':
      return screen.note(words`${screen.noteStyle.red('✗')} ${part.error.message}`)
    case 'end':
      if (part.reason !== 'done') screen.note(words`${screen.noteStyle.yellow('■')} ${END_WORDS[part.reason]}`)
  }
}

const contentText = (block: ContentBlock): string => (block.type === 'text' ? block.text : `[${block.type}]`)

const END_WORDS = {
  done: '',
  cancelled: 'Stopped.',
  failed: 'The model failed.',
  steps: 'It took too many steps.',
  tokens: 'It used too many tokens.',
  'cut-off': 'The answer was cut off.',
  refused: 'The model would not answer.',
} as const
