/** Every flow with the keyboard alone: each control is reached with Tab, the focus can be seen, and it returns where it was. */

import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { TOUR_STEPS } from '../../console/src/state/tour.ts'
import { openLink, startConsole } from '../cli/support/started.ts'
import type { Page } from '../console/pages.ts'
import { chromiumOfFile } from '../support/chromium.ts'
import { temporaryFolders } from '../support/folders.ts'
import { type Keyboard, keyboardOf, tabThrough } from './support/keyboard.ts'
import { dialogHasFocus, goWithKeys, openWindow, typeIntoPalette, type Window } from './support/windows.ts'

const chromium = chromiumOfFile()
const newFolder = temporaryFolders()

interface Seat {
  window: Window
  keys: Keyboard
  api: Page
  /** Waits for a text of the page. */
  sees(text: string | RegExp): Promise<void>
}

/** A person at a started console. Mouse events count as problems. */
async function seat(home = newFolder()): Promise<Seat> {
  const { link, origin } = await startConsole({ home, args: ['up', '--no-open', '--port', '0'] })
  const api = await openLink(link)
  const { code } = await api.get('POST /api/session/codes')
  const window = await openWindow(await chromium(), `${origin}/#code=${code}`)
  onTestFinished(() => window.close())
  await window.page.evaluate(`document.addEventListener('pointerdown', () => console.error('a mouse was used'))`)
  const tools = async (): Promise<string[]> => (await api.get('GET /api/tools')).tools.map(({ exposed }: { exposed: string }) => exposed)
  await expect.poll(tools, { timeout: 20_000 }).toContain('notes__add')
  const sees = (text: string | RegExp): Promise<void> => window.page.getByText(text).first().waitFor()
  return { window, keys: keyboardOf(window), api, sees }
}

const isOpen = ({ page }: Window): Promise<void> => dialogHasFocus(page)
const isClosed = ({ page }: Window): Promise<void> => page.getByRole('dialog').first().waitFor({ state: 'hidden' })

test('keys, palette, tools, servers, import and policy', async () => {
  const home = newFolder()
  mkdirSync(join(home, '.cursor'))
  writeFileSync(join(home, '.cursor', 'mcp.json'), JSON.stringify({ mcpServers: { other: { command: 'node', args: ['other.js'] } } }))
  const { window, keys, api, sees } = await seat(home)
  const { page } = window

  await keys.to('Start the tour')
  await keys.press('?')
  await isOpen(window)
  await sees('Go to Timeline')
  await keys.press('Escape')
  await isClosed(window)
  await expect.poll(keys.focused, { message: 'the focus returns' }).toBe('Start the tour')

  // A tool: find it, fill in its form, run it.
  const find = async (text: string, found: RegExp): Promise<void> => {
    await typeIntoPalette(page, text)
    await page.locator('[role="option"][data-active-item]').filter({ hasText: found }).waitFor()
    await keys.press('Enter')
    await isClosed(window)
  }
  await find('add a note', /^tool.*Add a note/i)
  await page.waitForURL(/tool=notes__add/)
  await keys.fill(/^title/i, 'By key')
  await keys.fill(/^text/i, 'Written without a mouse')
  await keys.press('Control+Enter')
  await page.getByRole('region', { name: 'Result' }).getByText('By key').first().waitFor()
  await expect.poll(keys.focused).toMatch(/^text/i)

  // A tool that asks: close the question, and cancel the call.
  await find('deploy a version', /^tool.*Deploy a version/i)
  await page.waitForURL(/tool=deploy__deploy/)
  await keys.fill(/^service/i, 'api')
  await keys.fill(/^version/i, '1.4.0')
  await keys.to(/^environment/i)
  await keys.type('staging')
  await keys.press('Control+Enter')
  await isOpen(window)
  await keys.press('Escape')
  await isClosed(window)
  await expect.poll(keys.focused, { message: 'the focus returns to the form' }).toMatch(/^environment/i)
  await keys.enter('Cancel')
  await sees(/^cancelled/i)

  // Servers: add and remove one, import another.
  await goWithKeys(page, 's', /\/servers/)
  await keys.enter('Add a server')
  await isOpen(window)
  await keys.type('node mine.js')
  await keys.fill(/^Name/, 'mine')
  await keys.enter('Add')
  await page.getByRole('heading', { level: 1, name: 'mine' }).waitFor()
  await keys.enter('Remove')
  await isOpen(window)
  await keys.enter('Remove')
  await page.getByRole('heading', { level: 1, name: 'Servers' }).waitFor()
  await keys.enter(/^Import 1/)
  await isOpen(window)
  await keys.to(/^other/)
  await keys.press('Space', 'Space')
  await keys.enter('Import 1 server')
  await keys.enter('Enable 1 server')
  const start = page.getByRole('dialog', { name: /Start other/ })
  await start
    .getByText(/other\.js/)
    .first()
    .waitFor()
  await keys.answer('Not now')
  await isClosed(window)
  await sees('0 of 1 server enabled. Not enabled: other.')
  // Nothing is left to import, so the button that had the focus is gone.
  await expect.poll(() => page.evaluate('document.activeElement?.id'), { message: 'the page takes the focus' }).toBe('page')

  // Policy: another preset, a rule, and what it would have changed.
  await goWithKeys(page, 'y', /\/policy/)
  await keys.to(/^balanced/)
  await keys.press('ArrowUp')
  await expect.poll(async () => (await api.get('GET /api/policy')).preset).toBe('cautious')
  await sees('The preset is cautious now.')
  await expect.poll(keys.focused, { message: 'the focus stays' }).toMatch(/^cautious/)
  await keys.at('[role="tab"]')
  await keys.press('ArrowRight', 'ArrowRight')
  await page.waitForURL(/tab=edit/)
  await keys.fill(/policy\.yaml/, 'preset: cautious\nrules:\n  - { id: mine, effect: deny, match: { action: tool.call, server: other } }\n')
  await sees('Valid')
  await keys.enter('Try on the log')
  await sees('What would have been different')
  await keys.enter('Save')
  await expect.poll(async () => (await api.get('GET /api/policy')).rules.map(({ id }: { id: string }) => id)).toContain('mine')
  expect(window.problems).toEqual([])
}, 120_000)

