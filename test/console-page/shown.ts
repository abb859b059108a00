/** Consoles with the sample servers, each with a window of a real Chromium that shows its built page. They end with their test. */

import type { Browser } from 'playwright-core'
import { onTestFinished, vi } from 'vitest'
// @ts-expect-error a plain script without types
import { root } from '../../scripts/setup.mjs'
import type { HostOptions } from '../../src/host/index.ts'
import { consoles, type Opened } from '../console/pages.ts'
import { openWindow, type Window } from '../console-e2e/support/windows.ts'
import { chromiumOfFile } from '../support/chromium.ts'

export interface Shown extends Opened, Omit<Window, 'close'> {
  browser: Browser
}

/** Call it once for each file of tests. */
export function shownConsoles(): (host?: HostOptions) => Promise<Shown> {
  // Each test opens a browser window over a real host, which takes long on a busy computer.
  vi.setConfig({ testTimeout: 60_000 })
  const opened = consoles()
  const chromium = chromiumOfFile()
  return async (host) => {
    const all = await opened({ console: { assets: `${root}/dist/console/page` }, ...(host && { host }) })
    const browser = await chromium()
    const { close, ...window } = await openWindow(browser, all.console.link(), { viewport: { width: 1280, height: 800 } })
    onTestFinished(close)
    return { ...all, ...window, browser }
  }
}
