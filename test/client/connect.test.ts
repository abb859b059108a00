import { describe, expect, test } from 'vitest'
import { Client } from '../../src/client/client.ts'
import { type VerdictMemory, verdictMemory } from '../../src/client/dialect-memory.ts'
import { connect, type Verdict } from '../../src/index.ts'
import { McpError } from '../../src/protocol/errors.ts'
import type { LinkReceiver, Target } from '../../src/protocol/interfaces/link.ts'
import { createServer } from '../../src/server/index.ts'
import { fakeClock } from '../../src/testing/index.ts'
import { serve } from '../support/http-service.ts'
import { connectPair, REVISIONS, SESSION_REVISIONS } from '../support/judged-pair.ts'
import { proves } from '../support/proves.ts'
import { type Message, settle } from '../support/raw-channel.ts'
import { cannedServer, scriptedServer } from '../support/scripted-server.ts'

const newServer = (options = {}) => {
  const server = createServer({ name: 'here', version: '1.0.0', ...options })
  server.tool('t', {}, () => 'x')
  return server
}
const methods = (received: Message[]) => received.map(({ method }) => method)

describe('connecting', () => {
  test('connecting to a server in this process uses the newest revision', async () => {
    const client = await connect(newServer())
    expect(client.revision).toBe('2026-07-28')
    expect(client.server.info).toMatchObject({ name: 'here', version: '1.0.0' })
    await client.close()
  })

  test.each(REVISIONS)('connecting speaks %s with a server that knows no other revision', async (revision) => {
    proves('T-VER-004', 'T-VER-005', 'T-LIFE-013', 'T-ARCH-005')
    const client = await connect(newServer({ revisions: [revision] }), { memory: verdictMemory() })
    expect(client.revision).toBe(revision)
    expect((await client.call('t')).content).toHaveLength(1)
    await client.close()
  })

  test.each(SESSION_REVISIONS)(
    'connecting opens a session of %s with initialize and then initialized, and nothing before them',
    async (revision) => {
      proves('T-LIFE-002', 'T-LIFE-004', 'T-LIFE-010', 'T-LIFE-011', 'T-VER-007', 'T-BASE-039', 'T-BASE-040', 'R-LIFE-001')
      const { sent } = await connectPair(newServer(), { revision })
      expect(sent('client').slice(0, 2)).toEqual([
        {
          jsonrpc: '2.0',
          id: 1,
          method: 'initialize',
          params: { protocolVersion: revision, capabilities: {}, clientInfo: { name: 'portico', version: '0.1.0' } },
        },
        { jsonrpc: '2.0', method: 'notifications/initialized' },
      ])
    },
  )

  test('connecting offers the newest revision with a handshake and accepts any of the older ones', async () => {
    proves('T-VER-008', 'T-LIFE-036')
    for (const revision of SESSION_REVISIONS) {
      const server = cannedServer({ revision })
      const client = await Client.connect(server.target)
      expect(client.revision).toBe(revision)
      expect(server.received.find(({ method }) => method === 'initialize')?.params.protocolVersion).toBe('2025-11-25')
      await client.close()
    }
  })

  test('connecting fails without a common revision, and the error lists what both sides speak', async () => {
    proves('T-VER-006', 'T-VER-012', 'T-VER-013', 'R-DISC-005')
    for (const revision of ['2023-01-01', '2026-07-28']) {
      const server = scriptedServer(({ id, method }, send) => {
        if (method === 'initialize')
          send({ jsonrpc: '2.0', id, result: { protocolVersion: revision, capabilities: {}, serverInfo: { name: 'odd', version: '1' } } })
        else if (id !== undefined) send({ jsonrpc: '2.0', id, error: { code: -32601, message: 'Method not found' } })
      })
      await expect(Client.connect(server.target, { memory: verdictMemory() })).rejects.toMatchObject({
        code: 'ERR_VERSION_UNSUPPORTED',
        message: `The server supports ${revision}; this client supports 2024-11-05, 2025-03-26, 2025-06-18, 2025-11-25, 2026-07-28`,
      })
      expect(server.isClosed).toBe(true)
      expect(methods(server.received)).not.toContain('notifications/initialized')
    }
  })

  test('connecting can be aborted with its signal, and nothing of the connection is left', async () => {
    const server = scriptedServer(() => {})
    const controller = new AbortController()
    const connecting = Client.connect(server.target, { signal: controller.signal, memory: verdictMemory() })
    const reason = new Error('changed my mind')
    setTimeout(() => controller.abort(reason), 10)
    await expect(connecting).rejects.toBe(reason)
    expect(server.isClosed).toBe(true)
    await expect(Client.connect(server.target, { signal: controller.signal })).rejects.toBe(reason)
  })

  test('connecting understands a version refusal in the form of an error', async () => {
    proves('T-LIFE-041')
    const server = scriptedServer(({ id, method }, send) => {
      if (id === undefined) return
      send({
        jsonrpc: '2.0',
        id,
        error:
          method === 'initialize'
            ? { code: -32602, message: 'Unsupported protocol version', data: { supported: ['2023-01-01'], requested: '2025-11-25' } }
            : { code: -32601, message: 'no' },
      })
    })
    await expect(Client.connect(server.target)).rejects.toThrow('The server supports 2023-01-01; this client supports')
  })

  test('connecting to something that is not a server says which targets are possible', async () => {
    await expect(connect('nonsense' as never)).rejects.toMatchObject({
      code: 'ERR_UNSUPPORTED',
      message: expect.stringContaining('Cannot connect to "nonsense"'),
    })
    await expect(connect({} as never)).rejects.toThrow('expected a URL, { command, args }')
    await expect(connect(newServer(), { revisions: ['1999-01-01'] })).rejects.toThrow('Unknown revision "1999-01-01"')
  })

  test('connecting declares exactly the capabilities it has handlers for', async () => {
    proves('T-ROOT-003', 'T-SAMP-008', 'T-ELIC-010', 'T-ELIC-013', 'T-LIFE-014', 'T-LIFE-015', 'T-LIFE-016', 'T-LIFE-017')
    proves('T-ARCH-025', 'T-ARCH-032')
    proves('R-LIFE-003')
    const sample = () => ({ role: 'assistant' as const, content: { type: 'text' as const, text: 'x' }, model: 'm' })
    const declared = async (revision: string, answer: object) => {
      const { sent } = await connectPair(newServer(), {
        revision,
        answer,
        experimental: { 'x-test': {} },
        extensions: { 'com.example/ext': {} },
      })
      return sent('client', 'initialize')[0]?.params?.capabilities
    }
    expect(await declared('2025-11-25', {})).toEqual({ experimental: { 'x-test': {} } })
    expect(await declared('2024-11-05', { roots: [], sample, elicit: () => ({ action: 'cancel' }) })).toEqual({
      experimental: { 'x-test': {} },
      roots: { listChanged: true },
      sampling: {},
    })
    expect(
      await declared('2025-06-18', {
        sample: { handler: sample, tools: true },
        elicit: () => ({ action: 'cancel' }),
        elicitUrl: () => ({ action: 'cancel' }),
      }),
    ).toEqual({ experimental: { 'x-test': {} }, sampling: {}, elicitation: {} })
    expect(
      await declared('2025-11-25', { sample: { handler: sample, tools: true, context: true }, elicitUrl: () => ({ action: 'cancel' }) }),
    ).toEqual({
      experimental: { 'x-test': {} },
      sampling: { tools: {}, context: {} },
      elicitation: { url: {} },
      tasks: { list: {}, cancel: {}, requests: { sampling: { createMessage: {} }, elicitation: { create: {} } } },
    })
  })
})

