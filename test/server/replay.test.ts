import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import {
  type Context,
  createServer,
  form,
  type KeyRing,
  page,
  pageRequired,
  rootList,
  type ServerOptions,
  sampling,
} from '../../src/server/index.ts'
import { rehearse } from '../../src/testing/index.ts'
import { connectPair } from '../support/judged-pair.ts'
import { proves } from '../support/proves.ts'
import { envelope, type Message, rawChannel } from '../support/raw-channel.ts'

const ALL = { elicitation: { form: {}, url: {} }, sampling: { tools: {} }, roots: {} }
const yes = z.object({ ok: z.boolean() })
const accept = { action: 'accept', content: { ok: true } }

const serverOf = (handler: (ctx: Context) => unknown, options: Partial<ServerOptions> = {}) => {
  const server = createServer({ name: 'replay', version: '1.0.0', onError: () => {}, ...options })
  server.tool('run', { input: z.object({ x: z.string().optional() }) }, async (_args, ctx) => String(await handler(ctx)))
  return server
}

/** One round: a call on a channel of its own, as another process would see it. */
const round = async (
  server: ReturnType<typeof serverOf>,
  additions: Message = {},
  options: { principal?: string; capabilities?: unknown; name?: string } = {},
): Promise<Message> => {
  const raw = rawChannel(server, options.principal === undefined ? {} : { principal: options.principal })
  return raw.ask('tools/call', { name: options.name ?? 'run', ...additions, _meta: envelope(options.capabilities ?? ALL) })
}
const answering = (previous: Message, inputResponses: Message): Message => ({
  inputResponses,
  requestState: previous.result.requestState,
})

