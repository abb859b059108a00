import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { Client } from '../../src/client/client.ts'
import type { ConnectOptions } from '../../src/client/options.ts'
import { Cancelled, Declined } from '../../src/protocol/errors.ts'
import { type Context, createServer, form, page, pageRequired, rootList, sampling, ToolError, text } from '../../src/server/index.ts'
import { pair } from '../../src/testing/index.ts'
import { connectPair, REVISIONS, SESSION_REVISIONS } from '../support/judged-pair.ts'
import { proves } from '../support/proves.ts'
import { type Message, rawChannel, settle } from '../support/raw-channel.ts'

/** A server whose one tool is the given handler. */
const serverOf = (handler: (ctx: Context) => unknown, options = {}) => {
  const server = createServer({ name: 'asker', version: '1.0.0', onError: () => {}, ...options })
  server.tool('run', {}, async (_args, ctx) => {
    const value = await handler(ctx)
    return typeof value === 'string' ? value : JSON.stringify(value)
  })
  return server
}
const run = async (client: Client) => {
  const { content, isError } = await client.call('run')
  const [first] = content
  return { isError, text: first?.type === 'text' ? first.text : undefined }
}
const withElicitation = REVISIONS.filter((revision) => revision >= '2025-06-18')
const withUrls = REVISIONS.filter((revision) => revision >= '2025-11-25')
const person = z.object({ name: z.string().min(2), age: z.number().int().min(0).max(150).optional() })

describe.each(withElicitation)('forms in %s', (revision) => {
  const connect = (handler: (ctx: Context) => unknown, elicit: NonNullable<ConnectOptions['answer']>['elicit']) =>
    connectPair(serverOf(handler), { revision, answer: { elicit } as NonNullable<ConnectOptions['answer']> })

  test('a handler gets the accepted content, and the person sees the message, schema and server', async () => {
    proves('T-ELIC-001', 'T-ELIC-015', 'T-ELIC-017', 'T-ELIC-020', 'T-ELIC-021', 'T-ELIC-053', 'T-ELIC-054', 'T-ELIC-058')
    proves('T-ELIC-006', 'T-ELIC-083')
    const asked: unknown[] = []
    const { client } = await connect(
      async (ctx) => (await ctx.elicit('who', 'Who are you?', person)).name,
      (request, asking) => {
        asked.push({ ...request, server: asking.server })
        return { action: 'accept', content: { name: 'Anna' } }
      },
    )
    expect((await run(client)).text).toBe('Anna')
    expect(asked).toEqual([
      {
        message: 'Who are you?',
        server: 'asker',
        defaults: {},
        schema: {
          type: 'object',
          properties: { name: { type: 'string', minLength: 2 }, age: { type: 'integer', minimum: 0, maximum: 150 } },
          required: ['name'],
        },
      },
    ])
  })

  test('declining and cancelling a form are different answers', async () => {
    proves('T-ELIC-007', 'T-ELIC-056', 'T-ELIC-057', 'T-ELIC-059', 'T-ELIC-060', 'T-ELIC-081', 'R-ELIC-015', 'R-ELIC-016')
    const handler = async (ctx: Context) => {
      try {
        await ctx.elicit('who', 'Who?', person)
        return 'accepted'
      } catch (error) {
        return (error as Error).name
      }
    }
    for (const [action, name] of [
      ['decline', 'Declined'],
      ['cancel', 'Cancelled'],
    ] as const) {
      const { client, sent } = await connect(handler, () => ({ action, content: { name: 'ignored' } }))
      expect((await run(client)).text).toBe(name)
      expect(JSON.stringify(sent('client'))).not.toContain('ignored')
    }
    const throwing = await connect(handler, () => {
      throw new Declined('no')
    })
    expect((await run(throwing.client)).text).toBe('Declined')
    const dismissing = await connect(handler, () => {
      throw new Cancelled('gone')
    })
    expect((await run(dismissing.client)).text).toBe('Cancelled')
  })

  test('an unhandled refusal is the result of the tool', async () => {
    const { client } = await connect(
      (ctx) => ctx.elicit('who', 'Who?', person),
      () => ({ action: 'decline' }),
    )
    expect(await run(client)).toEqual({ isError: true, text: 'The person declined: Who?' })
  })

  test('the client checks the answer before it is sent', async () => {
    proves('T-ELIC-033', 'T-ELIC-078', 'T-ELIC-079')
    const { client, sent } = await connect(
      (ctx) => ctx.elicit('who', 'Who?', person),
      () => ({ action: 'accept', content: { name: 'A', age: 200 } }),
    )
    const outcome =
      revision === '2026-07-28'
        ? expect(run(client)).rejects.toMatchObject({ code: 'ERR_ANSWER_INVALID' })
        : expect(run(client)).resolves.toMatchObject({ isError: true })
    await outcome
    expect(JSON.stringify(sent('client'))).not.toContain('"age":200')
  })

  test('several questions at once give plain answers by name', async () => {
    const { client } = await connect(
      (ctx) => ctx.ask({ first: form('First?', z.object({ a: z.string() })), second: form('Second?', z.object({ b: z.boolean() })) }),
      ({ message }) => (message === 'First?' ? { action: 'accept', content: { a: 'yes' } } : { action: 'decline' }),
    )
    expect(JSON.parse((await run(client)).text ?? '')).toEqual({
      first: { action: 'accept', content: { a: 'yes' } },
      second: { action: 'decline' },
    })
  })

  test('every kind of choice is asked in the form of the revision, and its answer comes back', async () => {
    proves('T-ELIC-022', 'T-ELIC-023', 'T-ELIC-025', 'T-ELIC-026', 'T-ELIC-027', 'T-ELIC-028', 'T-ELIC-029', 'T-ELIC-030')
    proves('T-ELIC-031', 'T-ELIC-032', 'T-ELIC-034')
    proves('R-ELIC-001', 'R-ELIC-003')
    const titled = [
      { const: 'r', title: 'Red' },
      { const: 'g', title: 'Green' },
    ]
    const schema = {
      type: 'object',
      properties: {
        text: { type: 'string', title: 'Text', description: 'Some', minLength: 1, maxLength: 9, default: 'abc' },
        mail: { type: 'string', format: 'email' },
        count: { type: 'integer', minimum: 1, maximum: 5, default: 3 },
        ratio: { type: 'number' },
        sure: { type: 'boolean', default: true },
        single: { type: 'string', enum: ['a', 'b'], default: 'b' },
        titled: { type: 'string', oneOf: titled },
        old: { type: 'string', enum: ['x', 'y'], enumNames: ['Ex', 'Why'] },
        several: { type: 'array', items: { type: 'string', enum: ['a', 'b', 'c'] }, minItems: 1, maxItems: 2 },
        severalTitled: { type: 'array', items: { anyOf: titled }, default: ['r'] },
      },
    } as const
    let seen: Record<string, Record<string, unknown>> = {}
    const isOld = revision === '2025-06-18'
    const { client } = await connect(
      async (ctx) => ctx.elicit('all', 'All of it', schema),
      (request) => {
        seen = request.schema.properties as never
        return {
          action: 'accept',
          content: {
            text: 'hello',
            mail: 'a@example.com',
            count: 2,
            ratio: 0.5,
            sure: false,
            single: 'a',
            titled: 'g',
            old: 'y',
            several: isOld ? 'a, c' : ['a', 'c'],
            severalTitled: isOld ? 'r' : ['r'],
          },
        }
      },
    )
    const { text: answer } = await run(client)
    expect(JSON.parse(answer ?? '')).toEqual({
      text: 'hello',
      mail: 'a@example.com',
      count: 2,
      ratio: 0.5,
      sure: false,
      single: 'a',
      titled: 'g',
      old: 'y',
      several: ['a', 'c'],
      severalTitled: ['r'],
    })
    expect(seen.old).toEqual({ type: 'string', enum: ['x', 'y'], enumNames: ['Ex', 'Why'] })
    if (isOld) {
      expect(seen.titled).toEqual({ type: 'string', enum: ['r', 'g'], enumNames: ['Red', 'Green'] })
      expect(seen.several).toEqual({ type: 'string', description: 'Any of these, separated by commas: a, b, c' })
      expect(seen.text).not.toHaveProperty('default')
      expect(seen.sure).toHaveProperty('default', true)
    } else {
      expect(seen.titled).toEqual({ type: 'string', oneOf: titled })
      expect(seen.severalTitled).toEqual({ type: 'array', items: { anyOf: titled }, default: ['r'] })
      expect(seen.several).toEqual({ type: 'array', items: { type: 'string', enum: ['a', 'b', 'c'] }, minItems: 1, maxItems: 2 })
    }
  })

  test('a schema that does not fit a form is refused before the person is asked', async () => {
    proves('T-ELIC-022')
    let asked = 0
    const nested = z.object({ address: z.object({ street: z.string() }) })
    const { client } = await connect(
      async (ctx) => {
        try {
          return await ctx.elicit('a', 'Address?', nested as never)
        } catch (error) {
          throw new ToolError((error as Error).message)
        }
      },
      () => {
        asked++
        return { action: 'cancel' }
      },
    )
    expect((await run(client)).text).toMatch(
      /form field "address" has type "object"; a form allows only strings, numbers, booleans and choices/,
    )
    expect(asked).toBe(0)
  })

  test('two questions with the same name are refused', async () => {
    const { client } = await connect(
      async (ctx) => {
        await ctx.elicit('same', 'A?', z.object({ a: z.string() }))
        await ctx.elicit('same', 'B?', z.object({ b: z.string() }))
      },
      () => ({ action: 'accept', content: { a: 'x', b: 'x' } }),
    )
    await expect(client.call('run')).rejects.toMatchObject({ code: -32603, message: 'Two questions or steps of one call are named "same"' })
  })
})

