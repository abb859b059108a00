/** A message to the scripted model, with the parts of its answer. */

import type { ChatPartView } from '../../../../../src/console/api.ts'
import { useConsoleState, useRoute } from '../../../hooks/use-console.tsx'
import { useKeptOperation } from './use-kept-operation.ts'

const NO_PARTS: readonly ChatPartView[] = []

/** @param name of the message within the tour */
export function useScriptedChat(name: string) {
  const operation = useKeptOperation(name)
  const models = useRoute('GET /api/settings').data?.models
  const id = operation.operation?.id
  const parts = useConsoleState((state) => (id === undefined ? NO_PARTS : (state.chats[id] ?? NO_PARTS)))
  const model = models?.find(({ kind }) => kind === 'scripted')?.id
  const say = (message: string): void =>
    void operation.start('POST /api/chat', { body: { message, ...(model !== undefined && { model }) } })
  const conversation = (operation.operation?.result as { conversation?: string } | undefined)?.conversation
  return { ...operation, parts, say, conversation }
}
