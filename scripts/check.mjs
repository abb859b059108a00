/** npm run check: checks format, lint with the layer rules, types, dead code, and the packed package with its sizes. */

import { spawnSync } from 'node:child_process'
import { root, say, setUp } from './setup.mjs'

await setUp()
const bin = (name) => `${root}/node_modules/.bin/${name}`
const steps = [
  ['format and lint', bin('biome'), ['check', '.']],
  ['types', bin('tsc'), ['-p', 'tsconfig.json']],
  ['types of the page', bin('tsc'), ['-p', 'console/tsconfig.json']],
  ['dead code', bin('knip'), []],
  ['code that only tests use', bin('knip'), ['--production']],
  ['package and its sizes', process.execPath, ['scripts/check-package.mjs']],
]

let failed = 0
for (const [name, command, args] of steps) {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd: root, encoding: 'utf8', env: { ...process.env, FORCE_COLOR: '0' } })
  say(`${status === 0 ? 'ok    ' : 'FAILED'} ${name}`)
  if (status !== 0) failed++
  // A step that passes prints only a few lines; a failed step prints everything.
  process.stderr.write(status === 0 ? stdout.replace(/^(?=.)/gm, '       ').slice(0, 2000) : `${stdout}\n${stderr}\n`)
}
process.exitCode = failed === 0 ? 0 : 1
