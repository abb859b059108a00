/** Builds the package: JavaScript bundled per subpath (one file loads in a fifth of the time of eighty), types by tsc. */

import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { directImports } from './direct-imports.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))

export const SUBPATHS = ['server', 'client', 'stdio', 'http', 'auth', 'host', 'testing']

/** Programs rather than libraries. */
const PROGRAMS = ['cli'].filter((name) => existsSync(`${root}/src/${name}/index.ts`))

/** Without `types` it takes a tenth of the time, and is all that running it needs. */
export async function build({ types: withTypes = true } = {}) {
  // Built beside and moved into place: somebody may be running what is there.
  const folder = `.cache/dist-${process.pid}`
  const { rolldown } = await import('rolldown')
  const entries = [...SUBPATHS, ...PROGRAMS].map((name) => [`${name}/index`, `src/${name}/index.ts`])
  const bundle = await rolldown({
    cwd: root,
    input: { index: 'src/index.ts', ...Object.fromEntries(entries) },
    platform: 'node',
    external: (id) => !/^[./]/.test(id) && !id.startsWith('src/'),
    preserveEntrySignatures: 'allow-extension',
    treeshake: { moduleSideEffects: false },
    plugins: [directImports()],
    transform: { target: 'node20.19' },
  })
  await bundle.write({
    dir: `${root}/${folder}`,
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: 'shared/[name]-[hash].js',
    // What every subpath builds on is one file: a server on stdio then loads three.
    codeSplitting: {
      includeDependenciesRecursively: false,
      groups: [{ name: 'core', test: /src[\\/](base(?![\\/]address[\\/]ip-)|jsonrpc|protocol|revisions)[\\/]/ }],
    },
  })
  if (withTypes) declareTypes(folder)
  const old = `${root}/.cache/old-${process.pid}`
  if (existsSync(`${root}/dist`)) renameSync(`${root}/dist`, old)
  renameSync(`${root}/${folder}`, `${root}/dist`)
  rmSync(old, { recursive: true, force: true })
}

function declareTypes(folder) {
  const { status } = spawnSync(process.execPath, ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.build.json', '--outDir', folder], {
    cwd: root,
    stdio: 'inherit',
  })
  if (status !== 0) throw new Error('The type declarations could not be built')
  for (const name of readdirSync(`${root}/${folder}`, { recursive: true })) {
    if (name.endsWith('.d.ts')) pointAtJavaScript(`${root}/${folder}/${name}`)
  }
}

/** Declarations name the files next to them; older compilers look for those under the name of the JavaScript. */
function pointAtJavaScript(file) {
  const text = readFileSync(file, 'utf8')
  writeFileSync(file, text.replace(/((?:from|import\()\s*'\.{1,2}\/[^']*)\.ts'/g, "$1.js'"))
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await build()
