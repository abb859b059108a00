/** Programs of Debian that tests need: installed where they are missing, once, by one process at a time. */

import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, rmSync, statSync } from 'node:fs'
// @ts-expect-error a plain script without types
import { root } from '../../scripts/setup.mjs'

/** What a hook may take that has to install something. */
export const INSTALL_MS = 300_000

const LOCK = `${root}.cache/installing-packages`

/** @param packages the package that each program is in. Throws, so that the tests that need them fail, where that cannot be. */
export function installPrograms(packages: Readonly<Record<string, string>>): void {
  if (missingOf(packages).length === 0) return
  alone(() => {
    // Somebody else may have installed them while this one waited.
    const missing = missingOf(packages)
    if (missing.length === 0) return
    process.stderr.write(`portico: installing ${missing.join(', ')} for the tests, once; this may take a minute ...\n`)
    const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
    for (const args of [['update'], ['install', '-y', '--no-install-recommends', ...missing]]) {
      const { status, stderr, error } = spawnSync('apt-get', args, { encoding: 'utf8', env })
      if (status !== 0)
        throw new Error(`${missing.join(', ')} could not be installed: apt-get ${args.join(' ')}\n${error?.message ?? stderr}`)
    }
    const still = missingOf(packages)
    if (still.length > 0) throw new Error(`${still.join(', ')} was installed, and its program is still not found`)
  })
}

const missingOf = (packages: Readonly<Record<string, string>>): string[] => [
  ...new Set(
    Object.entries(packages)
      .filter(([program]) => spawnSync('sh', ['-c', 'command -v "$0"', program]).status !== 0)
      .map(([, name]) => name),
  ),
]

/** apt-get does not wait for another of its kind, and files of tests run at the same time. */
function alone(run: () => void): void {
  mkdirSync(`${root}.cache`, { recursive: true })
  for (;;) {
    try {
      mkdirSync(LOCK)
      break
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
      const isLeftBehind = existsSync(LOCK) && Date.now() - (statSync(LOCK, { throwIfNoEntry: false })?.mtimeMs ?? Date.now()) > INSTALL_MS
      if (isLeftBehind) rmSync(LOCK, { recursive: true, force: true })
      else Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 500)
    }
  }
  try {
    run()
  } finally {
    rmSync(LOCK, { recursive: true, force: true })
  }
}
