/** Runs before `npm publish`: a release needs the fields that only whoever publishes it can fill in. */

import { readFileSync } from 'node:fs'
import { root, run, say } from './setup.mjs'

/** Where people go from the registry's page. Nothing in the project knows these addresses. */
const NEEDED = {
  repository: 'where the source is',
  homepage: 'where the documentation is',
  bugs: 'where to report a bug',
  author: 'who publishes it',
}

const fields = JSON.parse(readFileSync(process.argv[2] ?? `${root}package.json`, 'utf8'))
const missing = Object.entries(NEEDED).filter(([name]) => !fields[name])
for (const [name, what] of missing) say(`package.json has no "${name}" (${what})`)
if (missing.length > 0) {
  say('not published: fill in these fields first')
  process.exit(1)
}
if (process.argv[2] === undefined) run(process.execPath, ['scripts/check.mjs'])