describe('the probe', () => {
  test('the probe asks as the newest client and falls back to the handshake on any other error', async () => {
    proves('R-DISC-015', 'R-DISC-023', 'R-DISC-026', 'R-DISC-027')
    for (const error of [
      { code: -32601, message: 'Method not found' },
      { code: -32602, message: 'Invalid' },
      { code: -32600, message: 'x' },
      { code: -32000, message: 'Not initialized' },
      { code: 1, message: 'x' },
    ]) {
      const server = scriptedServer(({ id, method }, send) => {
        if (method === 'initialize')
          send({
            jsonrpc: '2.0',
            id,
            result: { protocolVersion: '2025-06-18', capabilities: {}, serverInfo: { name: 'old', version: '1' } },
          })
        else if (id !== undefined) send({ jsonrpc: '2.0', id, error })
      })
      const client = await Client.connect(server.target)
      expect(client.revision).toBe('2025-06-18')
      expect(methods(server.received)).toEqual(['server/discover', 'initialize', 'notifications/initialized'])
      await client.close()
    }
  })

  test("the probe does not fall back on a stateless server's error, but speaks a revision it names", async () => {
    proves('R-DISC-005', 'R-DISC-015', 'R-DISC-025')
    const refusing = scriptedServer(({ id }, send) =>
      send({
        jsonrpc: '2.0',
        id,
        error: { code: -32022, message: 'Unsupported protocol version', data: { supported: ['2030-01-01'], requested: '2026-07-28' } },
      }),
    )
    await expect(Client.connect(refusing.target)).rejects.toThrow('The server supports 2030-01-01; this client supports')
    expect(methods(refusing.received)).toEqual(['server/discover'])
    const dual = scriptedServer(({ id, method }, send) => {
      if (method === 'initialize')
        send({ jsonrpc: '2.0', id, result: { protocolVersion: '2025-11-25', capabilities: {}, serverInfo: { name: 'x', version: '1' } } })
      else if (id !== undefined)
        send({ jsonrpc: '2.0', id, error: { code: -32022, message: 'no', data: { supported: ['2025-11-25'], requested: '2026-07-28' } } })
    })
    expect((await Client.connect(dual.target)).revision).toBe('2025-11-25')
  })

  test('the probe that gets no answer is followed by the handshake, which may be answered at once', async () => {
    proves('R-DISC-026', 'R-DISC-024')
    const clock = fakeClock()
    const silent = scriptedServer(({ id, method }, send) => {
      if (method === 'initialize')
        send({
          jsonrpc: '2.0',
          id,
          result: { protocolVersion: '2025-03-26', capabilities: {}, serverInfo: { name: 'silent', version: '1' } },
        })
    })
    const connecting = Client.connect(silent.target, { clock, limits: { probeTimeoutMs: 1000 } })
    await clock.advance(999)
    expect(methods(silent.received)).toEqual(['server/discover'])
    await clock.advance(1)
    const client = await connecting
    expect(client.revision).toBe('2025-03-26')
    // The probe is not waited for any longer.
    expect(methods(silent.received)).toEqual(['server/discover', 'initialize', 'notifications/initialized', 'notifications/cancelled'])
    await client.close()
  })

  describe('the probe and the handshake, both read by a server that was slow to start', () => {
    const limits = { probeTimeoutMs: 1000 }

    /** Reads nothing until it is started; then it answers in order, one message a turn. */
    function slowServer(answer: (message: Message) => object | undefined, target: Partial<Target> = {}) {
      const waiting: Message[] = []
      let isStarted = false
      const reply = (message: Message, send: (message: unknown) => void): void => {
        const said = message.id === undefined ? undefined : answer(message)
        if (said) send({ jsonrpc: '2.0', id: message.id, ...said })
      }
      const server = scriptedServer((message, send) => {
        if (isStarted) reply(message, send)
        else waiting.push(message)
      }, target)
      return {
        ...server,
        server,
        start: () => {
          isStarted = true
          for (const message of waiting.splice(0)) reply(message, server.send)
        },
      }
    }
    const discovered = { result: { resultType: 'complete', supportedVersions: ['2026-07-28'], capabilities: { tools: {} } } }
    const opened = {
      result: { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'slow', version: '1' } },
    }

    test('a slow server that answers the probe and the handshake gets a session', async () => {
      proves('R-DISC-021', 'R-DISC-026')
      const clock = fakeClock()
      let isSession = false
      const slow = slowServer(({ method }) => {
        if (method === 'server/discover') return discovered
        if (method === 'initialize') {
          isSession = true
          return opened
        }
        // As the official SDK does: after a handshake the process speaks no other way.
        return isSession && method === 'ping' ? { result: {} } : { error: { code: -32601, message: 'Method not found' } }
      })
      const connecting = Client.connect(slow.target, { clock, limits, memory: verdictMemory() })
      await clock.advance(4000)
      slow.start()
      await clock.advance(0)
      const client = await connecting
      expect(client.revision).toBe('2025-11-25')
      await client.ping()
      expect(slow.server.opened).toBe(1)
      await client.close()
    })

    test('a slow server without a handshake is spoken to in its stateless revision', async () => {
      const clock = fakeClock()
      const slow = slowServer(({ method }) =>
        method === 'server/discover' ? discovered : { error: { code: -32601, message: 'Method not found' } },
      )
      const connecting = Client.connect(slow.target, { clock, limits, memory: verdictMemory() })
      await clock.advance(4000)
      slow.start()
      await clock.advance(0)
      expect((await connecting).revision).toBe('2026-07-28')
      expect(slow.server.opened).toBe(1)
    })

    test('a slow server that answers only the probe is started again, and gets no handshake', async () => {
      const clock = fakeClock()
      const slow = slowServer(({ method }) => (method === 'server/discover' ? discovered : undefined))
      const connecting = Client.connect(slow.target, { clock, limits, memory: verdictMemory() })
      await clock.advance(4000)
      slow.start()
      await clock.advance(999)
      expect(slow.server.opened).toBe(1)
      await clock.advance(1)
      const client = await connecting
      expect(client.revision).toBe('2026-07-28')
      expect(slow.server.opened).toBe(2)
      expect(methods(slow.server.received)).toEqual(['server/discover'])
      await client.close()
    })

    test('a slow server that is known to be stateless is waited for without a handshake', async () => {
      const clock = fakeClock()
      const memory = verdictMemory()
      const slow = slowServer(({ method }) => (method === 'server/discover' ? discovered : opened))
      memory.set(slow.target.key, 'stateless')
      const connecting = Client.connect(slow.target, { clock, limits, memory })
      await clock.advance(30_000)
      expect(methods(slow.server.received)).toEqual(['server/discover'])
      slow.start()
      await clock.advance(0)
      expect((await connecting).revision).toBe('2026-07-28')
    })

    test('where requests are independent, the first answer of a slow server decides', async () => {
      const clock = fakeClock()
      const slow = slowServer(({ method }) => (method === 'server/discover' ? discovered : undefined), { hasRemoteSessions: true })
      const connecting = Client.connect(slow.target, { clock, limits, memory: verdictMemory() })
      await clock.advance(4000)
      slow.start()
      await clock.advance(0)
      expect((await connecting).revision).toBe('2026-07-28')
      expect(slow.server.opened).toBe(1)
    })
  })

  test('a probe that makes a bridge open a session is not repeated: the bridge restarts with a handshake', async () => {
    let isOpen = false
    const bridge = scriptedServer(({ id, method }, send) => {
      if (id === undefined) return
      // As supergateway does: it opens a session by itself at the first request, whatever that is.
      if (isOpen || method !== 'initialize') {
        const message = method === 'initialize' ? 'Invalid Request: Server already initialized' : 'Method not found'
        isOpen = true
        return send({ jsonrpc: '2.0', id, error: { code: method === 'initialize' ? -32000 : -32601, message } })
      }
      send({ jsonrpc: '2.0', id, result: { protocolVersion: '2025-06-18', capabilities: {}, serverInfo: { name: 'b', version: '1' } } })
    })
    const open = bridge.target.open
    bridge.target.open = () => {
      isOpen = false
      return open()
    }
    const client = await Client.connect(bridge.target, { memory: verdictMemory() })
    expect(client.revision).toBe('2025-06-18')
    expect(bridge.opened).toBe(2)
    expect(methods(bridge.received)).toEqual(['initialize', 'notifications/initialized'])
  })

  test('a probe that is refused like the handshake ends with the answer to the handshake', async () => {
    const refusing = scriptedServer(({ id, method }, send) => {
      if (id !== undefined) send({ jsonrpc: '2.0', id, error: { code: -32000, message: `no ${method}` } })
    })
    await expect(Client.connect(refusing.target, { memory: verdictMemory() })).rejects.toMatchObject({
      code: -32000,
      message: 'no initialize',
    })
    expect(refusing.opened).toBe(2)
    expect(refusing.isClosed).toBe(true)
    const remote = scriptedServer(
      ({ id, method }, send) => {
        if (id !== undefined) send({ jsonrpc: '2.0', id, error: { code: -32000, message: `no ${method}` } })
      },
      { hasRemoteSessions: true },
    )
    await expect(Client.connect(remote.target, { memory: verdictMemory() })).rejects.toMatchObject({ message: 'no initialize' })
    expect(remote.opened).toBe(1)
  })

  test('a probe that is answered with a result of an unknown type is not believed', async () => {
    proves('R-BASE-042')
    const server = (hasHandshake: boolean) =>
      scriptedServer(({ id, method }, send) => {
        if (id === undefined) return
        if (method === 'server/discover')
          return send({ jsonrpc: '2.0', id, result: { resultType: 'x', supportedVersions: ['2026-07-28'], capabilities: {} } })
        if (!hasHandshake) return send({ jsonrpc: '2.0', id, error: { code: -32601, message: 'Method not found' } })
        send({ jsonrpc: '2.0', id, result: { protocolVersion: '2025-11-25', capabilities: {}, serverInfo: { name: 'x', version: '1' } } })
      })
    expect((await Client.connect(server(true).target, { memory: verdictMemory() })).revision).toBe('2025-11-25')
    const invalid = {
      code: 'ERR_ANSWER_INVALID',
      message: 'The result of server/discover has the type "x", expected "complete"',
    }
    await expect(Client.connect(server(false).target, { memory: verdictMemory() })).rejects.toMatchObject(invalid)
    const only = Client.connect(server(true).target, { memory: verdictMemory(), revisions: ['2026-07-28'] })
    await expect(only).rejects.toMatchObject(invalid)
  })

  test('the probe fails when there is no answer at all, and never cancels an initialize', async () => {
    proves('T-LIFE-039', 'T-CANC-007')
    const clock = fakeClock()
    const dead = scriptedServer(() => {})
    const connecting = Client.connect(dead.target, {
      clock,
      memory: verdictMemory(),
      limits: { connectTimeoutMs: 5000, probeTimeoutMs: 100 },
    })
    connecting.catch(() => {})
    await clock.advance(20_000)
    await expect(connecting).rejects.toMatchObject({
      code: 'ERR_TIMEOUT',
      message: 'No answer to server/discover and initialize within 5000 ms (limits.connectTimeoutMs)',
    })
    const initializeId = dead.received.find(({ method }) => method === 'initialize')?.id
    expect(dead.received.filter(({ method, params }) => method === 'notifications/cancelled' && params.requestId === initializeId)).toEqual(
      [],
    )
    expect(dead.isClosed).toBe(true)
  })

  test('the result of the probe is remembered for the second connection', async () => {
    proves('R-DISC-016')
    const memory = verdictMemory()
    const server = cannedServer({ revision: '2025-06-18' })
    for (let i = 0; i < 2; i++) await (await Client.connect(server.target, { memory })).close()
    expect(methods(server.received)).toEqual(['initialize', 'notifications/initialized'])
    const verdicts: [string, Verdict | undefined][] = []
    const own: VerdictMemory = { get: () => undefined, set: (key, verdict) => verdicts.push([key, verdict]) }
    await (await Client.connect(server.target, { memory: own })).close()
    expect(verdicts).toEqual([[server.target.key, 'session']])
  })

  test('the probe is made again when the remembered result is no longer true', async () => {
    proves('R-DISC-017')
    const memory = verdictMemory()
    let isModern = false
    const server = scriptedServer(({ id, method }, send) => {
      if (id === undefined) return
      if (method === 'server/discover' && isModern)
        send({
          jsonrpc: '2.0',
          id,
          result: { resultType: 'complete', supportedVersions: ['2026-07-28'], capabilities: {}, ttlMs: 0, cacheScope: 'public' },
        })
      else if (method === 'initialize' && !isModern)
        send({ jsonrpc: '2.0', id, result: { protocolVersion: '2025-11-25', capabilities: {}, serverInfo: { name: 'x', version: '1' } } })
      else send({ jsonrpc: '2.0', id, error: { code: -32601, message: 'Method not found' } })
    })
    expect((await Client.connect(server.target, { memory })).revision).toBe('2025-11-25')
    isModern = true
    expect((await Client.connect(server.target, { memory })).revision).toBe('2026-07-28')
    expect(memory.get(server.target.key)).toBe('stateless')
  })
})

