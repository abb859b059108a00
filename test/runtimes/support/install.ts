/** The runtimes, as packages of npm in `.cache/runtimes`: not among the dependencies, because their programs would come before those of the machine. */

import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { promisify } from 'node:util'
// @ts-expect-error a plain script without types
import { alone, root } from '../../../scripts/setup.mjs'
import { installNode24, node24 } from '../../conformance/node24.ts'

const system = `${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`
const arm = process.arch === 'arm64'

const WRANGLER = '4.158.0'
const PNPM = '10.34.9'
const BUN = { name: `@oven/bun-${process.platform}-${arm ? 'aarch64' : 'x64'}`, version: '1.4.4' }
const DENO = { name: `@deno/${process.platform}-${process.arch}${process.platform === 'linux' ? '-glibc' : ''}`, version: '2.9.6' }
/** Node 24 is installed for the conformance suite. */
const NODES: Readonly<Record<string, string>> = { 20: '20.20.2', 22: '22.23.3', 26: '26.10.0' }
const OWN = process.versions.node.split('.')[0] as string

const packages = [
  ...Object.entries(NODES)
    .filter(([major]) => major !== OWN)
    .map(([major, version]) => `node${major}@npm:node-${system}@${version}`),
  `${BUN.name}@${BUN.version}`,
  `${DENO.name}@${DENO.version}`,
  `wrangler@${WRANGLER}`,
  // Runs on Node 20. A newer one is not needed to install a project.
  `pnpm@${PNPM}`,
]

const folder = `${root}.cache/runtimes`
const inFolder = (path: string): string => `${folder}/node_modules/${path}`

/** The version of Node that runs the tests serves as itself. */
const nodeOf = (major: string): string => (major === OWN ? process.execPath : major === '24' ? node24 : inFolder(`node${major}/bin/node`))

export const bun = inFolder(`${BUN.name}/bin/bun`)
export const deno = inFolder(`${DENO.name}/deno`)
export const pnpm = inFolder('pnpm/bin/pnpm.cjs')

/** The programs with a runtime of their own, with the arguments that come before the file. */
export const PROGRAMS: readonly { name: string; command: string; args: readonly string[] }[] = [
  ...['20', '22', '24', '26'].map((major) => ({ name: `Node ${major}`, command: nodeOf(major), args: [] })),
  { name: 'Bun', command: bun, args: [] },
  { name: 'Deno', command: deno, args: ['run', '-A', '--node-modules-dir=manual', '--no-lock'] },
]
export const wrangler = { command: node24, file: inFolder('wrangler/bin/wrangler.js') }
export const workerd = inFolder(`@cloudflare/workerd-${process.platform}-${arm ? 'arm64' : '64'}/bin/workerd`)

/** Installs what is missing, once. Throws where that cannot be, so that the tests fail. */
export async function installRuntimes(): Promise<void> {
  installNode24()
  const made = `${folder}/versions.txt`
  const wanted = packages.join('\n')
  const isThere = (): boolean => existsSync(made) && readFileSync(made, 'utf8') === wanted
  if (isThere()) return
  await alone(`${folder}-installing`, async () => {
    if (isThere()) return
    process.stderr.write(
      'portico: installing Node, Bun, Deno, wrangler and pnpm for the tests of runtimes, once; this takes a minute ...\n',
    )
    // Installed under another name and moved into place, because the installation may be interrupted.
    const own = `${folder}-${process.pid}`
    rmSync(own, { recursive: true, force: true })
    mkdirSync(own, { recursive: true })
    writeFileSync(`${own}/package.json`, '{"private":true}')
    // The packages for one system need no scripts.
    const flags = ['--no-save', '--no-audit', '--no-fund', '--loglevel=error', '--ignore-scripts', '--prefer-offline', '--prefix', own]
    try {
      await promisify(execFile)('npm', ['install', ...flags, ...packages], { maxBuffer: 2 ** 24 })
      writeFileSync(`${own}/versions.txt`, wanted)
      rmSync(folder, { recursive: true, force: true })
      renameSync(own, folder)
    } finally {
      rmSync(own, { recursive: true, force: true })
    }
  })
}
