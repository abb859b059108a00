/** Forms, results and links that want to hide what is sent, to act without the person, or to freeze the page. */

import { createServer as createSite } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Page } from 'playwright-core'
import { expect, onTestFinished, test } from 'vitest'
import { allow } from '../../src/host/policy-tools/index.ts'
import { createServer } from '../../src/server/index.ts'
import { chromiumOfFile } from '../support/chromium.ts'
import { afterQuiet, openWindow, type Window } from './support/windows.ts'
import { inMemory, worlds } from './support/worlds.ts'

const newWorld = worlds()
const chromium = chromiumOfFile()

type Server = ReturnType<typeof createServer>

/** A window over one server, and the arguments that its tools receive. */
async function shown(
  build: (server: Server, got: unknown[]) => void,
  policy = allow('all', {}),
): Promise<Window & { got: unknown[]; host: Awaited<ReturnType<typeof newWorld>>['host'] }> {
  const got: unknown[] = []
  const server = createServer({ name: 'sh', version: '1.0.0' })
  build(server, got)
  const { console, host } = await newWorld({ host: { servers: { sh: inMemory(server) }, policy: { session: [policy] } } })
  await host.settled()
  const window = await openWindow(await chromium(), console.link())
  onTestFinished(() => window.close())
  return { ...window, got, host }
}

const fields = (count: number, each: (index: number) => object): Record<string, object> =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`f${index}`, each(index)]))

/** Everything that the person can see or scroll to: texts, and the values of fields. */
const visibleText = (page: Page, box = 'main'): Promise<string> =>
  page.evaluate(
    `[...document.querySelectorAll('${box} input, ${box} textarea, ${box} select')].map((each) => each.checkVisibility() ? each.value : '').join(' ') + ' ' + document.querySelector('${box}').innerText`,
  )

const run = (page: Page) => page.getByRole('button', { name: 'Run', exact: true })

test('every value that a form sends is drawn: many fields, nested groups, values of another kind', async () => {
  const { page, got, open, still } = await shown((server, seen) => {
    const tool = (name: string, properties: Record<string, object>, required: string[] = []): void => {
      server.tool(name, { description: 'x', input: { type: 'object', properties, required } as never }, (args: unknown) => {
        seen.push(args)
        return 'ok'
      })
    }
    const many = fields(130, (index) => ({ type: 'string', default: index === 125 ? 'SECRET-MARK' : 'v' }))
    tool('required', many, Object.keys(many))
    tool('optional', many)
    const inner = {
      a: { type: 'string', default: 'a' },
      ...fields(8, (i) => ({ type: 'string', ...(i === 7 && { default: 'SECRET-MARK' }) })),
    }
    tool('nested', { name: { type: 'string' }, options: { type: 'object', properties: inner, required: ['a'] } }, ['options'])
    tool('rows', { list: { type: 'array', items: {}, default: [...Array(80).fill('v'), 'SECRET-MARK'] } })
    tool('date', { day: { type: 'string', format: 'date', default: 'SECRET-MARK' } })
    tool('long', { text: { type: 'string', pattern: '.', default: `Hello${' '.repeat(300)}SECRET-MARK` } })
    tool('constant', { mode: { const: { about: 'x'.repeat(400), mark: 'SECRET-MARK' } } }, ['mode'])
    tool('titled', { mode: { oneOf: [{ const: 'SECRET-MARK', title: 'Safe' }], default: 'SECRET-MARK' } })
  })
  for (const name of ['required', 'optional', 'nested', 'rows', 'date', 'long', 'constant', 'titled']) {
    await open(`/tools?tool=sh__${name}`)
    await run(page).waitFor()
    await expect.poll(() => visibleText(page), { message: name }).toContain('SECRET-MARK')
    const before = got.length
    await run(page).click()
    await still()
    // A date that is none is refused by the check; all the others are sent.
    if (name !== 'date') {
      await expect.poll(() => got.length).toBe(before + 1)
      expect(JSON.stringify(got.at(-1)), name).toContain('SECRET-MARK')
    }
  }
}, 120_000)

