/** The bus of change notices over the messages between replicas. */

import { isObject } from '../base/json.ts'
import type { Bus, Change } from '../protocol/interfaces/replaceable-services.ts'
import type { Replica } from './replica.ts'

/** Listeners of this replica are told at once; those of other replicas when the message arrives. */
export function storeBus(replica: Replica): Bus {
  const listeners = new Set<(change: Change) => void>()
  let stop: (() => void) | undefined
  const tell = (change: Change): void => {
    for (const listener of listeners) {
      try {
        listener(change)
      } catch (error) {
        // A listener that fails must not stop the others.
        console.error('portico: a listener for changes failed:', error)
      }
    }
  }
  return {
    publish: (change) => {
      tell(change)
      replica.broadcast(JSON.stringify({ change })).catch((error: Error) => {
        console.error('portico: a change notice did not reach the other replicas:', error.message)
      })
    },
    subscribe: (listener) => {
      listeners.add(listener)
      stop ??= replica.listen((message) => {
        const change = message.kind === 'message' ? changeIn(message.json) : undefined
        if (change) tell(change)
      })
      replica.join().catch((error: Error) => {
        console.error('portico: change notices of other replicas do not arrive yet:', error.message)
      })
      return () => {
        listeners.delete(listener)
        if (listeners.size > 0) return
        stop?.()
        stop = undefined
      }
    },
  }
}

/** Other messages of replicas have no change. */
function changeIn(json: string): Change | undefined {
  const message = JSON.parse(json) as unknown
  return isObject(message) && isObject(message.change) ? (message.change as Change) : undefined
}