describe.each(withUrls)('pages in %s', (revision) => {
  test('the person sees the full address of a page, its host and its warnings, and nothing is fetched', async () => {
    proves('T-ELIC-003', 'T-ELIC-009', 'T-ELIC-036', 'T-ELIC-037', 'T-ELIC-041', 'T-ELIC-055', 'T-ELIC-088', 'T-ELIC-089')
    proves('T-ELIC-090', 'T-ELIC-091', 'T-ELIC-093', 'T-ELIC-094')
    const url = 'https://xn--pple-43d.com:8443/connect?id=1'
    const asked: unknown[] = []
    const { client, sent } = await connectPair(
      serverOf(async (ctx) => {
        await ctx.elicitUrl('page', 'Please connect', url)
        return 'agreed'
      }),
      {
        revision,
        answer: {
          elicitUrl: (request) => {
            asked.push(request)
            return { action: 'accept' }
          },
        },
      },
    )
    expect((await run(client)).text).toBe('agreed')
    expect(asked).toEqual([
      {
        message: 'Please connect',
        elicitationId: revision === '2025-11-25' ? expect.any(String) : undefined,
        href: url,
        host: 'xn--pple-43d.com',
        hostUnicode: 'аpple.com',
        warnings: ['punycode', 'mixed-scripts', 'unusual-port'],
      },
    ])
    expect(JSON.stringify(sent('client'))).not.toContain('"content"')
  })

  test('an address that is neither https nor local is refused before the person is asked', async () => {
    proves('T-ELIC-087')
    const connect = (url: string) =>
      connectPair(
        serverOf(async (ctx) => {
          await ctx.elicitUrl('p', 'Go', url)
          return 'agreed'
        }),
        { revision, answer: { elicitUrl: () => ({ action: 'accept' }) } },
      )
    for (const url of [
      'http://example.com/',
      'javascript:alert(1)',
      'file:///etc/passwd',
      'data:text/html,x',
      'custom-app:open',
      'nonsense',
    ]) {
      const { client, sent } = await connect(url)
      await expect(client.call('run'), url).rejects.toMatchObject({
        message: `Expected an https URL, or http to this machine, got ${JSON.stringify(url)}`,
      })
      expect(JSON.stringify(sent('server'))).not.toContain('elicitation/create')
      expect(() => pageRequired('Go', url)).toThrow('Expected an https URL')
    }
    for (const url of ['https://example.com/', 'http://localhost:8080/', 'http://127.0.0.1/', 'http://[::1]:3000/'])
      expect((await run((await connect(url)).client)).text, url).toBe('agreed')
  })

  test('the answer about a page contains only the decision, even if either side adds more', async () => {
    proves('T-ELIC-069')
    const { client, sent } = await connectPair(
      serverOf((ctx) => ctx.ask({ connected: page('Connect', 'https://example.com') })),
      { revision, answer: { elicitUrl: () => ({ action: 'accept', content: { token: 'from the page' } }) as { action: 'accept' } } },
    )
    expect(JSON.parse((await run(client)).text ?? '')).toEqual({ connected: { action: 'accept' } })
    expect(JSON.stringify(sent('client'))).not.toContain('from the page')
    if (revision === '2026-07-28') return
    const raw = rawChannel(serverOf((ctx) => ctx.ask({ connected: page('Connect', 'https://example.com') })))
    await raw.initialize(revision, { elicitation: { url: {} } })
    const answer = raw.ask('tools/call', { name: 'run' })
    const question = await raw.until(({ method }) => method === 'elicitation/create')
    raw.send({ jsonrpc: '2.0', id: question.id, result: { action: 'accept', content: { token: 'from the page' } } })
    expect((await answer).result.content[0].text).toBe('{"connected":{"action":"accept"}}')
  })

  test('a form that asks for a secret is refused with advice to use a page', async () => {
    proves('T-ELIC-004', 'T-ELIC-005')
    const asked: string[] = []
    const connect = (handler: (ctx: Context) => unknown) =>
      connectPair(serverOf(handler), {
        revision,
        answer: {
          elicit: () => {
            asked.push('form')
            return { action: 'cancel' }
          },
          elicitUrl: () => {
            asked.push('page')
            return { action: 'accept' }
          },
        },
      })
    const byForm = await connect(async (ctx) => {
      try {
        return await ctx.elicit('key', 'Your key?', z.object({ apiKey: z.string() }))
      } catch (error) {
        throw new ToolError((error as Error).message)
      }
    })
    expect((await run(byForm.client)).text).toMatch(/form field "apiKey" asks for a secret, .* a page .*\(elicitUrl\)/)
    expect(asked).toEqual([])
    const byPage = await connect(async (ctx) => {
      await ctx.elicitUrl('key', 'Enter your key', 'https://example.com/key')
      return 'kept on the server'
    })
    expect((await run(byPage.client)).text).toBe('kept on the server')
    expect(asked).toEqual(['page'])
    expect(JSON.stringify(byPage.sent('server'))).toContain('"mode":"url"')
  })

  test('a mode that the client has not declared is not used', async () => {
    proves('T-ELIC-011', 'T-ELIC-012', 'T-ELIC-014')
    const { client, sent } = await connectPair(
      serverOf((ctx) => ctx.elicitUrl('p', 'Go', 'https://example.com')),
      { revision, answer: { elicit: () => ({ action: 'cancel' }) } },
    )
    await expect(client.call('run')).rejects.toMatchObject({
      code: revision === '2026-07-28' ? -32021 : -32603,
      message: '"run" asks the user a question, and this client cannot show one (elicitation.url)',
      data: { requiredCapabilities: { elicitation: { url: {} } } },
    })
    expect(sent('server').filter(({ method }) => method === 'elicitation/create')).toEqual([])
  })
})

