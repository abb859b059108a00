/**
 * Node 24, for the official suite alone. It is installed beside the dependencies, not among them: a `node` in
 * `node_modules/.bin` would be found before the machine's own by every npm command.
 */

import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const VERSION = '24.21.0'

export const root = fileURLToPath(new URL('../../', import.meta.url))
const folder = `${root}.cache/node24`
export const node24 = `${folder}/node_modules/node/bin/node`

export function installNode24(): void {
  if (existsSync(node24)) return
  process.stderr.write(`portico: installing Node ${VERSION} for the conformance suite, once; this takes a moment ...\n`)
  // Installed under another name and moved into place: somebody else may be doing the same.
  const own = `${folder}-${process.pid}`
  mkdirSync(own, { recursive: true })
  const args = ['install', '--no-save', '--no-audit', '--no-fund', '--loglevel=error', '--prefix', own, `node@${VERSION}`]
  const { status, stderr } = spawnSync('npm', args, { encoding: 'utf8' })
  if (status === 0 && existsSync(`${own}/node_modules/node/bin/node`) && !existsSync(node24)) {
    rmSync(folder, { recursive: true, force: true })
    renameSync(own, folder)
  }
  rmSync(own, { recursive: true, force: true })
  if (!existsSync(node24)) throw new Error(`Node ${VERSION} could not be installed into ${folder}\n${stderr ?? ''}`)
}
