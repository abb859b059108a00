/** Questions to the person in a real Chromium: each kind is answered with the mouse, with the keyboard, and elsewhere. */

import { createServer as createHttpServer } from 'node:http'
import type { Locator } from 'playwright-core'
import { expect, onTestFinished, test } from 'vitest'
import { allow } from '../../src/host/policy-tools/index.ts'
import { createServer, text } from '../../src/server/index.ts'
import { scriptedModel } from '../../src/testing/index.ts'
import { Page } from '../console/pages.ts'
import { chromiumOfFile } from '../support/chromium.ts'
import { portOf } from '../support/http-requests.ts'
import { keyboardOf } from './support/keyboard.ts'
import { afterQuiet, openWindow, tabTo, type Window } from './support/windows.ts'
import { inMemory, type World, worlds } from './support/worlds.ts'

const newWorld = worlds()
const chromium = chromiumOfFile()

const APPROVED = [allow('approve-all', { action: 'server.approve' })]

/** A server that asks for everything that a server can ask for. */
function asking(pageUrl = 'http://127.0.0.1:9/') {
  const server = createServer({ name: 'desk', version: '1.0.0' })
  const echoed: string[] = []
  const input = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] } as const
  server.tool('echo', { description: 'Repeats a text', input }, ({ text: given }) => {
    echoed.push(given)
    return given
  })
  server.tool('form', { description: 'Asks for a city' }, async (_, ctx) => {
    const schema = { type: 'object', properties: { city: { type: 'string', title: 'City' } }, required: ['city'] } as const
    return `city: ${(await ctx.elicit('city', 'Which city?', schema)).city}`
  })
  server.tool('visit', { description: 'Sends the person to a page' }, async (_, ctx) => {
    await ctx.elicitUrl('visit', 'Connect your calendar', pageUrl)
    return 'visited'
  })
  server.tool('write', { description: 'Uses the model' }, async (_, ctx) => {
    const { content } = await ctx.sample('title', { messages: [{ role: 'user', content: text('Suggest a title') }], maxTokens: 50 })
    return `the model said: ${JSON.stringify(content)}`
  })
  server.tool('where', { description: 'Asks for folders' }, async (_, ctx) => `folders: ${(await ctx.roots()).length}`)
  return { server, echoed }
}

interface Desk extends World {
  window: Window
  api: Page
  echoed: string[]
  /** Starts a call of the model. */
  ask(message: string): Promise<{ operation: { id: string }; conversation: string }>
}

async function desk(options: { pageUrl?: string; roots?: string[] } = {}): Promise<Desk> {
  const { server, echoed } = asking(options.pageUrl)
  const world = await newWorld({
    host: { servers: { desk: inMemory(server) }, policy: { session: APPROVED }, model: scriptedModel() },
  })
  await world.host.settled()
  const window = await openWindow(await chromium(), world.console.link())
  onTestFinished(() => window.close())
  const api = await Page.open(world.console)
  await window.open('/waiting')
  return { ...world, window, api, echoed, ask: (message) => api.get('POST /api/chat', { message }) }
}

/** The card of the question that waits, after its quiet time. */
async function card({ page }: Window, title: RegExp): Promise<Locator> {
  // Answered ones stay for a moment.
  const found = page.getByRole('article', { name: title }).filter({ has: page.getByRole('button', { name: 'Details' }) })
  await found.waitFor()
  await afterQuiet(page)
  return found
}

const noneWaits = ({ page }: Window): Promise<void> => page.getByText('Nothing waits for you').waitFor()