describe('what was not agreed on', () => {
  test.each(SESSION_REVISIONS)('in %s the client does not use methods of other revisions or missing capabilities', async (revision) => {
    proves('T-LIFE-027', 'T-LIFE-028', 'T-LIFE-037', 'T-ARCH-026', 'R-VER-004')
    const server = cannedServer({ revision, capabilities: {} })
    const client = await Client.connect(server.target, { memory: verdictMemory() })
    const before = server.received.length
    await expect(client.request('subscriptions/listen', {})).rejects.toMatchObject({
      code: 'ERR_UNSUPPORTED',
      message: `Protocol revision ${revision} has no subscriptions/listen`,
    })
    for (const method of ['tools/call', 'resources/read', 'resources/subscribe', 'prompts/get', 'logging/setLevel'])
      await expect(client.request(method, {})).rejects.toMatchObject({ code: 'ERR_CAPABILITY_MISSING' })
    expect(server.received.length).toBe(before)
    if (revision !== '2024-11-05')
      await expect(client.request('completion/complete', {})).rejects.toMatchObject({ code: 'ERR_CAPABILITY_MISSING' })
    await client.close()
  })

  test.each(['tools', 'prompts', 'resources'] as const)('a list of %s is requested even if the server did not declare it', async (kind) => {
    const having = cannedServer({ capabilities: {}, results: { [`${kind}/list`]: { [kind]: [{ name: 'n', inputSchema: {} }] } } })
    expect(await (await Client.connect(having.target))[kind]().all()).toHaveLength(1)
    const lacking = await Client.connect(cannedServer({ capabilities: {} }).target)
    await expect(lacking[kind]().all()).rejects.toMatchObject({
      code: 'ERR_CAPABILITY_MISSING',
      message: `${kind}/list needs the server capability ${kind}, which was not declared`,
    })
    const telling = cannedServer({
      capabilities: {},
      results: {
        [`${kind}/list`]: () => {
          throw Object.assign(new Error('Log in at example.com first'), { code: -32000 })
        },
      },
    })
    await expect((await Client.connect(telling.target))[kind]().all()).rejects.toMatchObject({ message: 'Log in at example.com first' })
    const broken = cannedServer({ capabilities: { [kind]: {} } })
    await expect((await Client.connect(broken.target))[kind]().all()).rejects.toMatchObject({ code: -32601 })
  })

  test('a request for a capability that was not offered gets -32601, and ping is always answered', async () => {
    proves('T-ROOT-014', 'T-PING-002', 'T-PING-003', 'T-BASE-041')
    const server = cannedServer({ revision: '2025-06-18' })
    const client = await Client.connect(server.target)
    for (const [id, method] of ['roots/list', 'sampling/createMessage', 'unknown/thing', 'ping'].entries())
      server.send({ jsonrpc: '2.0', id, method })
    await new Promise((resolve) => setTimeout(resolve, 5))
    const answers = server.received.filter(({ method }) => method === undefined).sort((a, b) => a.id - b.id)
    expect(answers.map(({ id, error, result }) => [id, error?.code, result])).toEqual([
      [0, -32601, undefined],
      [1, -32601, undefined],
      [2, -32601, undefined],
      [3, undefined, {}],
    ])
    expect(answers[0]?.error.data).toEqual({ reason: 'The client has not declared roots' })
    await client.close()
  })

  test('handlers added later are declared in the next stateless request, but not in an open session', async () => {
    const server = newServer()
    server.tool('ask', {}, async (_args, ctx) => JSON.stringify(await ctx.roots()))
    const stateless = await connectPair(server, { revision: '2026-07-28' })
    await expect(stateless.client.call('ask')).rejects.toMatchObject({ code: -32021 })
    stateless.client.answer({ roots: ['file:///a'] })
    expect((await stateless.client.call('ask')).content[0]).toMatchObject({ text: '[{"uri":"file:///a"}]' })
    const session = await connectPair(server, { revision: '2025-11-25', answer: { roots: ['file:///a'] } })
    expect(() => session.client.answer({ elicit: () => ({ action: 'cancel' }) })).toThrow(
      'This session began without elicitation; pass the handlers to connect()',
    )
    session.client.answer({ roots: ['file:///b'] })
    expect((await session.client.call('ask')).content[0]).toMatchObject({ text: '[{"uri":"file:///b"}]' })
  })
})

