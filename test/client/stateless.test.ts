/** What a client of 2026-07-28 sends, and what it makes of what a server says. */

import { describe, expect, test } from 'vitest'
import { Client } from '../../src/client/client.ts'
import { verdictMemory } from '../../src/client/dialect-memory.ts'
import type { ConnectOptions } from '../../src/client/options.ts'
import { RemoteError } from '../../src/jsonrpc/remote-error.ts'
import { fakeClock } from '../../src/testing/index.ts'
import { proves } from '../support/proves.ts'
import { type Message, settle } from '../support/raw-channel.ts'
import { type Behaviour, cannedServer, type Script, scriptedServer } from '../support/scripted-server.ts'

const PREFIX = 'io.modelcontextprotocol/'
const CAPABILITIES = { tools: { listChanged: true }, resources: { subscribe: true }, prompts: {}, logging: {}, completions: {} }
const SAID = { content: [{ type: 'text', text: 'said' }] }
const RESULTS: NonNullable<Behaviour['results']> = {
  'tools/list': { tools: [] },
  'tools/call': SAID,
  'resources/list': { resources: [] },
  'resources/templates/list': { resourceTemplates: [] },
  'resources/read': { contents: [] },
  'prompts/list': { prompts: [] },
  'prompts/get': { messages: [] },
  'completion/complete': { completion: { values: [] } },
}

/** A server without sessions that agrees to every listen request. */
const serverOf = (results: Behaviour['results'] = {}, more: Partial<Behaviour> = {}, target = {}): Script => {
  const server = cannedServer(
    {
      revision: '2026-07-28',
      capabilities: CAPABILITIES,
      results: {
        ...RESULTS,
        'subscriptions/listen': ({ notifications }, { id }) => {
          const params = { notifications, _meta: { [`${PREFIX}subscriptionId`]: id } }
          server.send({ jsonrpc: '2.0', method: 'notifications/subscriptions/acknowledged', params })
          return undefined
        },
        ...results,
      },
      ...more,
    },
    target,
  )
  return server
}
const open = (server: Script, options: ConnectOptions = {}): Promise<Client> =>
  Client.connect(server.target, { memory: verdictMemory(), cache: false, ...options })

/** Makes the client send each request that it knows. */
async function useEverything(client: Client): Promise<void> {
  await client.tools().all()
  await client.call('x', { a: 1 })
  await client.resources().all()
  await client.resourceTemplates().all()
  await client.read('a:1')
  await client.prompts().all()
  await client.prompt('p')
  await client.complete({ ref: { type: 'ref/prompt', name: 'p' }, argument: { name: 'a', value: '' } })
  const stop = await client.onChange('tools', () => {})
  stop()
  await client.ping()
}
const METHODS = [
  'completion/complete',
  'prompts/get',
  'prompts/list',
  'resources/list',
  'resources/read',
  'resources/templates/list',
  'server/discover',
  'subscriptions/listen',
  'tools/call',
  'tools/list',
]

