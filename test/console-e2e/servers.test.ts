/** Servers through the page of a started console: a published one, one that is killed, one that turns hostile, one that needs a login. */

import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Locator } from 'playwright-core'
import { expect, onTestFinished, test } from 'vitest'
import { openLink, startConsole } from '../cli/support/started.ts'
import type { Page } from '../console/pages.ts'
import { chromiumOfFile } from '../support/chromium.ts'
import { temporaryFolders } from '../support/folders.ts'
import { keyboardOf } from './support/keyboard.ts'
import { afterQuiet, dialogHasFocus, openWindow, tabTo, type Window } from './support/windows.ts'

const chromium = chromiumOfFile()
const newFolder = temporaryFolders()
const EVERYTHING = createRequire(import.meta.url).resolve('@modelcontextprotocol/server-everything/dist/index.js')

async function started(): Promise<{ window: Window; api: Page }> {
  const { link, origin } = await startConsole({ home: newFolder(), args: ['up', '--no-open', '--port', '0'] })
  const api = await openLink(link)
  const { code } = await api.get('POST /api/session/codes')
  const window = await openWindow(await chromium(), `${origin}/#code=${code}`)
  onTestFinished(() => window.close())
  return { window, api }
}

const stateOf = async (api: Page, id: string): Promise<string | undefined> =>
  (await api.get('GET /api/servers')).servers.find((each: { id: string }) => each.id === id)?.health.state

/** Waits until the tools of a server can be called. If the person is asked about them, `answer` is called with the button. */
async function enabled({ page }: Window, api: Page, id: string, answer: (enable: Locator) => Promise<void>): Promise<void> {
  const enable = page.getByRole('dialog').getByRole('button', { name: 'Enable', exact: true })
  const hasTools = async (): Promise<boolean> => (await api.get(`GET /api/tools?server=${id}`)).tools.length > 0
  await expect.poll(async () => (await enable.isVisible()) || (await hasTools()), { timeout: 20_000 }).toBe(true)
  if (await enable.isVisible()) await answer(enable)
  await expect.poll(hasTools, { timeout: 20_000 }).toBe(true)
  await expect.poll(() => stateOf(api, id), { timeout: 20_000 }).toBe('ready')
}

/** The dialog with the question that the person's own click caused, after its quiet time. */
async function dialog({ page }: Window): Promise<Locator> {
  const found = page.getByRole('dialog')
  await found.waitFor()
  await afterQuiet(page)
  return found
}

test('a published server: added, started after a yes to its exact command, used, killed and resumed', async () => {
  const { window, api } = await started()
  const { page } = window
  await window.open('/servers')
  // With the keyboard alone up to the start.
  await tabTo(page, 'Add a server')
  await page.keyboard.press('Enter')
  await dialogHasFocus(page)
  await page.keyboard.type(`${process.execPath} ${EVERYTHING}`)
  await tabTo(page, /^Name/)
  await page.keyboard.type('everything')
  await tabTo(page, 'Add')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { level: 1, name: 'everything' }).waitFor()
  expect(await stateOf(api, 'everything')).not.toBe('ready')
  await page.getByRole('button', { name: 'Enable' }).first().click()
  const question = await dialog(window)
  await question.getByText(EVERYTHING).first().waitFor()
  await question.getByRole('button', { name: 'Start and enable', exact: true }).click()
  // The next question is about what it offers, unless the policy enables it.
  await enabled(window, api, 'everything', async (enable) => {
    await afterQuiet(page)
    await enable.click()
  })
  const tools = async (): Promise<string[]> =>
    (await api.get('GET /api/tools?server=everything')).tools.map(({ exposed }: { exposed: string }) => exposed)
  await expect.poll(tools, { timeout: 10_000 }).toContain('everything__echo')

  await window.open('/tools?tool=everything__echo')
  await page
    .getByLabel(/message/i)
    .first()
    .fill('hello from the page')
  await page.getByRole('button', { name: 'Run', exact: true }).click()
  await (await dialog(window)).getByRole('button', { name: 'Allow once' }).click()
  await page.getByText('Echo: hello from the page').first().waitFor()

  const pidOf = async (): Promise<number> => (await api.get('GET /api/servers/everything')).server.facts?.pid
  const first = await pidOf()
  // Only a process of this test: the console started it.
  expect(readFileSync(`/proc/${first}/cmdline`, 'utf8')).toContain('server-everything')
  process.kill(first, 'SIGKILL')
  await expect.poll(async () => (await pidOf()) !== first && (await stateOf(api, 'everything')), { timeout: 20_000 }).toBe('ready')
  await page
    .getByLabel(/message/i)
    .first()
    .fill('and again')
  await page.getByRole('button', { name: 'Run', exact: true }).click()
  await (await dialog(window)).getByRole('button', { name: 'Allow once' }).click()
  await page.getByText('Echo: and again').first().waitFor()
  expect(window.problems).toEqual([])
}, 120_000)

test('by keyboard: a server that turns hostile is shown as a difference, kept out, then approved in part', async () => {
  const { window, api } = await started()
  const { page } = window
  const keys = keyboardOf(window)
  await api.get('POST /api/tour/rogue', {})
  await window.open('/servers')
  await page.getByRole('button', { name: 'Enable rogue' }).waitFor()
  await keys.enter('Enable rogue')
  const question = await dialog(window)
  await question
    .getByText(/http:\/\/127\.0\.0\.1/)
    .first()
    .waitFor()
  await keys.answer('Connect and enable')
  await enabled(window, api, 'rogue', () => keys.answer('Enable'))
  await api.get('POST /api/tour/rogue/turn')
  await page
    .getByText(/wait for your approval|waits for your approval/)
    .first()
    .waitFor()
  await keys.enter('Review changes')
  // The host has asked already: the question is in the tray.
  const change = page.getByRole('article').filter({ has: page.getByRole('button', { name: 'Details' }) })
  await change.waitFor()
  await afterQuiet(page)
  await change
    .getByText(/search all notes of the person/)
    .first()
    .waitFor()
  const parts = change.getByText(/^(?:added|removed): $/i)
  await expect.poll(() => parts.count(), { message: 'parts that were added or removed' }).toBeGreaterThan(0)
  await keys.answer('Not now')
  const tools = async (): Promise<string> => JSON.stringify((await api.get('GET /api/tools?server=rogue')).tools)
  await expect.poll(tools).not.toContain('search all notes')

  // Only one of the changes is approved.
  await keys.enter('Review changes')
  const review = page.getByRole('article').filter({ has: page.getByRole('button', { name: 'Details' }) })
  await review.waitFor()
  const { questions } = await api.get('GET /api/questions')
  const names: string[] = questions[0].question.subject.items.map(({ kind, name }: { kind: string; name: string }) => `${kind} ${name}`)
  expect(names.length).toBeGreaterThan(1)
  await keys.enter(/^Choose among/)
  for (const [index, name] of names.entries()) {
    await keys.to(name)
    const isOn = await page.evaluate('document.activeElement.checked')
    if (isOn !== (index === 0)) await keys.press('Space')
  }
  await keys.answer('Approve 1 item')
  await expect.poll(async () => (await api.get('GET /api/servers/rogue')).server.waiting).toBe(names.length - 1)
  expect(window.problems).toEqual([])
}, 120_000)
