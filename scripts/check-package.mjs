/** Packs the package, checks it with publint and arethetypeswrong, and checks the size and the content of each subpath. */

import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { MAX_PAGE_KB, pageSizes } from './page-size.mjs'
import { root } from './setup.mjs'

/** Texts that occur in only one part of the package. They show whether a bundle contains that part. */
const MARKS = { server: 'Unknown tool:', client: 'needs the server capability', node: '"node:' }

/** The maximum size of each subpath as a bundle, minified and compressed, and the parts that it must not contain. */
const SUBPATHS = [
  { subpath: 'portico', maxKb: 46.5, without: ['server', 'node'] },
  { subpath: 'portico/server', maxKb: 55.5, without: ['client', 'node'] },
  { subpath: 'portico/client', maxKb: 44.5, without: ['server', 'node'] },
  { subpath: 'portico/stdio', maxKb: 13, without: ['server', 'client'] },
  { subpath: 'portico/http', maxKb: 41, without: ['server', 'client'] },
  { subpath: 'portico/auth', maxKb: 49, without: ['server', 'client', 'node'] },
  { subpath: 'portico/host', maxKb: 208, without: ['server'] },
  { subpath: 'portico/console', maxKb: 215, without: [] },
  { subpath: 'portico/policy', maxKb: 36, without: ['server', 'client'] },
  { subpath: 'portico/testing', maxKb: 110.5, without: ['node'] },
  { subpath: 'portico/extensions', maxKb: 22, without: ['server', 'client', 'node'] },
  { subpath: 'portico/openapi', maxKb: 61, without: ['client', 'node'] },
  { subpath: 'portico/compose', maxKb: 16, without: ['server', 'client', 'node'] },
  { subpath: 'portico/apps', maxKb: 14, without: ['server', 'client', 'node'] },
  { subpath: 'portico/tasks', maxKb: 35.5, without: ['server', 'client', 'node'] },
  { subpath: 'portico/skills', maxKb: 12.5, without: ['server', 'client', 'node'] },
  { subpath: 'portico/observability', maxKb: 12, without: ['server', 'client', 'node'] },
  { subpath: 'portico/opentelemetry', maxKb: 11.5, without: ['server', 'client', 'node'] },
  { subpath: 'portico/store', maxKb: 17.5, without: ['server', 'client', 'node'] },
  { subpath: 'portico/redis', maxKb: 30, without: ['server', 'client'] },
  { subpath: 'portico/ai-sdk', maxKb: 10, without: ['server', 'client', 'node'] },
  { subpath: 'portico/langchain', maxKb: 10, without: ['server', 'client', 'node'] },
  { subpath: 'portico/openai-agents', maxKb: 10, without: ['server', 'client', 'node'] },
]

const { peerDependencies } = JSON.parse(readFileSync(`${root}/package.json`, 'utf8'))

const folder = mkdtempSync(`${tmpdir()}/portico-pack-`)
try {
  const packed = JSON.parse(must('npm', ['pack', '--json', '--pack-destination', folder]))[0]
  const tarball = `${folder}/${packed.filename}`
  must(`${root}/node_modules/.bin/publint`, ['run', tarball, '--strict'])
  must(`${root}/node_modules/.bin/attw`, [tarball, '--profile', 'esm-only', '--no-color'])
  for (const { path } of packed.files) {
    if (
      !/^dist\/.*\.(d\.ts|js)$|^dist\/console\/page\/(index\.html|icon\.svg|assets\/[\w.-]+\.(js|css))$|^docs\/[\w-]+\.md$|^docs\/images\/console-tools\.webp$|^(package\.json|README\.md|LICENSE|CHANGELOG\.md|llms\.txt)$/.test(
        path,
      )
    ) {
      throw new Error(`${path} does not belong in the package`)
    }
  }
  weighPage()
  const seen = new Set()
  const tooLarge = []
  for (const row of SUBPATHS) for (const mark of await weigh(row, tooLarge)) seen.add(mark)
  if (tooLarge.length > 0) throw new Error(tooLarge.join('\n'))
  const unseen = Object.keys(MARKS).filter((mark) => !seen.has(mark))
  if (unseen.length > 0) throw new Error(`No bundle contains the marks of ${unseen.join(', ')}, so the check for them proves nothing`)
} finally {
  rmSync(folder, { recursive: true, force: true })
}

/** Prints the size of the console's page: index.html with what it names, and the whole. */
function weighPage() {
  const { firstKb, allKb } = pageSizes()
  console.log(
    `${'console, first load'.padEnd(22)} ${firstKb.toFixed(1).padStart(5)} of ${MAX_PAGE_KB} kB, all pages ${allKb.toFixed(1)} kB`,
  )
  if (firstKb > MAX_PAGE_KB) throw new Error(`The first load of the console has ${firstKb.toFixed(1)} kB; the maximum is ${MAX_PAGE_KB} kB`)
}

function must(command, args) {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd: root, encoding: 'utf8' })
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} failed:\n${stdout}\n${stderr}`)
  return stdout
}

/** Bundles a subpath, prints its size and returns the marks in it. A size above the maximum becomes a line in `tooLarge`. */
async function weigh({ subpath, maxKb, without }, tooLarge) {
  const { outputFiles } = await build({
    stdin: { contents: `export * from '${subpath}'`, resolveDir: root },
    bundle: true,
    minify: true,
    splitting: true,
    write: false,
    format: 'esm',
    platform: 'node',
    outdir: '/bundle',
    packages: 'bundle',
    logLevel: 'error',
    external: ['re2js', '@napi-rs/keyring', ...Object.keys(peerDependencies), '@langchain/core/*'],
  })
  const entry = outputFiles.find(({ path }) => path.endsWith('stdin.js')).text
  const text = reachable(entry, outputFiles)
  const kb = gzipSync(text).length / 1000
  console.log(`${subpath.padEnd(22)} ${kb.toFixed(1).padStart(5)} of ${maxKb} kB`)
  if (kb > maxKb) tooLarge.push(`The bundle of ${subpath} has ${kb.toFixed(2)} kB; the maximum is ${maxKb} kB`)
  const found = Object.keys(MARKS).filter((mark) => text.includes(MARKS[mark]))
  for (const mark of without)
    if (found.includes(mark)) throw new Error(`The bundle of ${subpath} must not contain ${JSON.stringify(MARKS[mark])}`)
  return found
}

/**
 * The text of the entry and of the chunks that it loads at once. Chunks that it loads later do not count. But they have a price: bundlers
 * split between files, so what they share with the entry becomes a chunk with names to import and export, and may contain more than the
 * entry needs. That is 1.5 kB of portico/server, for `server.skills`.
 */
function reachable(entry, files, seen = new Set()) {
  let all = entry
  for (const [, name] of entry.matchAll(/(?:from|import)\s*"\.\/([^"]+)"/g)) {
    if (seen.has(name)) continue
    seen.add(name)
    all += reachable(files.find(({ path }) => path.endsWith(`/${name}`)).text, files, seen)
  }
  return all
}