test('each page has its own id in 2025-11-25, and no id in 2026-07-28', async () => {
  proves('R-ELIC-005', 'R-ELIC-010')
  const server = serverOf(async (ctx) => {
    await ctx.ask({
      a: page('Go', 'https://example.com/a', 'e-1'),
      b: page('Go', 'https://example.com/b'),
      c: page('Go', 'https://example.com/c'),
    })
  })
  const answer = { elicitUrl: () => ({ action: 'accept' as const }) }
  const session = await connectPair(server, { revision: '2025-11-25', answer })
  await session.client.call('run')
  const ids = session.sent('server', 'elicitation/create').map(({ params }) => params.elicitationId)
  expect(ids).toEqual(['e-1', expect.any(String), expect.any(String)])
  expect(new Set(ids).size).toBe(3)

  const stateless = await connectPair(server, { revision: '2026-07-28', answer })
  await stateless.client.call('run')
  const asked = stateless.sent('server').find(({ result }) => result?.inputRequests)
  expect(Object.values((asked?.result.inputRequests ?? {}) as Message).map(({ params }) => params)).toEqual(
    ['a', 'b', 'c'].map((path) => ({ mode: 'url', message: 'Go', url: `https://example.com/${path}` })),
  )
})

describe('the completion of a page in 2025-11-25', () => {
  test('the completion of a page in 2025-11-25 is sent only to the client that was asked', async () => {
    proves('T-ELIC-039', 'T-ELIC-042', 'T-ELIC-043', 'T-ELIC-044', 'T-ELIC-076', 'T-BASE-043')
    const server = serverOf((ctx) => ctx.elicitUrl('p', 'Go', 'https://example.com', { elicitationId: 'e-1' }))
    const [asked, other] = [rawChannel(server), rawChannel(server)]
    for (const raw of [asked, other]) await raw.initialize('2025-11-25', { elicitation: { url: {} } })
    asked.send({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'run' } })
    const question = await asked.until(({ method }) => method === 'elicitation/create')
    expect(question.params).toEqual({ mode: 'url', message: 'Go', url: 'https://example.com', elicitationId: 'e-1' })
    asked.send({ jsonrpc: '2.0', id: question.id, result: { action: 'accept' } })
    await asked.until(({ id, method }) => id === 1 && method === undefined)
    expect(server.completeElicitation('e-1')).toBe(true)
    expect(server.completeElicitation('e-1')).toBe(false)
    expect(server.completeElicitation('unknown')).toBe(false)
    expect(asked.out.at(-1)).toEqual({ jsonrpc: '2.0', method: 'notifications/elicitation/complete', params: { elicitationId: 'e-1' } })
    expect(other.out.filter(({ method }) => method !== undefined)).toEqual([])
  })
})

