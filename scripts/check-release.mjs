/** Runs before `npm publish` and refuses a release without the fields that only the publisher can fill in. */

import { readFileSync } from 'node:fs'
import { root, run, say } from './setup.mjs'

/** The links on the registry's page. The project cannot know these addresses. */
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
  say('the release is refused: fill in these fields first')
  process.exit(1)
}
if (process.argv[2] === undefined) run(process.execPath, ['scripts/check.mjs'])
