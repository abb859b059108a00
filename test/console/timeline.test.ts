/** The timeline of a console: every message of every connection, with its answer. */

import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, test } from 'vitest'
import { consoleFeed } from '../../src/console/index.ts'
import { deployServer } from '../../src/demo/index.ts'
import type { HostTraffic } from '../../src/host/index.ts'
import { allow } from '../../src/host/policy-tools/index.ts'
import { listen } from '../../src/http/index.ts'
import { parseTranscript } from '../../src/testing/index.ts'
import { APPROVED, consoles, event, Page } from './pages.ts'

const opened = consoles()

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

interface Row {
  seq: number
  server: string
  from: string
  kind: string
  method?: string
  name?: string
  request?: number
  durationMs?: number
  during?: number
  failure?: string
  revision?: string
}

const SEARCH = { tool: 'notes__search', args: { query: 'door' } }

describe('the timeline', () => {
  test('shows each message with its request, its duration and its revision, and tells about new ones', async () => {
    const { console } = await opened()
    const page = await Page.open(console)
    const events = await page.events()
    await page.run('POST /api/tools/call', SEARCH)
    const told = await event(events, 'messages', ({ messages }) => messages.some(({ method }: Row) => method === 'tools/call'))
    expect(told.messages.length).toBeGreaterThan(0)
    const { messages, forgotten } = await page.get('GET /api/timeline?server=notes')
    expect(forgotten).toBe(0)
    const [answer, request] = (messages as Row[]).filter(({ method }) => method === 'tools/call')
    expect(request).toMatchObject({ from: 'host', kind: 'request', name: 'search', server: 'notes', revision: expect.any(String) })
    expect(answer).toMatchObject({ from: 'server', kind: 'result', request: request?.seq, name: 'search', durationMs: expect.any(Number) })
    const { message } = await page.get(`GET /api/timeline/${request?.seq}`)
    expect(message).toMatchObject({ answer: answer?.seq, violations: [], message: { method: 'tools/call', params: { name: 'search' } } })
    expect((await page.fails('GET /api/timeline/999999')).status).toBe(404)
    expect((await page.fails('GET /api/timeline/x')).status).toBe(404)
  })

  test('is filtered and paged, and can be cleared', async () => {
    const { console, host } = await opened({ host: { isBypassing: true } })
    await host.settled()
    const page = await Page.open(console)
    await page.run('POST /api/tools/call', SEARCH)
    await page.run('POST /api/tools/call', { tool: 'notes__edit', args: { id: 'nothing', text: 'x' } })
    const all = (await page.get('GET /api/timeline?limit=1000')).messages as Row[]
    const first = await page.get('GET /api/timeline?limit=3')
    expect(first.messages).toEqual(all.slice(0, 3))
    expect((await page.get(`GET /api/timeline?limit=1000&before=${first.next}`)).messages).toEqual(all.slice(3))
    expect((await page.get('GET /api/timeline?method=tools/call')).messages).toHaveLength(4)
    expect((await page.get('GET /api/timeline?kind=request&method=tools/call')).messages).toHaveLength(2)
    expect((await page.get('GET /api/timeline?only=slow&slowMs=60000')).messages).toEqual([])
    const failed = (await page.get('GET /api/timeline?only=failed')).messages as Row[]
    expect(failed.some(({ name }) => name === 'edit')).toBe(true)
    expect((await page.get('GET /api/timeline?q=SEARCH')).messages.length).toBeGreaterThan(1)
    expect((await page.get('GET /api/timeline?server=deploy')).messages.every(({ server }: Row) => server === 'deploy')).toBe(true)
    expect((await page.fails('GET /api/timeline?limit=1001')).status).toBe(400)
    await page.get('DELETE /api/timeline')
    expect((await page.get('GET /api/timeline')).messages).toEqual([])
  })

  test('groups the rounds of a call under the first one', async () => {
    const { console, asker } = await opened()
    asker.listen({ onAsked: ({ id, action }) => setImmediate(() => answer(id, action)), onEnded: () => {} })
    const answer = (id: string, action: string): void =>
      asker.answer(id, action === 'elicit.form' ? { kind: 'deny' } : { kind: 'allow', scope: 'once' })
    const page = await Page.open(console)
    await page.run('POST /api/tools/call', {
      tool: 'deploy__deploy',
      args: { service: 'api', environment: 'staging', version: '1.4.0' },
    })
    const rows = (await page.get('GET /api/timeline?server=deploy&kind=request&method=tools/call')).messages as Row[]
    const [second, first] = rows
    expect(rows).toHaveLength(2)
    expect(first).not.toHaveProperty('during')
    expect(second?.during).toBe(first?.seq)
  })

  test('has the headers of HTTP, without those that prove who you are', async () => {
    const deploy = deployServer({ stepMs: 5 })
    const listening = await listen(deploy, { port: 0, handleSignals: false })
    try {
      const secret = 'a-very-secret-value-4711'
      const servers = {
        far: {
          transport: { type: 'http' as const, url: listening.url, headers: { 'x-api-key': secret } },
          tier: 'trusted' as const,
          provenance: [],
        },
      }
      const { console, host } = await opened({
        host: { servers, policy: { session: [...APPROVED, allow('connect', { action: 'server.connect' })] } },
      })
      await host.settled()
      const page = await Page.open(console)
      const rows = (await page.get('GET /api/timeline?method=tools/list&kind=request')).messages as Row[]
      const { message } = await page.get(`GET /api/timeline/${rows[0]?.seq}`)
      expect(message.http).toMatchObject({
        method: 'POST',
        url: listening.url,
        status: 200,
        headers: { 'content-type': 'application/json', 'mcp-method': 'tools/list' },
        hiddenHeaders: ['x-api-key'],
        responseHeaders: { 'content-type': expect.any(String) },
      })
      expect(JSON.stringify(message)).not.toContain(secret)
      expect((await page.get('GET /api/servers/far')).server.facts).toMatchObject({ url: listening.url, revision: expect.any(String) })
    } finally {
      await listening.close()
      await deploy.close()
    }
  })

  test('a part of it is copied as a transcript', async () => {
    const { console } = await opened()
    const page = await Page.open(console)
    await page.run('POST /api/tools/call', SEARCH)
    const { text, messages } = await page.get('POST /api/timeline/transcript', { server: 'notes' })
    expect(messages).toBeGreaterThan(3)
    const read = parseTranscript(text, 'copy')
    expect(read.heading.target).toBe('notes')
    expect(read.messages).toHaveLength(messages)
    expect((await page.fails('POST /api/timeline/transcript', { body: { server: 'nothing' } })).status).toBe(404)
  })
})

