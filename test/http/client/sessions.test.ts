import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { proves } from '../../support/proves.ts'
import { failureOf, httpScript, openSession, SAID, type Script, SESSION, sessionServer } from './scripted-http.ts'

const opened = (sessionId: string): Record<string, string> => ({ 'mcp-session-id': sessionId })
const HELLO = {
  protocolVersion: SESSION,
  capabilities: { tools: {}, resources: { subscribe: true }, logging: {} },
  serverInfo: { name: 's', version: '1' },
}

describe('a session', () => {
  test('a session sends its id with everything but the handshake, and ends with DELETE', async () => {
    proves('T-HTTP-058', 'T-HTTP-063', 'T-HTTP-068', 'T-LIFE-030')
    const server = await sessionServer({ GET: (_, answer) => void answer.events() })
    const { client, warnings } = await openSession(server)
    await client.ping()
    await client.call('echo', {})
    await client.close()
    const [handshake, ...others] = server.received
    expect(handshake?.headers).not.toHaveProperty('mcp-session-id')
    for (const { headers } of others) expect(headers['mcp-session-id']).toBe('session-1')
    expect(others.map(({ verb }) => verb)).toEqual(['POST', 'GET', 'POST', 'POST', 'POST', 'DELETE'])
    await expect.poll(() => server.sockets.size).toBe(0)
    expect(warnings).toEqual([])
  })

  test('a session without an id ends without DELETE', async () => {
    const server = await sessionServer({}, { sessionId: '' })
    const { client } = await openSession(server)
    await client.ping()
    await client.close()
    for (const { headers } of server.received) expect(headers).not.toHaveProperty('mcp-session-id')
    expect(server.received.map(({ verb }) => verb)).not.toContain('DELETE')
  })

  test.each(['has a space', 'größe', 'tab\there'])('a session id that is not visible ASCII is refused: %j', async (id) => {
    const sessionId = Buffer.from(id, 'utf8').toString('latin1')
    const server = await sessionServer({}, { sessionId })
    expect(await failureOf(openSession(server))).toMatchObject({
      code: 'ERR_ANSWER_INVALID',
      message: expect.stringContaining('session id'),
    })
    expect(server.received).toHaveLength(1)
  })

  test.each([405, 404, 500])('a session ends quietly when DELETE is answered %i', async (status) => {
    const server = await sessionServer({ DELETE: (_, answer) => answer.status(status) })
    const { client, warnings } = await openSession(server)
    await client.ping()
    await client.close()
    expect(warnings).toEqual([])
  })

  test('a session ends in time when DELETE is not answered', async () => {
    const server = await sessionServer({ DELETE: () => {} })
    const { client } = await openSession(server)
    await client.ping()
    const before = performance.now()
    await client.close()
    expect(performance.now() - before).toBeLessThan(3000)
  })

  test('a session sends nothing before the server has confirmed the handshake', async () => {
    let isConfirmed = false
    const early: string[] = []
    const server = await sessionServer({
      'notifications/initialized': (_, answer) =>
        void sleep(100).then(() => {
          isConfirmed = true
          answer.status(202)
        }),
      ping: (_, answer) => {
        if (!isConfirmed) early.push('ping')
        answer.result({})
      },
    })
    const { client } = await openSession(server)
    await Promise.all([client.ping(), client.ping()])
    expect(early).toEqual([])
  })

  test('a session does not send a call that was aborted before the handshake was confirmed', async () => {
    let confirm = (): void => {}
    const server = await sessionServer({
      'notifications/initialized': (_, answer) => {
        confirm = () => answer.status(202)
      },
    })
    const { client } = await openSession(server)
    const gone = new AbortController()
    const call = failureOf(client.request('tools/list', {}, { signal: gone.signal }))
    await server.until(({ message }) => message.method === 'notifications/initialized')
    gone.abort(new Error('not wanted any more'))
    expect((await call).message).toBe('not wanted any more')
    confirm()
    await client.ping()
    expect(server.posts('ping')).toHaveLength(1)
    expect(server.posts('tools/list')).toEqual([])
  })

  test('a session continues when the handshake cannot be confirmed, with a warning', async () => {
    const server = await sessionServer({ 'notifications/initialized': (_, answer) => answer.text('no thanks', 400) })
    const { client, warnings } = await openSession(server)
    await client.ping()
    expect(warnings).toEqual([expect.stringMatching(/not accepted: .*HTTP 400 Bad Request.*no thanks/)])
  })

  test('a session id is in no error and no warning', async () => {
    proves('T-HTTP-062')
    const server = await sessionServer(
      {
        'tools/call': (_, answer) => answer.text('what?', 500),
        'notifications/roots/list_changed': (_, answer) => answer.text('no', 400),
      },
      { sessionId: 'VERY-SECRET' },
    )
    const { client, warnings } = await openSession(server, { answer: { roots: ['file:///a'] } })
    const failure = await failureOf(client.call('echo', {}))
    client.setRoots(['file:///b'])
    await expect.poll(() => warnings).toHaveLength(1)
    expect(failure.code).toBe('ERR_HTTP')
    expect(JSON.stringify([failure, failure.message, failure.stack, warnings])).not.toContain('SECRET')
  })
})

