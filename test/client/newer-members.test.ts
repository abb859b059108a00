/** A server may send more than the revision it named: what it sends is used all the same. */

import { describe, expect, test } from 'vitest'
import { Client } from '../../src/client/client.ts'
import { fakeClock } from '../../src/testing/index.ts'
import { SESSION_REVISIONS } from '../support/judged-pair.ts'
import { cannedServer } from '../support/scripted-server.ts'

const meta = { ui: { resourceUri: 'ui://widget' } }
const icons = [{ src: 'https://example.com/i.png' }]
const schema = { type: 'object', properties: { n: { type: 'number' } } }

describe.each(SESSION_REVISIONS)('from a server that named %s', (revision) => {
  test('newer members of lists and results are kept', async () => {
    const tool = {
      name: 't',
      title: 'T',
      inputSchema: schema,
      outputSchema: schema,
      annotations: { readOnlyHint: true },
      icons,
      _meta: meta,
    }
    const called = {
      content: [
        { type: 'resource_link', uri: 'a:1', name: 'a', icons },
        { type: 'audio', data: 'AAAA', mimeType: 'audio/wav' },
        { type: 'text', text: 'x', _meta: meta },
      ],
      structuredContent: { n: 1 },
      _meta: meta,
    }
    const resource = { uri: 'a:1', name: 'a', title: 'A', size: 5, icons, _meta: meta }
    const template = { uriTemplate: 'a:{n}', name: 'a', title: 'A', icons, _meta: meta }
    const prompt = { name: 'p', title: 'P', icons, arguments: [{ name: 'q', title: 'Q' }], _meta: meta }
    const server = cannedServer({
      revision,
      serverInfo: { name: 'newer', version: '1', title: 'Newer', icons, websiteUrl: 'https://example.com' },
      capabilities: { tools: {}, resources: {}, prompts: {}, completions: {}, extensions: { 'com.example/x': {} } },
      results: {
        'tools/list': { tools: [tool] },
        'tools/call': called,
        'resources/list': { resources: [resource] },
        'resources/templates/list': { resourceTemplates: [template] },
        'resources/read': { contents: [{ uri: 'a:1', text: 'x', _meta: meta }] },
        'prompts/list': { prompts: [prompt] },
        'prompts/get': { messages: [{ role: 'user', content: { type: 'audio', data: 'AAAA', mimeType: 'audio/wav', _meta: meta } }] },
      },
    })
    const client = await Client.connect(server.target)
    expect(client.revision).toBe(revision)
    expect(client.server.info).toMatchObject({ title: 'Newer', icons, websiteUrl: 'https://example.com' })
    expect(client.server.capabilities).toHaveProperty(['extensions', 'com.example/x'])
    expect(await client.tools().all()).toEqual([tool])
    expect(await client.call('t')).toEqual(called)
    expect(await client.resources().all()).toEqual([resource])
    expect(await client.resourceTemplates().all()).toEqual([template])
    expect(await client.read('a:1')).toEqual({ contents: [{ uri: 'a:1', text: 'x', _meta: meta }] })
    expect(await client.prompts().all()).toEqual([prompt])
    expect((await client.prompt('p')).messages[0]?.content).toMatchObject({ type: 'audio', _meta: meta })
    await client.close()
  })

  test('structured content is checked against the schema that came with it', async () => {
    const results = {
      'tools/list': { tools: [{ name: 't', inputSchema: schema, outputSchema: { ...schema, required: ['n'] } }] },
      'tools/call': { content: [], structuredContent: { n: 'one' } },
    }
    const client = await Client.connect(cannedServer({ revision, results }).target)
    await expect(client.call('t')).rejects.toMatchObject({ code: 'ERR_ANSWER_INVALID' })
  })

  test('a cache hint of a newer revision is ignored', async () => {
    let asked = 0
    const clock = fakeClock()
    const results = { 'tools/list': () => ({ tools: [{ name: `t${++asked}`, inputSchema: schema }], ttlMs: 60_000, cacheScope: 'public' }) }
    const client = await Client.connect(cannedServer({ revision, results }).target, { clock })
    for (let i = 1; i <= 2; i++) expect((await client.tools().all())[0]?.name).toBe(`t${i}`)
  })
})

describe('a question of a server that named 2025-06-18', () => {
  const open = async (answer: object) => {
    const server = cannedServer({ revision: '2025-06-18' })
    await Client.connect(server.target, { answer })
    const ask = async (params: object) => {
      server.send({ jsonrpc: '2.0', id: 'q', method: 'elicitation/create', params })
      for (;;) {
        const answered = server.received.find(({ id, method }) => id === 'q' && method === undefined)
        if (answered) return answered
        await new Promise((resolve) => setImmediate(resolve))
      }
    }
    return { ask }
  }

  test('a newer kind of form in 2025-06-18 is shown as it is and answered as it was asked', async () => {
    const properties = {
      colours: { type: 'array', items: { type: 'string', enum: ['red', 'blue'] } },
      name: { type: 'string', default: 'x', pattern: '^x' },
    }
    let shown: unknown
    const { ask } = await open({
      elicit: ({ schema: form }: { schema: unknown }) => {
        shown = form
        return { action: 'accept', content: { colours: ['red', 'blue'] } }
      },
    })
    const answered = await ask({ message: 'Which?', requestedSchema: { type: 'object', properties } })
    expect(shown).toEqual({ type: 'object', properties })
    expect(answered.result).toEqual({ action: 'accept', content: { colours: ['red', 'blue'] } })
  })

  test('a page request in 2025-06-18 is refused, because the client did not declare it', async () => {
    let isAsked = false
    const { ask } = await open({
      elicit: () => ({ action: 'cancel' }),
      elicitUrl: () => {
        isAsked = true
        return { action: 'accept' }
      },
    })
    const answered = await ask({ mode: 'url', message: 'Log in', url: 'https://example.com', elicitationId: '1' })
    expect(answered.error).toMatchObject({ code: -32602, message: 'Elicitation mode "url" was not declared' })
    expect(isAsked).toBe(false)
  })
})
