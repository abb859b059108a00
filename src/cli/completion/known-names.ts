/** Names for completion, from what is kept on this machine. */

import type { Io } from '../io.ts'
import type { KnownNames } from './candidates.ts'

export function knownNames(_io: Io): KnownNames {
  const none = async (): Promise<readonly string[]> => []
  return { servers: none, tools: none, prompts: none, resources: none }
}
