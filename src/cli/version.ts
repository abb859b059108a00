/** The version, and the name that the command gives itself. */

import { readFileSync } from 'node:fs'

/** From package.json, which is two folders up from both the source and the built file. */
export const VERSION: string = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')).version

/** How the command introduces itself to servers. */
export const CLIENT_INFO = { name: 'portico', title: 'Portico', version: VERSION }