describe('closing', () => {
  test('closing fails open requests with an error, once, and nothing can be sent after it', async () => {
    proves('T-LIFE-029')
    const server = cannedServer({ results: { 'tools/call': () => undefined } })
    const closes: unknown[] = []
    const client = await Client.connect(server.target, { onClose: (error) => closes.push(error) })
    const waiting = client.call('x')
    await client.close()
    await client.close()
    await expect(waiting).rejects.toMatchObject({ code: 'ERR_CLOSED', message: 'The client was closed' })
    await expect(client.call('x')).rejects.toMatchObject({ code: 'ERR_CLOSED' })
    expect(client.isClosed).toBe(true)
    expect(closes).toEqual([undefined])
    expect(server.isClosed).toBe(true)
  })

  test('closing by the server rejects open requests and is reported once', async () => {
    const server = cannedServer({ results: { 'tools/call': () => undefined } })
    const closes: unknown[] = []
    const client = await Client.connect(server.target, { onClose: (error) => closes.push(error) })
    const waiting = client.call('x')
    const broken = new Error('cable cut')
    server.hangUp(broken)
    server.hangUp(broken)
    await expect(waiting).rejects.toBe(broken)
    expect(closes).toEqual([broken])
    await expect(client.call('x')).rejects.toMatchObject({ code: 'ERR_CLOSED' })
  })

  test('closing happens at the end of `await using`', async () => {
    const server = cannedServer()
    {
      await using client = await Client.connect(server.target)
      expect(client.isClosed).toBe(false)
    }
    expect(server.isClosed).toBe(true)
  })
})