test('a call of the model: allow once, deny, deny with a reason, edit, and always allow', async () => {
  const { window, api, echoed, ask } = await desk()
  const { page } = window
  const first = await ask('echo with text="one"')
  let question = await card(window, /call desk\/echo/)
  await question.getByRole('button', { name: 'Details' }).click()
  await question
    .getByText(/scripted/)
    .first()
    .waitFor()
  // Opening the details starts a quiet time, too.
  await afterQuiet(page)
  await question.getByRole('button', { name: 'Allow once' }).click()
  expect(await api.ended(first.operation.id)).toMatchObject({ state: 'done' })
  expect(echoed).toEqual(['one'])

  const second = await ask('echo with text="two"')
  question = await card(window, /call desk\/echo/)
  await question.getByRole('button', { name: 'Deny', exact: true }).click()
  await api.ended(second.operation.id)
  expect(echoed).toEqual(['one'])

  const third = await ask('echo with text="three"')
  question = await card(window, /call desk\/echo/)
  await question.getByRole('button', { name: 'Deny with a reason' }).click()
  await question.getByLabel('What to do instead').fill('Use four')
  await question.getByRole('button', { name: 'Deny', exact: true }).last().click()
  await api.ended(third.operation.id)
  const { messages } = await api.get(`GET /api/conversations/${third.conversation}`)
  expect(JSON.stringify(messages), 'the model reads the reason').toContain('Use four')

  const fourth = await ask('echo with text="four"')
  question = await card(window, /call desk\/echo/)
  await question.getByRole('button', { name: 'Edit' }).click()
  await question.getByLabel('text').fill('five')
  await question.getByRole('button', { name: 'Allow once with these arguments' }).click()
  await api.ended(fourth.operation.id)
  expect(echoed).toEqual(['one', 'five'])

  const sixth = await ask('echo with text="six"')
  question = await card(window, /call desk\/echo/)
  await question.getByRole('button', { name: /Always allow/ }).click()
  await page.getByRole('menuitem').first().waitFor()
  expect(await page.getByRole('menuitem').count()).toBeLessThanOrEqual(5)
  await page
    .getByRole('menuitem', { name: /any arguments/ })
    .first()
    .click()
  await api.ended(sixth.operation.id)
  const seventh = await ask('echo with text="seven"')
  await api.ended(seventh.operation.id)
  expect(echoed).toEqual(['one', 'five', 'six', 'seven'])
  await window.open('/policy?tab=grants')
  await page.getByText('echo').first().waitFor()
  expect(window.problems).toEqual([])
}, 120_000)

test('with the keyboard alone: details, deny with a reason, allow, a form, a page to visit, the model', async () => {
  const { window, api, echoed, ask } = await desk()
  const { page } = window
  const keys = keyboardOf(window)
  await window.open('/')
  await page.keyboard.press('w')
  const first = await ask('echo with text="one"')
  await card(window, /call desk\/echo/)
  await tabTo(page, 'Details')
  await page.keyboard.press('Enter')
  await tabTo(page, 'Deny with a reason')
  await page.keyboard.press('Space')
  await tabTo(page, 'What to do instead')
  await page.keyboard.type('Not now')
  await afterQuiet(page)
  await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  await api.ended(first.operation.id)
  expect(echoed).toEqual([])
  const second = await ask('echo with text="two"')
  await card(window, /call desk\/echo/)
  await keys.answer('Allow once')
  await api.ended(second.operation.id)
  expect(echoed).toEqual(['two'])
  const hasFocus = (): Promise<unknown> => page.evaluate('document.activeElement !== document.body')
  await expect.poll(hasFocus, { message: 'the focus stays in the tray' }).toBe(true)

  // A form, a page to visit, and a request to the model, which is edited.
  const call = async (tool: string): Promise<string> => (await api.get('POST /api/tools/call', { tool: `desk__${tool}` })).operation.id
  const said = async (id: string): Promise<string> => JSON.stringify((await api.ended(id)).result)
  const form = await call('form')
  await card(window, /./)
  await tabTo(page, /^City/)
  await page.keyboard.type('Bern')
  await keys.answer('Send')
  expect(await said(form)).toContain('city: Bern')
  const visit = await call('visit')
  await card(window, /./)
  const other = page.context().waitForEvent('page')
  await keys.answer('Open the page')
  await (await other).close()
  expect(await said(visit)).toContain('visited')
  const write = await call('write')
  await card(window, /./)
  await tabTo(page, 'Edit')
  await page.keyboard.press('Enter')
  await tabTo(page, 'JSON')
  await page.keyboard.press('Control+a')
  await page.keyboard.type('{ "messages": [{ "role": "user", "content": { "type": "text", "text": "Changed" } }], "maxTokens": 5 }')
  await keys.answer('Allow once with this text')
  await keys.answer('Send the answer')
  expect(await said(write)).toContain('the model said')
  expect(window.problems.filter((problem) => !problem.startsWith('another window'))).toEqual([])
}, 120_000)

