import { describe, expect, test } from 'vitest'
import type { Answers } from '../../src/client/answer-server.ts'
import { Client } from '../../src/client/client.ts'
import { Declined } from '../../src/protocol/errors.ts'
import { proves } from '../support/proves.ts'
import type { Message } from '../support/raw-channel.ts'
import { cannedServer } from '../support/scripted-server.ts'

const question = {
  method: 'elicitation/create',
  params: { mode: 'form', message: 'Sure?', requestedSchema: { type: 'object', properties: { confirmed: { type: 'boolean' } } } },
}
const accept: Answers = { elicit: () => ({ action: 'accept', content: { confirmed: true } }) }

/** A server whose tool gives these results one after another. */
const connect = async (results: Message[], answer: Answers = accept, limits = {}) => {
  let next = 0
  const server = cannedServer({
    revision: '2026-07-28',
    results: {
      'tools/call': () => results[Math.min(next++, results.length - 1)],
      'resources/read': () => results[Math.min(next++, results.length - 1)],
      'tools/list': { tools: [] },
    },
  })
  const client = await Client.connect(server.target, { answer, limits })
  const calls = () => server.received.filter(({ method }) => method === 'tools/call' || method === 'resources/read')
  return { client, calls }
}
const done = { content: [{ type: 'text', text: 'done' }] }

describe('a call that comes back with questions', () => {
  test('a call with questions is repeated with a new id, the answers, and the same state', async () => {
    proves('R-MRTR-003', 'R-MRTR-005', 'R-MRTR-006', 'R-MRTR-023', 'R-MRTR-025', 'R-MRTR-027')
    const requestState = 'opaque "state" \u2028 ä =='
    const { client, calls } = await connect([{ resultType: 'input_required', inputRequests: { sure: question }, requestState }, done])
    expect((await client.call('x', { a: 1 })).content).toEqual(done.content)
    const [first, second] = calls()
    expect(first?.params).not.toHaveProperty('requestState')
    expect(first?.params).not.toHaveProperty('inputResponses')
    expect(second?.params).toMatchObject({
      name: 'x',
      arguments: { a: 1 },
      requestState,
      inputResponses: { sure: { action: 'accept', content: { confirmed: true } } },
    })
    expect(second?.id).not.toBe(first?.id)
  })

  test('a call without a state is repeated without one, and at once when it has no question', async () => {
    proves('R-MRTR-024', 'R-MRTR-026')
    const { client, calls } = await connect([
      { resultType: 'input_required', inputRequests: { sure: question } },
      { resultType: 'input_required', requestState: 's2' },
      done,
    ])
    await client.call('x')
    const [, second, third] = calls()
    expect(second?.params).not.toHaveProperty('requestState')
    expect(third?.params).toMatchObject({ requestState: 's2' })
    expect(third?.params).not.toHaveProperty('inputResponses')
  })

  test('a call with questions does not leak its state or answers into another call', async () => {
    proves('R-MRTR-028')
    const { client, calls } = await connect([
      { resultType: 'input_required', inputRequests: { sure: question }, requestState: 's' },
      done,
      done,
    ])
    await client.call('x')
    await client.call('y')
    expect(calls()[2]?.params).toEqual({ name: 'y', arguments: {}, _meta: expect.anything() })
  })

  test('a call may have 10 rounds and 32 questions at once', async () => {
    const again = { resultType: 'input_required', inputRequests: { sure: question }, requestState: 's' }
    const many = await connect([...Array(10).fill(again), done])
    await expect(many.client.call('x')).resolves.toBeDefined()
    const tooMany = await connect([...Array(11).fill(again), done])
    await expect(tooMany.client.call('x')).rejects.toMatchObject({
      code: 'ERR_LIMIT',
      message: 'tools/call asked questions in more than 10 rounds',
    })
    const questions = (count: number) => ({
      resultType: 'input_required',
      inputRequests: Object.fromEntries(Array.from({ length: count }, (_, i) => [`q${i}`, { method: 'roots/list' }])),
    })
    await expect((await connect([questions(32), done], { roots: [] })).client.call('x')).resolves.toBeDefined()
    await expect((await connect([questions(33), done], { roots: [] })).client.call('x')).rejects.toMatchObject({
      code: 'ERR_LIMIT',
      message: 'tools/call asks 33 questions at once, more than 32',
    })
  })

  test('rounds work for resources as well, and such a result is not cached', async () => {
    proves('R-CACHE-004')
    const { client, calls } = await connect([
      { resultType: 'input_required', inputRequests: { sure: question }, requestState: 's' },
      { contents: [], ttlMs: 60_000, cacheScope: 'public' },
      { contents: [], ttlMs: 0, cacheScope: 'public' },
    ])
    await client.read('a:1')
    await client.read('a:1')
    expect(calls()).toHaveLength(3)
  })

  test('a call with malformed questions is an error', async () => {
    for (const result of [
      { resultType: 'input_required' },
      { resultType: 'input_required', inputRequests: [] },
      { resultType: 'input_required', inputRequests: { a: 5 } },
      { resultType: 'input_required', inputRequests: { a: { method: 'tools/call' } } },
      { resultType: 'task', taskId: '1' },
    ]) {
      await expect((await connect([result])).client.call('x')).rejects.toMatchObject({ name: 'McpError' })
    }
  })

  test('a call fails when the person refuses a question, or when no handler can answer it', async () => {
    proves('R-MRTR-033')
    const asks = [
      { resultType: 'input_required', inputRequests: { m: { method: 'sampling/createMessage', params: { messages: [], maxTokens: 1 } } } },
    ]
    await expect((await connect(asks, {})).client.call('x')).rejects.toMatchObject({ message: 'Sampling is not supported' })
    const refusing = await connect(asks, {
      sample: () => {
        throw new Declined('no')
      },
    })
    await expect(refusing.client.call('x')).rejects.toBeInstanceOf(Declined)
    expect(refusing.calls()).toHaveLength(1)
  })
})

