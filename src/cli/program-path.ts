/** The file of this command, for starting it again as another process. */

import { fileURLToPath } from 'node:url'

/** The built command, seen from its own file or from a chunk of it. */
export const programPath = (): string => fileURLToPath(new URL('../cli/index.js', import.meta.url))
