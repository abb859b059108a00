/** A value that changes, and the listeners that are told. Plain TypeScript: React reads it with `useSyncExternalStore`. */

export interface Store<State> {
  get(): State
  /** A change to the same value tells no listener. */
  update(change: (state: State) => State): void
  /** Returns the function that ends it. */
  subscribe(listener: () => void): () => void
}

export function createStore<State>(first: State): Store<State> {
  let state = first
  const listeners = new Set<() => void>()
  return {
    get: () => state,
    update: (change) => {
      const next = change(state)
      if (Object.is(next, state)) return
      state = next
      for (const listener of [...listeners]) listener()
    },
    subscribe: (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}