test('a result without a type is complete', async () => {
  proves('R-BASE-043')
  const server = cannedServer({ revision: '2026-07-28', results: { 'tools/call': () => ({ resultType: undefined, ...done }) as never } })
  const client = await Client.connect(server.target)
  expect((await client.call('x')).content).toEqual(done.content)
})

/** The extensions that a client declares by default. */
const TASKS = { 'io.modelcontextprotocol/tasks': {} }

test('a stateless request carries version, identity and capabilities, and the log level if set', async () => {
  proves('R-META-003', 'R-META-004', 'R-META-006', 'R-META-007', 'R-STDIO-005', 'R-ARCH-001', 'R-ELIC-008')
  const server = cannedServer({ revision: '2026-07-28', results: { 'tools/call': done, 'tools/list': { tools: [] } } })
  const client = await Client.connect(server.target, { info: { name: 'me', version: '2' }, answer: accept })
  await client.tools().all()
  await client.setLogLevel('warning')
  await client.call('x')
  const envelope = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'me', version: '2' },
    'io.modelcontextprotocol/clientCapabilities': { elicitation: { form: {} }, extensions: TASKS },
  }
  const [discover, list, call] = server.received
  expect(discover?.params._meta['io.modelcontextprotocol/protocolVersion']).toBe('2026-07-28')
  expect(list?.params).toEqual({ _meta: envelope })
  expect(call?.params._meta).toEqual({ ...envelope, 'io.modelcontextprotocol/logLevel': 'warning' })
})

test.each([5, null, {}, true])('a state that is not text, such as %j, is not sent back', async (requestState) => {
  const asked: Message[] = []
  const server = cannedServer({
    revision: '2026-07-28',
    results: {
      'tools/call': (params) => {
        asked.push(params)
        return asked.length === 1 ? { resultType: 'input_required', inputRequests: {}, requestState } : { content: [] }
      },
    },
  })
  const client = await Client.connect(server.target)
  expect(await client.call('x')).toMatchObject({ content: [] })
  expect(asked[1]).not.toHaveProperty('requestState')
  asked.length = 0
  const only = cannedServer({ revision: '2026-07-28', results: { 'tools/call': { resultType: 'input_required', requestState } } })
  await expect((await Client.connect(only.target)).call('x')).rejects.toMatchObject({ code: 'ERR_ANSWER_INVALID' })
})

test('a state that the server does not repeat is not sent again', async () => {
  proves('R-MRTR-026')
  const { client, calls } = await connect([
    { resultType: 'input_required', inputRequests: { sure: question }, requestState: 's1' },
    { resultType: 'input_required', inputRequests: { sure: question } },
    done,
  ])
  await client.call('x')
  expect(calls().map(({ params }) => params.requestState)).toEqual([undefined, 's1', undefined])
})

