/** Lists stored conversations, and stores the current one after each turn. */

import type { Conversation, Host } from '../../host/index.ts'
import { safe } from '../output/safe-text.ts'
import type { Screen } from '../output/screen.ts'
import { table } from '../output/table.ts'

export async function listConversations(screen: Screen, store: Host['conversations']): Promise<void> {
  const { conversations, problems } = await store.list()
  for (const text of problems) screen.note(safe`${screen.noteStyle.yellow('!')} ${text}`)
  if (screen.isJson) return screen.printJson(conversations)
  if (conversations.length === 0) return screen.note(safe`No stored conversations.`)
  const rows = conversations.map(({ id, updatedAt, turns, title }) => [id, timeText(updatedAt), String(turns), title])
  const columns = [{ title: 'ID', style: 'bold' as const }, { title: 'LAST USED' }, { title: 'TURNS' }, { title: 'FIRST MESSAGE' }]
  screen.print(table(columns, rows, screen.style, screen.columns))
}

/** In the time zone of the person. */
function timeText(ms: number): string {
  const two = (number: number): string => String(number).padStart(2, '0')
  const time = new Date(ms)
  return `${time.getFullYear()}-${two(time.getMonth() + 1)}-${two(time.getDate())} ${two(time.getHours())}:${two(time.getMinutes())}`
}

/** A conversation that cannot be stored still goes on. Resolves with its id, or undefined if it was not stored. */
export async function storeConversation(screen: Screen, host: Host, conversation: Conversation): Promise<string | undefined> {
  if (conversation.messages.length === 0) return undefined
  try {
    return await host.conversations.save(conversation)
  } catch (error) {
    screen.note(safe`${screen.noteStyle.yellow('!')} The conversation was not stored: ${(error as Error).message}`)
    return undefined
  }
}