test('a form, a page to visit, a request to the model before and after, and folders', async () => {
  const visits: string[] = []
  const site = createHttpServer((request, response) => {
    visits.push(request.url ?? '')
    response.end('<title>calendar</title>')
  })
  await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void site.close())
  const { window, api, host, folder } = await desk({ pageUrl: `http://127.0.0.1:${portOf(site)}/connect` })
  const { page } = window
  const call = async (tool: string): Promise<string> => (await api.get('POST /api/tools/call', { tool: `desk__${tool}` })).operation.id
  const said = async (id: string): Promise<string> => JSON.stringify((await api.ended(id)).result ?? (await api.ended(id)).error)

  const form = await call('form')
  let question = await card(window, /./)
  await question.getByRole('button', { name: 'Send' }).click()
  expect(await question.count(), 'an empty form is not sent').toBe(1)
  await question.getByLabel('City').fill('Bern')
  await question.getByRole('button', { name: 'Send' }).click()
  expect(await said(form)).toContain('city: Bern')

  const visit = await call('visit')
  question = await card(window, /./)
  await question
    .getByText(`127.0.0.1:${portOf(site)}`)
    .first()
    .waitFor()
  const other = page.context().waitForEvent('page')
  await question.getByRole('link', { name: 'Open the page' }).click()
  await (await other).waitForLoadState()
  expect(await said(visit)).toContain('visited')
  expect(visits).toContain('/connect')

  const write = await call('write')
  question = await card(window, /./)
  await question.getByText('Suggest a title').first().waitFor()
  await question.getByRole('button', { name: 'Allow once' }).click()
  question = page.getByRole('article').filter({ has: page.getByRole('button', { name: 'Send the answer' }) })
  await question.waitFor()
  await afterQuiet(page)
  await question.getByRole('button', { name: 'Send the answer' }).click()
  expect(await said(write)).toContain('the model said')

  await window.open('/servers?server=desk')
  await page.getByLabel('Share a folder').fill(folder)
  await page.getByRole('button', { name: 'Share', exact: true }).click()
  const dialog = page.getByRole('dialog')
  await dialog.waitFor()
  await afterQuiet(page)
  await dialog.getByRole('button', { name: 'Share', exact: true }).click()
  await expect.poll(async () => (await api.get('GET /api/servers/desk/roots')).roots.length).toBe(1)
  await window.open('/waiting')
  const where = await call('where')
  const roots = page.getByRole('article')
  await Promise.race([roots.waitFor(), api.ended(where)])
  if (await roots.count()) {
    await afterQuiet(page)
    await roots.getByRole('button', { name: 'Share', exact: true }).click()
  }
  expect(await said(where)).toContain('folders: 1')
  await noneWaits(window)
  expect(host.health().desk?.state).toBe('ready')
  expect(window.problems.filter((problem) => !problem.startsWith('another window'))).toEqual([])
}, 120_000)

test('two browsers see the same question; the answer of one closes it in the other', async () => {
  const { window, api, console: served, echoed, ask } = await desk()
  const second = await openWindow(await chromium(), served.link(), { viewport: { width: 360, height: 740 } })
  onTestFinished(() => second.close())
  await second.open('/waiting')
  const { operation } = await ask('echo with text="one"')
  const [here, there] = [await card(window, /call desk\/echo/), await card(second, /call desk\/echo/)]
  await there.getByRole('button', { name: 'Allow once' }).click()
  await noneWaits(window)
  await expect.poll(() => here.getByRole('button', { name: 'Allow once' }).count()).toBe(0)
  await api.ended(operation.id)
  expect(echoed).toEqual(['one'])
  // Both at once: one counts.
  const again = await ask('echo with text="two"')
  const cards = [await card(window, /call desk\/echo/), await card(second, /call desk\/echo/)]
  // The button that is gone gets no click.
  for (const each of cards)
    void each
      .getByRole('button', { name: 'Allow once' })
      .click()
      .catch(() => {})
  await api.ended(again.operation.id)
  expect(echoed).toEqual(['one', 'two'])
  await noneWaits(window)
  await noneWaits(second)
  expect([...window.problems, ...second.problems].filter((problem) => !problem.includes('409'))).toEqual([])
}, 120_000)

test('a click in the first moment of a question does not count', async () => {
  const { window, api, echoed, ask } = await desk()
  const { page } = window
  // The page itself clicks, because a click from outside can be late.
  await page.evaluate(`new MutationObserver((_, observer) => {
    const button = document.querySelector('article[data-question] [data-answer="allow"]')
    if (!button) return
    observer.disconnect()
    button.click()
    window.hasClicked = true
  }).observe(document.body, { childList: true, subtree: true })`)
  const { operation } = await ask('echo with text="one"')
  await expect.poll(() => page.evaluate('window.hasClicked')).toBe(true)
  await page.getByRole('button', { name: 'Allow once' }).waitFor()
  await afterQuiet(page)
  expect(echoed).toEqual([])
  const { questions } = await api.get('GET /api/questions')
  await api.get(`POST /api/questions/${questions[0].question.id}/answer`, { kind: 'deny' })
  await noneWaits(window)
  await api.ended(operation.id)
  expect(echoed).toEqual([])
}, 120_000)
