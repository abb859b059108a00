/** What users can import from the package. */

import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('..', import.meta.url))

/** The subpaths of package.json, each with the file of its declarations. */
export function subpaths() {
  const { exports } = JSON.parse(readFileSync(`${root}package.json`, 'utf8'))
  return Object.entries(exports)
    .filter(([, { types }]) => types !== undefined)
    .map(([path, { types }]) => ({ name: path.replace(/^\./, 'portico'), types: `${root}${types.slice(2)}` }))
}
