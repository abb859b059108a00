import { Agent } from 'node:http'
import { describe, expect, test, vi } from 'vitest'
import { http } from '../../support/http-requests.ts'
import { askModern, byHeader, callTool, modern, openSession, serve, testServer, WATCHED } from '../../support/http-service.ts'
import { proves } from '../../support/proves.ts'
import { envelope, type Message } from '../../support/raw-channel.ts'

const MARK = { type: 'object', properties: { mark: { type: 'string' } } } as const

describe('clients that all use the same ids', () => {
  function marking() {
    const server = testServer()
    server.tool('mark', { input: MARK }, async ({ mark }, ctx) => {
      await ctx.progress(1, 2, String(mark))
      ctx.log.error(String(mark))
      if (Math.trunc(performance.now()) % 2 === 0) await new Promise((resolve) => setImmediate(resolve))
      return String(mark)
    })
    return server
  }

  /** Everything in the text that is a mark. */
  const marksIn = (text: string) => new Set(text.match(/mark-\d+-\d+/g))

  test('100 stateless clients with the same ids get no progress, log or answer of another', async () => {
    proves('R-HTTP-015')
    const { url } = await serve(marking(), { maxConnectionsPerAddress: false })
    let foreign = 0
    let answered = 0
    await Promise.all(
      Array.from({ length: 100 }, async (_, client) => {
        const agent = new Agent({ keepAlive: true, maxSockets: 4 })
        await Promise.all(
          Array.from({ length: 40 }, async (_unused, id) => {
            const mark = `mark-${client}-${id}`
            const _meta = { progressToken: id, 'io.modelcontextprotocol/logLevel': 'debug' }
            const call = modern({ ...callTool('mark', { mark }, { _meta }), id })
            const { text } = await http(url, { ...call, agent })
            const marks = marksIn(text)
            if (marks.size !== 1 || !marks.has(mark)) foreign++
            if (text.includes(`"id":${id},"result"`)) answered++
          }),
        )
        agent.destroy()
      }),
    )
    expect([answered, foreign]).toEqual([4_000, 0])
  })

  test('40 sessions with the same ids get no answer, progress or GET stream event of another', async () => {
    const server = marking()
    const { url } = await serve(server, { maxConnectionsPerAddress: false })
    let foreign = 0
    await Promise.all(
      Array.from({ length: 40 }, async (_, client) => {
        const session = await openSession(url, '2025-11-25')
        const standing = await session.listen()
        await Promise.all(
          Array.from({ length: 50 }, async (_unused, id) => {
            const mark = `mark-${client}-${id}`
            const { text } = await session.ask({ ...callTool('mark', { mark }, { _meta: { progressToken: id } }), id })
            const marks = marksIn(text)
            if (marks.size !== 1 || !marks.has(mark) || !text.includes(`"id":${id},"result"`)) foreign++
          }),
        )
        await session.end()
        if (marksIn((await standing.messages()).map((each) => JSON.stringify(each)).join()).size > 0) foreign++
      }),
    )
    expect(foreign).toBe(0)
  })
})