describe('a target that can be opened again', () => {
  test('a lost connection is reopened: requests wait, subscriptions are renewed, caches are emptied', async () => {
    const clock = fakeClock()
    const warnings: string[] = []
    const server = cannedServer({ results: { 'tools/call': { content: [] }, 'resources/subscribe': {} } }, { restarts: true })
    const client = await Client.connect(server.target, { clock, onWarning: (message) => warnings.push(message) })
    const watching = client.watch('a:1')
    const next = watching.next()
    await clock.advance(0)
    server.hangUp(new Error('crashed'))
    const call = client.call('x')
    await clock.advance(1000)
    await expect(call).resolves.toEqual({ content: [] })
    expect(server.opened).toBe(2)
    expect(methods(server.received)).toContain('resources/subscribe')
    expect(warnings[0]).toBe('scripted server ended (crashed); starting it again')
    server.send({ jsonrpc: '2.0', method: 'notifications/resources/updated', params: { uri: 'a:1' } })
    expect((await next).value).toEqual({ uri: 'a:1' })
    await client.close()
  })

  test.each(['2025-11-25', '2026-07-28'])(
    'a reopened target may have changed: the remembered state of %s is not trusted',
    async (revision) => {
      const clock = fakeClock()
      let lists = 0
      const results = {
        'tools/list': () => ({ tools: [], ttlMs: 3_600_000, cacheScope: 'private', lists: ++lists }),
        'subscriptions/listen': ({ notifications }: Message, { id }: Message) => {
          const params = { notifications, _meta: { 'io.modelcontextprotocol/subscriptionId': id } }
          server.send({ jsonrpc: '2.0', method: 'notifications/subscriptions/acknowledged', params })
          return undefined
        },
      }
      const capabilities = { tools: { listChanged: true } }
      const server = cannedServer({ revision, results, capabilities }, { restarts: true })
      const client = await Client.connect(server.target, { clock, pingIntervalMs: 0 })
      let changes = 0
      await client.onChange('tools', () => changes++)
      for (let i = 0; i < 2; i++) await client.request('tools/list')
      const before = lists
      server.hangUp(new Error('crashed'))
      await clock.advance(1000)
      await client.request('tools/list')
      expect(lists).toBe(before + 1)
      expect(changes).toBe(1)
      await client.close()
    },
  )

  test('a target is reopened at most five times a minute', async () => {
    const clock = fakeClock()
    const server = cannedServer({}, { restarts: true })
    let closed: Error | undefined
    await Client.connect(server.target, {
      clock,
      onClose: (error) => {
        closed = error
      },
    })
    for (let i = 0; i < 6; i++) {
      server.hangUp(new Error('crashed'))
      await clock.advance(5000)
    }
    expect(server.opened).toBe(6)
    expect(closed?.message).toBe('crashed')
  })
})