test('chat with the tray: edit, always allow, stop; revoke, audit, timeline and recordings', async () => {
  const { window, keys, api, sees } = await seat()
  const { page } = window
  const waiting = async (): Promise<number> => (await api.get('GET /api/questions')).questions.length
  const say = async (text: string): Promise<void> => {
    await keys.fill('Message', text)
    await keys.press('Enter')
    await expect.poll(waiting, { timeout: 10_000 }).toBe(1)
    // Out of the field, where w is a letter.
    await keys.to('Stop')
    if ((await page.getByRole('complementary', { name: 'Waiting for you' }).count()) === 0) await keys.press('w')
    await page.getByRole('article').getByRole('button', { name: 'Details' }).waitFor()
  }
  const answered = (): Promise<void> => expect.poll(waiting, { timeout: 10_000 }).toBe(0) as unknown as Promise<void>
  await goWithKeys(page, 'c', /\/chat/)
  await say('add a note with title="One" text="First"')
  await keys.enter('Edit')
  await keys.fill(/^title/i, 'Edited')
  await keys.answer('Allow once with these arguments')
  await answered()
  await sees('notes__add is done: Edited.')
  await expect.poll(keys.focused, { message: 'the focus stays in the tray' }).not.toBe('body')

  await say('add a note with title="Two" text="Second"')
  await keys.to(/^Always allow/)
  await keys.press('Enter')
  await page.getByRole('menu').waitFor()
  await keys.press('ArrowDown')
  await keys.settled()
  await keys.press('Enter')
  await answered()
  await expect.poll(async () => (await api.get('GET /api/grants')).grants.length).toBe(1)

  await say('search notes with query="One"')
  await keys.enter('Stop')
  await answered()
  await keys.press('w')
  await page.getByRole('complementary', { name: 'Waiting for you' }).waitFor({ state: 'hidden' })

  await goWithKeys(page, 'y', /\/policy/)
  await keys.at('[role="tab"]')
  await keys.press('ArrowRight')
  await keys.enter(/^Revoke/)
  await sees('Nothing is allowed beyond a single time')
  await expect.poll(async () => (await api.get('GET /api/grants')).grants).toEqual([])

  await goWithKeys(page, 'a', /\/audit/)
  await keys.enter('Verify')
  await sees('Unchanged')
  await expect.poll(keys.focused, { message: 'the focus stays' }).toBe('Verify')
  await keys.to('Records')
  await keys.press('ArrowDown')
  await page.waitForURL(/record=/)

  await goWithKeys(page, 'l', /\/timeline/)
  for (let recording = 1; recording <= 2; recording++) {
    await keys.enter('● Record')
    await sees(/Stop recording/)
    await api.run('POST /api/tools/call', { tool: 'notes__list' })
    await keys.enter(/Stop recording/)
    await sees(/stored/)
  }
  await page.getByRole('listbox', { name: 'Messages' }).waitFor()
  await keys.at('[role="listbox"]')
  await keys.press('Home', 'ArrowDown')
  await page.waitForURL(/message=/)
  await keys.at('[role="tab"]')
  await keys.press('ArrowRight')
  await page.waitForURL(/tab=recordings/)
  await keys.enter('Compare')
  await sees(/the same/)
  expect(window.problems).toEqual([])
}, 120_000)