describe('a call that asks questions', () => {
  test('a call that asks returns questions and sealed state, and ends with the answers on any replica', async () => {
    proves('R-BASE-039', 'R-BASE-059', 'R-MRTR-001', 'R-MRTR-002', 'R-MRTR-004', 'R-MRTR-009')
    const key = { id: 'fleet', secret: new Uint8Array(32).fill(3) }
    const keys: KeyRing = { current: () => key, find: (id) => (id === key.id ? key : undefined) }
    const make = () => serverOf(async (ctx) => `ok=${(await ctx.elicit('sure', 'Sure?', yes)).ok}`, { keys })
    const first = await round(make())
    expect(first.result).toMatchObject({
      resultType: 'input_required',
      inputRequests: {
        sure: {
          method: 'elicitation/create',
          params: {
            mode: 'form',
            message: 'Sure?',
            requestedSchema: { type: 'object', properties: { ok: { type: 'boolean' } }, required: ['ok'] },
          },
        },
      },
      requestState: expect.stringMatching(/^fleet\.[\w-]+$/),
    })
    expect(first.result).not.toHaveProperty('ttlMs')
    const second = await round(make(), answering(first, { sure: accept }))
    expect(second.result).toMatchObject({ resultType: 'complete', content: [{ text: 'ok=true' }] })
  })

  test('a call that asks combines the questions of one turn, and asks later ones in later rounds', async () => {
    proves('R-MRTR-022')
    const { rounds, result } = await rehearse(
      serverOf(async (ctx) => {
        const both = await Promise.all([ctx.elicit('a', 'A?', yes), ctx.elicit('b', 'B?', yes)])
        const last = await ctx.elicit('c', 'C?', yes)
        return JSON.stringify([...both, last])
      }),
      'run',
      {},
      { a: { ok: true }, b: { ok: false }, c: { ok: true } },
    )
    expect(rounds).toEqual([['a', 'b'], ['c']])
    expect(result.content).toEqual([{ type: 'text', text: '[{"ok":true},{"ok":false},{"ok":true}]' }])
  })

  test('a call that asks waits for running steps, so that their questions are in the same round', async () => {
    const { rounds } = await rehearse(
      serverOf((ctx) =>
        Promise.all([
          ctx.elicit('a', 'A?', yes),
          ctx.once('slow', () => new Promise((resolve) => setTimeout(() => resolve(1), 30))).then(() => ctx.elicit('b', 'B?', yes)),
        ]),
      ),
      'run',
      {},
      { a: { ok: true }, b: { ok: true } },
    )
    expect(rounds).toEqual([['a', 'b']])
  })

  test('a call that asks runs a step once and gives every round the same JSON value', async () => {
    let runs = 0
    const seen: unknown[] = []
    const server = serverOf(async (ctx) => {
      seen.push(await ctx.once('made', () => ({ at: new Date(0), n: ++runs })))
      await ctx.elicit('a', 'A?', yes)
      await ctx.elicit('b', 'B?', yes)
      return 'done'
    })
    await rehearse(server, 'run', {}, { a: { ok: true }, b: { ok: true } })
    expect(runs).toBe(1)
    expect(seen).toEqual(Array(3).fill({ at: '1970-01-01T00:00:00.000Z', n: 1 }))
  })

  test('a call that asks has the same id in all rounds, and each call has its own id', async () => {
    const ids: string[] = []
    const server = serverOf(async (ctx) => {
      ids.push(ctx.callId)
      await ctx.elicit('a', 'A?', yes)
      return 'done'
    })
    await rehearse(server, 'run', {}, { a: { ok: true } })
    await rehearse(server, 'run', {}, { a: { ok: true } })
    expect(ids[0]).toBe(ids[1])
    expect(ids[2]).toBe(ids[3])
    expect(ids[0]).not.toBe(ids[2])
    expect(ids[0]?.length).toBeGreaterThanOrEqual(22)
  })

  test('a waiting call is unwound: finally runs, the signal aborts, and no rejection is unhandled', async () => {
    const trace: string[] = []
    const unhandled: unknown[] = []
    const listen = (reason: unknown) => unhandled.push(reason)
    process.on('unhandledRejection', listen)
    const server = serverOf(async (ctx) => {
      ctx.signal.addEventListener('abort', () => trace.push('aborted'))
      const dropped = ctx.elicit('b', 'B?', yes)
      try {
        await ctx.elicit('a', 'A?', yes)
        await dropped
      } finally {
        trace.push('finally')
      }
      return 'done'
    })
    const first = await round(server)
    await expect.poll(() => trace.length).toBe(2)
    process.off('unhandledRejection', listen)
    expect(first.result.resultType).toBe('input_required')
    expect(trace.sort()).toEqual(['aborted', 'finally'])
    expect(unhandled).toEqual([])
  })

  test('a handler that swallows the suspension does not complete the call, and asks nothing more', async () => {
    let late: unknown
    const server = serverOf(async (ctx) => {
      try {
        await ctx.elicit('a', 'A?', yes)
      } catch {
        late = await ctx.once('effect', () => 'happened').catch((error: Error) => error.name)
        return 'swallowed'
      }
      return 'done'
    })
    const first = await round(server)
    expect(first.result.resultType).toBe('input_required')
    expect(late).toBe('Suspended')
    expect((await round(server, answering(first, { a: accept }))).result.content[0].text).toBe('done')
  })

  test('a call that asks gets a decline as a decline', async () => {
    proves('R-ELIC-016')
    const server = serverOf((ctx) => ctx.elicit('a', 'A?', yes))
    const first = await round(server)
    expect((await round(server, answering(first, { a: { action: 'decline' } }))).result).toMatchObject({
      isError: true,
      content: [{ text: 'The person declined: A?' }],
    })
  })
})

