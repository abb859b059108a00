import { describe, expect, test } from 'vitest'
import { METHODS } from '../../../src/protocol/methods.ts'
import { proves } from '../../support/proves.ts'
import { open, openSession, SAID, type Script, SESSION, STATELESS, sessionServer, statelessServer, TOOL } from './scripted-http.ts'

describe('every message', () => {
  test('every message is a separate POST of one JSON object that accepts both kinds of answer', async () => {
    proves('T-HTTP-009', 'T-HTTP-010', 'T-HTTP-011', 'T-HTTP-013', 'T-HTTP-072', 'T-BASE-045')
    const server = await sessionServer()
    const { client } = await openSession(server, { answer: { roots: ['file:///work'] } })
    await Promise.all([client.ping(), client.call('echo', {}), client.resources().all()])
    client.setRoots([])
    await server.until(({ message }) => message.method === 'notifications/roots/list_changed')
    await client.close()
    const posts = server.received.filter(({ verb }) => verb === 'POST')
    expect(posts.map(({ message }) => message.method).sort()).toEqual(
      [
        'initialize',
        'notifications/initialized',
        'ping',
        'resources/list',
        'tools/call',
        'tools/list',
        'notifications/roots/list_changed',
      ].sort(),
    )
    for (const { headers, text, path } of posts) {
      expect(path).toBe('/mcp')
      expect(headers['content-type']).toBe('application/json')
      expect(headers.accept).toBe('application/json, text/event-stream')
      expect(JSON.parse(text)).toMatchObject({ jsonrpc: '2.0' })
    }
    for (const { verb, text } of server.received.filter(({ verb }) => verb !== 'POST')) {
      expect(['GET', 'DELETE']).toContain(verb)
      expect(text).toBe('')
    }
  })

  test('every message is alone in its body, also in the revision with batches', async () => {
    proves('R-BASE-001', 'R-HTTP-001')
    const server = await sessionServer({}, { revision: '2025-03-26' })
    const { client } = await openSession(server, { answer: { roots: ['file:///work'] } })
    await Promise.all([client.ping(), client.call('echo', {}), client.resources().all(), client.tools().all()])
    client.setRoots([])
    await server.until(({ message }) => message.method === 'notifications/roots/list_changed')
    expect(client.revision).toBe('2025-03-26')
    const posts = server.received.filter(({ verb }) => verb === 'POST')
    expect(posts.length).toBeGreaterThan(5)
    for (const { message } of posts) expect(message).toMatchObject({ jsonrpc: '2.0', method: expect.any(String) })
  })

  test('every message after the handshake carries the negotiated version, also GET and DELETE', async () => {
    proves('T-HDR-001', 'T-HDR-002')
    for (const revision of ['2025-03-26', '2025-06-18', SESSION]) {
      const server = await sessionServer({}, { revision })
      const { client } = await openSession(server)
      expect(client.revision).toBe(revision)
      await client.ping()
      await client.close()
      const [handshake, ...others] = server.received
      expect(handshake?.headers).not.toHaveProperty('mcp-protocol-version')
      expect(others.map(({ verb }) => verb).sort()).toEqual(['DELETE', 'GET', 'POST', 'POST'])
      for (const { headers } of others) expect(headers['mcp-protocol-version']).toBe(revision)
    }
  })

  test('every stateless message carries the version of its metadata, from the first on', async () => {
    proves('R-HTTP-010', 'R-HTTP-011', 'R-HTTP-012', 'R-HDR-003', 'R-HDR-004')
    const server = await statelessServer()
    const { client } = await open(server)
    await client.call('echo', {})
    expect(server.received.map(({ verb }) => verb)).toEqual(['POST', 'POST', 'POST'])
    for (const { headers, message } of server.received) {
      expect(headers['mcp-protocol-version']).toBe(STATELESS)
      expect(message.params._meta['io.modelcontextprotocol/protocolVersion']).toBe(STATELESS)
      expect(headers).not.toHaveProperty('mcp-session-id')
    }
  })

  test('every message repeats its method, in every revision, unless it is an answer', async () => {
    proves('T-HTTP-012', 'T-HDR-005', 'T-HDR-009', 'R-HTTP-011', 'R-HDR-009')
    const server = await sessionServer({
      'tools/call': (_, answer) => {
        const events = answer.events()
        events.message({ jsonrpc: '2.0', id: 'theirs', method: 'ping' })
        void server.until(({ message }) => message.id === 'theirs').then(() => events.result(SAID).end())
      },
    })
    const { client } = await openSession(server)
    await client.call('echo', {})
    for (const { headers, message } of server.received.filter(({ verb }) => verb === 'POST')) {
      expect(headers['mcp-method']).toBe(message.method)
    }
    const answer = server.received.find(({ message }) => message.id === 'theirs')
    expect(answer?.message).toEqual({ jsonrpc: '2.0', id: 'theirs', result: {} })
    expect(answer?.headers).not.toHaveProperty('mcp-method')
    expect(answer?.headers['mcp-session-id']).toBe('session-1')

    const modern = await statelessServer()
    const stateless = await open(modern)
    await stateless.client.call('echo', {})
    expect(modern.received.map(({ headers }) => headers['mcp-method'])).toEqual(['server/discover', 'tools/list', 'tools/call'])
  })

  test('every message that has a target repeats its name in a header, and no other does', async () => {
    proves('T-HDR-006', 'T-HDR-007', 'R-HTTP-011', 'R-HDR-010', 'R-HDR-011')
    for (const [server, options] of [
      [await sessionServer(), { revisions: [SESSION] }],
      [await statelessServer(), {}],
    ] as const) {
      const { client } = await open(server, options)
      await client.call('echo', {})
      await client.read('file:///path/to/file%20name.txt')
      await client.prompt('größe')
      await client.request('tasks/get', { taskId: 'task 1' }).catch(() => {})
      const names = server.received
        .filter(({ verb, message }) => verb === 'POST' && message.id !== undefined)
        .map(({ message, headers }) => [message.method, headers['mcp-name']])
      expect(names.slice(1)).toEqual([
        ['tools/list', undefined],
        ['tools/call', 'echo'],
        ['resources/read', 'file:///path/to/file%20name.txt'],
        ['prompts/get', '=?base64?Z3LDtsOfZQ==?='],
        ['tasks/get', 'task 1'],
      ])
      expect(names[0]?.[1]).toBeUndefined()
    }
    expect([...METHODS.values()].filter(({ target }) => target).map(({ method }) => method)).toEqual([
      'tools/call',
      'resources/read',
      'prompts/get',
    ])
  })

  test('every message is UTF-8, there and back', async () => {
    proves('T-BASE-010')
    const text = 'žluťoučký 👩‍👧 \u2028 \u0000'
    const server = await sessionServer({
      'tools/call': ({ message }, answer) => answer.result({ content: [{ type: 'text', text: message.params.arguments.text }] }),
    })
    const { client } = await openSession(server)
    expect((await client.call('echo', { text })).content).toEqual([{ type: 'text', text }])
  })
})

