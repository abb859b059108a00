/** The default bus and key ring, for a server that runs in one process. */

import { randomId } from '../../base/bytes.ts'
import { callListeners } from '../../base/call-observer.ts'
import type { Bus, Change, KeyRing, SealingKey } from './replaceable-services.ts'

export function memoryBus(): Bus {
  const listeners = new Set<(change: Change) => void>()
  return {
    publish: (change) => callListeners(listeners, (listener) => listener(change), 'changes'),
    subscribe: (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}

/** A random key. Other processes cannot open state that is sealed with it, so a transport may replace it. */
export function memoryKeyRing(): KeyRing & { replace(keys: KeyRing): void } {
  let key: SealingKey | undefined
  const own = (): SealingKey => {
    // The id is random, too: a process then knows state of another one by its key.
    key ??= { id: randomId().slice(0, 8), secret: crypto.getRandomValues(new Uint8Array(32)) }
    return key
  }
  let keys: KeyRing = { current: own, find: (id) => (id === own().id ? own() : undefined) }
  return {
    current: () => keys.current(),
    find: (id) => keys.find(id),
    replace: (others) => {
      keys = others
    },
  }
}
