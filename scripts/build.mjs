/** Builds the package: JavaScript bundled per subpath (one file loads in a fifth of the time of eighty), types by tsc. */

import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))

export const SUBPATHS = ['server', 'client', 'stdio', 'http', 'testing']

export async function build() {
  // Built beside and moved into place: somebody may be running what is there.
  const folder = `.cache/dist-${process.pid}`
  const { build: bundle } = await import('esbuild')
  await bundle({
    absWorkingDir: root,
    entryPoints: { index: 'src/index.ts', ...Object.fromEntries(SUBPATHS.map((name) => [`${name}/index`, `src/${name}/index.ts`])) },
    outdir: folder,
    chunkNames: 'shared/[name]-[hash]',
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    packages: 'external',
    logLevel: 'warning',
  })
  const types = spawnSync(process.execPath, ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.build.json', '--outDir', folder], {
    cwd: root,
    stdio: 'inherit',
  })
  if (types.status !== 0) throw new Error('The type declarations could not be built')
  for (const name of readdirSync(`${root}/${folder}`, { recursive: true })) {
    if (name.endsWith('.d.ts')) pointAtJavaScript(`${root}/${folder}/${name}`)
  }
  const old = `${root}/.cache/old-${process.pid}`
  if (existsSync(`${root}/dist`)) renameSync(`${root}/dist`, old)
  renameSync(`${root}/${folder}`, `${root}/dist`)
  rmSync(old, { recursive: true, force: true })
}

/** Declarations name the files next to them; older compilers look for those under the name of the JavaScript. */
function pointAtJavaScript(file) {
  const text = readFileSync(file, 'utf8')
  writeFileSync(file, text.replace(/((?:from|import\()\s*'\.{1,2}\/[^']*)\.ts'/g, "$1.js'"))
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await build()
