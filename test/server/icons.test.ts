import { createServer as createHttpServer } from 'node:http'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createServer, type Icon } from '../../src/server/index.ts'
import { portOf } from '../support/http-requests.ts'
import { connectPair, REVISIONS } from '../support/judged-pair.ts'
import { proves } from '../support/proves.ts'

const ICONS: Icon[] = [
  { src: 'https://example.com/48.png', mimeType: 'image/png', sizes: ['48x48', '96x96'], theme: 'light' },
  { src: 'data:image/svg+xml;base64,PHN2Zy8+', sizes: ['any'], theme: 'dark' },
  { src: 'https://example.com/plain' },
]

/** A server that has icons wherever there may be some. */
const decorated = (icons: Icon[]) => {
  const server = createServer({ name: 'decorated', version: '1', icons })
  server.tool('t', { icons }, () => ({ content: [{ type: 'resource_link', uri: 'a:1', name: 'a', icons }] }))
  server.prompt('p', { icons }, () => 'x')
  server.resource('a:1', { name: 'a', icons }, () => 'x')
  server.resource('b:{id}', { name: 'b', icons }, () => 'x')
  return server
}

/** Everything of a server that may have icons. */
const withIcons = async (icons: Icon[], revision: string): Promise<[where: string, has: unknown][]> => {
  const { client } = await connectPair(decorated(icons), { revision })
  const [tool] = await client.tools().all()
  const [prompt] = await client.prompts().all()
  const [resource] = await client.resources().all()
  const [template] = await client.resourceTemplates().all()
  const [link] = (await client.call('t')).content
  return Object.entries({ implementation: client.server.info, tool, prompt, resource, template, link })
}

describe.each(REVISIONS)('icons in %s', (revision) => {
  test('icons reach the client unchanged from 2025-11-25 on, and are left out before', async () => {
    proves('R-BASE-015', 'R-BASE-016', 'R-BASE-017', 'R-BASE-018', 'R-BASE-019')
    for (const [where, has] of await withIcons(ICONS, revision)) {
      if (revision >= '2025-11-25') expect(has, where).toHaveProperty('icons', ICONS)
      else expect(has, where).not.toHaveProperty('icons')
    }
  })
})

test('the addresses of icons are never fetched', async () => {
  proves('R-BASE-022')
  let visits = 0
  const canary = createHttpServer((_request, response) => {
    visits++
    response.end()
  })
  await new Promise<void>((resolve) => canary.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void canary.close())
  const src = `http://127.0.0.1:${portOf(canary)}/icon.png`
  const found = await withIcons([{ src }, { src: 'javascript:alert(1)' }, { src: 'file:///etc/passwd' }], '2025-11-25')
  expect(found).toHaveLength(6)
  await new Promise((resolve) => setTimeout(resolve, 50))
  expect(visits).toBe(0)
})
