/**
 * A real Chromium for tests of the pages that people see: the package of Debian, without a window.
 *
 *   const chromium = await launchChromium()             // in beforeAll, with INSTALL_MS
 *   const alice = await chromium.newContext()           // a browser of one person, with cookies of their own
 *   await chromium.close()
 *
 * Where it is missing it is installed, once. Where that cannot be, the tests that need it fail.
 */

import { type Browser, chromium } from 'playwright-core'
import { installPrograms } from './packages.ts'

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

/** Each has a profile of its own, which is removed when it is closed. */
export async function launchChromium(): Promise<Browser> {
  installPrograms({ [PROGRAM]: 'chromium' })
  return chromium.launch({ executablePath: PROGRAM, args: FLAGS })
}