describe('answers', () => {
  const server = serverOf(async (ctx) => `ok=${(await ctx.elicit('a', 'A?', yes)).ok}`)

  test('answers that cannot be read are refused with -32602, whether or not a round came before', async () => {
    proves('R-MRTR-029', 'R-MRTR-030')
    const first = await round(server)
    const { requestState } = first.result
    for (const inputResponses of [null, [], 'x', 5, true]) {
      const refused = { code: -32602, message: 'params.inputResponses must be an object' }
      expect((await round(server, { inputResponses, requestState })).error).toEqual(refused)
      expect((await round(server, { inputResponses })).error).toEqual(refused)
    }
    for (const a of [12345, null, 'accept', [accept]]) {
      const refused = { code: -32602, message: 'params.inputResponses["a"] must be an object' }
      expect((await round(server, { inputResponses: { a }, requestState })).error).toEqual(refused)
    }
    // Only the three methods that may ask look at it.
    const listed = await rawChannel(server).ask('tools/list', { inputResponses: 5, _meta: envelope(ALL) })
    expect(listed.result.tools).toHaveLength(1)
  })

  test('answers that do not fit their question end the call with the field and what was expected', async () => {
    proves('R-MRTR-029')
    const { requestState } = (await round(server)).result
    for (const [a, words] of [
      [{ action: 'perhaps' }, 'action: expected one of'],
      [{ action: 'accept' }, 'content'],
      [{ action: 'accept', content: { ok: 'yes' } }, 'content.ok: '],
    ] as const) {
      const { error } = await round(server, { inputResponses: { a }, requestState })
      expect(error, JSON.stringify(a)).toMatchObject({ code: -32602, message: expect.stringContaining(`is invalid: ${words}`) })
    }
  })

  test('answers under the wrong name, or missing, are asked for again', async () => {
    proves('R-MRTR-032')
    const first = await round(server)
    for (const inputResponses of [{}, { b: accept }]) {
      const again = await round(server, { inputResponses, requestState: first.result.requestState })
      expect(again.result, JSON.stringify(inputResponses)).toMatchObject({ resultType: 'input_required', inputRequests: { a: {} } })
    }
  })

  test('answers that were not asked for are ignored', async () => {
    proves('R-MRTR-031')
    const first = await round(server)
    for (const extra of [{ action: 'accept' }, 5, null])
      expect((await round(server, answering(first, { a: accept, extra }))).result.resultType).toBe('complete')
  })

  test('answers may come with the first round, and are validated like all others', async () => {
    expect((await round(server, { inputResponses: { a: accept, other: 12 } })).result.resultType).not.toBe('input_required')
    expect((await round(server, { inputResponses: { a: 12345 } })).result.resultType).toBe('input_required')
    expect((await round(server, { inputResponses: { b: accept } })).result.resultType).toBe('input_required')
  })

  test('answers to a question that has changed are not used', async () => {
    let message = 'Old?'
    const changing = serverOf((ctx) => ctx.elicit('a', message, yes))
    const first = await round(changing)
    message = 'New?'
    const second = await round(changing, answering(first, { a: accept }))
    expect(second.result).toMatchObject({ resultType: 'input_required', inputRequests: { a: { params: { message: 'New?' } } } })
  })

  test('answers of an earlier round are kept when a later answer is missing', async () => {
    const two = serverOf(async (ctx) => JSON.stringify(await Promise.all([ctx.elicit('a', 'A?', yes), ctx.elicit('b', 'B?', yes)])))
    const first = await round(two)
    const second = await round(two, answering(first, { a: accept }))
    expect(Object.keys(second.result.inputRequests)).toEqual(['b'])
    const third = await round(two, answering(second, { b: { action: 'accept', content: { ok: false } } }))
    expect(third.result.content[0].text).toBe('[{"ok":true},{"ok":false}]')
  })
})