test('the tour from its start to its end, with every kind of question', async () => {
  const { window, keys, sees } = await seat()
  const { page } = window
  await keys.enter('Start the tour')
  const next = async (step: number): Promise<void> => {
    await sees('Seen')
    await keys.enter('Next step')
    // The titles of all steps are on the page.
    await page.getByRole('heading', { level: 2, name: `${step + 1}. ${TOUR_STEPS[step]?.title}` }).waitFor()
  }
  await keys.enter('Ask the model to add a note')
  await keys.answer('Allow once')
  await next(1)
  await keys.enter(/^Deploy version/)
  await keys.answer('Allow once')
  // An empty form is not sent: the focus goes to what is missing.
  await keys.answer('Send')
  await sees('This is required')
  await expect.poll(keys.focused).toMatch(/^Reason/)
  await keys.type('Because of the tour')
  await keys.answer('Send')
  await next(2)
  await keys.enter('Let notes summarise your notes')
  await keys.answer('Allow once')
  await keys.answer('Send the answer')
  await next(3)
  await keys.enter('Add the weather server')
  await keys.answer('Connect and enable')
  await expect.poll(() => page.getByRole('button', { name: 'Ask for the weather' }).isEnabled(), { timeout: 15_000 }).toBe(true)
  await keys.enter(/^Ask for the weather/)
  await keys.answer('Allow once')
  await next(4)
  await page.getByRole('button', { name: 'Use the tool anyway' }).waitFor()
  await keys.enter('Use the tool anyway')
  await next(5)
  await keys.enter('Let the model read the note')
  await keys.answer('Allow once')
  await expect.poll(() => page.getByRole('button', { name: 'Send what it read' }).isEnabled()).toBe(true)
  await keys.enter(/^Send what it read/)
  await keys.answer('Deny')
  await sees('The weather server has received 0 of your texts.')
  await next(6)
  await keys.enter('Verify the log')
  await keys.enter('Change one byte in a copy')
  await sees('detected')
  await keys.enter('Finish the tour')
  await page.getByRole('heading', { level: 1 }).waitFor()
  expect(window.problems).toEqual([])
}, 120_000)

test('Tab goes through every page and back to its start, and the focus is always visible', async () => {
  const { window, api } = await seat()
  await api.run('POST /api/tools/call', { tool: 'notes__list' })
  const paths = [
    '/',
    '/servers',
    ...['overview', 'offering', 'log', 'messages', 'settings', 'doctor'].map((tab) => `/servers?server=notes&tab=${tab}`),
    '/tools?tool=notes__add',
    '/resources',
    '/prompts',
    '/chat',
    '/timeline?message=3',
    '/timeline?tab=recordings',
    '/policy',
    '/policy?tab=grants',
    '/policy?tab=edit',
    '/audit?record=3',
    '/settings',
    '/settings?tab=secrets',
    '/settings?tab=limits',
    '/tour',
  ]
  const faults: string[] = []
  for (const path of paths) {
    await window.open(path)
    for (const fault of await tabThrough(window)) faults.push(`${path}: ${fault}`)
  }
  expect([...faults, ...window.problems]).toEqual([])
}, 120_000)