test('calls at the same time keep their answers and states apart', async () => {
  proves('R-MRTR-028')
  const server = cannedServer({
    revision: '2026-07-28',
    results: {
      'tools/call': ({ name, requestState }) =>
        requestState === undefined
          ? { resultType: 'input_required', inputRequests: { [`of-${name}`]: question }, requestState: `state of ${name}` }
          : { content: [{ type: 'text', text: name }] },
    },
  })
  const client = await Client.connect(server.target, { answer: accept })
  const names = ['a', 'b', 'c', 'd']
  await Promise.all(names.map((name) => client.call(name)))
  const retries = server.received.filter(({ params }) => params?.requestState !== undefined)
  expect(retries).toHaveLength(names.length)
  for (const { params } of retries) {
    expect(params.requestState).toBe(`state of ${params.name}`)
    expect(Object.keys(params.inputResponses)).toEqual([`of-${params.name}`])
  }
})

test('a question of an undeclared mode fails the call locally, and nothing is sent', async () => {
  proves('R-ELIC-017', 'R-MRTR-033')
  const url = { method: 'elicitation/create', params: { mode: 'url', message: 'Go', url: 'https://example.com' } }
  const { client, calls } = await connect([{ resultType: 'input_required', inputRequests: { go: url }, requestState: 's' }])
  await expect(client.call('x')).rejects.toMatchObject({ name: 'McpError' })
  expect(calls()).toHaveLength(1)
})

test('every request declares the supported questions, and roots without change notifications', async () => {
  proves('R-ROOT-002', 'R-ROOT-004', 'R-SAMP-024', 'R-ELIC-008', 'R-SAMP-001', 'R-ARCH-001')
  const server = cannedServer({ revision: '2026-07-28', results: { 'tools/call': done, 'tools/list': { tools: [] } } })
  const client = await Client.connect(server.target, {
    answer: {
      ...accept,
      roots: ['file:///a'],
      sample: { handler: () => ({ role: 'assistant', content: { type: 'text', text: 'x' }, model: 'm' }), tools: true },
    },
  })
  await client.tools().all()
  await client.call('x')
  client.setRoots(['file:///b'])
  await client.call('x')
  expect(server.received).toHaveLength(4)
  for (const { params } of server.received)
    expect(params._meta['io.modelcontextprotocol/clientCapabilities']).toEqual({
      roots: {},
      sampling: { tools: {} },
      elicitation: { form: {} },
      extensions: TASKS,
    })
  const plain = cannedServer({ revision: '2026-07-28', results: { 'tools/call': done } })
  await (await Client.connect(plain.target, { tasks: false })).call('x')
  for (const { params } of plain.received) expect(params._meta['io.modelcontextprotocol/clientCapabilities']).toEqual({})
})

describe('a result of a type that the request cannot have', () => {
  const methods: [string, Message][] = [
    ['tools/list', { tools: [] }],
    ['prompts/list', { prompts: [] }],
    ['resources/list', { resources: [] }],
    ['resources/templates/list', { resourceTemplates: [] }],
    ['completion/complete', { completion: { values: [] } }],
    ['tools/call', { content: [] }],
    ['resources/read', { contents: [] }],
    ['prompts/get', { messages: [] }],
  ]
  const asking = new Set(['tools/call', 'resources/read', 'prompts/get'])

  test.each(methods)('a result of an impossible type makes the result of %s invalid, and it is not cached', async (method, result) => {
    proves('R-BASE-041', 'R-BASE-042')
    let resultType: unknown
    const server = cannedServer({
      revision: '2026-07-28',
      results: { [method]: () => ({ ...result, resultType, ttlMs: 60_000, cacheScope: 'public' }) },
    })
    const client = await Client.connect(server.target, { tasks: false })
    const types = ['x', 'task', 'Complete', '', 5, null, {}, ...(asking.has(method) ? [] : ['input_required'])]
    for (resultType of types) {
      await expect(client.request(method, {})).rejects.toMatchObject({
        code: 'ERR_ANSWER_INVALID',
        message: expect.stringContaining(`The result of ${method} has the type `),
      })
    }
    resultType = 'complete'
    await expect(client.request(method, {})).resolves.toMatchObject(result)
    await client.close()
  })

  test('a result of an unknown type is left to the extension that owns the method', async () => {
    const server = cannedServer({ revision: '2026-07-28', results: { 'com.example/do': { resultType: 'com.example/odd' } } })
    const client = await Client.connect(server.target)
    expect(await client.request('com.example/do', {})).toMatchObject({ resultType: 'com.example/odd' })
  })
})
