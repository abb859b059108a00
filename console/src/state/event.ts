/** The events of the console, each with its name. */

import type { ConsoleEvents } from '../../../src/console/api.ts'

/** An event with its name. A large one has `omittedBytes` in place of its details. */
export type ConsoleEvent = {
  [Name in keyof ConsoleEvents]: { name: Name; data: ConsoleEvents[Name] & { omittedBytes?: number } }
}[keyof ConsoleEvents]
