/** The size of the console's page, compressed. */

import { readdirSync, readFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { root } from './setup.mjs'

/** The most that a browser loads before the first page of the console is shown, compressed. */
export const MAX_PAGE_KB = 400

/** `firstKb`: index.html with the files that it names. `allKb`: everything. */
export function pageSizes(page = `${root}/dist/console/page`) {
  const sizeOf = (name) => gzipSync(readFileSync(`${page}/${name}`)).length / 1000
  const sum = (names) => names.reduce((kb, name) => kb + sizeOf(name), 0)
  const first = ['index.html', ...(readFileSync(`${page}/index.html`, 'utf8').match(/assets\/[\w.-]+/g) ?? [])]
  const all = readdirSync(page, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  return { firstKb: sum(first), allKb: sum(all.map(({ parentPath, name }) => `${parentPath.slice(page.length)}/${name}`)) }
}
