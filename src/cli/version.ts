/** What `--version` says. */

import { readFileSync } from 'node:fs'

/** Read from the package, which is two folders up from where this file is built to and from where its source is. */
export const VERSION: string = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')).version