const message = (number: number, over: Partial<Extract<HostTraffic, { kind: 'message' }>> = {}): HostTraffic => ({
  kind: 'message',
  number,
  server: 'busy',
  connection: 1,
  from: 'host',
  at: 1000 + number,
  revision: '2025-06-18',
  message: { jsonrpc: '2.0', id: number, method: 'tools/list' },
  bytes: 100,
  ...over,
})

test('a question and a progress notice belong to their call', () => {
  const { timeline, onTraffic } = consoleFeed()
  const params = { name: 'deploy', _meta: { progressToken: 't' } }
  onTraffic(message(1, { message: { jsonrpc: '2.0', id: 1, method: 'tools/call', params } }))
  onTraffic(message(2, { message: { jsonrpc: '2.0', id: 2, method: 'tools/list' } }))
  const notice = { jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken: 't', progress: 1 } }
  onTraffic(message(3, { from: 'server', message: notice }))
  onTraffic(message(4, { from: 'server', message: { jsonrpc: '2.0', id: 'q', method: 'roots/list' } }))
  expect([3, 4].map((seq) => timeline.details(seq)?.during)).toEqual([1, 1])
})

describe('the bounds of the timeline', () => {
  test('of a busy server only the newest messages are kept, and the others keep theirs', () => {
    const { timeline, onTraffic } = consoleFeed({ timeline: { maxServerMessages: 5, maxMessages: 100 } })
    onTraffic(message(1, { server: 'quiet' }))
    for (let number = 2; number <= 20; number++) onTraffic(message(number))
    expect(timeline.page({}).messages.map(({ seq }) => seq)).toEqual([20, 19, 18, 17, 16, 1])
    expect(timeline.page({}).forgotten).toBe(14)
  })

  test('of all servers only the newest messages are kept, by number and by size', () => {
    const few = consoleFeed({ timeline: { maxMessages: 3 } })
    for (let number = 1; number <= 10; number++) few.onTraffic(message(number))
    expect(few.timeline.page({}).messages.map(({ seq }) => seq)).toEqual([10, 9, 8])
    const small = consoleFeed({ timeline: { maxMessagesBytes: 2_000 } })
    for (let number = 1; number <= 10; number++) small.onTraffic(message(number, { bytes: 700 }))
    expect(small.timeline.page({}).messages.map(({ seq }) => seq)).toEqual([10, 9])
  })

  test('of a large message only the row is kept', () => {
    const { timeline, onTraffic } = consoleFeed({ timeline: { maxMessageBytes: 100 } })
    onTraffic(message(1, { bytes: 100 }))
    onTraffic(message(2, { bytes: 101 }))
    expect(timeline.details(1)?.message).toBeDefined()
    expect(timeline.details(2)).toMatchObject({ bytes: 101 })
    expect(timeline.details(2)).not.toHaveProperty('message')
  })

  test('a row keeps little of long names, ids, tokens and errors, and none of their memory', () => {
    const { timeline, onTraffic, onEvent } = consoleFeed()
    // Parsed, as messages are: a repeated string would share its parts.
    const long = (): string => JSON.parse(JSON.stringify('x'.repeat(1_000_000))) as string
    const wide = [
      () => ({ jsonrpc: '2.0', method: long() }),
      () => ({ jsonrpc: '2.0', id: long(), method: 'tools/list' }),
      () => ({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: long(), _meta: { progressToken: long() } } }),
      () => ({ jsonrpc: '2.0', id: 1, error: { code: 1, message: long() } }),
      () => ({ malformed: long() }),
    ]
    collectGarbage()
    const before = process.memoryUsage().heapUsed
    for (let round = 0; round < 20; round++) {
      for (const [at, make] of wide.entries())
        onTraffic(message(round * wide.length + at + 1, { from: 'server', message: make(), bytes: 3_000_000 }))
      onEvent({ kind: 'log', server: 'notes', log: { kind: 'message', message: { level: 'info', logger: long(), data: 'x' } } })
    }
    collectGarbage()
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(10_000_000)
    for (const row of timeline.page({}).messages) expect(JSON.stringify(row).length).toBeLessThan(2_000)
  })

  test('headers of HTTP exchanges count, too', () => {
    const { timeline, onTraffic } = consoleFeed({ timeline: { maxMessagesBytes: 50_000 } })
    for (let number = 1; number <= 20; number++) {
      onTraffic(message(number))
      onTraffic({
        kind: 'http',
        server: 'notes',
        number,
        method: 'POST',
        url: 'http://x/',
        headers: { a: 'y'.repeat(10_000) },
        hiddenHeaders: [],
        status: 200,
        responseHeaders: {},
      })
    }
    expect(timeline.page({}).messages.length).toBeLessThan(5)
  })

  test('an answer is matched within its own connection, and a broken rule is marked', () => {
    const { timeline, onTraffic } = consoleFeed()
    onTraffic(message(1))
    onTraffic(message(2, { connection: 2, from: 'server', message: { jsonrpc: '2.0', id: 1, result: { tools: [] } } }))
    onTraffic(message(3, { from: 'server', message: { jsonrpc: '2.0', id: 1, result: { tools: [{ name: 7 }] } } }))
    onTraffic(message(4, { from: 'server', message: { malformed: 'Not JSON' } }))
    expect(timeline.details(2)).toMatchObject({ kind: 'result', violations: [{ pointer: '/id' }] })
    expect(timeline.details(3)).toMatchObject({ request: 1, durationMs: 2, method: 'tools/list' })
    expect(timeline.details(3)?.violations.map(({ pointer }) => pointer)).toContain('/result/tools/0/name')
    expect(timeline.page({ only: 'violations' }).messages.map(({ seq }) => seq)).toEqual([4, 3, 2])
    expect(timeline.details(4)).toMatchObject({ kind: 'invalid', violations: [{ text: 'Not JSON' }] })
  })
})
