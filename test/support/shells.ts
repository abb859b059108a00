/**
 * Shells that completion is made for: bash, zsh and fish, the packages of Debian.
 * Where one is missing it is installed, once. Where that cannot be, the tests that need it fail.
 */

import { spawnSync } from 'node:child_process'

export const SHELLS = ['bash', 'zsh', 'fish'] as const

/** What a hook may take that has to install them. */
export const INSTALL_MS = 300_000

export function installShells(): void {
  const missing = SHELLS.filter((shell) => spawnSync('sh', ['-c', `command -v ${shell}`]).status !== 0)
  if (missing.length === 0) return
  process.stderr.write(`portico: installing ${missing.join(' and ')} for the tests of completion, once ...\n`)
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  for (const args of [['update'], ['install', '-y', '--no-install-recommends', ...missing]]) {
    const { status, stderr, error } = spawnSync('apt-get', args, { encoding: 'utf8', env })
    if (status !== 0)
      throw new Error(`${missing.join(' and ')} could not be installed: apt-get ${args.join(' ')}\n${error?.message ?? stderr}`)
  }
}
