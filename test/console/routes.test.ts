/** The routes of a console that use servers: lists, calls, resources, prompts, subscriptions, operations. */

import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { DEFAULT_CONSOLE_LIMITS } from '../../src/console/index.ts'
import { DEFAULT_TIMELINE_LIMITS } from '../../src/console/timeline/timeline.ts'
import { createServer } from '../../src/server/index.ts'
import { rawHttp } from '../support/http-requests.ts'
import { until } from '../support/until.ts'
import { APPROVED, consoles, event, Page } from './pages.ts'

const opened = consoles()

/** Servers that need no approval, and no question for a call. */
const quick = async (servers: Record<string, ReturnType<typeof createServer>>, console = {}) => {
  const all = await opened({ host: { servers, isBypassing: true, policy: { session: APPROVED } }, console })
  await all.host.settled()
  return { ...all, page: await Page.open(all.console) }
}

const textOf = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')

/** All matches in a file of the project, sorted. */
const found = (path: string, pattern: RegExp): (string | undefined)[] => [...textOf(path).matchAll(pattern)].map(([, name]) => name).sort()

describe('routes', () => {
  test('an unknown route is answered with the list of routes, and every route is documented', async () => {
    const { console } = await opened({ host: { servers: {} } })
    const { status, code, message, routes = [] } = await new Page(console.origin).fails('GET /api/nothing')
    expect({ status, code, message }).toEqual({ status: 404, code: 'ERR_ROUTE', message: 'There is no route GET /api/nothing' })
    expect(found('docs/console-api.md', /^\| `([A-Z]+ \/api[^`]+)`/gm)).toEqual([...routes].sort())
    // The stream of events has no JSON.
    expect([...found('src/console/api.ts', /^ {2}'([A-Z]+ \/api[^']+)':/gm), 'GET /api/events'].sort()).toEqual([...routes].sort())
  })

  test('every event is documented', () => {
    const [, interfaceText = ''] = textOf('src/console/api.ts').split('export interface ConsoleEvents {')
    const events = [...interfaceText.matchAll(/^ {2}'?([a-z-]+)'?:/gm)].map(([, name]) => name).sort()
    const [, table = ''] = textOf('docs/console-api.md').split('## Events')
    const [rows = ''] = table.split('## Errors')
    expect([...rows.matchAll(/^\| `([a-z-]+)` \|/gm)].map(([, name]) => name).sort()).toEqual(events)
  })

  test('every limit is documented', () => {
    const documented = found('docs/console-api.md', /^\| `(\w+)` \|/gm)
    for (const name of Object.keys({ ...DEFAULT_CONSOLE_LIMITS, ...DEFAULT_TIMELINE_LIMITS })) expect(documented).toContain(name)
  })

  test('a route with another method says which it has', async () => {
    const { console } = await opened({ host: { servers: {} } })
    const answer = await new Page(console.origin).send('PUT /api/grants')
    expect(answer).toMatchObject({ status: 405, headers: { allow: 'GET, POST, DELETE' } })
    expect(answer.message).toEqual({ error: { code: 'ERR_METHOD', message: 'Expected GET, POST, DELETE, got PUT' } })
  })

  test.each([
    ['GET /api/tools?servre=x', 'servre'],
    ['GET /api/tools?server=a&server=b', 'expected "server" once'],
    ['GET /api/search', 'q'],
    ['GET /api/search?q=x&limit=0', 'limit'],
    ['GET /api/search?q=x&limit=many', 'limit: expected integer, got string'],
    ['GET /api/audit?limit=1001', 'limit'],
    ['GET /api/audit?action=tool.cal', 'action'],
    ['GET /api/servers/%E0%A4%A', 'Expected an encoded path segment'],
  ])('%s is refused with 400', async (route, message) => {
    const { console } = await opened({ host: { servers: {} } })
    const page = await Page.open(console)
    expect(await page.fails(route)).toMatchObject({ status: 400, code: 'ERR_INVALID_PARAMS', message: expect.stringContaining(message) })
  })
})

describe('what servers offer', () => {
  test('tools, prompts, resources and templates are listed, all or of one server', async () => {
    const { console } = await opened()
    const page = await Page.open(console)
    const { tools } = await page.get('GET /api/tools')
    expect(tools.map(({ exposed }: { exposed: string }) => exposed)).toEqual(expect.arrayContaining(['notes__add', 'deploy__plan']))
    const { tools: own } = await page.get('GET /api/tools?server=deploy')
    expect(new Set(own.map(({ server }: { server: string }) => server))).toEqual(new Set(['deploy']))
    expect(own[0].definition.inputSchema.type).toBe('object')
    expect((await page.get('GET /api/prompts')).prompts.length).toBeGreaterThan(0)
    expect((await page.get('GET /api/templates?server=notes')).templates[0].definition.uriTemplate).toContain('note://')
    expect((await page.get('GET /api/resources?server=deploy')).resources).toMatchObject([{ exposed: 'deploy://status' }])
  })

  test('a search finds tools by words, best first', async () => {
    const { console } = await opened()
    const { found } = await (await Page.open(console)).get('GET /api/search?q=roll%20back&limit=2')
    expect(found[0]).toMatchObject({ kind: 'tool', exposed: 'deploy__rollback', server: 'deploy', score: expect.any(Number) })
    expect(found.length).toBeLessThanOrEqual(2)
  })
})

describe('using servers', () => {
  test('a call has an id that the page chose, and its result is an event', async () => {
    const { console } = await opened()
    const page = await Page.open(console)
    const events = await page.events()
    const id = 'my-own-operation'
    const answer = await page.send('POST /api/tools/call', {
      body: { id, tool: 'notes__add', args: { title: 'Milk', text: 'Two litres' } },
    })
    expect(answer.status).toBe(202)
    expect(answer.message).toMatchObject({ operation: { id, kind: 'call', target: 'notes__add', state: 'running' } })
    expect(await event(events, 'operation')).toMatchObject({ id, state: 'running' })
    const done = await event(events, 'operation', ({ state }) => state !== 'running')
    expect(done).toMatchObject({ id, state: 'done', result: { content: [expect.objectContaining({ type: 'text' })] } })
    expect(done.endedAt).toBeGreaterThanOrEqual(done.startedAt)
    expect(await page.fails('POST /api/tools/call', { body: { id, tool: 'notes__list' } })).toMatchObject({
      status: 409,
      code: 'ERR_CONFLICT',
    })
  })

  test.each([
    [{}, 'tool'],
    [{ tool: 7 }, 'tool'],
    [{ tool: { server: 'notes' } }, 'name'],
    [{ tool: 'notes__add', args: [] }, 'args: expected object, got array'],
    [{ tool: 'notes__add', id: 'short' }, 'id'],
    [{ tool: 'notes__add', timeoutMs: 0.5 }, 'timeoutMs'],
  ])('the call %j is refused with 400', async (body, message) => {
    const { console } = await opened({ host: { servers: {} } })
    const page = await Page.open(console)
    expect(await page.fails('POST /api/tools/call', { body })).toMatchObject({ status: 400, message: expect.stringContaining(message) })
  })

  test('a call that fails has the code and the words of the error', async () => {
    const { console } = await opened()
    const page = await Page.open(console)
    expect(await page.run('POST /api/tools/call', { tool: 'nothing' })).toMatchObject({
      state: 'failed',
      error: { code: 'ERR_SERVER_UNKNOWN', message: 'No tool is called "nothing"' },
    })
    expect(await page.run('POST /api/tools/call', { tool: 'notes__add', args: { title: 7 } })).toMatchObject({
      state: 'failed',
      error: { code: 'ERR_INVALID_PARAMS', message: expect.stringContaining('title: expected string') },
    })
    expect((await page.fails('POST /api/tools/call', { body: { tool: 'notes__list', conversation: 'none' } })).status).toBe(404)
  })

  test('progress arrives as events, and a cancelled call ends at the server', async () => {
    let isAborted = false
    const server = createServer({ name: 'slow', version: '1.0.0' })
    server.tool('wait', { description: 'Waits', annotations: { readOnlyHint: true } }, async (_, ctx) => {
      await ctx.progress(1, 3, 'begun')
      await new Promise<void>((resolve) => ctx.signal.addEventListener('abort', () => resolve(), { once: true }))
      isAborted = true
      return 'never'
    })
    const { page } = await quick({ slow: server })
    const events = await page.events()
    const { operation } = await page.get('POST /api/tools/call', { tool: 'slow__wait' })
    const { progress } = await event(events, 'operation', (data) => data.progress !== undefined)
    expect(progress).toMatchObject({ progress: 1, total: 3, message: 'begun' })
    expect((await page.get('GET /api/operations')).operations[0]).toMatchObject({ id: operation.id, state: 'running' })
    expect((await page.send(`DELETE /api/operations/${operation.id}`)).status).toBe(200)
    expect(await event(events, 'operation', ({ state }) => state !== 'running')).toMatchObject({ state: 'cancelled' })
    await until(() => isAborted)
    expect((await page.fails(`DELETE /api/operations/${operation.id}`)).message).toBe('The operation has ended already: cancelled')
    expect((await page.fails('DELETE /api/operations/nothing')).status).toBe(404)
  })

  test('a resource is read, and a subscription tells about its changes until it is ended', async () => {
    const { console } = await opened()
    const page = await Page.open(console)
    const events = await page.events()
    const added = await page.run('POST /api/tools/call', { tool: 'notes__add', args: { title: 'Milk', text: 'Two litres' } })
    const { id } = added.result.structuredContent
    const uri = `note://${id}`
    const read = await page.run('POST /api/resources/read', { uri })
    expect(read).toMatchObject({ kind: 'read', target: uri, state: 'done' })
    expect(JSON.stringify(read.result.contents)).toContain('Two litres')
    const { result: subscription } = await page.run('POST /api/subscriptions', { uri })
    expect(await page.get('GET /api/subscriptions')).toEqual({ subscriptions: [subscription] })
    await page.get('POST /api/tools/call', { tool: 'notes__edit', args: { id, text: 'Three litres' } })
    const { id: question } = await event(events, 'question')
    await page.get(`POST /api/questions/${question}/answer`, { kind: 'allow', scope: 'once' })
    expect(await event(events, 'resource')).toMatchObject({ uri, id: subscription.id })
    await page.get(`DELETE /api/subscriptions/${subscription.id}`)
    expect(await page.get('GET /api/subscriptions')).toEqual({ subscriptions: [] })
    expect((await page.fails(`DELETE /api/subscriptions/${subscription.id}`)).status).toBe(404)
    expect(await page.run('POST /api/resources/read', { uri: 'note://nothing' })).toMatchObject({ state: 'failed' })
  })

  test('a prompt is filled in, and an argument is completed while it is typed', async () => {
    const { console } = await opened()
    const page = await Page.open(console)
    await page.run('POST /api/tools/call', { tool: 'notes__add', args: { title: 'Milk', text: 'Two litres', tags: ['shopping'] } })
    const { completion } = await page.get('POST /api/complete', {
      server: 'notes',
      ref: { type: 'ref/prompt', name: 'weekly-review' },
      argument: { name: 'tag', value: 's' },
    })
    expect(completion.values).toEqual(['shopping'])
    const got = await page.run('POST /api/prompts/get', { prompt: { server: 'notes', name: 'weekly-review' }, args: { tag: 'shopping' } })
    expect(got).toMatchObject({
      kind: 'prompt',
      state: 'done',
      result: { messages: expect.arrayContaining([expect.objectContaining({ role: 'user' })]) },
    })
    expect((await page.fails('POST /api/complete', { body: { server: 'notes', ref: { type: 'x' } } })).status).toBe(400)
    expect(
      (
        await page.fails('POST /api/complete', {
          body: { server: 'x', ref: { type: 'ref/prompt', name: 'x' }, argument: { name: 'a', value: '' } },
        })
      ).status,
    ).toBe(404)
  })
})

