/** What metrics know of a command to a store. Types only. */

/** One command to a store that has ended. */
export interface StoreCommand {
  /** Names the kind of command, such as `enter-session`. */
  name: string
  durationMs: number
  /** `down`: the store could not be reached. */
  outcome: 'ok' | 'error' | 'down'
}