test('a form with too many values for fields is JSON, with everything in it', async () => {
  const { page, open } = await shown((server) => {
    const input = {
      type: 'object',
      properties: { list: { type: 'array', default: Array.from({ length: 5_000 }, (_, index) => `row ${index}`) } },
    }
    server.tool('rows', { description: 'x', input: input as never }, () => 'ok')
  })
  await open('/tools?tool=sh__rows')
  await expect.poll(() => page.getByLabel('JSON').last().inputValue()).toContain('row 4999')
  await page.getByText('too many for fields').waitFor()
}, 120_000)

test('defaults in the form of a server are drawn before they can be sent', async () => {
  const { page, host, open, got } = await shown((server, seen) => {
    server.tool('ask', { description: 'x' }, async (_, ctx) => {
      const properties = {
        name: { type: 'string' },
        ...fields(130, (index) => ({ type: 'string', default: index === 125 ? 'SECRET-MARK' : 'v' })),
      }
      seen.push(await ctx.elicit('q', 'Please confirm your name', { type: 'object', properties } as never))
      return 'ok'
    })
  })
  await open('/waiting')
  const asked = host.call('sh__ask', {}, { as: 'person' })
  await page.getByRole('article').waitFor()
  await afterQuiet(page)
  await expect.poll(() => visibleText(page, 'article')).toContain('SECRET-MARK')
  await page.getByRole('button', { name: 'Send', exact: true }).click()
  await asked
  expect(JSON.stringify(got)).toContain('SECRET-MARK')
}, 120_000)

test('a link from another site fills in nothing before a click, and its window runs nothing by one key', async () => {
  const { page, got, origin } = await shown((server, seen) => {
    const input = { type: 'object', properties: { name: { type: 'string' } } }
    server.tool('open', { description: 'x', input: input as never }, (args: unknown) => {
      seen.push(args)
      return 'ok'
    })
  })
  const args = encodeURIComponent(JSON.stringify({ name: 'x', force: 'FROM-ELSEWHERE' }))
  const site = createSite((_, response) => {
    response.writeHead(200, { 'content-type': 'text/html' })
    response.end(
      `<a target="_blank" href="${origin}/tools?tool=sh__open&args=${args}">A</a> <a target="_blank" href="${origin}/chat?say=FROM-ELSEWHERE">B</a>`,
    )
  }).listen(0, '127.0.0.1')
  onTestFinished(() => void site.close())
  await new Promise((done) => site.once('listening', done))
  const other = await page.context().newPage()
  await other.goto(`http://localhost:${(site.address() as AddressInfo).port}/`)
  const opened = async (name: string): Promise<Page> => {
    const [found] = await Promise.all([page.context().waitForEvent('page'), other.getByRole('link', { name }).click()])
    found.setDefaultTimeout(20_000)
    await found.getByRole('heading', { name: 'Another page opened this window' }).waitFor()
    // Nothing of the console is there yet, and no session.
    expect(await found.evaluate('sessionStorage.length')).toBe(0)
    await found.getByRole('button', { name: 'Open the console' }).click()
    return found
  }
  const tool = await opened('A')
  await tool.getByRole('button', { name: 'Use them' }).waitFor()
  await tool.bringToFront()
  expect(await tool.getByLabel('name').inputValue()).toBe('')
  // In the quiet time of a page that was opened from elsewhere the key does nothing at all. After it, the key only shows what would run.
  const shownByKey = async (): Promise<unknown> => {
    const focused = await tool.evaluate('document.activeElement.textContent')
    if (focused !== 'Run') await tool.keyboard.press('Control+Enter')
    return focused
  }
  await expect.poll(shownByKey).toBe('Run')
  await tool.waitForTimeout(300)
  expect(got).toEqual([])
  // What the person uses is drawn, sent, and survives a reload.
  await tool.getByRole('button', { name: 'Use them' }).click()
  await tool.getByRole('button', { name: 'Use them' }).waitFor({ state: 'hidden' })
  await expect.poll(() => visibleText(tool)).toContain('FROM-ELSEWHERE')
  await tool.reload()
  await tool.getByText('The schema does not list this name').waitFor()
  await tool.keyboard.press('Control+Enter')
  await expect.poll(() => got).toEqual([{ name: 'x', force: 'FROM-ELSEWHERE' }])
  const chat = await opened('B')
  await chat.getByRole('button', { name: 'Use it' }).waitFor()
  expect(await chat.getByLabel('Message', { exact: true }).inputValue()).toBe('')
  await chat.getByRole('button', { name: 'Use it' }).click()
  await expect.poll(() => chat.getByLabel('Message', { exact: true }).inputValue()).toBe('FROM-ELSEWHERE')
}, 120_000)

