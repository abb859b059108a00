/**
 * A real Chromium for tests of the pages that people see: the package of Debian, without a window.
 *
 *   const chromium = chromiumOfFile()
 *   const alice = await (await chromium()).newContext()   // a browser of one person, with cookies of their own
 *
 * Where it is missing it is installed, once. Where that cannot be, the tests that need it fail.
 */

import { type Browser, chromium } from 'playwright-core'
import { afterAll, beforeAll } from 'vitest'
import { INSTALL_MS, installPrograms } from './packages.ts'

const PROGRAM = '/usr/bin/chromium'

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

/** One for the tests of a file, from before the first to after the last. */
export function chromiumOfFile(): () => Promise<Browser> {
  let launched: Promise<Browser>
  beforeAll(async () => {
    launched = launch()
    // Without it each test fails; a hook that fails would have them skipped.
    await launched.catch(() => {})
  }, INSTALL_MS)
  afterAll(() =>
    launched.then(
      (browser) => browser.close(),
      () => {},
    ),
  )
  return () => launched
}

/** It has a profile of its own, which is removed when it is closed. */
async function launch(): Promise<Browser> {
  installPrograms({ [PROGRAM]: 'chromium' })
  return chromium.launch({ executablePath: PROGRAM, args: FLAGS })
}