describe('roots', () => {
  test.each(REVISIONS)('roots are requested when they are needed, in %s', async (revision) => {
    proves('T-ROOT-001', 'T-ROOT-005', 'T-ROOT-006', 'T-ROOT-010', 'T-ROOT-012', 'T-ROOT-013', 'T-ROOT-027')
    const { client } = await connectPair(
      serverOf((ctx) => ctx.roots()),
      { revision, answer: { roots: ['file:///home/me/project', { uri: 'file:///srv', name: 'Server' }] } },
    )
    expect(JSON.parse((await run(client)).text ?? '')).toEqual([{ uri: 'file:///home/me/project' }, { uri: 'file:///srv', name: 'Server' }])
    const without = await connectPair(
      serverOf((ctx) => ctx.roots()),
      { revision },
    )
    await expect(without.client.call('run')).rejects.toMatchObject({
      message: '"run" asks for folders to work in, and this client names none (roots)',
    })
  })

  test.each(SESSION_REVISIONS)('roots are remembered until the client announces a change, in %s', async (revision) => {
    proves('T-ROOT-004', 'T-ROOT-007', 'T-ROOT-008', 'T-ROOT-009', 'T-ROOT-026', 'T-ROOT-028', 'T-ROOT-029')
    const { client, sent } = await connectPair(
      serverOf(async (ctx) => (await ctx.roots())[0]?.uri ?? 'none'),
      { revision, answer: { roots: ['file:///a'] } },
    )
    expect((await run(client)).text).toBe('file:///a')
    expect((await run(client)).text).toBe('file:///a')
    expect(sent('server', 'roots/list')).toHaveLength(1)
    client.setRoots(['file:///b'])
    expect(sent('client', 'notifications/roots/list_changed')).toHaveLength(1)
    expect((await run(client)).text).toBe('file:///b')
    expect(sent('server', 'roots/list')).toHaveLength(2)
  })

  test('roots without change notifications are requested each time, and failures are not remembered', async () => {
    const raw = rawChannel(serverOf((ctx) => ctx.roots()))
    await raw.initialize('2025-11-25', { roots: {} })
    for (const id of [1, 2]) {
      raw.send({ jsonrpc: '2.0', id, method: 'tools/call', params: { name: 'run' } })
      await settle()
    }
    expect(raw.out.filter(({ method }) => method === 'roots/list')).toHaveLength(2)
  })

  test.each(SESSION_REVISIONS)('roots that the client cannot list fail the call, and are requested again, in %s', async (revision) => {
    proves('T-ROOT-020')
    let isThere = false
    const { client } = await connectPair(
      serverOf(async (ctx) => (await ctx.roots()).map(({ uri }) => uri).join()),
      {
        revision,
        answer: {
          roots: () => {
            if (!isThere) throw new Error('/mnt/stick is gone')
            return ['file:///mnt/stick', 'file:///home']
          },
        },
      },
    )
    const failed = { isError: true, text: 'The client answered with an error: Internal error' }
    expect(await run(client)).toEqual(failed)
    isThere = true
    expect((await run(client)).text).toBe('file:///mnt/stick,file:///home')
    client.answer({ roots: () => Promise.reject(new Error('/mnt/stick is gone')) })
    expect(await run(client)).toEqual(failed)
    client.setRoots(['file:///home'])
    expect((await run(client)).text).toBe('file:///home')
  })

  test('a call that is cancelled does not fail another that asks for roots at the same time', async () => {
    const raw = rawChannel(serverOf((ctx) => ctx.roots()))
    await raw.initialize('2025-11-25', { roots: { listChanged: true } })
    for (const id of [1, 2]) raw.send({ jsonrpc: '2.0', id, method: 'tools/call', params: { name: 'run' } })
    await settle()
    const questions = raw.out.filter(({ method }) => method === 'roots/list')
    expect(questions).toHaveLength(2)
    raw.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } })
    raw.send({ jsonrpc: '2.0', id: questions[1]?.id, result: { roots: [{ uri: 'file:///a' }] } })
    const { result } = await raw.until(({ id, method }) => id === 2 && method === undefined)
    expect(result).toEqual({ content: [{ type: 'text', text: '[{"uri":"file:///a"}]' }] })
    // What is known now is not asked for again.
    expect((await raw.ask('tools/call', { name: 'run' })).result).toEqual(result)
    expect(raw.out.filter(({ method }) => method === 'roots/list')).toHaveLength(2)
  })

  test.each([
    [16 * 1024, 1],
    [16 * 1024 + 1, 2],
  ])('roots of %i characters as JSON are requested %i times for two calls', async (length, times) => {
    const raw = rawChannel(serverOf(async (ctx) => String((await ctx.roots())[0]?.uri.length)))
    await raw.initialize('2025-11-25', { roots: { listChanged: true } })
    const uriLength = length - JSON.stringify({ roots: [{ uri: '' }] }).length
    const result = { roots: [{ uri: 'file:///'.padEnd(uriLength, 'x') }] }
    for (const id of [1, 2]) {
      raw.send({ jsonrpc: '2.0', id, method: 'tools/call', params: { name: 'run' } })
      await settle()
      const question = raw.out.at(-1)
      if (question?.method === 'roots/list') raw.send({ jsonrpc: '2.0', id: question.id, result })
      const answer = await raw.until((message) => message.id === id && message.method === undefined)
      expect(answer.result.content).toEqual([{ type: 'text', text: String(uriLength) }])
    }
    expect(raw.out.filter(({ method }) => method === 'roots/list')).toHaveLength(times)
  })

  test('an answer from before a change of the roots is not remembered', async () => {
    const raw = rawChannel(serverOf((ctx) => ctx.roots()))
    await raw.initialize('2025-11-25', { roots: { listChanged: true } })
    for (const [id, root] of [
      [1, 'file:///old'],
      [2, 'file:///new'],
    ] as const) {
      const asked = raw.out.filter(({ method }) => method === 'roots/list').length
      raw.send({ jsonrpc: '2.0', id, method: 'tools/call', params: { name: 'run' } })
      await settle()
      const questions = raw.out.filter(({ method }) => method === 'roots/list')
      expect(questions).toHaveLength(asked + 1)
      if (id === 1) raw.send({ jsonrpc: '2.0', method: 'notifications/roots/list_changed' })
      raw.send({ jsonrpc: '2.0', id: questions.at(-1)?.id, result: { roots: [{ uri: root }] } })
      expect((await raw.until((message) => message.id === id && message.method === undefined)).result.content[0].text).toContain(root)
    }
  })

  test('roots that are not file URIs are refused', async () => {
    const raw = rawChannel(serverOf((ctx) => ctx.roots()))
    await raw.initialize('2025-11-25', { roots: {} })
    raw.send({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'run' } })
    const question = await raw.until(({ method }) => method === 'roots/list')
    raw.send({ jsonrpc: '2.0', id: question.id, result: { roots: [{ uri: 'https://example.com' }] } })
    expect((await raw.until(({ id, method }) => id === 1 && method === undefined)).error.message).toMatch(
      /The answer to roots\/list is invalid/,
    )
  })
})

