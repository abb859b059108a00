/** The page of the console in a real Chromium, over a real host with the sample servers. */

import { expect, onTestFinished, test } from 'vitest'
import { Page } from '../console/pages.ts'
import { afterQuiet } from '../console-e2e/support/windows.ts'
import { shownConsoles } from './shown.ts'

const shown = shownConsoles()

const DEPLOY = { tool: 'deploy__rollback', args: { service: 'api', environment: 'staging' } }

test('the page opens with a one-time link, keeps its session on reload, and breaks no rule of its policy', async () => {
  const { page, problems } = await shown()
  expect(new URL(page.url()).hash).toBe('')
  await page.reload()
  await page.getByRole('link', { name: 'Servers' }).first().click()
  await page.getByRole('heading', { level: 1, name: 'Servers' }).waitFor()
  expect(problems).toEqual([])
})

test('a second window gets a session from the first, and a strange browser does not', async () => {
  const { page, console, browser } = await shown()
  const second = await page.context().newPage()
  await second.goto(`${console.origin}/tools`)
  await second.getByRole('heading', { level: 1, name: 'Tools' }).waitFor()
  const stranger = await (await browser.newContext()).newPage()
  onTestFinished(() => stranger.context().close())
  await stranger.goto(console.origin)
  await stranger.getByRole('heading', { name: 'This window is not connected' }).waitFor()
  await stranger.getByLabel('Link or code').fill(console.link())
  await stranger.getByRole('button', { name: 'Connect' }).click()
  await stranger.getByRole('heading', { name: 'Home' }).waitFor()
})

test('a question waits in the tray, ignores a click in its first moment, and then takes an answer', async () => {
  const { page, console, asker } = await shown()
  await page.keyboard.press('w')
  const other = await Page.open(console)
  const { operation } = await other.get('POST /api/tools/call', DEPLOY)
  const allow = page.getByRole('button', { name: 'Allow once' })
  // It looks disabled and says so, and a click or a key does nothing. It can have the focus.
  await page.locator('[data-answer="allow"][aria-disabled="true"]').waitFor()
  await allow.focus()
  await page.keyboard.press('Enter')
  await allow.click({ force: true })
  await page.waitForTimeout(100)
  expect(asker.waiting()).toHaveLength(1)
  await afterQuiet(page)
  await page.locator('[data-answer="allow"]:not([aria-disabled])').waitFor()
  await allow.focus()
  await page.keyboard.press('Enter')
  expect(await other.ended(operation.id)).toMatchObject({ state: 'done' })
  await page.getByText('Nothing waits for you').waitFor()
})

test('an answer elsewhere closes the question here, and a reason reaches the one who asked', async () => {
  const { page, console, asker } = await shown()
  await page.keyboard.press('w')
  const other = await Page.open(console)
  const first = await other.get('POST /api/tools/call', DEPLOY)
  await page.getByRole('button', { name: 'Allow once' }).waitFor()
  await other.get(`POST /api/questions/${asker.waiting()[0]?.id}/answer`, { kind: 'deny' })
  await page.getByText('Denied').waitFor()
  expect(await other.ended(first.operation.id)).toMatchObject({ state: 'failed' })
  // It goes away after a moment, and the next card would move.
  await page.getByText('Denied').waitFor({ state: 'hidden' })
  const second = await other.get('POST /api/tools/call', DEPLOY)
  await page.getByRole('button', { name: 'Deny with a reason' }).click()
  await page.getByLabel('What to do instead').fill('Ask me tomorrow')
  await afterQuiet(page)
  await page.getByRole('button', { name: 'Deny', exact: true }).last().click()
  expect(JSON.stringify((await other.ended(second.operation.id)).error)).toContain('Ask me tomorrow')
})

test('long arguments must be shown before an answer counts', async () => {
  const { page, console, asker } = await shown()
  await page.keyboard.press('w')
  const other = await Page.open(console)
  const { operation } = await other.get('POST /api/tools/call', {
    tool: 'notes__edit',
    args: { id: 'abcdefghij', text: 'long text '.repeat(300) },
  })
  await page.getByRole('button', { name: 'Show everything' }).click({ clickCount: 2, delay: 20 })
  expect(asker.waiting()).toHaveLength(1)
  await afterQuiet(page)
  await page.getByRole('button', { name: 'Allow once' }).click()
  expect(['done', 'failed']).toContain((await other.ended(operation.id)).state)
})

test('the palette finds a tool by keyboard alone, and the list of keys opens', async () => {
  const { page } = await shown()
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox', { name: 'Search' }).fill('add a note')
  await page.getByRole('option', { name: /Add a note/ }).waitFor()
  await page.keyboard.press('Enter')
  await page.waitForURL(/tool=notes__add/)
  await page.locator('body').press('?')
  await page.getByRole('dialog', { name: 'Keys' }).waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('dialog', { name: 'Keys' }).waitFor({ state: 'hidden' })
})

test('the page says that the host is gone', async () => {
  const { page, console } = await shown()
  await console.close()
  await page.getByText('Not connected.').waitFor()
})

test('the first steps of the tour happen on real traffic', async () => {
  const { page } = await shown()
  await page.getByRole('link', { name: 'Start the tour' }).click()
  await page.getByRole('button', { name: 'Ask the model to add a note' }).click()
  await page.getByRole('button', { name: 'Allow once' }).waitFor()
  await afterQuiet(page)
  await page.getByRole('button', { name: 'Allow once' }).click()
  await page.getByText('Seen').waitFor()
  await page.getByRole('button', { name: 'Next step' }).click()
  await page.getByRole('button', { name: 'Deploy version 1.4.0 to staging' }).click()
  await page.getByRole('button', { name: 'Allow once' }).waitFor()
  await afterQuiet(page)
  await page.getByRole('button', { name: 'Allow once' }).click()
  await page.getByLabel('Reason').fill('The tour shows it')
  await afterQuiet(page)
  await page.getByRole('button', { name: 'Send' }).click()
  await page.getByText('Seen').waitFor()
  await page.getByLabel('Result of deploy').waitFor()
  // "Back" keeps what a step has done. The model has said it in a sentence.
  await page.getByRole('button', { name: 'Back' }).click()
  await page.getByText('notes__add is done: Door code.').waitFor()
  await page.getByText('Seen').waitFor()
  await page.getByText(/^answered: \d+ characters$/).click()
  await page.getByText('"title": "Door code"').waitFor()
  await page.getByRole('button', { name: 'Next step' }).click()
  await page.getByLabel('Result of deploy').waitFor()
  // A tool with a view is one click away.
  await page.getByRole('link', { name: 'the tool plan' }).click()
  await page.getByRole('heading', { name: 'Plan a deployment' }).waitFor()
  await page.goBack()
  // Left and taken up again.
  await page.getByRole('link', { name: 'Leave, and go on later' }).click()
  await page.getByRole('link', { name: 'Go on with step 2 of 7' }).waitFor()
})
