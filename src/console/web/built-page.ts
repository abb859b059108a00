/** Where the build puts the page. */

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The folder with the page of this package, seen from a file of the build. Undefined: it is not built. */
export function builtPage(): string | undefined {
  const folder = fileURLToPath(new URL('../console/page', import.meta.url))
  return existsSync(join(folder, 'index.html')) ? folder : undefined
}