describe('sampling', () => {
  const ask = {
    messages: [{ role: 'user' as const, content: text('Capital of France?') }],
    maxTokens: 100,
    systemPrompt: 'Be brief',
    temperature: 0.2,
    stopSequences: ['\n'],
    metadata: { a: 1 },
    modelPreferences: { hints: [{ name: 'sonnet' }], costPriority: 0.3, speedPriority: 0.8, intelligencePriority: 0.5 },
    includeContext: 'none' as const,
  }

  test.each(REVISIONS)('sampling asks the model of the client, in %s', async (revision) => {
    proves('T-SAMP-001', 'T-SAMP-002', 'T-SAMP-009', 'T-SAMP-010', 'T-SAMP-011', 'T-SAMP-013', 'T-SAMP-015', 'T-SAMP-017')
    proves('T-SAMP-018', 'T-SAMP-020', 'T-SAMP-021', 'T-SAMP-022', 'T-SAMP-023', 'T-SAMP-025', 'T-SAMP-026', 'T-SAMP-027')
    proves('T-SAMP-028', 'T-SAMP-029', 'T-ARCH-006', 'T-ARCH-011', 'T-ARCH-030')
    const asked: unknown[] = []
    const { client } = await connectPair(
      serverOf((ctx) => ctx.sample('capital', ask)),
      {
        revision,
        answer: {
          sample: (params) => {
            asked.push(params)
            return { role: 'assistant', content: { type: 'text', text: 'Paris' }, model: 'test-model', stopReason: 'endTurn' }
          },
        },
      },
    )
    expect(JSON.parse((await run(client)).text ?? '')).toMatchObject({
      role: 'assistant',
      content: { type: 'text', text: 'Paris' },
      model: 'test-model',
      stopReason: 'endTurn',
    })
    expect(asked).toEqual([ask])
  })

  test.each(SESSION_REVISIONS)('sampling that the person refuses is an error of the client, in %s', async (revision) => {
    proves('T-SAMP-003', 'T-SAMP-038', 'T-SAMP-039', 'T-SAMP-040')
    const { client, sent } = await connectPair(
      serverOf((ctx) => ctx.sample('capital', ask)),
      {
        revision,
        answer: {
          sample: () => {
            throw new Declined('User rejected sampling request')
          },
        },
      },
    )
    expect(await run(client)).toEqual({ isError: true, text: 'The client answered with an error: User rejected sampling request' })
    expect(sent('client').find(({ error }) => error)).toMatchObject({ error: { code: -1, message: 'User rejected sampling request' } })
  })

  test.each(REVISIONS)('sampling is answered by the model and at the length that the client chooses, in %s', async (revision) => {
    proves('T-SAMP-014', 'T-SAMP-019', 'T-SAMP-036', 'R-SAMP-028')
    const model = (params: { systemPrompt?: string; maxTokens: number }) => `${params.systemPrompt ?? 'no system'}, ${params.maxTokens}`
    const { client } = await connectPair(
      serverOf((ctx) => ctx.sample('capital', ask)),
      {
        revision,
        answer: {
          sample: ({ systemPrompt: _removed, ...params }) => ({
            role: 'assistant',
            content: text(model({ ...params, maxTokens: params.maxTokens / 2 })),
            model: 'of-another-family',
            stopReason: 'maxTokens',
          }),
        },
      },
    )
    expect(JSON.parse((await run(client)).text ?? '')).toMatchObject({
      content: { type: 'text', text: 'no system, 50' },
      model: 'of-another-family',
      stopReason: 'maxTokens',
    })
  })

  test.each(REVISIONS)('sampling passes unknown members of a hint on to the client, in %s', async (revision) => {
    proves('T-SAMP-037')
    const hints = [{ name: 'sonnet', 'com.example/size': 'small' }, { family: 'any' }]
    const asked: unknown[] = []
    // Not judged: the published schema lists the one key that it specifies.
    const { client, close } = await pair(
      serverOf((ctx) => ctx.sample('m', { ...ask, modelPreferences: { hints } })),
      {
        revision,
        answer: {
          sample: ({ modelPreferences }) => {
            asked.push(modelPreferences?.hints)
            return { role: 'assistant', content: text('x'), model: 'm' }
          },
        },
      },
    )
    await run(client)
    await close()
    expect(asked).toEqual([hints])
  })

  test.each(REVISIONS)('sampling with tools goes only to a client that has declared them, in %s', async (revision) => {
    proves('R-SAMP-002', 'R-SAMP-005', 'R-SAMP-008', 'R-SAMP-025')
    const tools = [{ name: 'lookup', inputSchema: { type: 'object' } }]
    const handler = (ctx: Context) => ctx.sample('m', { ...ask, tools, toolChoice: { mode: 'auto' } })
    const answerWith = {
      role: 'assistant' as const,
      content: [{ type: 'tool_use' as const, id: '1', name: 'lookup', input: {} }],
      model: 'm',
      stopReason: 'toolUse',
    }
    const able = await connectPair(serverOf(handler), { revision, answer: { sample: { handler: () => answerWith, tools: true } } })
    const unable = await connectPair(serverOf(handler), { revision, answer: { sample: () => answerWith } })
    if (revision >= '2025-11-25') expect(JSON.parse((await run(able.client)).text ?? '')).toMatchObject({ stopReason: 'toolUse' })
    else
      await expect(able.client.call('run')).rejects.toMatchObject({ message: expect.stringContaining('cannot give one (sampling.tools)') })
    await expect(unable.client.call('run')).rejects.toMatchObject({ message: expect.stringContaining('cannot give one (sampling.tools)') })
  })

  test('messages that break the rules of tool use are refused before they are sent', async () => {
    proves('T-SAMP-041', 'R-SAMP-012', 'R-SAMP-016', 'R-SAMP-017', 'R-SAMP-018', 'R-SAMP-021')
    const use = { type: 'tool_use' as const, id: 'u1', name: 'lookup', input: {} }
    const result = { type: 'tool_result' as const, toolUseId: 'u1', content: [] }
    const cases: [unknown[], string][] = [
      [
        [
          { role: 'assistant', content: use },
          { role: 'user', content: text('hi') },
        ],
        'Sampling message 1 leaves the tool use u1 without a result',
      ],
      [
        [
          { role: 'assistant', content: use },
          { role: 'user', content: [result, text('hi')] },
        ],
        'Sampling message 1 mixes tool results with other content',
      ],
      [[{ role: 'user', content: result }], 'Sampling message 0 answers a tool use that was not made'],
    ]
    for (const [messages, message] of cases) {
      const { client } = await connectPair(
        serverOf((ctx) => ctx.sample('m', { ...ask, messages: messages as never, tools: [] })),
        {
          revision: '2025-11-25',
          answer: { sample: { handler: () => ({ role: 'assistant', content: text('x'), model: 'm' }), tools: true } },
        },
      )
      await expect(client.call('run')).rejects.toMatchObject({ message })
    }
  })

  test('a message without a role or content is refused before it is sent', async () => {
    proves('R-SAMP-026')
    const cases: [unknown, string][] = [
      [{ role: 'system', content: text('x') }, 'Sampling message 1 must have the role "user" or "assistant"'],
      [{ content: text('x') }, 'Sampling message 1 must have the role "user" or "assistant"'],
      [undefined, 'Sampling message 1 must have the role "user" or "assistant"'],
      [{ role: 'user' }, 'Sampling message 1 must have content'],
      [{ role: 'user', content: ['x'] }, 'Sampling message 1 must have content'],
    ]
    for (const revision of ['2025-11-25', '2026-07-28'])
      for (const [wrong, message] of cases) {
        const handler = (ctx: Context) => ctx.sample('m', { ...ask, messages: [{ role: 'user', content: text('a') }, wrong as never] })
        const { client, sent } = await connectPair(serverOf(handler), {
          revision,
          answer: { sample: () => ({ role: 'assistant', content: text('x'), model: 'm' }) },
        })
        await expect(client.call('run')).rejects.toMatchObject({ message })
        expect(JSON.stringify(sent('server'))).not.toContain('sampling/createMessage')
      }
  })

  test('a tool result in the conversation must match the output schema of its tool', async () => {
    proves('R-SAMP-013')
    const tools = [
      {
        name: 'sum',
        inputSchema: { type: 'object' },
        outputSchema: { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] },
      },
      { name: 'free', inputSchema: { type: 'object' } },
    ]
    const conversation = (name: string, structuredContent: unknown, isError = false) => [
      { role: 'assistant', content: { type: 'tool_use', id: 'u1', name, input: {} } },
      { role: 'user', content: [{ type: 'tool_result', toolUseId: 'u1', content: [], structuredContent, isError }] },
    ]
    const run = async (messages: unknown) => {
      const { client } = await connectPair(
        serverOf((ctx) => ctx.sample('m', { ...ask, messages: messages as never, tools })),
        {
          revision: '2026-07-28',
          answer: { sample: { handler: () => ({ role: 'assistant', content: text('x'), model: 'm' }), tools: true } },
        },
      )
      return client.call('run')
    }
    await expect(run(conversation('sum', { n: 'one' }))).rejects.toMatchObject({
      message: 'Sampling message 1 has a result that does not match the output schema of "sum": n: expected number, got string ("one")',
    })
    for (const right of [conversation('sum', { n: 1 }), conversation('free', { n: 'one' }), conversation('sum', { n: 'one' }, true)])
      expect((await run(right)).isError).not.toBe(true)
  })

  test.each(['2025-11-25', '2026-07-28'])(
    'tools, parallel tool uses and metadata arrive complete in both directions, in %s',
    async (revision) => {
      proves('R-SAMP-005', 'R-SAMP-008', 'R-SAMP-009', 'R-SAMP-010', 'R-SAMP-011', 'R-SAMP-014', 'R-SAMP-015', 'R-SAMP-018', 'R-SAMP-021')
      const tools = [{ name: 'lookup', inputSchema: { type: 'object' } }]
      const uses = ['u1', 'u2'].map((id) => ({
        type: 'tool_use' as const,
        id,
        name: 'lookup',
        input: { id },
        _meta: { 'com.example/cache': id },
      }))
      const results = uses.map(({ id }) => ({
        type: 'tool_result' as const,
        toolUseId: id,
        content: [text(id)],
        structuredContent: { id },
        isError: false,
        _meta: { 'com.example/cache': `r-${id}` },
      }))
      const asked: unknown[] = []
      const { client } = await connectPair(
        serverOf(async (ctx) => {
          const messages = [{ role: 'user' as const, content: text('go'), _meta: { 'com.example/m': 1 } }]
          const first = await ctx.sample('one', { messages, maxTokens: 9, tools, toolChoice: { mode: 'required' } })
          const next = [...messages, { role: first.role, content: first.content }, { role: 'user' as const, content: results }]
          return [first.stopReason, await ctx.sample('two', { messages: next, maxTokens: 9, tools })]
        }),
        {
          revision,
          answer: {
            sample: {
              handler: (params) => {
                asked.push(params)
                const isFirst = params.messages.length === 1
                const answer = { role: 'assistant' as const, model: 'm' }
                return isFirst
                  ? { ...answer, content: uses, stopReason: 'toolUse' }
                  : { ...answer, content: text('done'), stopReason: 'a reason of ours' }
              },
              tools: true,
            },
          },
        },
      )
      const [reason, last] = JSON.parse((await run(client)).text ?? '')
      expect(reason).toBe('toolUse')
      expect(last.stopReason).toBe('a reason of ours')
      expect(asked).toMatchObject([
        { messages: [{ _meta: { 'com.example/m': 1 } }], tools, toolChoice: { mode: 'required' } },
        { messages: [{ role: 'user' }, { role: 'assistant', content: uses }, { role: 'user', content: results }] },
      ])
      for (const params of asked) expect(params).not.toHaveProperty('includeContext')
    },
  )

  test('any stop reason is passed on, and context of other servers is requested only if declared', async () => {
    proves('R-SAMP-003', 'R-SAMP-004', 'R-SAMP-031')
    for (const revision of ['2025-11-25', '2026-07-28']) {
      const handler = (ctx: Context) => ctx.sample('m', { ...ask, includeContext: 'thisServer' })
      const sample = () => ({ role: 'assistant' as const, content: text('x'), model: 'm', stopReason: 'because' })
      const unable = await connectPair(serverOf(handler), { revision, answer: { sample } })
      await expect(unable.client.call('run')).rejects.toMatchObject({
        message: expect.stringContaining('cannot give one (sampling.context)'),
      })
      const able = await connectPair(serverOf(handler), { revision, answer: { sample: { handler: sample, context: true } } })
      expect(JSON.parse((await run(able.client)).text ?? '')).toMatchObject({ stopReason: 'because' })
    }
  })

  test('a message with several blocks is split for a peer that accepts one block per message', async () => {
    proves('R-SAMP-009')
    const asked: unknown[] = []
    const { client } = await connectPair(
      serverOf((ctx) => ctx.sample('m', { ...ask, messages: [{ role: 'user', content: [text('a'), text('b')] }] })),
      {
        revision: '2025-06-18',
        answer: {
          sample: ({ messages }) => {
            asked.push(...messages)
            return { role: 'assistant', content: text('x'), model: 'm' }
          },
        },
      },
    )
    await run(client)
    expect(asked).toEqual([
      { role: 'user', content: { type: 'text', text: 'a' } },
      { role: 'user', content: { type: 'text', text: 'b' } },
    ])
  })
})