describe('the log level that is wanted', () => {
  const level = (server: ReturnType<typeof cannedServer>) =>
    server.received.filter(({ method }) => method === 'logging/setLevel').map(({ params }) => params.level)

  test('the log level is sent before the connection counts as open, and again on a new one', async () => {
    const clock = fakeClock()
    let refusal: Error | undefined
    const answer = () => {
      if (refusal) throw refusal
      return {}
    }
    const server = cannedServer({ results: { 'logging/setLevel': answer } }, { restarts: true })
    const client = await Client.connect(server.target, { clock, logLevel: 'error' })
    expect(level(server)).toEqual(['error'])
    await client.setLogLevel('debug')
    server.hangUp(new Error('crashed'))
    await clock.advance(1000)
    expect([server.opened, level(server)]).toEqual([2, ['debug']])
    await client.close()
    refusal = new Error('No such level')
    await expect(Client.connect(server.target, { logLevel: 'error' })).rejects.toThrow('No such level')
  })

  test.each(['2025-11-25', '2026-07-28'])('log messages below the chosen level are not passed on in %s', async (revision) => {
    const heard: unknown[] = []
    const server = cannedServer({ revision, results: { 'logging/setLevel': {} } })
    const client = await Client.connect(server.target, { logLevel: 'debug', onLog: ({ data }) => heard.push(data) })
    for (const params of [undefined, {}, { level: 'loud', data: 1 }, { level: 5, data: 2 }, { level: 'info', data: 3 }])
      server.send({ jsonrpc: '2.0', method: 'notifications/message', ...(params ? { params } : {}) })
    await settle()
    expect(heard).toEqual([3])
    await client.close()
  })

  test('the log level is not sent to a server without logging', async () => {
    const server = cannedServer({ capabilities: { tools: {} } })
    const client = await Client.connect(server.target, { logLevel: 'error' })
    expect(level(server)).toEqual([])
    await client.close()
  })
})