test('a tab that was signed in before does not open at once for another site, not even with a wrong code', async () => {
  const { page, origin } = await shown((server) => server.tool('open', { description: 'x' }, () => 'ok'))
  const site = createSite((_, response) => {
    response.writeHead(200, { 'content-type': 'text/html' })
    response.end(`<a href="${origin}/tools#code=00000000000000000000">Go</a>`)
  }).listen(0, '127.0.0.1')
  onTestFinished(() => void site.close())
  await new Promise((done) => site.once('listening', done))
  await page.goto(`http://localhost:${(site.address() as AddressInfo).port}/`)
  await page.getByRole('link', { name: 'Go' }).click()
  await page.getByRole('button', { name: 'Open the console' }).click()
  await page.getByRole('heading', { level: 1, name: 'Tools' }).waitFor()
  // The person has decided. A reload, a bookmark and a typed address open it.
  await page.reload()
  await page.getByRole('heading', { level: 1, name: 'Tools' }).waitFor()
  await page.goto(`${origin}/servers`)
  await page.getByRole('heading', { level: 1, name: 'Servers' }).waitFor()
}, 120_000)

test('a link of our own pages fills in the form at once', async () => {
  const { page, host, open, got } = await shown((server, seen) => {
    const input = { type: 'object', properties: { name: { type: 'string' } } }
    server.tool('open', { description: 'x', input: input as never }, (args: unknown) => {
      seen.push(args)
      return 'ok'
    })
  })
  await host.call('sh__open', { name: 'first' }, { as: 'person' })
  await open('/')
  await page.getByRole('link', { name: 'Run again' }).click()
  await page.waitForURL(/tool=/)
  await expect.poll(() => page.getByLabel('name').inputValue()).toBe('first')
  await page.keyboard.press('Control+Enter')
  await expect.poll(() => got).toHaveLength(2)
}, 120_000)

test('arguments of calls and texts of prompts never get into an address, which the browser remembers', async () => {
  const { page, host, open, still } = await shown((server) => {
    const input = { type: 'object', properties: { name: { type: 'string' } } }
    server.tool('open', { description: 'x', input: input as never }, () => 'ok')
    server.prompt(
      'letter',
      { description: 'x', input: { type: 'object', properties: { to: { type: 'string' } } } as never },
      (args: unknown) => `Dear ${(args as { to: string }).to}, PRIVATE-TEXT`,
    )
  })
  const addresses: string[] = []
  page.on('framenavigated', () => addresses.push(decodeURIComponent(page.url())))
  await host.call('sh__open', { name: 'PRIVATE-NAME' }, { as: 'person' })
  await host.prompt('sh__letter', { to: 'PRIVATE-FRIEND' }, { as: 'person' })
  const filledIn = (label: string): Promise<string> => page.getByLabel(label, { exact: true }).inputValue()
  await open('/')
  await page.getByRole('link', { name: 'Run again' }).click()
  await expect.poll(() => filledIn('name')).toBe('PRIVATE-NAME')
  // It survives a reload, and is used without a click, because the person came by our own link.
  await page.reload()
  await expect.poll(() => filledIn('name')).toBe('PRIVATE-NAME')
  await page.goBack()
  await page.getByRole('link', { name: 'Get again' }).click()
  await expect.poll(() => filledIn('to')).toBe('PRIVATE-FRIEND')
  await page.getByRole('button', { name: 'Show messages' }).click()
  await page.getByRole('button', { name: 'Use in chat' }).click()
  await expect.poll(() => filledIn('Message')).toContain('PRIVATE-TEXT')
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox', { name: 'Search' }).fill('sh/open')
  await page
    .getByRole('option', { name: /sh\/open/ })
    .first()
    .click()
  await expect.poll(() => filledIn('name')).toBe('PRIVATE-NAME')
  await open('/timeline')
  await page.getByRole('option').filter({ hasText: 'tools/call open' }).first().click()
  await page.getByRole('link', { name: 'Edit and run again' }).click()
  await expect.poll(() => filledIn('name')).toBe('PRIVATE-NAME')
  await still()
  expect(addresses.length).toBeGreaterThan(5)
  expect(addresses.filter((address) => address.includes('PRIVATE'))).toEqual([])
  // A call that is no longer known leaves the form empty and says so.
  await open('/tools?tool=sh__open&call=987654')
  await page.getByText('The arguments of that call are no longer here.').waitFor()
}, 120_000)

