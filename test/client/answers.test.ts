import { describe, expect, test } from 'vitest'
import { type Answers, Client, type ConnectOptions } from '../../src/index.ts'
import { fakeClock } from '../../src/testing/index.ts'
import type { Message } from '../support/raw-channel.ts'
import { cannedServer } from '../support/scripted-server.ts'

/** Sends one request from a server of this revision and resolves with the client's answer. */
const asked = async (method: string, params: unknown, answer: Answers, options: ConnectOptions & { revision?: string } = {}) => {
  const { revision = '2025-11-25', ...rest } = options
  const server = cannedServer({ revision })
  const client = await Client.connect(server.target, { answer, ...rest })
  server.send({ jsonrpc: '2.0', id: 'q', method, ...(params === undefined ? {} : { params }) })
  while (!server.received.some(({ id }) => id === 'q')) await new Promise((resolve) => setTimeout(resolve, 1))
  await client.close()
  return server.received.find(({ id }) => id === 'q') as Message
}
const form = (properties: object, required: string[] = []) => ({
  mode: 'form',
  message: 'Please',
  requestedSchema: { type: 'object', properties, required },
})

describe('a form', () => {
  test('is filled with its defaults before the person sees it, and missing fields after [T-ELIC-035]', async () => {
    const properties = {
      name: { type: 'string', default: 'John' },
      age: { type: 'integer', default: 30 },
      sure: { type: 'boolean', default: false },
      tags: { type: 'array', items: { type: 'string', enum: ['a'] }, default: ['a'] },
      other: { type: 'string' },
    }
    let seen: unknown
    const answer = await asked('elicitation/create', form(properties), {
      elicit: ({ defaults }) => {
        seen = defaults
        return { action: 'accept', content: { age: 31 } }
      },
    })
    expect(seen).toEqual({ name: 'John', age: 30, sure: false, tags: ['a'] })
    expect(answer.result).toEqual({ action: 'accept', content: { name: 'John', age: 31, sure: false, tags: ['a'] } })
  })

  test('without a mode is a form [T-ELIC-018] [T-ELIC-019] [T-ELIC-016]', async () => {
    const { mode: _mode, ...params } = form({})
    expect((await asked('elicitation/create', params, { elicit: () => ({ action: 'accept', content: {} }) })).result).toEqual({
      action: 'accept',
      content: {},
    })
  })

  test('whose answer does not fit is not sent', async () => {
    const cases: [object, unknown][] = [
      [{ mail: { type: 'string', format: 'email' }, n: { type: 'integer', maximum: 5 } }, { n: 6 }],
      [{ choice: { type: 'string', oneOf: [{ const: 'a', title: 'A' }] } }, { choice: 'b' }],
      [{ several: { type: 'array', items: { type: 'string', enum: ['a', 'b'] }, maxItems: 1 } }, { several: ['a', 'b'] }],
      [{ name: { type: 'string', minLength: 3 } }, { name: 'ab' }],
    ]
    for (const [properties, content] of cases) {
      const { error } = await asked('elicitation/create', form(properties), {
        elicit: () => ({ action: 'accept', content: content as never }),
      })
      expect(error).toEqual({ code: -32603, message: 'The answer does not fit what was asked' })
    }
  })

  test('that is malformed, or of a mode that was not declared, is -32602 [T-ELIC-075]', async () => {
    const elicit = () => ({ action: 'accept' as const, content: {} })
    for (const params of [
      undefined,
      {},
      { message: 'x' },
      { message: 5, requestedSchema: { properties: {} } },
      { message: 'x', mode: 'voice' },
      { message: 'x', mode: 'url', url: 'https://example.com', elicitationId: '1' },
    ]) {
      expect((await asked('elicitation/create', params, { elicit })).error).toMatchObject({ code: -32602 })
    }
    expect((await asked('elicitation/create', form({}), { elicitUrl: () => ({ action: 'accept' }) })).error).toMatchObject({
      code: -32602,
      message: 'Elicitation mode "form" was not declared',
    })
  })

  test('with a schema that is a trap is refused quickly', async () => {
    const elicit = () => ({ action: 'accept' as const, content: { a: `${'a'.repeat(40)}!` } })
    const start = performance.now()
    const { result } = await asked('elicitation/create', form({ a: { type: 'string', pattern: '^(a+)+$' } }), { elicit })
    expect(result).toBeUndefined()
    expect((await asked('elicitation/create', form({ a: { $ref: 'https://example.com/x.json' } }), { elicit })).error).toBeDefined()
    expect(performance.now() - start).toBeLessThan(1000)
  })

  test('more often than the rate allows is refused without bothering the person [T-ELIC-077] [T-ELIC-082]', async () => {
    const clock = fakeClock()
    let shown = 0
    const server = cannedServer()
    await Client.connect(server.target, {
      clock,
      limits: { elicitations: { perSecond: 1, burst: 2 } },
      answer: {
        elicit: () => {
          shown++
          return { action: 'decline' }
        },
      },
    })
    for (let id = 0; id < 3; id++) server.send({ jsonrpc: '2.0', id: `q${id}`, method: 'elicitation/create', params: form({}) })
    await clock.advance(0)
    await new Promise((resolve) => setTimeout(resolve, 5))
    expect(shown).toBe(2)
    expect(server.received.find(({ id }) => id === 'q2')?.error).toMatchObject({
      code: -32603,
      data: { reason: 'rate-limited', limit: 'elicitations' },
    })
  })
})