describe('requestState', () => {
  const make = (options: Partial<ServerOptions> = {}) => {
    const server = serverOf((ctx) => ctx.elicit('a', 'A?', yes), options)
    server.tool('other', {}, () => 'x')
    server.prompt('run', {}, () => 'x')
    return server
  }
  const frozen = { code: -32602, message: 'Invalid or expired requestState' }

  test('requestState with any byte changed, cut or extended is refused with the same error', async () => {
    proves('T-ELIC-064', 'R-MRTR-012', 'R-MRTR-013')
    const server = make()
    const first = await round(server)
    const state: string = first.result.requestState
    const altered = [...state].map((character, i) => state.slice(0, i) + (character === 'A' ? 'B' : 'A') + state.slice(i + 1))
    const raw = rawChannel(server)
    for (const requestState of [...altered, `${state}-TAMPERED`, state.slice(0, -1), '', 'k1.', 'k1.AAAA', 5, null, {}]) {
      const { error } = await raw.ask('tools/call', { name: 'run', requestState, inputResponses: { a: accept }, _meta: envelope(ALL) })
      expect(error, String(requestState)).toEqual(frozen)
    }
  })

  test('requestState belongs to one principal, method, target and arguments, on any connection', async () => {
    proves('T-ELIC-062', 'T-ELIC-063', 'R-MRTR-015', 'R-MRTR-017', 'R-ELIC-014')
    const server = make()
    const first = await round(server, {}, { principal: 'alice' })
    const additions = answering(first, { a: accept })
    expect((await round(server, additions, { principal: 'mallory' })).error).toEqual(frozen)
    expect((await round(server, additions)).error).toEqual(frozen)
    expect((await round(server, { ...additions, arguments: { x: 'other' } }, { principal: 'alice' })).error).toEqual(frozen)
    expect((await round(server, additions, { principal: 'alice', name: 'other' })).error).toEqual(frozen)
    const raw = rawChannel(server, { principal: 'alice' })
    expect((await raw.ask('prompts/get', { name: 'run', ...additions, _meta: envelope(ALL) })).error).toEqual(frozen)
    expect((await round(server, additions, { principal: 'alice' })).result.resultType).toBe('complete')
  })

  test('requestState expires, and is refused by a server with another key', async () => {
    proves('R-MRTR-016', 'R-SEC-024')
    const short = make({ limits: { stateTtlMs: 20 } })
    const first = await round(short)
    await new Promise((resolve) => setTimeout(resolve, 40))
    expect((await round(short, answering(first, { a: accept }))).error).toEqual(frozen)
    expect((await round(make(), answering(await round(make()), { a: accept }))).error).toEqual(frozen)
  })

  test('requestState of an older key in the ring is accepted', async () => {
    const old = { id: 'old', secret: new Uint8Array(32).fill(1) }
    const fresh = { id: 'new', secret: new Uint8Array(32).fill(2) }
    let current = old
    const server = make({ keys: { current: () => current, find: (id) => [old, fresh].find((key) => key.id === id) } })
    const first = await round(server)
    current = fresh
    expect((await round(server, answering(first, { a: accept }))).result.resultType).toBe('complete')
  })

  test('requestState hides its content, and may be used again after a broken round', async () => {
    proves('T-ELIC-064')
    const secret = 'a value that no client may read'
    const server = serverOf(async (ctx) => {
      await ctx.once('secret', () => secret)
      return (await ctx.elicit('a', 'A?', yes)).ok
    })
    const first = await round(server)
    const state: string = first.result.requestState
    expect(Buffer.from(state.split('.')[1] ?? '', 'base64url').toString('latin1')).not.toContain('value')
    for (let i = 0; i < 2; i++) expect((await round(server, answering(first, { a: accept }))).result.resultType).toBe('complete')
  })
})

describe('limits', () => {
  test('a call may come back ten times', async () => {
    proves('R-SAMP-022')
    const server = serverOf(async (ctx) => {
      for (let i = 0; i < 11; i++) await ctx.elicit(`q${i}`, `Q${i}?`, yes)
      return 'done'
    })
    let last = await round(server)
    for (let i = 0; i < 9; i++) last = await round(server, answering(last, { [`q${i}`]: accept }))
    expect(last.result.resultType).toBe('input_required')
    const { error } = await round(server, answering(last, { q9: accept }))
    expect(error).toMatchObject({
      code: -32603,
      message: 'The call has asked questions in 10 rounds, the maximum; ask several questions in one round',
    })
  })

  test('the state that a call carries between rounds has a maximum size', async () => {
    const carrying = (length: number) =>
      round(
        serverOf(async (ctx) => {
          await ctx.once('data', () => 'x'.repeat(length))
          await ctx.elicit('a', 'A?', yes)
        }),
      )
    expect((await carrying(60_000)).result.resultType).toBe('input_required')
    expect((await carrying(70_000)).error).toMatchObject({
      code: -32603,
      message: expect.stringMatching(/more than 65536; store large values yourself and keep only an id in ctx\.once$/),
    })
  })

  test('a step must return JSON and have a unique name', async () => {
    const circle: Record<string, unknown> = {}
    circle.self = circle
    expect((await round(serverOf((ctx) => ctx.once('bad', () => circle)))).result.isError).toBe(true)
    expect(
      (
        await round(
          serverOf(async (ctx) => {
            await ctx.once('same', () => 1)
            await ctx.once('same', () => 2)
          }),
        )
      ).error.message,
    ).toBe('Two questions or steps of one call are named "same"')
    expect((await round(serverOf((ctx) => ctx.once('', () => 1)))).error.message).toMatch(/needs a name/)
  })
})

