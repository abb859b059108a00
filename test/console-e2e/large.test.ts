/** Much of everything: a result of 1 MB, 1,000 tools, and 10,000 rows of the timeline that scroll without jerks. */

import { expect, onTestFinished, test } from 'vitest'
import { allow } from '../../src/host/policy-tools/index.ts'
import { createServer } from '../../src/server/index.ts'
import { chromiumOfFile } from '../support/chromium.ts'
import { openWindow, type Window } from './support/windows.ts'
import { inMemory, worlds } from './support/worlds.ts'

const newWorld = worlds()
const chromium = chromiumOfFile()

const MANY_TOOLS = 1_000
const MANY_CALLS = 10_000

/** Scrolls a list from end to end, and returns the milliseconds of each frame. */
async function framesOf({ page }: Window, list: string): Promise<number[]> {
  return (await page.evaluate(`(async () => {
    const list = [...document.querySelectorAll(${JSON.stringify(list)})].find((each) => each.scrollHeight > each.clientHeight * 4)
    if (!list) throw new Error('Nothing scrolls in ' + ${JSON.stringify(list)})
    list.scrollTop = 0
    const next = () => new Promise((resolve) => requestAnimationFrame(resolve))
    await next()
    const frames = []
    let before = await next()
    for (let step = 0; step < 120; step++) {
      list.scrollTop = (list.scrollHeight - list.clientHeight) * (step / 119)
      const now = await next()
      frames.push(now - before)
      before = now
    }
    return frames
  })()`)) as number[]
}

/** The time that 95 of 100 frames do not exceed. The best of some runs: the machine does other things, too. */
async function slowFrame(window: Window, list: string): Promise<number> {
  const runs: number[] = []
  for (let run = 0; run < 12; run++) {
    const frames = (await framesOf(window, list)).sort((a, b) => a - b)
    runs.push(frames[Math.floor(frames.length * 0.95)] ?? Number.POSITIVE_INFINITY)
    if ((runs.at(-1) ?? 0) <= 34) break
  }
  return Math.min(...runs)
}

async function shown() {
  const server = createServer({ name: 'many', version: '1.0.0' })
  for (let index = 0; index < MANY_TOOLS; index++)
    server.tool(`tool${index}`, { title: `Tool number ${index}`, description: 'One of many' }, () => 'ok')
  server.tool('large', { title: 'Large', description: 'Returns 1 MB' }, () => `start ${'words and more words '.repeat(50_000)} end`)
  const world = await newWorld({
    host: { servers: { many: inMemory(server) }, policy: { session: [allow('all', { action: 'server.approve' })] } },
  })
  await world.host.settled()
  const window = await openWindow(await chromium(), world.console.link())
  onTestFinished(() => window.close())
  return { ...world, window, page: window.page }
}

test('1,000 tools scroll smoothly, one is found and run, and a result of 1 MB is shown', async () => {
  const { window, page } = await shown()
  await window.open('/tools')
  await page.getByPlaceholder(/1,?001/).waitFor()
  expect(await page.locator('main *').count(), 'only the visible rows exist').toBeLessThan(2_000)
  expect(await slowFrame(window, 'main *'), 'milliseconds of a frame').toBeLessThanOrEqual(34)
  await page.getByPlaceholder(/1,?001/).fill('number 977')
  await page.getByText('Tool number 977').first().click()
  await page.getByRole('button', { name: 'Run', exact: true }).click()
  await page.getByText('ok', { exact: true }).first().waitFor()

  await window.open('/tools?tool=many__large')
  const begun = Date.now()
  await page.getByRole('button', { name: 'Run', exact: true }).click()
  await page
    .getByText(/start words/)
    .first()
    .waitFor()
  // The page still answers.
  await page.keyboard.press('Control+k')
  await page.getByRole('dialog').waitFor()
  expect(Date.now() - begun).toBeLessThan(10_000)
  expect(window.problems).toEqual([])
}, 120_000)

test('10,000 rows of the timeline scroll smoothly', async () => {
  const { window, page, feed } = await shown()
  const common = { kind: 'message', connection: 1, revision: '2025-11-25', bytes: 120 } as const
  for (let call = 0; call < MANY_CALLS; call++) {
    const id = `call-${call}`
    const params = { name: `tool${call % MANY_TOOLS}`, arguments: {} }
    const number = 100_000 + call * 2
    // A server may fill half of the timeline.
    const server = call % 2 === 0 ? 'many' : 'more'
    feed.onTraffic({
      ...common,
      server,
      number,
      from: 'host',
      at: 1_700_000_000_000 + call,
      message: { jsonrpc: '2.0', id, method: 'tools/call', params },
    })
    const result = { content: [{ type: 'text', text: 'ok' }] }
    feed.onTraffic({
      ...common,
      server,
      number: number + 1,
      from: 'server',
      at: 1_700_000_000_005 + call,
      message: { jsonrpc: '2.0', id, result },
    })
  }
  await window.open('/timeline')
  await expect
    .poll(async () => Number((await page.getByText(/\d rows/).textContent())?.replaceAll(',', '').match(/(\d+) rows/)?.[1]), {
      timeout: 30_000,
    })
    .toBeGreaterThanOrEqual(9_900)
  expect(await page.locator('main *').count(), 'only the visible rows exist').toBeLessThan(2_000)
  expect(await slowFrame(window, 'main *'), 'milliseconds of a frame').toBeLessThanOrEqual(34)
  expect(window.problems).toEqual([])
}, 120_000)
