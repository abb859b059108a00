/** What a server of 2026-07-28 owes to every client, seen on the wire. */

import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { createServer, type ServerOptions } from '../../src/server/index.ts'
import { proves } from '../support/proves.ts'
import { envelope, type Message, rawChannel, settle } from '../support/raw-channel.ts'

const SERVER_INFO = 'io.modelcontextprotocol/serverInfo'
const ALL = { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} }
const yes = z.object({ ok: z.boolean() })

/** A server with one of everything. */
const fullServer = (options: Partial<ServerOptions> = {}) => {
  const server = createServer({ name: 'full', version: '3.0.0', onError: () => {}, ...options })
  server.tool('plain', {}, () => 'x')
  server.tool('asks', {}, async (_args, ctx) => {
    const [answer] = await Promise.all([
      ctx.elicit('sure', 'Sure?', yes),
      ctx.sample('thought', { messages: [{ role: 'user', content: { type: 'text', text: 'Well?' } }], maxTokens: 5 }),
      ctx.roots(),
    ])
    return `sure: ${answer.ok}`
  })
  server.resource('a:1', { name: 'a' }, () => 'text')
  server.resource('b:{id}', { name: 'b', complete: { id: () => ['1'] } }, () => 'text')
  server.prompt('p', {}, () => 'x')
  return server
}

/** One request of every method that a client of this revision can send, but for subscriptions/listen. */
const REQUESTS: [method: string, params: Message][] = [
  ['server/discover', {}],
  ['tools/list', {}],
  ['tools/call', { name: 'plain' }],
  ['tools/call', { name: 'asks' }],
  ['resources/list', {}],
  ['resources/templates/list', {}],
  ['resources/read', { uri: 'a:1' }],
  ['prompts/list', {}],
  ['prompts/get', { name: 'p' }],
  ['completion/complete', { ref: { type: 'ref/resource', uri: 'b:{id}' }, argument: { name: 'id', value: '' } }],
]

const ask = (raw: ReturnType<typeof rawChannel>, method: string, params: Message = {}, capabilities: unknown = ALL, extra: Message = {}) =>
  raw.ask(method, { ...params, _meta: envelope(capabilities, extra) })

const isRequest = (message: Message): boolean => message.method !== undefined && message.id !== undefined

describe('every result', () => {
  test.each(REQUESTS)('the result of %s %j has its type and its server', async (method, params) => {
    proves('R-BASE-038', 'R-META-011')
    const { result } = await ask(rawChannel(fullServer()), method, params)
    expect(result.resultType).toBe(params.name === 'asks' ? 'input_required' : 'complete')
    expect(result._meta[SERVER_INFO]).toEqual({ name: 'full', version: '3.0.0' })
  })

  test.each(REQUESTS)('the result of %s %j needs no earlier request', async (method, params) => {
    proves('R-DISC-001', 'R-DISC-007')
    const raw = rawChannel(fullServer())
    expect(await ask(raw, method, params)).toHaveProperty('result')
    expect(raw.out).toHaveLength(1)
  })
})

describe('the mandatory parts of the protocol', () => {
  test('the mandatory parts exist on a server that offers nothing', async () => {
    proves('R-BASE-032', 'R-DISC-006')
    const raw = rawChannel(createServer({ name: 'bare', version: '1', logging: false }))
    expect((await ask(raw, 'server/discover')).result).toMatchObject({ supportedVersions: expect.arrayContaining(['2026-07-28']) })
    raw.send({ jsonrpc: '2.0', id: 'l', method: 'subscriptions/listen', params: { notifications: {}, _meta: envelope() } })
    expect(await raw.until(({ method }) => method === 'notifications/subscriptions/acknowledged')).toMatchObject({
      params: { notifications: {} },
    })
    const other = { 'io.modelcontextprotocol/protocolVersion': '2099-01-01' }
    expect((await ask(raw, 'server/discover', {}, {}, other)).error.code).toBe(-32022)
  })

  test('the mandatory parts are an answer, rounds of questions, and a stream of changes', async () => {
    proves('R-BASE-037', 'R-BASE-032')
    const server = fullServer()
    const raw = rawChannel(server)
    expect((await ask(raw, 'tools/call', { name: 'plain' })).result.content).toEqual([{ type: 'text', text: 'x' }])
    const first = await ask(raw, 'tools/call', { name: 'asks' })
    const inputResponses = {
      ...Object.fromEntries(Object.entries(first.result.inputRequests).map(([key, value]) => [key, answerTo(value as Message)])),
    }
    const { requestState } = first.result
    const second = await ask(raw, 'tools/call', { name: 'asks', inputResponses, requestState })
    expect(second.result).toMatchObject({ resultType: 'complete', content: [{ text: 'sure: true' }] })
    raw.send({
      jsonrpc: '2.0',
      id: 'l',
      method: 'subscriptions/listen',
      params: { notifications: { toolsListChanged: true }, _meta: envelope() },
    })
    await raw.until(({ method }) => method === 'notifications/subscriptions/acknowledged')
    server.tool('new', {}, () => 'x')
    await raw.until(({ method }) => method === 'notifications/tools/list_changed')
  })
})