describe('an answer', () => {
  test('each answer may be JSON or a stream, independent of earlier answers', async () => {
    proves('T-HTTP-018')
    let count = 0
    const server = await sessionServer({
      'tools/call': (_, answer) => {
        if (++count % 2 === 0) return answer.result(SAID)
        answer.events().notice('notifications/message', { level: 'info', data: 'on the way' }).result(SAID).end()
      },
    })
    const logs: unknown[] = []
    const { client, warnings } = await openSession(server, { onLog: ({ data }) => logs.push(data) })
    for (let i = 0; i < 4; i++) expect(await client.call('echo', {})).toMatchObject(SAID)
    expect(logs).toEqual(['on the way', 'on the way'])
    expect(warnings).toEqual([])
  })

  test('header names of an answer are found in any letter case', async () => {
    proves('T-HDR-008')
    const server = await sessionServer({
      initialize: (_, { response }) => {
        const result = { protocolVersion: SESSION, capabilities: { tools: {} }, serverInfo: { name: 'loud', version: '1' } }
        response.writeHead(200, { 'CONTENT-TYPE': 'Application/JSON; charset=utf-8', 'MCP-SESSION-ID': 'LOUD' })
        response.end(JSON.stringify({ jsonrpc: '2.0', id: 1, result }))
      },
    })
    const { client } = await openSession(server)
    await client.ping()
    expect(server.received.at(-1)?.headers['mcp-session-id']).toBe('LOUD')
  })

  test('the answer to one call does not wait for another: streams run in parallel', async () => {
    proves('T-HTTP-046')
    const held: (() => void)[] = []
    const server = await sessionServer({
      GET: (_, answer) => void answer.events(),
      'tools/call': ({ message }, answer) => {
        const events = answer.events()
        held.push(() => events.result({ content: [{ type: 'text', text: message.params.arguments.name }] }).end())
        if (held.length === 3) for (const release of held.reverse()) release()
      },
    })
    const { client } = await openSession(server)
    await client.tools().all()
    const names = ['a', 'b', 'c']
    const results = await Promise.all(names.map((name) => client.call('echo', { name })))
    expect(results.map(({ content }) => content)).toEqual(names.map((text) => [{ type: 'text', text }]))
  })

  test('the answer to a batch may be a list in the one revision with batches', async () => {
    proves('R-BASE-002', 'R-HTTP-005')
    const server = await sessionServer(
      {
        'tools/call': ({ message }, answer) => {
          const messages = [
            { jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data: 'beside' } },
            { jsonrpc: '2.0', id: message.id, result: SAID },
          ]
          if (message.params.arguments.as === 'events') answer.events().message(messages).end()
          else answer.json(messages)
        },
      },
      { revision: '2025-03-26' },
    )
    const logs: unknown[] = []
    const { client } = await openSession(server, { onLog: ({ data }) => logs.push(data) })
    for (const as of ['json', 'events']) expect(await client.call('echo', { as })).toMatchObject(SAID)
    expect(logs).toEqual(['beside', 'beside'])
  })
})

