/** A server that puts markup and scripts into everything it controls: the page shows them as text, and nothing runs. */

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { allow } from '../../src/host/policy-tools/index.ts'
import { createServer, ToolError } from '../../src/server/index.ts'
import { Page } from '../console/pages.ts'
import { chromiumOfFile } from '../support/chromium.ts'
import { temporaryFolders } from '../support/folders.ts'
import { PAYLOADS } from './support/payloads.ts'
import { afterQuiet, openWindow, typeIntoPalette, type Window } from './support/windows.ts'
import { inMemory, worlds } from './support/worlds.ts'

const newWorld = worlds()
const chromium = chromiumOfFile()

const SVG = `<svg xmlns="http://www.w3.org/2000/svg" onload="window.pwned=1"><script>window.pwned=1</script><image href="http://evil.test/i"/></svg>`
const base64 = (text: string): string => Buffer.from(text).toString('base64')

/** Each payload is in a name, a title, a description, a schema, a result, a link, a picture, a log line, an error and a question. */
function hostileServer() {
  const all = PAYLOADS.join('\n\n')
  const server = createServer({
    name: `hostile ${PAYLOADS[0]}`,
    title: `Hostile ${PAYLOADS[1]}`,
    version: `1 ${PAYLOADS[2]}`,
    instructions: all,
  })
  const properties = Object.fromEntries(
    PAYLOADS.map((payload, index) => [
      `field${index}`,
      { type: 'string', title: payload, description: payload, default: payload, ...(index % 3 === 0 && { enum: [payload, 'b'] }) },
    ]),
  )
  server.tool('fields', { title: PAYLOADS[3], description: all, input: { type: 'object', title: all, properties } }, () => 'done')
  PAYLOADS.forEach((payload, index) => {
    server.tool(`tool${index}`, { title: payload, description: payload }, () => payload)
  })
  server.tool('result', { title: 'result', description: all }, (_, ctx) => {
    ctx.log.error(all)
    return {
      content: [
        ...PAYLOADS.map((payload) => ({ type: 'text' as const, text: payload })),
        { type: 'text' as const, text: PAYLOADS.map((payload) => `[${payload}](${payload})\n\n![x](${payload})`).join('\n\n') },
        { type: 'image' as const, data: base64(SVG), mimeType: 'image/svg+xml' },
        { type: 'image' as const, data: base64('<script>window.pwned=1</script>'), mimeType: 'text/html' },
        ...PAYLOADS.map((payload) => ({
          type: 'resource_link' as const,
          uri: linkOf(payload),
          name: payload,
          title: payload,
          description: payload,
        })),
        { type: 'resource' as const, resource: { uri: 'ui://page', mimeType: 'text/html', text: `<h1>hi</h1>${all}` } },
      ],
    }
  })
  server.tool('error', { description: 'fails' }, () => {
    throw new ToolError(all)
  })
  server.tool('ask', { description: 'asks' }, async (_, ctx) => {
    const asked = { type: 'object', properties: { a: { type: 'string', title: PAYLOADS[5], description: PAYLOADS[6] } } } as const
    await ctx.elicit('x', PAYLOADS.slice(0, 12).join(' '), asked)
    return 'asked'
  })
  PAYLOADS.forEach((payload, index) => {
    server.resource(`x:///${index}/${encodeURIComponent(payload)}`, { name: payload, title: payload, description: payload }, () => payload)
    server.prompt(`prompt${index}`, { title: payload, description: payload }, () => payload)
  })
  return server
}

/** Elements and links that only a payload could have made. */
const MADE = [
  'script:not([src])',
  'iframe:not([sandbox])',
  'object',
  'embed',
  'base',
  'meta[http-equiv]',
  'form[action]',
  'svg script',
  'style',
  'marquee',
  'custom-element',
  ...['onerror', 'onload', 'onclick', 'onfocus', 'ontoggle', 'onstart', 'formaction'].map((name) => `[${name}]`),
  ...['javascript', 'data', 'vbscript', '//', 'http://evil'].map((start) => `a[href^="${start}" i]`),
  ...['img', 'video', 'audio', 'source', 'image', 'use', 'link'].flatMap((tag) => [`${tag}[src*="evil"]`, `${tag}[href*="evil"]`]),
]
  .map((selector) => `body ${selector}`)
  .join(', ')

