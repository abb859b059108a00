/** Windows of the console in a real Chromium. Each collects everything that must not happen in it. */

import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { expect } from 'vitest'

export interface Window {
  page: Page
  origin: string
  /** Errors, refused requests, requests to elsewhere, dialogs, foreign scripts. Empty if all is well. */
  problems: string[]
  /** Opens an address of the console, such as `/tools?tool=notes__add`, and waits until it is still. */
  open(path: string): Promise<void>
  /** Waits until nothing has been requested for a moment. */
  still(): Promise<void>
  close(): Promise<void>
}

/** Nothing was requested for this long. */
const STILL_MS = 120

/** Opens a window with a one-time link, as a person does. */
export async function openWindow(browser: Browser, link: string, options: BrowserContextOptions = {}): Promise<Window> {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, reducedMotion: 'reduce', ...options })
  const page = await context.newPage()
  page.setDefaultTimeout(20_000)
  const { origin } = new URL(link)
  const problems: string[] = []
  const open = new Set<unknown>()
  let lastChange = Date.now()
  const ended = (request: unknown): void => {
    open.delete(request)
    lastChange = Date.now()
  }
  page.on('console', (message) => {
    if (message.type() === 'error') problems.push(`${page.url()}: ${message.text()}`)
  })
  page.on('pageerror', (error) => problems.push(`${page.url()}: ${error.message}`))
  page.on('dialog', (dialog) => {
    problems.push(`dialog: ${dialog.message()}`)
    void dialog.dismiss()
  })
  context.on('page', (other) => problems.push(`another window: ${other.url()}`))
  page.on('request', (request) => {
    const url = request.url()
    if (!url.startsWith(`${origin}/`) && !/^(?:data|blob):/.test(url)) problems.push(`request to elsewhere: ${url}`)
    if (!url.endsWith('/api/events')) open.add(request)
    lastChange = Date.now()
  })
  page.on('requestfinished', ended)
  page.on('requestfailed', (request) => {
    // A page that is left ends its requests.
    if (request.failure()?.errorText !== 'net::ERR_ABORTED') problems.push(`failed: ${request.url()} ${request.failure()?.errorText}`)
    ended(request)
  })
  page.on('response', (response) => {
    if (response.status() >= 400) problems.push(`${response.status()}: ${response.request().method()} ${response.url()}`)
  })
  await page.addInitScript(`document.addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) =>
    console.error('refused by the policy: ' + violatedDirective + ' ' + blockedURI))`)
  const still = async (): Promise<void> => {
    const end = Date.now() + 10_000
    while (Date.now() < end && (open.size > 0 || Date.now() - lastChange < STILL_MS)) await page.waitForTimeout(40)
  }
  await page.goto(link)
  await page.getByRole('heading', { level: 1 }).first().waitFor()
  await still()
  return {
    page,
    origin,
    problems,
    open: async (path) => {
      await page.goto(origin + path)
      await page.getByRole('heading', { level: 1 }).first().waitFor()
      await still()
    },
    still,
    close: async () => {
      // With E2E_SHOT=file.png the last view is kept, to see why a test failed.
      if (process.env.E2E_SHOT) await page.screenshot({ path: process.env.E2E_SHOT }).catch(() => {})
      await context.close()
    },
  }
}

/** Questions of the page that have ended: their cards have no buttons any more. */
export const ENDED_CARDS = `[...document.querySelectorAll('article[data-question]')].filter((card) => !card.querySelector('button')).length`

/** Longer than the page takes to notice that a card has moved. */
const CALM_MS = 200

/**
 * Waits until the quiet time of every question is over, in which clicks and keys do not count. A card that ended goes away after a moment; the
 * quiet time of the card that moves up then starts again.
 */
export async function afterQuiet(page: Page): Promise<void> {
  const ended = async (): Promise<unknown> => {
    const count = await page.evaluate(ENDED_CARDS)
    // While the mouse is among the cards, those that have ended stay.
    if (count !== 0) await page.mouse.move(1, 1)
    return count
  }
  await expect.poll(ended, { timeout: 15_000 }).toBe(0)
  const late = Date.now() + 15_000
  for (let calmSince = Date.now(); Date.now() - calmSince < CALM_MS && Date.now() < late; ) {
    await page.waitForTimeout(40)
    if ((await page.evaluate(`document.querySelectorAll('[data-quiet]').length`)) !== 0) calmSince = Date.now()
  }
}

/** Waits until a dialog is open and has the focus. Keys that come earlier go to the page. */
export const dialogHasFocus = (page: Page): Promise<void> => page.locator('[role="dialog"]:focus-within').first().waitFor()

/** Opens the palette and types into it. */
export async function typeIntoPalette(page: Page, text: string): Promise<void> {
  await page.keyboard.press('Control+k')
  await page.locator('[role="dialog"] [role="combobox"]:focus').waitFor()
  await page.keyboard.type(text)
}

/** Goes to another page with `g` and its key. The page forgets the first key after a moment, and a busy machine can be later than that. */
export async function goWithKeys(page: Page, key: string, address: RegExp): Promise<void> {
  const there = async (): Promise<string> => {
    if (!address.test(page.url())) {
      await page.keyboard.press('g')
      await page.keyboard.press(key)
    }
    return page.url()
  }
  await expect.poll(there, { interval: 250 }).toMatch(address)
}

/** How long Tab looks for a control that is not there yet. */
export const PATIENCE_MS = 10_000

/** Presses Tab until the control with this name has the focus, as a person without a mouse does. */
export async function tabTo(page: Page, name: string | RegExp): Promise<void> {
  const late = Date.now() + PATIENCE_MS
  for (let presses = 0; presses < 120 || Date.now() < late; presses++) {
    const focused = (await page.evaluate(
      `(({ activeElement: at }) => (at?.getAttribute('aria-label') ?? at?.labels?.[0]?.innerText ?? at?.innerText ?? '').trim())(document)`,
    )) as string
    if (typeof name === 'string' ? focused === name : name.test(focused)) return
    await page.keyboard.press('Tab')
  }
  throw new Error(`Tab does not reach ${name}`)
}
