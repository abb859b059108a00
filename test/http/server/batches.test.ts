import { describe, expect, test } from 'vitest'
import { http } from '../../support/http-requests.ts'
import { callTool, holdingServer, initializeMessage, openSession, serve, testServer } from '../../support/http-service.ts'
import { proves } from '../../support/proves.ts'
import type { Message } from '../../support/raw-channel.ts'

const request = (id: number, method = 'ping', params?: Message): Message => ({ jsonrpc: '2.0', id, method, ...(params ? { params } : {}) })
const notice = (): Message => ({ jsonrpc: '2.0', method: 'notifications/x' })

describe('batches in 2025-03-26', () => {
  test('batches in 2025-03-26 are answered with one array, in JSON or on one stream', async () => {
    proves('R-HTTP-003', 'R-HTTP-004', 'R-HTTP-006', 'R-HTTP-007')
    const server = testServer()
    server.tool('talks', {}, async (_args, ctx) => {
      await ctx.progress(1)
      return 'done'
    })
    const { url } = await serve(server)
    const session = await openSession(url, '2025-03-26')
    const plain = await session.post([request(1), notice(), request(2, 'tools/call', callTool('hi').params), { jsonrpc: '2.0', id: 3 }])
    expect([plain.status, plain.headers['content-type']]).toEqual([200, 'application/json'])
    const byId = new Map((plain.message as unknown as Message[]).map((answer) => [answer.id, answer]))
    expect([...byId.keys()].sort()).toEqual([1, 2, 3])
    expect(byId.get(2)?.result.content[0].text).toBe('hi')
    expect(byId.get(3)?.error.code).toBe(-32600)
    const talked = await session.post([request(1, 'tools/call', { name: 'talks', _meta: { progressToken: 1 } }), request(2)])
    expect(talked.headers['content-type']).toBe('text/event-stream')
    const data = talked.text
      .split('\n')
      .filter((line) => line.startsWith('data: '))
      .map((line) => JSON.parse(line.slice(6)) as Message)
    expect(data[0]?.method).toBe('notifications/progress')
    expect((data[1] as unknown as Message[]).map(({ id }) => id).sort()).toEqual([1, 2])
  })

  test('batches of notifications and responses only are answered 202 with no body', async () => {
    proves('R-BASE-003', 'R-HTTP-002')
    const { url } = await serve(testServer())
    const session = await openSession(url, '2025-03-26')
    const { status, text } = await session.post([notice(), { jsonrpc: '2.0', id: 9, result: {} }, notice()])
    expect([status, text]).toEqual([202, ''])
  })

  test.each([
    [49, 200],
    [50, 200],
    [51, 400],
  ])('batches of %i messages are answered %i: 50 are allowed (limits.maxBatch)', async (size, status) => {
    const { url } = await serve(testServer())
    const session = await openSession(url, '2025-03-26')
    const answer = await session.post(Array.from({ length: size }, (_, i) => request(i)))
    expect(answer.status).toBe(status)
    if (status === 200) expect(answer.message).toHaveLength(size)
    else expect(answer.message.error).toMatchObject({ code: -32600, message: expect.stringContaining('maxBatch') })
  })

  test.each([
    ['maxInFlightPerSession', 429],
    ['maxInFlightPerAddress', 429],
    ['maxInFlight', 503],
  ])('%s counts each request of a batch until it is answered', async (limit, status) => {
    const { server, begun, go } = holdingServer()
    const { url } = await serve(server, { limits: { [limit]: 4 } })
    const session = await openSession(url, '2025-03-26')
    const held = session.post([request(1, 'tools/call', { name: 'hold' }), request(2), request(3)])
    await begun.opened
    const refused = await session.post([request(4), request(5)])
    expect([refused.status, refused.message.error?.data]).toEqual([status, { reason: 'limit', limit, max: 4 }])
    expect((await session.post(request(6))).status).toBe(200)
    const large = await session.post([1, 2, 3, 4, 5].map((id) => request(10 + id)))
    expect([large.status, large.message.error?.message]).toEqual([400, expect.stringContaining(`(limits.${limit})`)])
    go.open()
    expect((await held).status).toBe(200)
    expect((await session.post([1, 2, 3, 4].map((id) => request(20 + id)))).status).toBe(200)
  })

  test('batches that are empty, or have initialize in them, are answered 400', async () => {
    proves('R-LIFE-001')
    const { url } = await serve(testServer())
    const session = await openSession(url, '2025-03-26')
    for (const body of [[], [initializeMessage('2025-03-26')]]) {
      const { status, message } = await session.post(body)
      expect([status, message.error?.code]).toEqual([400, -32600])
    }
  })
})

describe('batches elsewhere', () => {
  test.each(['2024-11-05', '2025-06-18', '2025-11-25'])('batches with any content are answered 400 in %s', async (revision) => {
    proves('R-BASE-003')
    const { url } = await serve(testServer())
    const session = await openSession(url, revision)
    for (const body of [[request(1)], [notice()], [notice(), request(1)]]) {
      const { status, message } = await session.post(body)
      expect([status, message.error?.code], JSON.stringify(body)).toEqual([400, -32600])
    }
  })

  test('batches are answered 400 without a session', async () => {
    const { url } = await serve(testServer())
    const headers = { 'mcp-protocol-version': '2026-07-28' }
    for (const body of [[request(1)], [notice()]]) {
      const { status, message } = await http(url, { headers, body })
      expect([status, message.error?.code]).toEqual([400, -32600])
    }
  })

  test('without sessions, the version in the header decides about batches', async () => {
    const { url } = await serve(testServer(), { sessions: false })
    for (const [version, status, noticed] of [
      ['2025-03-26', 200, 202],
      ['2025-06-18', 400, 400],
    ] as const) {
      const headers = { 'mcp-protocol-version': version }
      expect((await http(url, { headers, body: [request(1), request(2)] })).status).toBe(status)
      expect((await http(url, { headers, body: [notice()] })).status).toBe(noticed)
    }
  })
})