test('a completion that the page no longer waits for is cancelled at the server', async () => {
  let isAsked = false
  let isAborted = false
  const server = createServer({ name: 'slow', version: '1.0.0' })
  const city = (_: string, { signal }: { signal: AbortSignal }) => {
    isAsked = true
    return new Promise<string[]>((resolve) =>
      signal.addEventListener('abort', () => {
        isAborted = true
        resolve([])
      }),
    )
  }
  server.prompt('trip', { input: { type: 'object', properties: { city: { type: 'string' } } }, complete: { city } }, () => 'Go')
  const { console, page } = await quick({ slow: server })
  const body = JSON.stringify({ server: 'slow', ref: { type: 'ref/prompt', name: 'trip' }, argument: { name: 'city', value: 'O' } })
  const head = `host: 127.0.0.1:${console.port}\r\ncookie: ${page.cookie}\r\nportico-token: ${page.token}\r\ncontent-type: application/json`
  const socket = rawHttp(console.port, `POST /api/complete HTTP/1.1\r\n${head}\r\ncontent-length: ${body.length}\r\n\r\n${body}`)
  await until(() => isAsked)
  socket.destroy()
  await until(() => isAborted)
})

describe('the limits of operations', () => {
  const waiting = () => {
    const server = createServer({ name: 'slow', version: '1.0.0' })
    const hints = { annotations: { readOnlyHint: true } }
    server.tool(
      'wait',
      { description: 'Waits', ...hints },
      (_, { signal }) => new Promise<string>((resolve) => signal.addEventListener('abort', () => resolve('x'))),
    )
    server.tool(
      'say',
      { description: 'Says', ...hints, input: { type: 'object', properties: { size: { type: 'integer' } } } },
      ({ size }) => 'x'.repeat(Number(size)),
    )
    return server
  }

  test('only so many operations run at the same time', async () => {
    const { page } = await quick({ slow: waiting() }, { limits: { maxOperations: 2 } })
    const { operation } = await page.get('POST /api/tools/call', { tool: 'slow__wait' })
    await page.get('POST /api/tools/call', { tool: 'slow__wait' })
    expect(await page.fails('POST /api/tools/call', { body: { tool: 'slow__wait' } })).toEqual({
      status: 429,
      code: 'ERR_LIMIT',
      message: '2 operations run already (maxOperations): wait, or cancel one',
    })
    await page.get(`DELETE /api/operations/${operation.id}`)
    await page.ended(operation.id)
    expect((await page.send('POST /api/tools/call', { body: { tool: 'slow__wait' } })).status).toBe(202)
  })

  test('only the newest results are kept, by number and by size', async () => {
    const { page } = await quick({ slow: waiting() }, { limits: { maxEnded: 3, maxResultBytes: 10_000 } })
    const say = async (size: number) => (await page.run('POST /api/tools/call', { tool: 'slow__say', args: { size } })).id as string
    const ids = []
    // Different ones: the host asks about a call that is repeated.
    for (let size = 1; size <= 5; size++) ids.push(await say(size))
    const kept = async () => (await page.get('GET /api/operations')).operations.map(({ id }: { id: string }) => id)
    expect(await kept()).toEqual(ids.slice(2))
    const large = [await say(6000), await say(6001)]
    expect(await kept()).toEqual([large[1]])
    expect((await page.fails(`GET /api/operations/${large[0]}`)).message).toContain('Results are kept for a while only')
    expect(await page.run('POST /api/tools/call', { tool: 'slow__say', args: { size: 11_000 } })).toMatchObject({
      state: 'failed',
      error: { code: 'ERR_LIMIT', message: expect.stringContaining('(maxResultBytes)') },
    })
  })

  test('a large result is not in the event, and can be fetched', async () => {
    const { page } = await quick({ slow: waiting() }, { limits: { maxInlineBytes: 2000 } })
    const events = await page.events()
    const { operation } = await page.get('POST /api/tools/call', { tool: 'slow__say', args: { size: 5000 } })
    const done = await event(events, 'operation', ({ state }) => state === 'done')
    expect(done).toMatchObject({ id: operation.id, resultBytes: expect.any(Number) })
    expect(done.result).toBeUndefined()
    expect((await page.get(`GET /api/operations/${operation.id}`)).operation.result.content[0].text).toHaveLength(5000)
    expect((await page.get('GET /api/operations')).operations[0].result).toBeUndefined()
  })

  test('only so many subscriptions are open at the same time', async () => {
    const { console } = await opened({ console: { limits: { maxSubscriptions: 0 } } })
    expect(await (await Page.open(console)).fails('POST /api/subscriptions', { body: { uri: 'note://1' } })).toMatchObject({
      status: 429,
      message: expect.stringContaining('(maxSubscriptions)'),
    })
  })

  test('closing the console cancels what runs, and leaves the host open', async () => {
    const { page, host, console } = await quick({ slow: waiting() })
    await page.get('POST /api/tools/call', { tool: 'slow__wait' })
    await console.close()
    await expect(host.call('slow__say', { size: 1 })).resolves.toMatchObject({ content: [{ text: 'x' }] })
  })
})