/** What a client puts into inputResponses. */
const answerTo = ({ method }: Message): Message => {
  if (method === 'elicitation/create') return { action: 'accept', content: { ok: true } }
  if (method === 'roots/list') return { roots: [] }
  return { role: 'assistant', content: { type: 'text', text: 'Yes.' }, model: 'm' }
}

describe('a server sends no requests', () => {
  test('questions are plain objects in a result, and the server sends no request', async () => {
    proves('R-BASE-033', 'R-BASE-035', 'R-BASE-071', 'R-BASE-072', 'R-META-016', 'R-STDIO-003')
    const raw = rawChannel(fullServer())
    const { result } = await ask(raw, 'tools/call', { name: 'asks' })
    const questions = Object.values(result.inputRequests) as Message[]
    expect(questions.map(({ method }) => method).sort()).toEqual(['elicitation/create', 'roots/list', 'sampling/createMessage'])
    for (const question of questions) {
      expect(Object.keys(question).filter((key) => key !== 'params')).toEqual(['method'])
      expect(question.params ?? {}).not.toHaveProperty('_meta')
    }
    for (const [method, params] of REQUESTS) await ask(raw, method, params)
    await settle()
    expect(raw.out.filter(isRequest)).toEqual([])
  })

  test('a call that is cancelled while it asks is not followed by a cancellation from the server', async () => {
    proves('R-CANC-005', 'R-STDIO-007', 'R-STDIO-008')
    const server = fullServer()
    let ended: unknown
    server.tool('talks', {}, async (_args, ctx) => {
      await ctx.progress(1)
      await new Promise((resolve) => ctx.signal.addEventListener('abort', resolve))
      ended = ctx.signal.reason
      await ctx.progress(2)
      ctx.log.error('late')
      await ctx.elicit('sure', 'Sure?', yes).catch(() => {})
      return 'late'
    })
    const raw = rawChannel(server)
    const _meta = envelope(ALL, { progressToken: 'p', 'io.modelcontextprotocol/logLevel': 'debug' })
    raw.send({ jsonrpc: '2.0', id: 7, method: 'tools/call', params: { name: 'talks', _meta } })
    await raw.until(({ method }) => method === 'notifications/progress')
    raw.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 7, reason: 'enough' } })
    await settle()
    expect((ended as Error).message).toContain('enough')
    expect(raw.out.map(({ method, params }) => [method, params.progress])).toEqual([['notifications/progress', 1]])
  })

  test.each([undefined, {}, { requestId: null }, { requestId: {} }, { requestId: '7' }])(
    'a cancellation with the params %j cancels nothing',
    async (params) => {
      proves('R-CANC-009')
      const server = fullServer()
      let finish: (text: string) => void = () => {}
      server.tool('slow', {}, () => new Promise<string>((resolve) => (finish = resolve)))
      const raw = rawChannel(server)
      const answer = raw.ask('tools/call', { name: 'slow', _meta: envelope() }, 7)
      await settle()
      raw.send({ jsonrpc: '2.0', method: 'notifications/cancelled', ...(params === undefined ? {} : { params }) })
      await settle()
      finish('done')
      expect((await answer).result.content[0].text).toBe('done')
    },
  )
})