describe('the sixth end within a minute', () => {
  test.each([
    ['closes the client', 60_000, true],
    ['does not when the first was more than a minute ago', 60_001, false],
  ])('the sixth end within a minute %s', async (_what, at, isClosed) => {
    const clock = fakeClock()
    const server = cannedServer({}, { restarts: true })
    const client = await Client.connect(server.target, { clock, pingIntervalMs: 0 })
    for (let i = 0; i < 5; i++) {
      server.hangUp(new Error('crashed'))
      await clock.advance(1000)
    }
    expect(server.opened).toBe(6)
    await clock.advance(at - 5000)
    server.hangUp(new Error('crashed again'))
    expect(client.isClosed).toBe(isClosed)
    await clock.advance(1000)
    expect(server.opened).toBe(isClosed ? 6 : 7)
    await client.close()
  })
})

describe('a client that is closed while it is opened', () => {
  test.each([
    ['before there is a connection', 'open'],
    ['before the server has answered', 'answer'],
  ])('a client closed during %s keeps no connection', async (_when, stage) => {
    const closes: unknown[] = []
    let goOn = (): void => {}
    const gate = new Promise<void>((resolve) => {
      goOn = resolve
    })
    const server = scriptedServer(() => {})
    const { open } = server.target
    server.target.open = async () => {
      if (stage === 'open') await gate
      return open()
    }
    const controller = new AbortController()
    const options = { signal: controller.signal, memory: verdictMemory(), onClose: (error: unknown) => closes.push(error) }
    const connecting = Client.connect(server.target, options).catch((error: Error) => error.message)
    await settle()
    controller.abort(new Error('enough'))
    goOn()
    expect(await connecting).toBe('enough')
    expect([server.opened, server.isClosed]).toEqual([1, true])
    expect(closes).toEqual([undefined])
  })
})