describe('a question on a session', () => {
  test('a question on a session is sent while the call runs, and withdrawn when the call is cancelled', async () => {
    proves('T-BASE-012', 'T-BASE-042', 'T-CANC-005')
    const raw = rawChannel(serverOf((ctx) => ctx.elicit('a', 'A?', z.object({ a: z.string() }))))
    await raw.initialize('2025-11-25', { elicitation: {} })
    raw.send({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'run' } })
    const question = await raw.until(({ method }) => method === 'elicitation/create')
    raw.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } })
    raw.send({ jsonrpc: '2.0', id: question.id, result: { action: 'accept', content: { a: 'late' } } })
    await settle()
    expect(raw.out.some(({ id, method }) => id === 1 && method === undefined)).toBe(false)
    expect(raw.dropped).toBe(1)
  })

  test('a question on a session that is not answered in time is withdrawn with a cancellation', async () => {
    proves('T-LIFE-031', 'T-LIFE-032')
    const raw = rawChannel(serverOf((ctx) => ctx.elicit('a', 'A?', z.object({ a: z.string() })), { limits: { askTimeoutMs: 30 } }))
    await raw.initialize('2025-11-25', { elicitation: {} })
    const answer = raw.ask('tools/call', { name: 'run' })
    const question = await raw.until(({ method }) => method === 'elicitation/create')
    const cancelled = await raw.until(({ method }) => method === 'notifications/cancelled')
    expect(cancelled.params).toEqual({ requestId: question.id, reason: 'No answer to elicitation/create within 30 ms (timeoutMs)' })
    expect(await answer).toMatchObject({ error: { code: -32603 } })
  })

  test('a question on a session waits until the client has said that it is initialized', async () => {
    const raw = rawChannel(serverOf((ctx) => ctx.roots()))
    await raw.ask('initialize', { protocolVersion: '2025-11-25', capabilities: { roots: {} }, clientInfo: { name: 'a', version: '1' } })
    raw.send({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'run' } })
    await settle()
    expect(raw.out.some(({ method }) => method === 'roots/list')).toBe(false)
    raw.send({ jsonrpc: '2.0', method: 'notifications/initialized' })
    await raw.until(({ method }) => method === 'roots/list')
  })

  test('a question on a session can be asked by prompts and resources as well', async () => {
    proves('T-ELIC-001')
    const server = createServer({ name: 'x', version: '1' })
    server.prompt('p', {}, async (_args, ctx) => (await ctx.elicit('a', 'A?', z.object({ a: z.string() }))).a)
    server.resource('a:1', { name: 'a' }, async (_variables, ctx) => (await ctx.elicit('a', 'A?', z.object({ a: z.string() }))).a)
    for (const revision of withElicitation) {
      const { client } = await connectPair(server, { revision, answer: { elicit: () => ({ action: 'accept', content: { a: 'given' } }) } })
      expect(JSON.stringify(await client.prompt('p'))).toContain('given')
      expect(JSON.stringify(await client.read('a:1'))).toContain('given')
    }
  })

  test('an answer of the wrong shape, or whose content does not fit the form, is an error', async () => {
    proves('T-ELIC-080')
    const raw = rawChannel(serverOf((ctx) => ctx.elicit('a', 'A?', z.object({ a: z.string() }))))
    await raw.initialize('2025-11-25', { elicitation: {} })
    for (const result of [{}, { action: 'maybe' }, { action: 'accept' }, { action: 'accept', content: { a: 5 } }]) {
      const answer = raw.ask('tools/call', { name: 'run' })
      const question =
        raw.out.findLast(({ method }) => method === 'elicitation/create') ??
        (await raw.until(({ method }) => method === 'elicitation/create'))
      raw.send({ jsonrpc: '2.0', id: question.id, result })
      expect((await answer).error).toMatchObject({
        code: -32603,
        message: expect.stringContaining('The answer to elicitation/create is invalid'),
      })
      raw.out.length = 0
    }
  })
})