describe('capabilities', () => {
  test('a missing capability is answered with -32021 and its name', async () => {
    proves('R-META-009', 'R-MRTR-020')
    const cases: [(ctx: Context) => unknown, unknown, unknown][] = [
      [(ctx) => ctx.elicit('a', 'A?', yes), {}, { elicitation: { form: {} } }],
      [(ctx) => ctx.elicit('a', 'A?', yes), { elicitation: { url: {} } }, { elicitation: { form: {} } }],
      [(ctx) => ctx.elicitUrl('a', 'A?', 'https://example.com'), { elicitation: {} }, { elicitation: { url: {} } }],
      [(ctx) => ctx.sample('a', { messages: [], maxTokens: 1 }), {}, { sampling: {} }],
      [(ctx) => ctx.sample('a', { messages: [], maxTokens: 1, tools: [] }), { sampling: {} }, { sampling: { tools: {} } }],
      [
        (ctx) => ctx.sample('a', { messages: [], maxTokens: 1, includeContext: 'thisServer' }),
        { sampling: {} },
        { sampling: { context: {} } },
      ],
      [(ctx) => ctx.roots(), { sampling: {} }, { roots: {} }],
    ]
    for (const [handler, capabilities, requiredCapabilities] of cases) {
      expect((await round(serverOf(handler), {}, { capabilities })).error).toMatchObject({
        code: -32021,
        data: { requiredCapabilities },
      })
    }
  })

  test('an empty elicitation capability means forms', async () => {
    expect(
      (
        await round(
          serverOf((ctx) => ctx.elicit('a', 'A?', yes)),
          {},
          { capabilities: { elicitation: {} } },
        )
      ).result.resultType,
    ).toBe('input_required')
  })
})

describe('pages that must be visited first', () => {
  test('required pages become questions in each round, until the handler is satisfied', async () => {
    proves('R-ELIC-012')
    let isConnected = false
    const server = serverOf(() => {
      if (!isConnected) throw pageRequired('Connect your account', 'https://example.com/connect')
      return 'connected'
    })
    const first = await round(server)
    const [key] = Object.keys(first.result.inputRequests)
    expect(first.result.inputRequests[key as string]).toEqual({
      method: 'elicitation/create',
      params: { mode: 'url', message: 'Connect your account', url: 'https://example.com/connect' },
    })
    const second = await round(server, answering(first, { [key as string]: { action: 'accept' } }))
    expect(second.result.resultType).toBe('input_required')
    isConnected = true
    const [again] = Object.keys(second.result.inputRequests)
    expect((await round(server, answering(second, { [again as string]: { action: 'accept' } }))).result.content[0].text).toBe('connected')
  })

  test('declined required pages are a refusal, and without URL mode a missing capability', async () => {
    proves('T-ELIC-059')
    let visits = 0
    const server = serverOf(() => {
      throw pageRequired('Connect', `https://example.com/${visits++}`)
    })
    for (const [action, text] of [
      ['decline', 'The person declined: Connect'],
      ['cancel', 'The person dismissed the question: Connect'],
    ]) {
      const asked = await round(server)
      const [key] = Object.keys(asked.result.inputRequests)
      const { result } = await round(server, answering(asked, { [key as string]: { action } }))
      expect(result).toMatchObject({ isError: true, content: [{ text }] })
    }
    expect((await round(server, {}, { capabilities: { elicitation: {} } })).error).toMatchObject({
      code: -32021,
      data: { requiredCapabilities: { elicitation: { url: {} } } },
    })
  })

  test('required pages are error -32042 with their ids in 2025-11-25, and readable text before that', async () => {
    proves('T-ELIC-048', 'T-ELIC-049', 'T-ELIC-050', 'T-ELIC-051', 'T-ELIC-052', 'R-ELIC-007')
    const server = serverOf(() => {
      throw pageRequired('Connect', 'https://example.com', 'id-1')
    })
    const modern = rawChannel(server)
    await modern.initialize('2025-11-25', { elicitation: { url: {} } })
    expect((await modern.ask('tools/call', { name: 'run' })).error).toMatchObject({
      code: -32042,
      data: { elicitations: [{ mode: 'url', message: 'Connect', url: 'https://example.com', elicitationId: 'id-1' }] },
    })
    const formsOnly = rawChannel(server)
    await formsOnly.initialize('2025-11-25', { elicitation: {} })
    expect((await formsOnly.ask('tools/call', { name: 'run' })).result).toEqual({
      isError: true,
      content: [{ type: 'text', text: 'Connect: https://example.com' }],
    })
    const old = rawChannel(server)
    await old.initialize('2025-06-18', { elicitation: {} })
    expect((await old.ask('tools/call', { name: 'run' })).result.isError).toBe(true)
  })
})