describe('giving up a call', () => {
  const hanging = (onGone: () => void): Script => ({
    'tools/call': (_, answer) => {
      answer.events()
      answer.response.once('close', onGone)
    },
  })

  test('cancelling a call in a session sends a message', async () => {
    proves('T-HTTP-032', 'T-HTTP-045')
    let isGone = false
    const server = await sessionServer(hanging(() => (isGone = true)))
    const { client } = await openSession(server)
    await client.tools().all()
    const controller = new AbortController()
    const call = client.call('echo', {}, { signal: controller.signal })
    const { message } = await server.until(({ message }) => message.method === 'tools/call')
    controller.abort()
    await expect(call).rejects.toThrow()
    const told = await server.until(({ message }) => message.method === 'notifications/cancelled')
    expect(told.message.params.requestId).toBe(message.id)
    await expect.poll(() => isGone).toBe(true)
    await client.ping()
  })

  test('cancelling a stateless call closes its stream, and sends nothing', async () => {
    proves('R-HTTP-014', 'R-CANC-010')
    let isGone = false
    const server = await statelessServer(hanging(() => (isGone = true)))
    const { client } = await open(server)
    await client.tools().all()
    await expect(client.call('echo', {}, { timeoutMs: 100 })).rejects.toMatchObject({ code: 'ERR_TIMEOUT' })
    await expect.poll(() => isGone).toBe(true)
    expect(server.posts('notifications/cancelled')).toEqual([])
    expect(await client.tools().all()).toEqual([TOOL])
  })
})