describe('every request', () => {
  test('every request carries version, capabilities and client; discover carries nothing else', async () => {
    proves('R-META-003', 'R-META-004', 'R-META-006', 'R-DISC-008', 'R-BASE-068', 'R-STDIO-005')
    const server = serverOf()
    const client = await open(server, { info: { name: 'me', version: '2' } })
    await useEverything(client)
    const requests = server.received.filter(({ id }) => id !== undefined)
    expect([...new Set(requests.map(({ method }) => method))].sort()).toEqual(METHODS)
    for (const { method, params } of requests) {
      expect(params._meta, method).toMatchObject({
        [`${PREFIX}protocolVersion`]: '2026-07-28',
        [`${PREFIX}clientCapabilities`]: {},
        [`${PREFIX}clientInfo`]: { name: 'me', version: '2' },
      })
    }
    const discover = requests.find(({ method }) => method === 'server/discover')
    expect(Object.keys(discover?.params)).toEqual(['_meta'])
    // The one thing a client tells without being asked.
    const notices = server.received.filter(({ id }) => id === undefined)
    expect(new Set(notices.map(({ method }) => method))).toEqual(new Set(['notifications/cancelled']))
    await client.close()
  })

  test('every request has an id that no request in flight has', async () => {
    proves('R-BASE-034')
    const ids: unknown[] = []
    const server = serverOf({ 'tools/call': (_params, { id }) => void ids.push(id) as undefined })
    const client = await open(server)
    const calls = Array.from({ length: 50 }, () => client.call('x'))
    await settle()
    expect(new Set(ids).size).toBe(50)
    for (const id of ids) server.send({ jsonrpc: '2.0', id, result: { resultType: 'complete', ...SAID } })
    await Promise.all(calls)
    await client.close()
  })

  test('each open request with progress has its own token', async () => {
    proves('R-PROG-003')
    const calls: Message[] = []
    const server = serverOf({ 'tools/call': (_params, message) => void calls.push(message) as undefined })
    const client = await open(server)
    const heard: number[][] = [[], [], []]
    const running = heard.map((list) => client.call('x', {}, { onProgress: ({ progress }) => list.push(progress) }))
    await settle()
    const tokens = calls.map(({ params }) => params._meta.progressToken)
    expect(new Set(tokens).size).toBe(3)
    for (const [i, progressToken] of tokens.entries())
      server.send({ jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken, progress: i + 1 } })
    for (const { id } of calls) server.send({ jsonrpc: '2.0', id, result: { resultType: 'complete', ...SAID } })
    await Promise.all(running)
    expect(heard).toEqual([[1], [2], [3]])
    // A client tells no progress of its own.
    expect(server.received.some(({ method }) => method === 'notifications/progress')).toBe(false)
    await client.close()
  })
})

describe('answers to questions', () => {
  test('answers to questions go into the next round as plain results, and no response is ever sent', async () => {
    proves('R-BASE-033', 'R-BASE-035', 'R-BASE-071', 'R-STDIO-002', 'R-BASE-072')
    const form = { type: 'object', properties: { ok: { type: 'boolean' } } }
    const inputRequests = {
      sure: { method: 'elicitation/create', params: { mode: 'form', message: 'Sure?', requestedSchema: form } },
      where: { method: 'roots/list' },
      thought: { method: 'sampling/createMessage', params: { messages: [], maxTokens: 5 } },
    }
    const server = serverOf({
      'tools/call': ({ inputResponses }) => (inputResponses ? SAID : { resultType: 'input_required', inputRequests }),
    })
    const warnings: string[] = []
    const client = await open(server, {
      onWarning: (message) => warnings.push(message),
      answer: {
        elicit: () => ({ action: 'accept', content: { ok: true } }),
        roots: ['file:///work'],
        sample: () => ({ role: 'assistant', content: { type: 'text', text: 'Hm.' }, model: 'm' }),
      },
    })
    await client.call('x')
    expect(server.received.at(-1)?.params.inputResponses).toEqual({
      sure: { action: 'accept', content: { ok: true } },
      where: { roots: [{ uri: 'file:///work' }] },
      thought: { role: 'assistant', content: { type: 'text', text: 'Hm.' }, model: 'm' },
    })
    // A server that asks all the same, or says what nobody understands, gets nothing.
    for (const [id, method] of ['roots/list', 'ping', 'no/such'].entries()) server.send({ jsonrpc: '2.0', id: `theirs-${id}`, method })
    server.send('{"jsonrpc":"2.0","id":')
    await settle()
    expect(server.received.filter(({ method }) => method === undefined)).toEqual([])
    expect(warnings).toHaveLength(4)
    expect(warnings[0]).toBe('Ignored: a request, in a revision where servers send no requests')
    expect(client.isClosed).toBe(false)
    await client.close()
  })
})

