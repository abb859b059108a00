/** npm run check: checks format, lint with the layer rules, types, also of the examples in the documentation, dead code, the documentation site with its links, and the packed package with its sizes. */

import { spawn } from 'node:child_process'
import { root, say, setUp } from './setup.mjs'

await setUp()
const bin = (name) => `${root}/node_modules/.bin/${name}`
const steps = [
  ['format and lint', bin('biome'), ['check', '.']],
  ['types', bin('tsc'), ['-p', 'tsconfig.json']],
  ['types of the examples', bin('tsc'), ['-p', 'examples/tsconfig.json']],
  ['types of the documentation', process.execPath, ['scripts/check-snippets.mjs']],
  ['types of the page', bin('tsc'), ['-p', 'console/tsconfig.json']],
  ['dead code', bin('knip'), []],
  ['code that only tests use', bin('knip'), ['--production']],
  ['documentation site', process.execPath, ['site/build.mjs']],
  ['package and its sizes', process.execPath, ['scripts/check-package.mjs']],
]

/** Runs one step. Resolves with its status and all output. */
const resultOf = ([, command, args]) =>
  new Promise((resolve) => {
    const child = spawn(command, args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, FORCE_COLOR: '0' } })
    const output = { stdout: '', stderr: '' }
    for (const name of ['stdout', 'stderr'])
      child[name].setEncoding('utf8').on('data', (text) => {
        output[name] += text
      })
    child.once('error', (error) => resolve({ ...output, status: 1, stderr: error.message }))
    child.once('close', (status) => resolve({ ...output, status }))
  })

let failed = 0
const waiting = [...steps]
const work = async () => {
  for (let step = waiting.shift(); step; step = waiting.shift()) {
    const { status, stdout, stderr } = await resultOf(step)
    say(`${status === 0 ? 'ok    ' : 'FAILED'} ${step[0]}`)
    if (status !== 0) failed++
    // A step that passes prints only a few lines; a failed step prints everything.
    process.stderr.write(status === 0 ? stdout.replace(/^(?=.)/gm, '       ').slice(0, 2000) : `${stdout}\n${stderr}\n`)
  }
}
// Two at a time: most of them use one core.
await Promise.all([work(), work()])
process.exitCode = failed === 0 ? 0 : 1
