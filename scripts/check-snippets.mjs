/** Checks the types of every example in the documentation, against the built package. */

import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { root } from './setup.mjs'
import { snippets } from './snippets.mjs'

const folder = `${root}/.cache/snippets`
rmSync(folder, { recursive: true, force: true })
mkdirSync(folder, { recursive: true })

const all = snippets()
const places = new Map()
for (const { page, line, file, code } of all) {
  const name = file.replace(/\.mjs$/, '.mts')
  places.set(name, { page, line })
  // Without an import or export the compiler takes a file for a script.
  writeFileSync(`${folder}/${name}`, `${code}export {}\n`)
}
// These packages bring no types.
for (const name of ['express', 'oidc-provider']) copyFileSync(`${root}/test/support/${name}.d.ts`, `${folder}/${name}.d.ts`)
const compilerOptions = {
  paths: { portico: ['../../dist/index.d.ts'], 'portico/*': ['../../dist/*/index.d.ts'] },
  // Readers save most examples as JavaScript, which has no types of parameters.
  noImplicitAny: false,
  noUnusedLocals: false,
  noUnusedParameters: false,
  noUncheckedIndexedAccess: false,
}
writeFileSync(`${folder}/tsconfig.json`, JSON.stringify({ extends: '../../tsconfig.json', compilerOptions, include: ['.'], exclude: [] }))

const { status, stdout } = spawnSync(`${root}/node_modules/.bin/tsc`, ['-p', `${folder}/tsconfig.json`], { cwd: folder, encoding: 'utf8' })
/** Names the page and the line in it, not the file in the cache. */
const shown = stdout.replaceAll(/^(\S+?\.mts)\((\d+),\d+\)/gm, (text, name, at) => {
  const place = places.get(name)
  return place ? `${place.page}:${place.line + Number(at)}` : text
})
if (status !== 0) console.error(shown)
else console.log(`${all.length} examples`)
process.exitCode = status ?? 1
