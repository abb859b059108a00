/** Builds the package: JavaScript as one bundle per subpath, because one file loads five times as fast as eighty; types with tsc; the page of the console with Vite. */

import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { directImports } from './direct-imports.mjs'
import { NODE_MODULES, nodeImports, WEB_MODULES } from './node-imports.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))

export const SUBPATHS = [
  'server',
  'client',
  'stdio',
  'http',
  'auth',
  'host',
  'console',
  'host/policy-tools',
  'testing',
  'extensions',
  'tasks',
  'skills',
  'compose',
  'openapi',
  'apps',
  'observability',
  'opentelemetry',
  'store',
  'redis',
  'adapters/ai-sdk',
  'adapters/langchain',
  'adapters/openai-agents',
]

/** Programs, which users start; the subpaths are libraries. */
const PROGRAMS = ['cli'].filter((name) => existsSync(`${root}/src/${name}/index.ts`))

/** With `types: false` the build takes a tenth of the time. Running needs no types. */
export async function build({ types: withTypes = true } = {}) {
  // Builds into another folder and then moves it, because another process may be running the current build.
  const folder = `.cache/dist-${process.pid}`
  const { rolldown } = await import('rolldown')
  const entries = [
    ...[...SUBPATHS, ...PROGRAMS].map((name) => [`${name}/index`, `src/${name}/index.ts`]),
    ...Object.entries(NODE_MODULES).map(([name, file]) => [`node/${name}`, file]),
    ...Object.entries(WEB_MODULES).map(([name, file]) => [`web/${name}`, file]),
  ]
  const bundle = await rolldown({
    cwd: root,
    input: { index: 'src/index.ts', ...Object.fromEntries(entries) },
    platform: 'node',
    external: (id) => !/^[./]/.test(id) && !id.startsWith('src/'),
    preserveEntrySignatures: 'allow-extension',
    treeshake: { moduleSideEffects: false },
    plugins: [directImports(), nodeImports(root)],
    transform: { target: 'node20.19' },
  })
  await bundle.write({
    dir: `${root}/${folder}`,
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: 'shared/[name]-[hash].js',
    // The code that all subpaths share is one file. A server on stdio then loads three files.
    codeSplitting: {
      includeDependenciesRecursively: false,
      groups: [
        {
          name: 'core',
          test: /src[\\/](base(?![\\/](?:address[\\/]ip-|text[\\/]visible-text))|jsonrpc|protocol(?![\\/]needs-node)|revisions)[\\/]/,
        },
      ],
    },
  })
  // npm does this when it installs a package. The image and a link of your own start the file as it is.
  for (const name of PROGRAMS) chmodSync(`${root}/${folder}/${name}/index.js`, 0o755)
  if (withTypes) declareTypes(folder)
  await buildPage(folder)
  const old = `${root}/.cache/old-${process.pid}`
  if (existsSync(`${root}/dist`)) renameSync(`${root}/dist`, old)
  renameSync(`${root}/${folder}`, `${root}/dist`)
  rmSync(old, { recursive: true, force: true })
}

/** The page of the console, from its own workspace. */
async function buildPage(folder) {
  const { build: buildWithVite } = await import('vite')
  // Tests build with another value, and with that the page would contain the slow, large variant of React for development.
  const { NODE_ENV } = process.env
  process.env.NODE_ENV = 'production'
  try {
    await buildWithVite({ configFile: `${root}/console/vite.config.ts`, build: { outDir: `${root}/${folder}/console/page` } })
  } finally {
    if (NODE_ENV === undefined) delete process.env.NODE_ENV
    else process.env.NODE_ENV = NODE_ENV
  }
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

/** Replaces `.ts` with `.js` in the imports of declarations, because older compilers find the types by the name of the JavaScript file. */
function pointAtJavaScript(file) {
  const text = readFileSync(file, 'utf8')
  writeFileSync(file, text.replace(/((?:from|import\()\s*'\.{1,2}\/[^']*)\.ts'/g, "$1.js'"))
}
