/** Opens the stored conversations of a host. The code that reads and writes them is loaded on first use. */

import type { ConversationStore, ConversationStoreOptions } from './conversation-store.ts'

/**
 * Opens the stored conversations of a host.
 * @example
 * const store = openConversations({ folder: join(hostFolder(), STORAGE_PATHS.conversations) })
 * const { conversations } = await store.list()
 */
export function openConversations(options: ConversationStoreOptions): ConversationStore {
  let opening: Promise<ConversationStore> | undefined
  const opened = (): Promise<ConversationStore> => {
    opening ??= import('./conversation-files.ts').then(({ conversationFiles }) => conversationFiles(options))
    return opening
  }
  return {
    list: async () => (await opened()).list(),
    save: async (conversation) => (await opened()).save(conversation),
    load: async (id) => (await opened()).load(id),
    remove: async (id) => (await opened()).remove(id),
  }
}
