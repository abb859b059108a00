/** The package as a user gets it: packed, then judged by publint and arethetypeswrong, and its subpaths kept apart. */

import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { build } from 'esbuild'
import { root } from './setup.mjs'

const folder = mkdtempSync(`${tmpdir()}/portico-pack-`)
try {
  const packed = JSON.parse(must('npm', ['pack', '--json', '--pack-destination', folder]))[0]
  const tarball = `${folder}/${packed.filename}`
  must(`${root}/node_modules/.bin/publint`, ['run', tarball, '--strict'])
  must(`${root}/node_modules/.bin/attw`, [tarball, '--profile', 'esm-only', '--no-color'])
  for (const file of packed.files) {
    if (/\.(ts|tsx)$/.test(file.path) && !file.path.endsWith('.d.ts')) throw new Error(`${file.path} has no place in the package`)
  }
  // What one subpath is for must not be carried by another.
  await bleed('portico/client', ['inputSchema must', 'node:child_process', 'Unknown tool:'])
  await bleed('portico/server', ['node:', 'server/discover', "notifications/initialized')"].slice(0, 1))
  await bleed('portico', ['node:'])
} finally {
  rmSync(folder, { recursive: true, force: true })
}

function must(command, args) {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd: root, encoding: 'utf8' })
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} failed:\n${stdout}\n${stderr}`)
  return stdout
}

async function bleed(subpath, forbidden) {
  const { outputFiles } = await build({
    stdin: { contents: `export * from '${subpath}'`, resolveDir: root },
    bundle: true,
    splitting: true,
    write: false,
    format: 'esm',
    platform: 'node',
    outdir: '/bundle',
    packages: 'bundle',
    external: ['re2js'],
  })
  const entry = outputFiles.find(({ path }) => path.endsWith('stdin.js')).text
  const reached = reachable(entry, outputFiles)
  for (const text of forbidden) if (reached.includes(text)) throw new Error(`A bundle of ${subpath} contains ${JSON.stringify(text)}`)
}

/** The entry and the chunks it loads at once; those it loads later are not its weight. */
function reachable(entry, files, seen = new Set()) {
  let all = entry
  for (const [, name] of entry.matchAll(/(?:from|import)\s*"\.\/([^"]+)"/g)) {
    if (seen.has(name)) continue
    seen.add(name)
    all += reachable(files.find(({ path }) => path.endsWith(`/${name}`)).text, files, seen)
  }
  return all
}
