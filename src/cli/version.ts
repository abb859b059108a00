/** The version, and the name that the command gives itself. */

import { readFileSync } from 'node:fs'

/** Read from the package, which is two folders up from where this file is built to and from where its source is. */
export const VERSION: string = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')).version

/** How the command introduces itself to servers. */
export const CLIENT_INFO = { name: 'portico', title: 'Portico', version: VERSION }