describe('rehearse', () => {
  test('rehearse fails if an effect would happen twice', async () => {
    let charges = 0
    const careless = serverOf(async (ctx) => {
      charges++
      await ctx.elicit('a', 'A?', yes)
    })
    await expect(rehearse(careless, 'run', {}, { a: { ok: true } }, { effects: { 'the charge': () => charges } })).rejects.toThrow(
      'the charge happened in round 1 and again in round 2: use ctx.once() for it, or move it after the last question',
    )
    const careful = serverOf(async (ctx) => {
      await ctx.once('charge', () => ++charges)
      await ctx.elicit('a', 'A?', yes)
    })
    await expect(rehearse(careful, 'run', {}, { a: { ok: true } }, { effects: { 'the charge': () => charges } })).resolves.toMatchObject({
      rounds: [['a']],
    })
  })

  test('rehearse watches requests of fetch', async () => {
    const original = globalThis.fetch
    globalThis.fetch = () => Promise.resolve(new Response('ok'))
    try {
      const server = serverOf(async (ctx) => {
        await fetch('https://example.com/read')
        await fetch('https://example.com/orders', { method: 'POST' })
        await ctx.elicit('a', 'A?', yes)
      })
      await expect(rehearse(server, 'run', {}, { a: { ok: true } })).rejects.toThrow(
        'a request sent by fetch happened in round 1 and again in round 2',
      )
    } finally {
      globalThis.fetch = original
    }
  })

  test('rehearse names the question that has no answer', async () => {
    await expect(
      rehearse(
        serverOf((ctx) => ctx.elicit('a', 'A?', yes)),
        'run',
        {},
        {},
      ),
    ).rejects.toThrow('No answer was given for the question "a"')
    await expect(
      rehearse(
        serverOf(() => {
          throw new Error('x')
        }),
        'nope',
        {},
        {},
      ),
    ).rejects.toThrow('The call failed: Unknown tool: nope (-32602)')
  })
})

test('the same handler runs live and by replay, with the same result', async () => {
  const handler = async (ctx: Context) => {
    const stamp = await ctx.once('stamp', () => 42)
    const { who } = await ctx.ask({ who: form('Who?', z.object({ name: z.string() })) })
    const model = await ctx.sample('model', { messages: [{ role: 'user', content: { type: 'text', text: 'hi' } }], maxTokens: 5 })
    const [root] = await ctx.roots()
    return JSON.stringify({ stamp, who, model: model.model, root })
  }
  const results = []
  for (const revision of ['2025-06-18', '2025-11-25', '2026-07-28']) {
    const { client } = await connectPair(serverOf(handler), {
      revision,
      answer: {
        elicit: () => ({ action: 'accept', content: { name: 'Anna' } }),
        sample: () => ({ role: 'assistant', content: { type: 'text', text: 'x' }, model: 'm' }),
        roots: ['file:///a'],
      },
    })
    results.push((await client.call('run')).content)
  }
  expect(results[1]).toEqual(results[0])
  expect(results[2]).toEqual(results[0])
})

test('only tools/call, prompts/get and resources/read come back with questions', async () => {
  proves('R-MRTR-008')
  const server = serverOf(() => 'x')
  let context: object = {}
  const complete = {
    a: (_value: string, given: object) => {
      context = given
      return ['b']
    },
  }
  server.prompt('p', { input: z.object({ a: z.string() }), complete }, () => 'x')
  server.resource('a:1', { name: 'a' }, () => 'x')
  const raw = rawChannel(server)
  for (const [method, params] of [
    ['server/discover', {}],
    ['tools/list', {}],
    ['prompts/list', {}],
    ['resources/list', {}],
    ['resources/templates/list', {}],
    ['completion/complete', { ref: { type: 'ref/prompt', name: 'p' }, argument: { name: 'a', value: '' } }],
  ] as const)
    expect((await raw.ask(method, { ...params, _meta: envelope(ALL) })).result.resultType).toBe('complete')
  // A completer is given nothing to ask with.
  expect(Object.keys(context).sort()).toEqual(['arguments', 'caller', 'signal'])
})