test('questions that were created earlier can be combined', async () => {
  const questions = {
    who: form('Who?', person),
    where: page('Where?', 'https://example.com'),
    what: sampling({ messages: [], maxTokens: 1 }),
    roots: rootList(),
  }
  const { client } = await connectPair(
    serverOf((ctx) => ctx.ask(questions)),
    {
      revision: '2026-07-28',
      answer: {
        elicit: () => ({ action: 'accept', content: { name: 'Anna' } }),
        elicitUrl: () => ({ action: 'accept' }),
        sample: () => ({ role: 'assistant', content: text('x'), model: 'm' }),
        roots: ['file:///a'],
      },
    },
  )
  expect(JSON.parse((await run(client)).text ?? '')).toMatchObject({
    who: { action: 'accept', content: { name: 'Anna' } },
    where: { action: 'accept' },
    what: { model: 'm' },
    roots: { roots: [{ uri: 'file:///a' }] },
  })
})

test('the id of a page is used unchanged, in any form that the server chose', async () => {
  proves('R-ELIC-006')
  const id = ' odd "id" \u2028 ä/../{} == '
  let isDone = false
  const server = serverOf(() => {
    if (!isDone) throw pageRequired('Connect', 'https://example.com', id)
    return 'connected'
  })
  const { client } = await connectPair(server, { revision: '2025-11-25', answer: { elicitUrl: () => ({ action: 'accept' }) } })
  const call = run(client)
  await settle()
  isDone = true
  expect(server.completeElicitation(id)).toBe(true)
  expect((await call).text).toBe('connected')
})