describe('a session that the server has forgotten', () => {
  /** A target whose links the test ends one by one. */
  function forgetful() {
    const links: { receiver: LinkReceiver; sent: Message[]; isClosed: boolean; closes: number }[] = []
    const target: Target = {
      key: `forgetful:${Math.random()}`,
      label: 'forgetful',
      hasRemoteSessions: true,
      open: async () => {
        const link = { receiver: undefined as unknown as LinkReceiver, sent: [] as Message[], isClosed: false, closes: 0 }
        links.push(link)
        return {
          start: (receiver) => {
            link.receiver = receiver
          },
          send: (json) => {
            const message = JSON.parse(json) as Message
            link.sent.push(message)
            if (message.method !== 'initialize') return
            const result = { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'f', version: '1' } }
            queueMicrotask(() => link.receiver.onMessage({ kind: 'result', id: message.id, result }))
          },
          close: async () => {
            link.isClosed = true
            link.closes++
          },
        }
      },
    }
    return { target, links }
  }
  const revisions = ['2025-11-25']

  test.each([
    [
      'answered',
      (link: { receiver: LinkReceiver }, id: number) => link.receiver.onMessage({ kind: 'result', id, result: { content: [] } }),
    ],
    ['lost', (link: { receiver: LinkReceiver }, id: number) => link.receiver.onLost(id, new Error('cable cut'))],
  ])('a session that the server has forgotten keeps its old connection until the last request on it is %s', async (_how, settleOn) => {
    const { target, links } = forgetful()
    const client = await Client.connect(target, { revisions })
    const calls = [client.call('a'), client.call('b')]
    for (const call of calls) call.catch(() => {})
    const [old] = links as [(typeof links)[0]]
    const ids = old.sent.filter(({ method }) => method === 'tools/call').map(({ id }) => id)
    old.receiver.onForgotten()
    await settle()
    expect(links).toHaveLength(2)
    expect(old.isClosed).toBe(false)
    settleOn(old, ids[0])
    await settle()
    expect(old.isClosed).toBe(false)
    settleOn(old, ids[1])
    await settle()
    expect(old.isClosed).toBe(true)
    // What still comes on it, and what is lost, is for nobody.
    settleOn(old, ids[1])
    old.receiver.onClose(undefined)
    await settle()
    expect(old.closes).toBe(1)
    expect([client.isClosed, links[1]?.isClosed]).toEqual([false, false])
    await client.close()
  })

  test('a forgotten session stays when none can be opened, and the next refused request tries again', async () => {
    const { target, links } = forgetful()
    const client = await Client.connect(target, { revisions })
    const open = target.open
    target.open = async () => {
      throw new Error('no way there')
    }
    const old = links[0] as (typeof links)[0]
    old.receiver.onForgotten()
    await settle()
    expect([client.isClosed, old.isClosed]).toEqual([false, false])
    target.open = open
    const call = client.call('a')
    await settle()
    expect(old.sent.at(-1)?.method).toBe('tools/call')
    old.receiver.onForgotten()
    old.receiver.onLost(old.sent.at(-1)?.id, new McpError('ERR_SESSION_GONE', 'Session gone'))
    await settle()
    const { id } = links[1]?.sent.find(({ method }) => method === 'tools/call') ?? {}
    links[1]?.receiver.onMessage({ kind: 'result', id, result: { content: [] } })
    expect(await call).toEqual({ content: [] })
    expect([client.isClosed, old.isClosed]).toEqual([false, true])
    await client.close()
  })

  test('a forgotten session stays when the new one is refused, and the new connection is closed', async () => {
    const { target, links } = forgetful()
    const client = await Client.connect(target, { revisions })
    const open = target.open
    target.open = async () => {
      const link = await open()
      return { ...link, send: () => links.at(-1)?.receiver.onClose(new Error('refused')) }
    }
    links[0]?.receiver.onForgotten()
    await settle()
    expect(client.isClosed).toBe(false)
    expect(links.length).toBeGreaterThan(1)
    expect(links.map(({ isClosed }) => isClosed)).toEqual(links.map((_, i) => i > 0))
    // The old one is the one that counts: when it is forgotten again, a new one is opened.
    target.open = open
    const before = links.length
    links[0]?.receiver.onForgotten()
    await settle()
    expect(links).toHaveLength(before + 1)
    client.call('a').catch(() => {})
    expect(links.at(-1)?.sent.at(-1)?.method).toBe('tools/call')
    await client.close()
    expect(links[0]?.isClosed).toBe(true)
  })

  test('a forgotten session closes its old connection when the last request on it is cancelled', async () => {
    const { target, links } = forgetful()
    const client = await Client.connect(target, { revisions })
    const controller = new AbortController()
    const call = client.call('a', {}, { signal: controller.signal })
    call.catch(() => {})
    links[0]?.receiver.onForgotten()
    await settle()
    expect(links[0]?.isClosed).toBe(false)
    controller.abort()
    await settle()
    expect(links[0]?.isClosed).toBe(true)
    await client.close()
  })
})

describe('a process that could not be started again', () => {
  test('a process that failed to start again is ended before the next attempt', async () => {
    const clock = fakeClock()
    let isMute = false
    const closed: number[] = []
    const server = scriptedServer(
      ({ id, method }, send) => {
        if (isMute || id === undefined) return
        if (method === 'initialize')
          send({ jsonrpc: '2.0', id, result: { protocolVersion: '2025-11-25', capabilities: {}, serverInfo: { name: 'x', version: '1' } } })
        else send({ jsonrpc: '2.0', id, result: {} })
      },
      { restarts: true },
    )
    const openLink = server.target.open
    server.target.open = async () => {
      const link = await openLink()
      const number = server.opened
      return { ...link, close: async () => void closed.push(number) }
    }
    const options = { clock, revisions: ['2025-11-25'], limits: { connectTimeoutMs: 1000 }, memory: verdictMemory() }
    const client = await Client.connect(server.target, options)
    isMute = true
    server.hangUp(new Error('crashed'))
    // Less than it takes to use up all tries, however short the pauses between them are.
    await clock.advance(5000)
    isMute = false
    await clock.advance(10_000)
    expect(server.opened).toBeGreaterThan(2)
    // All but the first, which ended by itself, and the last, which is used.
    for (let number = 2; number < server.opened; number++) expect(closed).toContain(number)
    expect(closed).not.toContain(server.opened)
    await client.close()
  })
})

test('a choice of revisions does not change what later connections without it use', async () => {
  const { url } = await serve(newServer())
  const revisions: (string | undefined)[] = []
  for (const options of [{}, { revisions: ['2025-11-25'] }, {}]) {
    const client = await connect(url, options)
    revisions.push(client.revision)
    await client.close()
  }
  expect(revisions).toEqual(['2026-07-28', '2025-11-25', '2026-07-28'])
})
