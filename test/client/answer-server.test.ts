import { describe, expect, test } from 'vitest'
import type { Answers } from '../../src/client/answer-server.ts'
import { Client } from '../../src/client/client.ts'
import type { ConnectOptions } from '../../src/client/options.ts'
import { Cancelled, Declined } from '../../src/protocol/errors.ts'
import { fakeClock } from '../../src/testing/index.ts'
import { cpuClock } from '../support/linear.ts'
import { proves } from '../support/proves.ts'
import { type Message, settle } from '../support/raw-channel.ts'
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
  test('a form is filled with its defaults before the person sees it, and sends only what they left in it', async () => {
    proves('T-ELIC-035')
    const properties = {
      name: { type: 'string', default: 'John' },
      age: { type: 'integer', default: 30 },
      sure: { type: 'boolean', default: false },
      tags: { type: 'array', items: { type: 'string', enum: ['a'] }, default: ['a'] },
      constructor: { type: 'string', default: 'x' },
      other: { type: 'string' },
    }
    const all = { constructor: 'x', name: 'John', age: 30, sure: false, tags: ['a'] }
    let seen: unknown
    const sent = async (content: Record<string, number> | undefined): Promise<unknown> => {
      const { result } = await asked('elicitation/create', form(properties), {
        elicit: ({ defaults }) => {
          seen = defaults
          return { action: 'accept', ...(content && { content }) }
        },
      })
      return result
    }
    expect(await sent({ age: 31 })).toEqual({ action: 'accept', content: { age: 31 } })
    expect(seen).toEqual(all)
    expect(await sent({})).toEqual({ action: 'accept', content: {} })
    expect(await sent(undefined)).toEqual({ action: 'accept', content: all })
  })

  test('a question without a mode is a form', async () => {
    proves('T-ELIC-018', 'T-ELIC-019', 'T-ELIC-016')
    const { mode: _mode, ...params } = form({})
    expect((await asked('elicitation/create', params, { elicit: () => ({ action: 'accept', content: {} }) })).result).toEqual({
      action: 'accept',
      content: {},
    })
  })

  test('a form whose answer does not fit is not sent', async () => {
    const cases: [object, unknown, string][] = [
      [{ mail: { type: 'string', format: 'email' }, n: { type: 'integer', maximum: 5 } }, { n: 66 }, ': n: expected at most 5'],
      [{ choice: { type: 'string', enum: ['a'] } }, { choice: 'mine' }, ': choice: expected one of "a"'],
      [{ choice: { type: 'string', oneOf: [{ const: 'a', title: 'A' }] } }, { choice: 'mine' }, ': choice: expected "a"'],
      [
        { several: { type: 'array', items: { type: 'string', enum: ['a', 'b'] }, maxItems: 1 } },
        { several: ['a', 'b'] },
        ': several: expected at most 1 item',
      ],
      [{ name: { type: 'string', minLength: 9 } }, { name: 'mine' }, ': name: expected at least 9 characters'],
    ]
    // The server learns which field is wrong, and never what the person typed.
    for (const [properties, content, words] of cases) {
      const { error } = await asked('elicitation/create', form(properties), {
        elicit: () => ({ action: 'accept', content: content as never }),
      })
      expect(error).toEqual({ code: -32603, message: `The answer does not match the question${words}` })
    }
  })

  test('a form that is malformed, or of a mode that was not declared, is -32602', async () => {
    proves('T-ELIC-075')
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

  test('a form is answered only when the person has finished it, with their entries', async () => {
    proves('T-ELIC-008')
    const server = cannedServer()
    let submit: (content: Record<string, string>) => void = () => {}
    const client = await Client.connect(server.target, {
      answer: {
        elicit: async ({ defaults }) => {
          const reviewed = await new Promise<Record<string, string>>((resolve) => {
            submit = resolve
          })
          return { action: 'accept', content: { ...(defaults as Record<string, string>), ...reviewed } }
        },
      },
    })
    const properties = { name: { type: 'string', default: 'John' }, city: { type: 'string', default: 'Paris' } }
    server.send({ jsonrpc: '2.0', id: 'q', method: 'elicitation/create', params: form(properties) })
    await settle()
    expect(server.received.some(({ id }) => id === 'q')).toBe(false)
    submit({ name: 'Joan' })
    await settle()
    expect(server.received.at(-1)).toEqual({
      jsonrpc: '2.0',
      id: 'q',
      result: { action: 'accept', content: { name: 'Joan', city: 'Paris' } },
    })
    await client.close()
  })

  test('a form with a hostile schema is refused quickly', async () => {
    const elicit = () => ({ action: 'accept' as const, content: { a: `${'a'.repeat(40)}!` } })
    const passed = cpuClock()
    const { result } = await asked('elicitation/create', form({ a: { type: 'string', pattern: '^(a+)+$' } }), { elicit })
    expect(result).toBeUndefined()
    expect((await asked('elicitation/create', form({ a: { $ref: 'https://example.com/x.json' } }), { elicit })).error).toBeDefined()
    expect(passed()).toBeLessThan(1000)
  })

  test('questions beyond the rate limit are refused without reaching the person', async () => {
    proves('T-ELIC-077', 'T-ELIC-082')
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

test('an address that a browser must not open never reaches the person', async () => {
  proves('T-ELIC-038', 'T-ELIC-075')
  let shown = 0
  const elicitUrl = () => {
    shown++
    return { action: 'accept' as const }
  }
  for (const url of [
    'javascript:alert(1)',
    'file:///etc/passwd',
    'http://example.com/',
    'data:text/html,x',
    'custom-app:open',
    'none',
    5,
  ]) {
    const { error } = await asked('elicitation/create', { mode: 'url', message: 'Go', url, elicitationId: '1' }, { elicitUrl })
    expect(error).toMatchObject({ code: -32602, message: expect.stringContaining('https URL, or http to this machine') })
  }
  expect(shown).toBe(0)
})

describe('sampling', () => {
  const params = { messages: [{ role: 'user', content: { type: 'text', text: 'hi' } }], maxTokens: 10 }
  const reply = { role: 'assistant' as const, content: { type: 'text' as const, text: 'hello' }, model: 'm' }

  test('sampling is passed to the handler with the name of the server', async () => {
    proves('T-SAMP-007', 'T-SAMP-012', 'T-SAMP-024')
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

  test('sampling can be read in full: the server, the messages, the system prompt and the preferences', async () => {
    proves('T-SAMP-004')
    const whole = {
      ...params,
      systemPrompt: 'Be brief',
      modelPreferences: { hints: [{ name: 'sonnet' }], costPriority: 0.5 },
      temperature: 0.1,
      stopSequences: ['.'],
    }
    let shown: unknown
    await asked('sampling/createMessage', whole, {
      sample: (given, { server }) => {
        shown = { ...given, server }
        return reply
      },
    })
    expect(shown).toEqual({ ...whole, server: 'canned' })
  })

  test('the server gets only the approved sampling answer, and nothing before the approval', async () => {
    proves('T-SAMP-006', 'T-HOST-020', 'T-HOST-021')
    const server = cannedServer()
    const drafts: ((approved: string | undefined) => void)[] = []
    const client = await Client.connect(server.target, {
      answer: {
        sample: async () => {
          const approved = await new Promise<string | undefined>((resolve) => drafts.push(resolve))
          if (approved === undefined) throw new Declined('The answer was held back')
          return { ...reply, content: { type: 'text', text: approved } }
        },
      },
    })
    for (const id of ['a', 'b']) server.send({ jsonrpc: '2.0', id, method: 'sampling/createMessage', params })
    await settle()
    const answers = () => server.received.filter(({ id }) => id === 'a' || id === 'b')
    expect(answers()).toEqual([])
    drafts[0]?.('edited')
    drafts[1]?.(undefined)
    await settle()
    expect(answers()).toEqual([
      { jsonrpc: '2.0', id: 'a', result: { role: 'assistant', content: { type: 'text', text: 'edited' }, model: 'm' } },
      { jsonrpc: '2.0', id: 'b', error: { code: -1, message: 'The answer was held back' } },
    ])
    await client.close()
  })

  test('sampling that is switched off is neither declared nor done', async () => {
    proves('T-HOST-018')
    const server = cannedServer()
    const client = await Client.connect(server.target, { answer: { roots: ['file:///a'] } })
    expect(server.received.find(({ method }) => method === 'initialize')?.params.capabilities).toEqual({ roots: { listChanged: true } })
    server.send({ jsonrpc: '2.0', id: 'q', method: 'sampling/createMessage', params })
    await settle()
    expect(server.received.at(-1)).toMatchObject({ id: 'q', error: { code: -32601, message: 'Sampling is not supported' } })
    await client.close()
  })

  test('sampling that is malformed is -32602, and a handler that returns nonsense is our error', async () => {
    for (const wrong of [undefined, {}, { messages: 'x', maxTokens: 1 }, { messages: [] }])
      expect((await asked('sampling/createMessage', wrong, { sample: () => reply })).error).toMatchObject({ code: -32602 })
    expect((await asked('sampling/createMessage', params, { sample: () => ({}) as never })).error).toMatchObject({ code: -32603 })
  })

  test('sampling of a conversation that breaks the rules is -32602 and reaches no handler', async () => {
    proves('R-SAMP-012', 'R-SAMP-016', 'R-SAMP-020')
    const text = { type: 'text', text: 'x' }
    const use = { role: 'assistant', content: { type: 'tool_use', id: 'u1', name: 'lookup', input: {} } }
    const result = { type: 'tool_result', toolUseId: 'u1', content: [] }
    let runs = 0
    const sample = {
      handler: () => {
        runs++
        return reply
      },
      tools: true,
    }
    for (const [messages, message] of [
      [[use, { role: 'user', content: text }], 'params.messages[1] leaves the tool use u1 without a result'],
      [[use, { role: 'user', content: [result, text] }], 'params.messages[1] mixes tool results with other content'],
      [[{ role: 'user', content: result }], 'params.messages[0] answers a tool use that was not made'],
      [[{ role: 'robot', content: text }], 'params.messages[0] must have the role "user" or "assistant"'],
      [[{ role: 'user' }], 'params.messages[0] must have content'],
      [[null], 'params.messages[0] must have the role "user" or "assistant"'],
    ])
      expect((await asked('sampling/createMessage', { messages, maxTokens: 1 }, { sample })).error).toEqual({ code: -32602, message })
    expect(runs).toBe(0)
    expect(
      (await asked('sampling/createMessage', { messages: [use, { role: 'user', content: [result] }], maxTokens: 1 }, { sample })).result,
    ).toEqual(reply)
  })

  test('sampling with tools, or with context of other servers, is refused without the capability', async () => {
    proves('T-SAMP-016', 'T-ARCH-019', 'R-SAMP-006')
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

  test('sampling is limited', async () => {
    proves('T-SAMP-043', 'R-SAMP-022')
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

  test('sampling whose handler fails tells the server nothing about the cause', async () => {
    proves('T-SAMP-044')
    const { error } = await asked('sampling/createMessage', params, {
      sample: () => {
        throw new Error('OPENAI_API_KEY=sk-123 is wrong')
      },
    })
    expect(error).toEqual({ code: -32603, message: 'Internal error' })
  })
})

describe('roots', () => {
  test('roots are the file URIs given, or the result of a function at each request', async () => {
    proves('T-ROOT-010', 'T-ROOT-011')
    expect((await asked('roots/list', undefined, { roots: ['file:///a', { uri: 'file:///b', name: 'B' }] })).result).toEqual({
      roots: [{ uri: 'file:///a' }, { uri: 'file:///b', name: 'B' }],
    })
    expect((await asked('roots/list', undefined, { roots: async () => ['file:///dynamic'] })).result).toEqual({
      roots: [{ uri: 'file:///dynamic' }],
    })
  })

  test('roots that are not plain file URIs are refused, each with the reason', async () => {
    proves('T-ROOT-011', 'T-ROOT-017', 'T-ROOT-018')
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
      expect(error, uri).toEqual({ code: -32603, message: 'The answer does not match the question' })
      expect(warnings.join()).toContain('Invalid root')
    }
  })

  test('roots can wait for the consent of the person, and are not sent without it', async () => {
    proves('T-ROOT-023')
    const server = cannedServer()
    const consents: ((isGiven: boolean) => void)[] = []
    const client = await Client.connect(server.target, {
      answer: {
        roots: async () => {
          const isGiven = await new Promise<boolean>((resolve) => consents.push(resolve))
          if (!isGiven) throw new Declined('Not for this server')
          return ['file:///private']
        },
      },
    })
    for (const id of ['a', 'b']) server.send({ jsonrpc: '2.0', id, method: 'roots/list' })
    await settle()
    expect(JSON.stringify(server.received)).not.toContain('"id":"a"')
    consents[0]?.(false)
    await settle()
    expect(server.received.at(-1)).toEqual({ jsonrpc: '2.0', id: 'a', error: { code: -1, message: 'Not for this server' } })
    expect(JSON.stringify(server.received)).not.toContain('file:///private')
    consents[1]?.(true)
    await settle()
    expect(server.received.at(-1)).toEqual({ jsonrpc: '2.0', id: 'b', result: { roots: [{ uri: 'file:///private' }] } })
    await client.close()
  })

  test('roots that cannot be listed are an internal error', async () => {
    proves('T-ROOT-015')
    const answer = await asked('roots/list', undefined, {
      roots: () => {
        throw new Error('the disk is gone')
      },
    })
    expect(answer.error).toEqual({ code: -32603, message: 'Internal error' })
  })
})

test('a request that the server withdraws aborts the handler with the reason and is not answered', async () => {
  proves('T-CANC-004')
  const server = cannedServer()
  let reason: string | undefined
  const client = await Client.connect(server.target, {
    answer: {
      elicit: (_request, { signal }) =>
        new Promise((_resolve, reject) =>
          signal.addEventListener('abort', () => {
            reason = (signal.reason as Error).message
            reject(signal.reason as Error)
          }),
        ),
    },
  })
  server.send({ jsonrpc: '2.0', id: 'q', method: 'elicitation/create', params: form({}) })
  await new Promise((resolve) => setTimeout(resolve, 5))
  server.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'q', reason: 'The call is over' } })
  await new Promise((resolve) => setTimeout(resolve, 5))
  expect(reason).toBe('The call is over')
  expect(server.received.some(({ id }) => id === 'q')).toBe(false)
  await client.close()
})

test('a form may name the dialect of its schema', async () => {
  proves('R-ELIC-002')
  const requestedSchema = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    properties: { name: { type: 'string', pattern: '^A' } },
  }
  const asked: unknown[] = []
  for (const revision of ['2025-11-25', '2026-07-28']) {
    const question = { method: 'elicitation/create', params: { mode: 'form', message: 'Who?', requestedSchema } }
    let isFirst = true
    const server = cannedServer({
      revision,
      results: {
        'tools/call': () => {
          if (revision === '2025-11-25' || !isFirst) return { content: [] }
          isFirst = false
          return { resultType: 'input_required', inputRequests: { who: question } }
        },
      },
    })
    const elicit: NonNullable<Answers['elicit']> = ({ schema }) => {
      asked.push(schema.properties)
      return { action: 'accept', content: { name: 'Anna' } }
    }
    const client = await Client.connect(server.target, { answer: { elicit } })
    if (revision === '2025-11-25') server.send({ jsonrpc: '2.0', id: 'q', ...question })
    await client.call('x')
    await settle()
    const answers = server.received.flatMap(({ id, result, params }) => (id === 'q' ? [result] : (params?.inputResponses?.who ?? [])))
    expect(answers).toEqual([{ action: 'accept', content: { name: 'Anna' } }])
  }
  expect(asked).toEqual([requestedSchema.properties, requestedSchema.properties])
})

describe('a handler that fails', () => {
  const broken = () => {
    throw new TypeError('secret detail')
  }

  test.each(['2025-06-18', '2025-11-25'])('a handler that fails is an error in %s, not an answer of the person', async (revision) => {
    const warnings: string[] = []
    const options = { revision, onWarning: (message: string) => void warnings.push(message) }
    const answered = await asked('elicitation/create', form({}), { elicit: broken }, options)
    expect(answered).toEqual({ jsonrpc: '2.0', id: 'q', error: { code: -32603, message: 'Internal error' } })
    expect(warnings).toEqual(['A handler failed: TypeError: secret detail'])
  })

  test('a handler for pages that fails is an error as well', async () => {
    const params = { mode: 'url', message: 'Go', url: 'https://example.com/', elicitationId: '1' }
    const answered = await asked('elicitation/create', params, { elicitUrl: broken })
    expect(answered).toEqual({ jsonrpc: '2.0', id: 'q', error: { code: -32603, message: 'Internal error' } })
  })

  test('a handler may report a decline or a cancellation of the person without failing', async () => {
    const says = (error: Error) => () => {
      throw error
    }
    expect((await asked('elicitation/create', form({}), { elicit: says(new Declined('no')) })).result).toEqual({ action: 'decline' })
    expect((await asked('elicitation/create', form({}), { elicit: says(new Cancelled()) })).result).toEqual({ action: 'cancel' })
  })

  test('a handler that fails also fails the stateless call, and nothing is sent back', async () => {
    const inputRequests = { q: { method: 'elicitation/create', params: form({}) } }
    const server = cannedServer({ revision: '2026-07-28', results: { 'tools/call': { resultType: 'input_required', inputRequests } } })
    const client = await Client.connect(server.target, { answer: { elicit: broken } })
    await expect(client.call('x')).rejects.toThrow('secret detail')
    expect(server.received.filter(({ method }) => method === 'tools/call')).toHaveLength(1)
    await client.close()
  })
})