describe('a call that asks, for every kind of call and question', () => {
  const server = createServer({ name: 'replay', version: '1.0.0', onError: () => {} })
  const ask = async (_args: unknown, ctx: Context): Promise<string> => {
    const answers = await ctx.ask({
      form: form('Sure?', yes),
      page: page('Go', 'https://example.com'),
      model: sampling({ messages: [{ role: 'user', content: { type: 'text', text: 'hi' } }], maxTokens: 5 }),
      roots: rootList(),
    })
    return Object.keys(answers).join()
  }
  server.tool('t', {}, ask)
  server.prompt('p', {}, ask)
  server.resource('a:1', { name: 'a' }, ask)
  const answers = {
    form: accept,
    page: { action: 'accept' },
    model: { role: 'assistant', content: { type: 'text', text: 'x' }, model: 'm' },
    roots: { roots: [] },
  }

  test.each([
    ['tools/call', { name: 't' }],
    ['prompts/get', { name: 'p' }],
    ['resources/read', { uri: 'a:1' }],
  ])('%s carries its questions in the result, under different names, and sends no request', async (method, params) => {
    proves('R-MRTR-001', 'R-MRTR-007', 'R-MRTR-010', 'R-MRTR-011', 'R-MRTR-019', 'R-ROOT-003', 'R-ELIC-009', 'R-CACHE-002', 'R-ARCH-001')
    proves('R-TOOL-036', 'R-PROM-007', 'R-RES-006')
    const raw = rawChannel(server)
    const first = await raw.ask(method, { ...params, _meta: envelope(ALL) })
    expect(Object.keys(first.result).sort()).toEqual(['_meta', 'inputRequests', 'requestState', 'resultType'])
    expect(first.result.resultType).toBe('input_required')
    expect(Object.entries(first.result.inputRequests as Message).map(([name, question]) => [name, question.method])).toEqual([
      ['form', 'elicitation/create'],
      ['page', 'elicitation/create'],
      ['model', 'sampling/createMessage'],
      ['roots', 'roots/list'],
    ])
    const second = await raw.ask(method, { ...params, ...answering(first, answers), _meta: envelope(ALL) })
    expect(second.result.resultType).toBe('complete')
    expect(JSON.stringify(second.result)).toContain('form,page,model,roots')
    expect(raw.out.filter((message) => message.method !== undefined)).toEqual([])
  })
})

test('abandoned calls leave nothing behind', async () => {
  proves('R-MRTR-021')
  const signals: AbortSignal[] = []
  const server = serverOf((ctx) => {
    signals.push(ctx.signal)
    return ctx.elicit('a', 'A?', yes)
  })
  const raw = rawChannel(server)
  const rounds = Array.from({ length: 50 }, () => raw.ask('tools/call', { name: 'run', _meta: envelope(ALL) }))
  for (const { result } of await Promise.all(rounds)) expect(result.resultType).toBe('input_required')
  expect(signals).toHaveLength(50)
  expect(signals.every(({ aborted }) => aborted)).toBe(true)
  // Nothing is in hand any more that closing would have to wait for.
  await server.close()
})

test('a repeated round runs again under the same callId, so that an author can refuse it', async () => {
  const paid = new Map<string, number>()
  const server = serverOf(async (ctx) => {
    await ctx.elicit('a', 'Pay?', yes)
    paid.set(ctx.callId, (paid.get(ctx.callId) ?? 0) + 1)
    return paid.get(ctx.callId)
  })
  const first = await round(server)
  const texts = []
  for (let i = 0; i < 3; i++) texts.push((await round(server, answering(first, { a: accept }))).result.content[0].text)
  expect(texts).toEqual(['1', '2', '3'])
  expect(paid.size).toBe(1)
})

test('the completion of a page is not announced in 2026-07-28, and -32042 is not used', async () => {
  proves('R-ELIC-011')
  const server = serverOf(async (ctx) => {
    await ctx.elicitUrl('a', 'Go', 'https://example.com', { elicitationId: 'e-1' })
    throw pageRequired('Connect', 'https://example.com/connect', 'e-2')
  })
  const raw = rawChannel(server)
  const params = { name: 'run', _meta: envelope(ALL) }
  const first = await raw.ask('tools/call', params)
  const second = await raw.ask('tools/call', { ...params, ...answering(first, { a: { action: 'accept' } }) })
  expect(second.result.resultType).toBe('input_required')
  for (const id of ['e-1', 'e-2']) expect(server.completeElicitation(id)).toBe(false)
  expect(raw.out).toHaveLength(2)
})
