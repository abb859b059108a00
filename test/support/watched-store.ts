/** A store that writes down each command that it gets. */

import type { SharedStore } from '../../src/store/shared-store.ts'

const PARTS = ['sessions', 'streams', 'topics', 'counters'] as const

export interface StoreCommandSeen {
  part: (typeof PARTS)[number]
  name: string
  /** The first argument: a session, a topic or a key. */
  about: unknown
}

/** @returns commands of sessions, streams, topics and counters. Empty the list to begin again */
export function watchedStore(store: SharedStore): { store: SharedStore; commands: StoreCommandSeen[] } {
  const commands: StoreCommandSeen[] = []
  const watched = (part: StoreCommandSeen['part']): object =>
    new Proxy(store[part], {
      get: (target, name) => {
        const member = (target as unknown as Record<string | symbol, unknown>)[name]
        if (typeof member !== 'function') return member
        return (...args: unknown[]) => {
          commands.push({ part, name: String(name), about: args[0] })
          return member.apply(target, args)
        }
      },
    })
  return { store: Object.assign({}, store, Object.fromEntries(PARTS.map((part) => [part, watched(part)]))), commands }
}