describe('error codes of a server', () => {
  test.each(Array.from({ length: 20 }, (_, i) => -32019 + i))('the error code %i is only passed on', async (code) => {
    proves('R-BASE-047', 'R-BASE-044')
    const server = serverOf({
      'tools/call': () => {
        throw Object.assign(new Error('Something of theirs'), { code, data: { theirs: true } })
      },
    })
    const client = await open(server)
    const before = server.received.length
    const failure = await client.call('x').catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(RemoteError)
    expect(failure).toMatchObject({ code, message: 'Something of theirs', data: { theirs: true } })
    await settle()
    expect(server.received.slice(before).map(({ method }) => method)).toEqual(['tools/call'])
    expect(client.isClosed).toBe(false)
    await client.close()
  })

  test.each(['2025-11-25', '2026-07-28'])('-32002 of a server of %s is the error of a missing resource', async (revision) => {
    proves('R-BASE-052')
    const missing = (): never => {
      throw Object.assign(new Error('Resource not found'), { code: -32002, data: { uri: 'a:none' } })
    }
    const server = cannedServer({ revision, results: { 'resources/read': missing } })
    const client = await open(server)
    await expect(client.read('a:none')).rejects.toMatchObject({
      name: 'RemoteError',
      code: -32002,
      message: 'Resource not found',
      data: { uri: 'a:none' },
    })
    await client.close()
  })

  test('local errors have names and server errors have numbers, so that they cannot be confused', async () => {
    proves('R-BASE-053')
    const clock = fakeClock()
    const server = serverOf({ 'tools/call': () => undefined, 'resources/read': () => ({ contents: 5 }) })
    const client = await open(server, { clock })
    const late = client.call('x', {}, { timeoutMs: 100 }).catch((error: unknown) => error)
    await clock.advance(100)
    const local = [await late, await client.read('a:1').catch((error: unknown) => error)]
    await client.close()
    local.push(await client.call('x').catch((error: unknown) => error))
    for (const error of local) {
      expect(error).not.toBeInstanceOf(RemoteError)
      expect((error as { code: unknown }).code).toMatch(/^ERR_/)
    }
  })
})

describe('who the server says it is', () => {
  test('the name of the server changes nothing in the requests', async () => {
    proves('R-META-010', 'R-DISC-012')
    const sent = async (serverInfo: Message): Promise<string[]> => {
      const server = serverOf({}, { serverInfo })
      const client = await open(server)
      await useEverything(client)
      await client.close()
      return server.received.map((message) => JSON.stringify(message))
    }
    const plain = await sent({ name: 'canned', version: '1' })
    for (const serverInfo of [{ name: 'everything', version: '99' }, { name: 'portico', version: '0.1.0', title: 'P' }, {}])
      expect(await sent(serverInfo)).toEqual(plain)
  })
})

describe('a client that speaks no older revision', () => {
  test('a stateless client starts with server/discover and reports that an older server needs a handshake', async () => {
    proves('R-DISC-019', 'R-DISC-028')
    const server = cannedServer({ revision: '2025-11-25' })
    await expect(open(server, { revisions: ['2026-07-28'] })).rejects.toMatchObject({
      code: 'ERR_VERSION_UNSUPPORTED',
      message: 'The server does not support 2026-07-28; it needs a handshake',
    })
    expect(server.received.map(({ method }) => method)).toEqual(['server/discover'])
    const modern = serverOf()
    const client = await open(modern, { revisions: ['2026-07-28'] })
    expect(modern.received.map(({ method }) => method)).toEqual(['server/discover'])
    await client.close()
  })
})

