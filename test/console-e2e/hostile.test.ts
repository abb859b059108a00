/** A server that puts markup and scripts into everything it controls: the page shows them as text, and nothing runs. */

import { expect, onTestFinished, test } from 'vitest'
import { allow } from '../../src/host/policy-tools/index.ts'
import { createServer, ToolError } from '../../src/server/index.ts'
import { Page } from '../console/pages.ts'
import { chromiumOfFile } from '../support/chromium.ts'
import { PAYLOADS } from './support/payloads.ts'
import { afterQuiet, openWindow } from './support/windows.ts'
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
  const check = async (where: string): Promise<void> => {
    expect(await page.evaluate('window.pwned'), where).toBeUndefined()
    expect(page.url().startsWith(`${console.origin}/`), where).toBe(true)
    // No payload became an element or a live link.
    const made = await page.evaluate(
      `[...document.querySelectorAll('main script, main iframe:not([sandbox]), main object, main embed, main base, main form[action], main [onerror], main [onload], main [onclick], main a[href^="javascript" i], main a[href^="data" i], main a[href^="vbscript" i], main svg script')].map((e) => e.outerHTML.slice(0, 200))`,
    )
    expect(made, where).toEqual([])
  }
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
  await page.keyboard.press('Control+k')
  await page.keyboard.type('script')
  await window.still()
  await check('the palette')
  // The log of the browser names refused loads. There must be none, because nothing may even be tried.
  expect(window.problems).toEqual([])
}, 120_000)