describe('sealed state', () => {
  const OK = { type: 'object', properties: { ok: { type: 'boolean' } }, required: ['ok'] } as const
  const FORMS = { elicitation: { form: {} } }

  async function asking(keyId = 'k') {
    const key = { id: keyId, secret: new Uint8Array(32).fill(keyId.charCodeAt(0)) }
    const server = testServer({ keys: { current: () => key, find: (id) => (id === key.id ? key : undefined) } })
    const effect = vi.fn()
    const run = async (_args: unknown, ctx: Parameters<Parameters<typeof server.tool>[2]>[1]) => {
      await ctx.elicit('sure', 'Sure?', OK)
      effect()
      return 'done'
    }
    server.tool('pay', { input: MARK }, run)
    server.tool('other', { input: MARK }, run)
    const { url } = await serve(server, { authenticate: byHeader })
    const round = async (user: string, more: Message = {}, name = 'pay', mark = 'x') =>
      askModern(url, callTool(name, { mark }, { ...more, _meta: envelope(FORMS) }), { 'x-user': user })
    return { round, effect }
  }

  const answers = { inputResponses: { sure: { action: 'accept', content: { ok: true } } } }

  test('sealed state that is altered, or of another caller, tool, arguments or server, is -32602', async () => {
    const { round, effect } = await asking()
    const first = await round('alice')
    expect([first.status, first.message.result?.resultType]).toEqual([200, 'input_required'])
    const state = String(first.message.result?.requestState)
    const refused = async (answer: ReturnType<typeof round>) => {
      const { status, message } = await answer
      expect([status, message.error]).toEqual([200, { code: -32602, message: 'Invalid or expired requestState' }])
    }
    for (let at = 0; at < state.length; at++) {
      const flipped = state.slice(0, at) + (state[at] === 'A' ? 'B' : 'A') + state.slice(at + 1)
      await refused(round('alice', { ...answers, requestState: flipped }))
    }
    await refused(round('mallory', { ...answers, requestState: state }))
    await refused(round('alice', { ...answers, requestState: state }, 'other'))
    await refused(round('alice', { ...answers, requestState: state }, 'pay', 'y'))
    const elsewhere = await asking('m')
    await refused(elsewhere.round('alice', { ...answers, requestState: state }))
    expect(effect).not.toHaveBeenCalled()
    expect(elsewhere.effect).not.toHaveBeenCalled()
    const done = await round('alice', { ...answers, requestState: state })
    expect(done.message.result).toMatchObject({ resultType: 'complete', content: [{ text: 'done' }] })
    expect(effect).toHaveBeenCalledOnce()
  })
})

describe('cache scopes', () => {
  test('a resource is private by default, and each caller gets its own', async () => {
    const server = testServer()
    server.resource('file:///me', { name: 'me' }, (_variables, ctx) => `secret of ${ctx.caller.principal}`)
    const { url } = await serve(server, { authenticate: byHeader })
    const read = async (user: string) =>
      (await askModern(url, { method: 'resources/read', params: { uri: 'file:///me' } }, { 'x-user': user })).message.result
    const [alice, bob, again] = [await read('alice'), await read('bob'), await read('alice')]
    expect([alice?.cacheScope, bob?.cacheScope]).toEqual(['private', 'private'])
    expect(alice?.contents[0].text).toBe('secret of alice')
    expect(bob?.contents[0].text).toBe('secret of bob')
    expect(again).toEqual(alice)
  })

  test('every page of a list has the scope of the first, and private lists are not shared', async () => {
    const server = testServer({ pageSize: 1, listCache: { cacheScope: 'private' } })
    server.tool('b', {}, () => 'x')
    server.use(async (call, next) => {
      const result = await next()
      if (call.method !== 'tools/list') return result
      return { ...result, tools: (result.tools as Message[]).map((tool) => ({ ...tool, description: `for ${call.caller.principal}` })) }
    })
    const { url } = await serve(server, { authenticate: byHeader })
    const list = async (user: string, cursor?: string) =>
      (await askModern(url, { method: 'tools/list', params: cursor === undefined ? {} : { cursor } }, { 'x-user': user })).message.result
    for (const user of ['alice', 'bob', 'alice']) {
      const first = await list(user)
      const second = await list(user, first?.nextCursor)
      for (const page of [first, second]) {
        expect([page?.cacheScope, page?.tools.length, page?.tools[0].description]).toEqual(['private', 1, `for ${user}`])
      }
    }
  })

  test('no answer may be cached by an intermediary', async () => {
    const server = testServer()
    server.tool('talks', {}, async (_args, ctx) => {
      await ctx.progress(1)
      return 'done'
    })
    const { url } = await serve(server)
    const { headers } = await askModern(url, callTool('talks', {}, WATCHED))
    expect(headers['cache-control']).toMatch(/no-cache/)
  })
})
