/** The extension com.example/undo, for servers and clients: a method that takes the last change back, and a notification. */

import { clientExtension, extensionMethod, serverExtension } from 'portico/extensions'
import type { Server } from 'portico/server'

const ID = 'com.example/undo'
const CHANGED = 'notifications/com.example/undo/changed'
const MAX_CHANGES = 100

/** The method that takes the last change back. */
export const UNDO = 'com.example/undo/last'

const nothing = { type: 'object', properties: {} } as const
const undone = { type: 'object', properties: { undone: { type: 'string' }, left: { type: 'integer' } }, required: ['left'] } as const
const changed = { type: 'object', properties: { left: { type: 'integer' } }, required: ['left'] } as const

/** Adds the extension to a server. Call the returned function after each change. */
export function addUndo(server: Server): (name: string, takeBack: () => void) => void {
  const changes: { name: string; takeBack(): void }[] = []
  const handle = server.extend(
    serverExtension({
      id: ID,
      settings: { maxChanges: MAX_CHANGES },
      methods: {
        [UNDO]: extensionMethod({
          params: nothing,
          result: undone,
          handler: () => {
            const change = changes.pop()
            change?.takeBack()
            handle.notify(CHANGED, { left: changes.length })
            return { ...(change && { undone: change.name }), left: changes.length }
          },
        }),
      },
      sends: { [CHANGED]: { params: changed } },
      // In 2026-07-28 a client hears of changes only if it asks: client.subscribe('undo', true).
      subscription: { member: 'undo', accept: (wanted) => (wanted === true ? true : undefined), matches: () => true },
    }),
  )
  return (name, takeBack) => {
    changes.push({ name, takeBack })
    if (changes.length > MAX_CHANGES) changes.shift()
    handle.notify(CHANGED, { left: changes.length })
  }
}

/** For clients: `connect(target, { use: [undoClient(...)] })`. */
export const undoClient = (onChange: (left: number) => void) =>
  clientExtension({
    id: ID,
    methods: { [UNDO]: { params: nothing, result: undone } },
    notifications: { [CHANGED]: { params: changed, handler: ({ left }) => onChange(Number(left)) } },
  })