/** Nothing ran, the page is where it was, and no payload became an element or a live link. */
async function isHarmless({ page, origin }: Window, where: string): Promise<void> {
  expect(await page.evaluate('window.pwned'), where).toBeUndefined()
  expect(page.url().startsWith(`${origin}/`), where).toBe(true)
  const made = await page.evaluate(`[...document.querySelectorAll(${JSON.stringify(MADE)})].map((each) => each.outerHTML.slice(0, 200))`)
  expect(made, where).toEqual([])
}

const linkOf = (payload: string): string => (/^[a-z]+:/i.test(payload) ? payload : `x:${encodeURIComponent(payload)}`)

test('60 payloads in every field that a server controls run no script and reach nothing', async () => {
  expect(PAYLOADS.length).toBeGreaterThanOrEqual(60)
  const server = hostileServer()
  const { console, host } = await newWorld({
    host: {
      servers: { hostile: inMemory(server, { title: `Hostile ${PAYLOADS[4]}` }) },
      policy: { session: [allow('all', { action: 'server.approve' })] },
    },
  })
  await host.settled()
  const window = await openWindow(await chromium(), console.link())
  onTestFinished(() => window.close())
  const { page } = window
  const api = await Page.open(console)
  const check = (where: string): Promise<void> => isHarmless(window, where)
  await api.run('POST /api/tools/call', { tool: 'hostile__error' })
  const paths = [
    '/',
    '/servers',
    ...['overview', 'offering', 'log', 'settings'].map((tab) => `/servers?server=hostile&tab=${tab}`),
    '/tools',
    '/tools?tool=hostile__fields',
    '/resources',
    '/prompts',
    '/prompts?prompt=hostile__prompt1',
    '/timeline?message=3',
    '/audit?record=3',
    '/policy',
    `/tools?tool=${encodeURIComponent(PAYLOADS[0] ?? '')}&args=${encodeURIComponent(PAYLOADS[1] ?? '')}`,
  ]
  for (const path of paths) {
    await window.open(path)
    await check(path)
  }
  await window.open('/tools?tool=hostile__result')
  await page.getByRole('button', { name: 'Run', exact: true }).click()
  await page.getByText('pwned').first().waitFor()
  await window.still()
  await check('a result')
  // Everything that can be opened in it.
  for (const tab of await page.getByRole('tab').all()) {
    await tab.click()
    await check('a part of a result')
  }
  await window.open('/tools?tool=hostile__error')
  await page.getByRole('button', { name: 'Run', exact: true }).click()
  await window.still()
  await check('an error')
  const { resources } = await api.get('GET /api/resources')
  await window.open(`/resources?uri=${encodeURIComponent(resources[0].uri)}`)
  await check('a resource')
  await window.open('/waiting')
  await api.get('POST /api/tools/call', { tool: 'hostile__ask' })
  await page.getByRole('article').waitFor()
  await afterQuiet(page)
  await check('a question')
  await page.getByRole('button', { name: 'Details' }).first().click()
  await check('the details of a question')
  await typeIntoPalette(page, 'script')
  await window.still()
  await check('the palette')
  // The log of the browser names refused loads. There must be none, because nothing may even be tried.
  expect(window.problems).toEqual([])
}, 120_000)

const newFolder = temporaryFolders()
const PROCESS = fileURLToPath(new URL('./support/hostile-process.mjs', import.meta.url))

/** Opens everything on the page that can be opened: folded parts, and trees of JSON. */
const unfold = ({ page }: Window): Promise<unknown> =>
  page.evaluate(`document.querySelectorAll('details').forEach((each) => { each.open = true })`)