test('hostile markdown, many parts and many options leave the page usable', async () => {
  const { page, open, host } = await shown((server) => {
    server.tool('stars', { description: 'x' }, () => `# Title\n\n${'**a_'.repeat(24_000)}`)
    server.tool('brackets', { description: 'x' }, () => '['.repeat(99_000))
    server.tool('parts', { description: 'x' }, () => ({
      content: Array.from({ length: 20_000 }, (_, i) => ({ type: 'text' as const, text: `# a${i}` })),
    }))
    const options = fields(100, (index) => ({ enum: Array.from({ length: 1_000 }, (_, each) => `v${index}-${each}`) }))
    server.tool('options', { description: 'x', input: { type: 'object', properties: options } as never }, () => 'ok')
  })
  await host.settled()
  for (const name of ['stars', 'brackets', 'parts', 'options']) {
    await open(`/tools?tool=sh__${name}`)
    await run(page).click()
    await page.getByRole('tab', { name: 'Raw' }).waitFor()
    // A frozen page does not answer. Before, each took 7 to 40 seconds or more.
    await page.getByRole('tab', { name: 'Result' }).click()
    const elements = (await page.evaluate('document.querySelectorAll("*").length')) as number
    expect(elements, name).toBeLessThan(6_000)
    if (name === 'parts') await page.getByRole('button', { name: 'Show more parts, 19,950 left' }).waitFor()
  }
}, 120_000)

test('one of many options is found by typing, and a list offers each value once', async () => {
  const { page, open, got } = await shown((server, seen) => {
    const properties = {
      city: { enum: Array.from({ length: 300 }, (_, index) => `city ${index}`) },
      stage: { enum: ['staging', 'production'], default: 'staging' },
    }
    server.tool('pick', { description: 'x', input: { type: 'object', properties } as never }, (args: unknown) => {
      seen.push(args)
      return 'ok'
    })
  })
  await open('/tools?tool=sh__pick')
  expect(await page.getByLabel('stage').locator('option').allInnerTexts()).toEqual(['Not set', 'staging', 'production'])
  await page.getByLabel('city').fill('city 271')
  await page.getByRole('option', { name: 'city 271' }).click()
  await run(page).click()
  await expect.poll(() => got).toEqual([{ stage: 'staging', city: 'city 271' }])
}, 120_000)

test('a new row has the focus and an empty value of its type', async () => {
  const { page, open, got } = await shown((server, seen) => {
    const properties = { tags: { type: 'array', items: { type: 'string' } } }
    server.tool('rows', { description: 'x', input: { type: 'object', properties } as never }, (args: unknown) => {
      seen.push(args)
      return 'ok'
    })
  })
  await open('/tools?tool=sh__rows')
  await page.getByRole('button', { name: 'Add a row' }).click()
  await page.keyboard.type('home')
  await page.getByRole('button', { name: 'Add a row' }).click()
  await run(page).click()
  await expect.poll(() => got).toEqual([{ tags: ['home', ''] }])
}, 120_000)

test('a chat shows a message once, and says that it waits for the person', async () => {
  const { page, open } = await shown(
    (server) => {
      server.tool('open', { description: 'x' }, () => 'opened')
    },
    allow('approve', { action: 'server.approve' }),
  )
  await open('/chat')
  await page.getByLabel('Message', { exact: true }).fill('Call sh__open')
  await page.keyboard.press('Enter')
  await page.getByText('waits for you').waitFor()
  await expect.poll(() => page.getByRole('log').getByText('Call sh__open', { exact: true }).count()).toBe(1)
  await page.getByRole('button', { name: 'Show the question' }).click()
  await page.getByRole('button', { name: 'Allow once' }).waitFor()
  await afterQuiet(page)
  await page.getByRole('button', { name: 'Allow once' }).click()
  await page.getByRole('log').getByText('done').first().waitFor()
  await page.getByText('Waiting for you', { exact: true }).and(page.getByRole('log').locator('*')).waitFor({ state: 'hidden' })
}, 120_000)
