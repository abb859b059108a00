/** Shows the end of a conversation that is taken up again. */

import type { Conversation } from '../../host/index.ts'
import { counted } from '../output/counted.ts'
import { safe } from '../output/safe-text.ts'
import type { Screen } from '../output/screen.ts'
import { isReportOf } from './turn.ts'

/** Enough to know what it was about. */
const MAX_TURNS = 2
/** The longest text of one message. The file of the conversation has all of it. */
const MAX_TEXT = 300

type Message = Conversation['messages'][number]

/** Prints the messages and the names of the called tools, without results. Prints nothing for a new conversation. */
export function showLastTurns(screen: Screen, { messages, turn }: Pick<Conversation, 'messages' | 'turn'>): void {
  if (turn === 0) return
  const { dim, cyan } = screen.noteStyle
  const begins = messages.flatMap((message, i) => (isSaid(message) ? [i] : []))
  const shown = begins.slice(-MAX_TURNS)
  screen.note(dim(`Continuing a conversation of ${counted(turn, 'turn')}${turn > shown.length ? `. The last ${shown.length}` : ''}:`))
  const called = new Set<string>()
  for (const { role, content } of messages.slice(shown[0] ?? messages.length)) {
    for (const block of [content].flat()) {
      if (block.type === 'tool_use') {
        called.add(block.name)
        screen.note(safe`  ${cyan('→')} ${block.name}`)
      } else if (block.type === 'text' && !isReport(block.text, called))
        screen.note(role === 'user' ? safe`${dim('>')} ${short(block.text)}` : safe`  ${short(block.text)}`)
    }
  }
}

/** The script repeats the results of tools as its answer. */
const isReport = (text: string, called: ReadonlySet<string>): boolean => [...called].some((name) => isReportOf(name, text))

/** A message of the person, not the results of tools. */
const isSaid = ({ role, content }: Message): boolean => role === 'user' && [content].flat().some(({ type }) => type === 'text')

function short(text: string): string {
  const line = text.trim().replaceAll(/\s+/g, ' ')
  return line.length > MAX_TEXT ? `${line.slice(0, MAX_TEXT)} …` : line
}