test('payloads in every message of a server: sampling, forms, pages to visit, logs, progress, icons', async () => {
  const payloads = join(newFolder(), 'payloads.json')
  writeFileSync(payloads, JSON.stringify(PAYLOADS))
  const { console, host } = await newWorld({
    host: {
      servers: {
        raw: {
          transport: { type: 'stdio', command: process.execPath, args: [PROCESS, payloads], env: {} },
          tier: 'trusted',
          provenance: [],
          labels: [],
        },
      },
      policy: { session: [allow('all', { action: ['server.launch', 'server.approve'] })] },
      // The answer of the model is a carrier, too.
      model: {
        id: 'hostile',
        label: PAYLOADS[9] ?? '',
        traits: { cost: 0, speed: 1, intelligence: 0 },
        async *stream() {
          yield { type: 'text', text: PAYLOADS.join('\n\n') }
          yield { type: 'end', reason: 'endTurn', usage: { inputTokens: 1, outputTokens: 1 } }
        },
      },
    },
  })
  await host.settled()
  expect(host.health().raw?.state).toBe('ready')
  const window = await openWindow(await chromium(), console.link())
  onTestFinished(() => window.close())
  const { page } = window
  const api = await Page.open(console)
  const check = async (where: string): Promise<void> => {
    await isHarmless(window, where)
    await unfold(window)
    await isHarmless(window, `${where}, unfolded`)
  }
  await window.open('/tools?tool=raw__go')
  await page.getByRole('button', { name: 'Run', exact: true }).click()
  // Each question in turn, in its dialog, with its details, its fields and its editor.
  const yes = ['Allow once', 'Send the answer', 'Send']
  for (const [step, name] of yes.entries()) {
    const dialog = page.getByRole('dialog')
    const button = dialog.getByRole('button', { name, exact: true })
    await button
      .or(dialog.getByRole('button', { name: 'Show everything' }))
      .first()
      .waitFor()
    for (const part of ['Details', 'Edit']) {
      const opener = dialog.getByRole('button', { name: part, exact: true })
      if ((await opener.count()) === 0) continue
      await opener.click()
      await window.still()
      await check(`question ${step}, ${part}`)
    }
    await dialog.getByRole('button', { name: 'Details', exact: true }).click()
    await window.still()
    // Folded text must be shown before the answer counts.
    const more = dialog.getByRole('button', { name: /^Show (?:everything|more)$/ })
    while (await more.isVisible()) {
      await afterQuiet(page)
      await more.click()
      await check(`question ${step}, everything`)
    }
    await afterQuiet(page)
    await button.click()
    await button.waitFor({ state: 'hidden' })
  }
  // Pages to visit: the person opens none of them.
  for (;;) {
    const decline = page.getByRole('dialog').getByRole('button', { name: 'Not now' })
    const ended = page.getByRole('region', { name: 'Result' }).getByRole('tab').first()
    await decline.or(ended).first().waitFor()
    if (!(await decline.isVisible())) break
    await check('a page to visit')
    const { questions } = await api.get('GET /api/questions')
    await afterQuiet(page)
    await decline.click()
    await page.locator(`[data-question="${questions[0].question.id}"]`).getByRole('button').first().waitFor({ state: 'hidden' })
  }
  for (const tab of await page.getByRole('region', { name: 'Result' }).getByRole('tab').all()) {
    await tab.click()
    await check('a part of the result')
  }
  await window.open('/prompts?prompt=raw__say')
  await page.getByRole('region', { name: 'Prompt' }).getByRole('combobox').first().pressSequentially('a')
  await page.getByRole('option').first().waitFor()
  await check('suggestions')
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Show messages' }).click()
  await window.still()
  await check('the messages of a prompt')
  const { resources } = await api.get('GET /api/resources')
  expect(resources.length).toBeGreaterThan(0)
  await window.open(`/resources?uri=${encodeURIComponent(resources[0].definition.uri)}`)
  await page.getByRole('button', { name: 'Read' }).first().click()
  await window.still()
  await check('a resource')
  const paths = [
    '/',
    '/servers',
    ...['overview', 'offering', 'log', 'messages', 'settings', 'doctor'].map((tab) => `/servers?server=raw&tab=${tab}`),
    '/tools',
    '/tools?tool=raw__fields',
    '/resources',
    '/prompts',
    '/timeline',
    ...[3, 8, 40].map((message) => `/timeline?message=${message}`),
    '/audit',
    '/audit?record=6',
    '/policy',
    '/waiting',
  ]
  for (const path of paths) {
    await window.open(path)
    await check(path)
  }
  expect(window.problems).toEqual([])
}, 120_000)