describe('a server remembers nothing between requests', () => {
  test('capabilities, identity and log level of one request do not affect the next', async () => {
    proves('R-BASE-057', 'R-META-008', 'R-META-007')
    const server = fullServer()
    server.tool('who', {}, (_args, ctx) => {
      ctx.log.info('hello')
      return JSON.stringify([ctx.caller.client?.name, ctx.caller.capabilities])
    })
    const raw = rawChannel(server)
    const client = (name: string): Message => ({ 'io.modelcontextprotocol/clientInfo': { name, version: '1' } })
    const who = async (capabilities: unknown, extra: Message): Promise<unknown> =>
      JSON.parse((await ask(raw, 'tools/call', { name: 'who' }, capabilities, extra)).result.content[0].text)
    const logs = (): number => raw.out.filter(({ method }) => method === 'notifications/message').length
    expect(await who({ roots: {} }, { ...client('one'), 'io.modelcontextprotocol/logLevel': 'debug' })).toEqual(['one', { roots: {} }])
    expect(logs()).toBe(1)
    expect(await who({ sampling: {} }, client('two'))).toEqual(['two', { sampling: {} }])
    const nameless = envelope({})
    delete nameless['io.modelcontextprotocol/clientInfo']
    const { result } = await raw.ask('tools/call', { name: 'who', _meta: nameless })
    expect(JSON.parse(result.content[0].text)).toEqual([null, {}])
    expect(logs()).toBe(1)
    // What was declared before does not help a call that declares nothing.
    expect((await ask(raw, 'tools/call', { name: 'asks' }, {})).error).toMatchObject({ code: -32021 })
    expect((await ask(raw, 'tools/call', { name: 'asks' }, ALL)).result.resultType).toBe('input_required')
    expect((await ask(raw, 'tools/call', { name: 'asks' }, {})).error).toMatchObject({ code: -32021 })
  })

  test('an unsupported version does not affect later requests', async () => {
    proves('R-BASE-057')
    const raw = rawChannel(fullServer())
    const other = { 'io.modelcontextprotocol/protocolVersion': '1900-01-01' }
    for (let i = 0; i < 2; i++) {
      expect((await ask(raw, 'tools/list', {}, {}, other)).error).toMatchObject({ code: -32022, data: { requested: '1900-01-01' } })
      expect((await ask(raw, 'tools/list')).result.tools).toBeDefined()
    }
  })

  test('requests of several conversations run at the same time on one connection', async () => {
    proves('R-BASE-058')
    const server = fullServer()
    const held: (() => void)[] = []
    server.tool('meet', { input: z.object({ name: z.string() }) }, async ({ name }) => {
      await new Promise<void>((resolve) => held.push(resolve))
      return name
    })
    const raw = rawChannel(server)
    const names = ['a', 'b', 'c', 'd']
    const answers = names.map((name) => ask(raw, 'tools/call', { name: 'meet', arguments: { name } }))
    await settle()
    expect(held).toHaveLength(4)
    for (const release of held.reverse()) release()
    expect((await Promise.all(answers)).map(({ result }) => result.content[0].text)).toEqual(names)
  })

  test('a call that does not repeat its state begins again', async () => {
    proves('R-BASE-061')
    const server = createServer({ name: 'rounds', version: '1' })
    server.tool('run', {}, async (_args, ctx) => {
      const at = await ctx.once('at', () => ctx.callId)
      return `${(await ctx.elicit('sure', 'Sure?', yes)).ok} ${at === ctx.callId}`
    })
    const raw = rawChannel(server)
    const { result: first } = await ask(raw, 'tools/call', { name: 'run' })
    expect(first.resultType).toBe('input_required')
    // The same connection and the same call, but nothing that names the first round.
    expect((await ask(raw, 'tools/call', { name: 'run' })).result.resultType).toBe('input_required')
    const inputResponses = { sure: { action: 'accept', content: { ok: true } } }
    const named = await ask(rawChannel(server), 'tools/call', { name: 'run', inputResponses, requestState: first.requestState })
    expect(named.result.content[0].text).toBe('true true')
  })

  test('the name that a client gives changes no answer', async () => {
    proves('R-META-010')
    const infos = [undefined, { name: 'portico', version: '0.1.0' }, { name: 'claude', version: '99' }, { name: '', version: '' }]
    for (const [method, params] of REQUESTS.filter(([, { name }]) => name !== 'asks')) {
      const answers = await Promise.all(
        infos.map(async (info) => {
          const _meta = envelope(ALL, { 'io.modelcontextprotocol/clientInfo': info })
          return (await rawChannel(fullServer()).ask(method, { ...params, _meta }, 1)).result
        }),
      )
      for (const answer of answers) expect(answer).toEqual(answers[0])
    }
  })
})

describe('errors', () => {
  test('a missing server capability is -32601, a missing client capability -32021', async () => {
    proves('R-BASE-056')
    const server = createServer({ name: 'tools', version: '1', onError: () => {} })
    server.tool('asks', {}, async (_args, ctx) => String(await ctx.elicit('sure', 'Sure?', yes)))
    const raw = rawChannel(server)
    for (const method of ['prompts/list', 'prompts/get', 'resources/list', 'resources/read', 'completion/complete', 'no/such'])
      expect((await ask(raw, method, { name: 'x', uri: 'a:1' })).error.code, method).toBe(-32601)
    expect((await ask(raw, 'tools/call', { name: 'asks' }, {})).error).toMatchObject({
      code: -32021,
      data: { requiredCapabilities: { elicitation: { form: {} } } },
    })
  })
})
