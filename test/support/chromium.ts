/**
 * A real Chromium for tests of the pages that people see: the package of Debian, without a window.
 *
 *   const chromium = await launchChromium()             // in beforeAll, with INSTALL_MS
 *   const alice = await chromium.newContext()           // a browser of one person, with cookies of their own
 *   await chromium.close()
 *
 * Where it is missing it is installed, once. Where that cannot be, the tests that need it fail.
 */

import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { type Browser, chromium } from 'playwright-core'

const PROGRAM = '/usr/bin/chromium'
/** What a hook may take that has to install it. */
export const INSTALL_MS = 300_000

const FLAGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

/** Each has a profile of its own, which is removed when it is closed. */
export async function launchChromium(): Promise<Browser> {
  install()
  return chromium.launch({ executablePath: PROGRAM, args: FLAGS })
}

function install(): void {
  if (existsSync(PROGRAM)) return
  process.stderr.write('portico: installing Chromium for the tests of pages, once; this takes a minute ...\n')
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  for (const args of [['update'], ['install', '-y', '--no-install-recommends', 'chromium']]) {
    const { status, stderr, error } = spawnSync('apt-get', args, { encoding: 'utf8', env })
    if (status !== 0) throw new Error(`Chromium could not be installed: apt-get ${args.join(' ')}\n${error?.message ?? stderr}`)
  }
  if (!existsSync(PROGRAM)) throw new Error(`Chromium was installed, but not as ${PROGRAM}`)
}