describe('giving up a request where all share one connection', () => {
  test('cancelling on a shared connection sends the id and a reason once, and nothing after the answer', async () => {
    proves('R-CANC-003', 'R-CANC-007', 'R-CANC-008', 'R-STDIO-006')
    const server = serverOf({ 'tools/call': ({ name }) => (name === 'fast' ? SAID : undefined) })
    const client = await open(server)
    const [early, late] = [new AbortController(), new AbortController()]
    const slow = client.call('slow', {}, { signal: early.signal })
    await client.call('fast', {}, { signal: late.signal })
    late.abort()
    early.abort()
    early.abort()
    await expect(slow).rejects.toThrow()
    await settle()
    const id = server.received.find(({ params }) => params?.name === 'slow')?.id
    const told = server.received.filter(({ method }) => method === 'notifications/cancelled')
    expect(told).toEqual([
      { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: id, reason: 'The caller cancelled the request' } },
    ])
    // What is answered after all changes nothing.
    server.send({ jsonrpc: '2.0', id, result: { resultType: 'complete', ...SAID } })
    expect((await client.call('fast')).content).toEqual(SAID.content)
    await client.close()
  })

  test('a stateless request has a timeout that progress extends up to the maximum', async () => {
    proves('R-CANC-010', 'R-CANC-011')
    const clock = fakeClock()
    const server = serverOf({ 'tools/call': () => undefined })
    const client = await open(server, { clock })
    const cancelled = (): unknown[] =>
      server.received.flatMap(({ method, params }) => (method === 'notifications/cancelled' ? [params.requestId] : []))
    const plain = client.call('plain', {}, { timeoutMs: 2000 }).catch((error: unknown) => error)
    const options = { timeoutMs: 2000, maxTotalMs: 5000, onProgress: () => {} }
    const moved = client.call('moved', {}, options).catch((error: unknown) => error)
    const call = (name: string): Message => server.received.find(({ params }) => params?.name === name) as Message
    for (let progress = 1; progress <= 4; progress++) {
      await clock.advance(1500)
      const { progressToken } = call('moved').params._meta
      server.send({ jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken, progress } })
      await clock.advance(0)
      if (progress === 2) expect(cancelled()).toEqual([call('plain').id])
    }
    expect(await plain).toMatchObject({ code: 'ERR_TIMEOUT', message: expect.stringContaining('2000 ms (timeoutMs)') })
    expect(await moved).toMatchObject({ code: 'ERR_TIMEOUT', message: expect.stringContaining('5000 ms in all (maxTotalMs)') })
    expect(cancelled()).toEqual([call('plain').id, call('moved').id])
    await client.close()
  })
})

describe('a process that ended and was started again', () => {
  test('a restarted process has lost the calls in flight, and its subscriptions are renewed', async () => {
    proves('R-STDIO-013', 'R-LISTEN-016')
    const clock = fakeClock()
    const server = serverOf({ 'tools/call': ({ name }) => (name === 'fast' ? SAID : undefined) }, {}, { restarts: true })
    const client = await open(server, { clock, onWarning: () => {} })
    let changes = 0
    await client.onChange('tools', () => changes++)
    const listenIds = [server.received.at(-1)?.id]
    const lost = client.call('slow').catch((error: unknown) => error)
    await clock.advance(0)
    server.hangUp(new Error('crashed'))
    expect(await lost).toMatchObject({ message: 'crashed' })
    const again = client.call('fast')
    await clock.advance(2000)
    expect((await again).content).toEqual(SAID.content)
    expect(server.opened).toBe(2)
    const listen = server.received.find(({ method }) => method === 'subscriptions/listen')
    expect(listen?.params.notifications).toEqual({ toolsListChanged: true })
    listenIds.push(listen?.id)
    const before = changes
    server.send({
      jsonrpc: '2.0',
      method: 'notifications/tools/list_changed',
      params: { _meta: { [`${PREFIX}subscriptionId`]: listen?.id } },
    })
    await clock.advance(0)
    expect(changes).toBe(before + 1)
    await client.close()
  })
})

test('the first message to an unknown server is server/discover with the newest version', async () => {
  proves('R-DISC-023')
  const server = scriptedServer(({ id, method }, send) => {
    if (method === 'server/discover')
      send({
        jsonrpc: '2.0',
        id,
        result: { resultType: 'complete', supportedVersions: ['2026-07-28'], capabilities: {}, ttlMs: 0, cacheScope: 'private' },
      })
  })
  const client = await open(server)
  expect(server.received[0]).toMatchObject({
    method: 'server/discover',
    params: { _meta: { [`${PREFIX}protocolVersion`]: '2026-07-28' } },
  })
  await client.close()
})