describe('sampling', () => {
  const params = { messages: [{ role: 'user', content: { type: 'text', text: 'hi' } }], maxTokens: 10 }
  const reply = { role: 'assistant' as const, content: { type: 'text' as const, text: 'hello' }, model: 'm' }

  test('is passed to the handler with who asks [T-SAMP-007] [T-SAMP-012] [T-SAMP-024]', async () => {
    let server: string | undefined
    const answer = await asked('sampling/createMessage', params, {
      sample: (_params, asking) => {
        server = asking.server
        return reply
      },
    })
    expect(server).toBe('canned')
    expect(answer.result).toEqual(reply)
  })

  test('that is malformed is -32602, and a handler that returns nonsense is our error', async () => {
    for (const wrong of [undefined, {}, { messages: 'x', maxTokens: 1 }, { messages: [] }])
      expect((await asked('sampling/createMessage', wrong, { sample: () => reply })).error).toMatchObject({ code: -32602 })
    expect((await asked('sampling/createMessage', params, { sample: () => ({}) as never })).error).toMatchObject({ code: -32603 })
  })

  test('with tools is refused unless declared, and the context of others is not given unless declared [T-SAMP-016]', async () => {
    expect((await asked('sampling/createMessage', { ...params, tools: [] }, { sample: () => reply })).error).toMatchObject({
      code: -32602,
      message: 'Tools in sampling were not declared',
    })
    const seen: unknown[] = []
    const handler = (given: { includeContext?: string }) => {
      seen.push(given.includeContext)
      return reply
    }
    await asked('sampling/createMessage', { ...params, includeContext: 'allServers' }, { sample: handler })
    await asked('sampling/createMessage', { ...params, includeContext: 'allServers' }, { sample: { handler, context: true } })
    expect(seen).toEqual(['none', 'allServers'])
  })

  test('is limited [T-SAMP-043]', async () => {
    let runs = 0
    const server = cannedServer()
    await Client.connect(server.target, {
      limits: { samplings: { perSecond: 0.001, burst: 1 } },
      answer: {
        sample: () => {
          runs++
          return reply
        },
      },
    })
    for (let id = 0; id < 3; id++) server.send({ jsonrpc: '2.0', id: `q${id}`, method: 'sampling/createMessage', params })
    await new Promise((resolve) => setTimeout(resolve, 5))
    expect(runs).toBe(1)
  })

  test('whose handler fails tells the server nothing of the inside [T-SAMP-044]', async () => {
    const { error } = await asked('sampling/createMessage', params, {
      sample: () => {
        throw new Error('OPENAI_API_KEY=sk-123 is wrong')
      },
    })
    expect(error).toEqual({ code: -32603, message: 'Internal error' })
  })
})

describe('roots', () => {
  test('are the file URIs given, or what a function says each time [T-ROOT-010] [T-ROOT-011]', async () => {
    expect((await asked('roots/list', undefined, { roots: ['file:///a', { uri: 'file:///b', name: 'B' }] })).result).toEqual({
      roots: [{ uri: 'file:///a' }, { uri: 'file:///b', name: 'B' }],
    })
    expect((await asked('roots/list', undefined, { roots: async () => ['file:///dynamic'] })).result).toEqual({
      roots: [{ uri: 'file:///dynamic' }],
    })
  })

  test('that are not plain file URIs are refused, each with the reason [T-ROOT-011] [T-ROOT-017] [T-ROOT-018]', async () => {
    for (const uri of [
      'https://example.com',
      '/etc',
      'file:///a/../b',
      'file:///a/%2e%2e/b',
      'file:///a/..',
      'file:///a%2f..%2fb',
      'file:///a?x=1',
      'file:///a#x',
      'file:///a%00',
      '',
    ]) {
      const warnings: string[] = []
      const { error } = await asked('roots/list', undefined, { roots: [uri] }, { onWarning: (message) => warnings.push(message) })
      expect(error, uri).toEqual({ code: -32603, message: 'The answer does not fit what was asked' })
      expect(warnings.join()).toContain('Not a root')
    }
  })

  test('that cannot be told are an internal error [T-ROOT-015]', async () => {
    const answer = await asked('roots/list', undefined, {
      roots: () => {
        throw new Error('the disk is gone')
      },
    })
    expect(answer.error).toEqual({ code: -32603, message: 'Internal error' })
  })
})

test('a request that the server withdraws aborts the handler and is not answered', async () => {
  const server = cannedServer()
  let aborted = false
  const client = await Client.connect(server.target, {
    answer: {
      elicit: (_request, { signal }) =>
        new Promise((_resolve, reject) =>
          signal.addEventListener('abort', () => {
            aborted = true
            reject(signal.reason as Error)
          }),
        ),
    },
  })
  server.send({ jsonrpc: '2.0', id: 'q', method: 'elicitation/create', params: form({}) })
  await new Promise((resolve) => setTimeout(resolve, 5))
  server.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'q' } })
  await new Promise((resolve) => setTimeout(resolve, 5))
  expect(aborted).toBe(true)
  expect(server.received.some(({ id }) => id === 'q')).toBe(false)
  await client.close()
})