describe('a session that the server has forgotten', () => {
  /** Knows its newest session only, and forgets it when told to. */
  async function forgetfulServer(script: Script = {}) {
    let sessions = 0
    let current = ''
    const server = await httpScript((received, answer) => {
      const { verb, message, headers } = received
      if (message.method === 'initialize') {
        current = `session-${++sessions}`
        return answer.result(HELLO, opened(current))
      }
      if (headers['mcp-session-id'] !== current)
        return answer.json({ jsonrpc: '2.0', id: null, error: { code: -32001, message: 'Session not found' } }, 404)
      const given = script[verb === 'POST' ? message.method : verb]
      if (given) return given(received, answer)
      if (verb !== 'POST') return answer.status(405)
      if (message.id === undefined) return answer.status(202)
      answer.result(message.method === 'tools/list' ? { tools: [{ name: 'echo', inputSchema: { type: 'object' } }] } : SAID)
    })
    return { server, forget: () => (current = 'none'), sessions: () => sessions }
  }

  test('a forgotten session is reopened without an id, and the refused request is sent again', async () => {
    proves('T-HTTP-067')
    const { server, forget, sessions } = await forgetfulServer()
    const { client, warnings } = await openSession(server)
    await client.call('echo', {})
    forget()
    expect(await client.call('echo', { text: 'again' })).toMatchObject(SAID)
    expect(sessions()).toBe(2)
    expect(warnings).toEqual([expect.stringContaining('no longer knows the session')])
    const handshakes = server.posts('initialize')
    for (const { headers } of handshakes) expect(headers).not.toHaveProperty('mcp-session-id')
    const last = server.posts('tools/call').at(-1)
    expect(last?.headers['mcp-session-id']).toBe('session-2')
    expect(last?.message.params.arguments).toEqual({ text: 'again' })
    await client.close()
    expect(server.received.filter(({ verb }) => verb === 'DELETE').map(({ headers }) => headers['mcp-session-id'])).toEqual(['session-2'])
  })

  test('a forgotten session is reopened once for all refused requests', async () => {
    const { server, forget, sessions } = await forgetfulServer()
    const { client } = await openSession(server)
    await client.tools().all()
    forget()
    const results = await Promise.all(Array.from({ length: 10 }, () => client.call('echo', {})))
    expect(results).toHaveLength(10)
    expect(sessions()).toBe(2)
  })

  test('a reopened session has the subscriptions and the log level of the old one', async () => {
    const { server, forget } = await forgetfulServer()
    const { client } = await openSession(server)
    await client.setLogLevel('debug')
    const watching = client.watch('file:///a')
    void watching.next()
    await server.until(({ message }) => message.method === 'resources/subscribe')
    forget()
    await client.ping()
    await expect
      .poll(() => server.posts('resources/subscribe').map(({ headers }) => headers['mcp-session-id']))
      .toEqual(['session-1', 'session-2'])
    expect(server.posts('logging/setLevel').map(({ headers }) => headers['mcp-session-id'])).toEqual(['session-1', 'session-2'])
    void watching.return(undefined)
  })

  test('a forgotten session lets running requests be answered', async () => {
    let release: () => void = () => {}
    const { server, forget } = await forgetfulServer({
      'tools/call': (_, answer) => {
        release = () => answer.result(SAID)
      },
    })
    const { client } = await openSession(server)
    await client.tools().all()
    const slow = client.call('echo', {})
    await server.until(({ message }) => message.method === 'tools/call')
    forget()
    await client.ping()
    release()
    expect(await slow).toMatchObject(SAID)
  })

  test('a forgotten session is noticed by the GET stream', async () => {
    let end: () => void = () => {}
    const { server, forget, sessions } = await forgetfulServer({
      GET: (_, answer) => {
        const events = answer.events().raw('retry: 10\n\n')
        end = () => events.end()
      },
    })
    const { client } = await openSession(server)
    await client.ping()
    forget()
    end()
    await expect.poll(sessions).toBe(2)
    expect(await client.call('echo', {})).toMatchObject(SAID)
  })

  test('a session that is forgotten again and again is an error, not a loop', async () => {
    const server = await sessionServer({ ping: (_, answer) => answer.status(404) })
    const { client } = await openSession(server)
    expect(await failureOf(client.ping())).toMatchObject({ code: 'ERR_SESSION_GONE' })
    expect(server.posts('ping')).toHaveLength(2)
    expect(server.posts('initialize')).toHaveLength(2)
  })

  test('a forgotten session that cannot be reopened is tried again with the next request', async () => {
    let isDown = false
    const { server, forget } = await forgetfulServer()
    const { client } = await openSession(server, {
      http: {
        headers: () => {
          if (isDown) throw new Error('no way out')
          return {}
        },
      },
    })
    await client.ping()
    forget()
    const sent = client.ping()
    await server.until(({ message, headers }) => message.method === 'ping' && headers['mcp-session-id'] === 'session-1')
    isDown = true
    expect(await failureOf(sent)).toBeDefined()
    isDown = false
    await client.ping()
    expect(client.isClosed).toBe(false)
  })

  test('an unknown method does not count as a forgotten session', async () => {
    const server = await sessionServer()
    const { client } = await openSession(server)
    expect(await failureOf(client.request('x/unknown', {}))).toMatchObject({ name: 'RemoteError', code: -32601 })
    expect(server.posts('initialize')).toHaveLength(1)
  })
})

describe('a client that is closed while a new session is opened in place of a forgotten one', () => {
  test.each(['initialize', 'notifications/initialized'])(
    'closing at %s closes both sessions, and requests on the old one end',
    async (at) => {
      let sessions = 0
      const server = await sessionServer({
        initialize: (_, answer) => {
          if (++sessions === 1 || at !== 'initialize') answer.result(HELLO, opened(`s${sessions}`))
        },
        'notifications/initialized': (_, answer) => {
          if (sessions === 1) answer.status(202)
        },
        'tools/call': (_, answer) => void answer.events(),
        ping: (_, answer) => answer.error(-32600, 'Session not found', 404),
      })
      const { client } = await openSession(server)
      const slow = failureOf(client.call('echo', {}))
      await server.until(({ message }) => message.method === 'tools/call')
      const ping = failureOf(client.ping())
      await expect.poll(() => server.posts(at).length).toBe(2)
      await client.close()
      expect((await ping).message).not.toContain('It succeeded')
      expect(await slow).toMatchObject({ code: 'ERR_CLOSED' })
      await expect.poll(() => server.sockets.size).toBe(0)
    },
  )
})