describe.each(withElicitation)('the name of a question in %s', (revision) => {
  test.each([
    ['1 character', 'k', undefined],
    ['128 characters', 'k'.repeat(128), undefined],
    ['129 characters', 'k'.repeat(129), 'ERR_ASK'],
    ['no characters', '', 'ERR_ASK'],
    ['a key that no message may have', '__proto__', 'ERR_ASK'],
  ])('a name with %s is accepted or refused', async (_what, name, code) => {
    let failure: unknown
    const server = serverOf(async (ctx) => {
      try {
        return (await ctx.elicit(name, 'Who?', person)).name
      } catch (error) {
        if ((error as { code?: string }).code !== 'ERR_ASK') throw error
        failure = error
        return 'refused'
      }
    })
    const { client } = await connectPair(server, { revision, answer: { elicit: () => ({ action: 'accept', content: { name: 'Anna' } }) } })
    expect((await run(client)).text).toBe(code === undefined ? 'Anna' : 'refused')
    const message = 'A question or step needs a name of 1 to 128 characters, other than "__proto__"'
    if (code !== undefined) expect(failure).toMatchObject({ code, message })
  })
})

describe('an answer that only the schema of the server refuses', () => {
  const even = z.object({ days: z.number().refine((days) => days % 2 === 0, 'must be even') })
  test.each(withElicitation)('an answer of a program that does not fit ends the call after one question in %s', async (revision) => {
    const server = serverOf((ctx) => ctx.elicit('days', 'How many?', even))
    let asked = 0
    const elicit = () => {
      asked++
      return { action: 'accept' as const, content: { days: 3 } }
    }
    const { client } = await pair(server, { revision, answer: { elicit } })
    await expect(client.call('run')).rejects.toThrow('The answer to elicitation/create is invalid: content.days: must be even')
    expect(asked).toBe(1)
    await client.close()
  })
})
