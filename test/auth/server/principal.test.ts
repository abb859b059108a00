import { describe, expect, test } from 'vitest'
import { createServer } from '../../../src/server/index.ts'
import { http, httpStream } from '../../support/http-requests.ts'
import { askModern, callTool, openSession, STREAMABLE, serve, testServer } from '../../support/http-service.ts'
import { proves } from '../../support/proves.ts'
import { envelope, type Message } from '../../support/raw-channel.ts'
import { protectedServer, RESOURCE, startIssuer } from '../../support/token-issuer.ts'

const textOf = (message: Message): string => (message.result as { content: { text: string }[] }).content[0]?.text ?? ''

describe('the caller', () => {
  test('the caller comes from the token, and a handler sees it without the token', async () => {
    proves('T-ELIC-065', 'T-ELIC-097')
    const { issuer, calls, url } = await protectedServer()
    const token = await issuer.token({ scope: 'mcp notes:read', tenant: 'acme' })
    const { message } = await askModern(url, callTool('note'), { authorization: `Bearer ${token}` })
    expect(calls).toEqual([JSON.stringify([issuer.url, 'alice', 'client-1'])])
    const auth = JSON.parse(textOf(message)) as Message
    expect(auth).toMatchObject({ issuer: issuer.url, subject: 'alice', clientId: 'client-1', scopes: ['mcp', 'notes:read'] })
    expect(auth.claims).toMatchObject({ aud: RESOURCE, tenant: 'acme' })
    expect(JSON.stringify(auth)).not.toContain(token.split('.')[2])
  })

  test('the caller is not what the client says about itself', async () => {
    proves('T-ELIC-096')
    const { issuer, calls, url } = await protectedServer()
    await askModern(url, callTool('note', {}, { user: 'bob', _meta: { user: 'bob', sub: 'bob' } }), {
      ...(await issuer.bearer()),
      'x-user': 'bob',
    })
    expect(calls).toEqual([JSON.stringify([issuer.url, 'alice', 'client-1'])])
  })

  test('the caller is different for every issuer, subject and client, whatever their characters', async () => {
    const { issuer, calls, url } = await protectedServer()
    const pairs = [
      ['a', 'b'],
      ['a","b', 'c'],
      ['a', 'b","c'],
      ['a|b', 'c'],
      ['a', 'b|c'],
      ['a\\', '"b'],
    ]
    for (const [sub, client_id] of pairs) await askModern(url, callTool('note'), await issuer.bearer({ sub, client_id }))
    expect(new Set(calls).size).toBe(pairs.length)
  })

  test('the caller in a session comes from the token of each request', async () => {
    const { issuer, url } = await protectedServer()
    const session = await openSession(url, '2025-11-25', { headers: await issuer.bearer({ scope: 'one' }) })
    const scopesNow = async (scope: string): Promise<unknown> =>
      (JSON.parse(textOf((await session.ask(callTool('note'), await issuer.bearer({ scope }))).message)) as Message).scopes
    expect(await scopesNow('one')).toEqual(['one'])
    expect(await scopesNow('one two')).toEqual(['one', 'two'])
  })
})

/** Everybody who is not the one whom a thing belongs to, all with good tokens. */
const OTHERS = [{ sub: 'mallory' }, { client_id: 'client-2' }, { sub: 'mallory', client_id: 'client-2' }]

describe('what belongs to somebody', () => {
  test.each(STREAMABLE)('a stolen session of %s does not exist for the thief, and continues for its owner', async (revision) => {
    proves('T-SEC-007', 'T-SEC-013', 'T-SEC-009', 'T-ELIC-063')
    const issuer = await startIssuer()
    const refused: number[] = []
    const server = testServer()
    const { url } = await serve(server, { auth: issuer.protect(), onRefused: ({ status }) => refused.push(status) })
    const alice = await openSession(url, revision, { headers: await issuer.bearer() })
    const stream = await alice.listen()
    const message = { jsonrpc: '2.0', id: 5, method: 'tools/call', params: { name: 'hi', arguments: {} } }
    for (const other of OTHERS) {
      const thief = { ...alice.headers, ...(await issuer.bearer(other)) }
      const stranger = { ...thief, 'mcp-session-id': 'AAAAAAAAAAAAAAAAAAAAAA' }
      for (const method of ['POST', 'GET', 'DELETE']) {
        const body = method === 'POST' ? { body: message } : {}
        const stolen = await http(url, { method, headers: thief, ...body })
        const unknown = await http(url, { method, headers: stranger, ...body })
        expect(stolen.status).toBe(404)
        // Not even that there is such a session can be told from the answer.
        expect({ ...stolen.headers, date: '' }).toEqual({ ...unknown.headers, date: '' })
        expect(stolen.text).toBe(unknown.text)
      }
    }
    expect(refused.filter((status) => status === 404)).toHaveLength(18)
    server.tool('new', {}, () => '')
    expect((await stream.message()).method).toBe('notifications/tools/list_changed')
    expect((await alice.ask(callTool('hi'))).status).toBe(200)
    stream.destroy()
  })

  test('events of a session reach no other principal, by any event id', async () => {
    proves('T-SEC-006', 'T-SEC-014')
    const issuer = await startIssuer()
    const server = testServer()
    server.tool('tell', {}, async (_args, ctx) => {
      await ctx.progress(1)
      return 'the secret of alice'
    })
    const { url } = await serve(server, { auth: issuer.protect() })
    const alice = await openSession(url, '2025-11-25', { headers: await issuer.bearer() })
    const told = await alice.askStream({ method: 'tools/call', params: { name: 'tell', arguments: {}, _meta: { progressToken: 1 } } })
    await told.ended
    const id = told.events.find((event) => event.id !== undefined)?.id as string
    const mallory = await openSession(url, '2025-11-25', { headers: await issuer.bearer({ sub: 'mallory' }) })
    const inOwn = await mallory.listen(id)
    expect(inOwn.status).toBe(400)
    expect(JSON.stringify(await inOwn.whole())).not.toContain('secret of alice')
    const inHers = await http(url, {
      method: 'GET',
      headers: { ...alice.headers, ...(await issuer.bearer({ sub: 'mallory' })), accept: 'text/event-stream', 'last-event-id': id },
    })
    expect(inHers.status).toBe(404)
    // What one sends into the session of the other is not taken, so nothing of it can come out there.
    const injected = await http(url, {
      headers: { ...alice.headers, ...(await issuer.bearer({ sub: 'mallory' })) },
      body: { jsonrpc: '2.0', id: 9, method: 'tools/call', params: { name: 'tell', arguments: {} } },
    })
    expect(injected.status).toBe(404)
  })

  test('the state of a question is refused from another principal', async () => {
    proves('T-ELIC-062', 'T-ELIC-076', 'R-SEC-023', 'R-SEC-025')
    const issuer = await startIssuer()
    const server = createServer({ name: 'a', version: '1' })
    const asked: string[] = []
    server.tool('ask', {}, async (_args, ctx) => {
      const { word } = await ctx.elicit('word', 'Which?', { type: 'object', properties: { word: { type: 'string' } } } as const)
      asked.push(`${ctx.caller.auth?.subject}: ${word}`)
      return 'done'
    })
    const { url } = await serve(server, { auth: issuer.protect() })
    const meta = { _meta: { ...envelope({ elicitation: { form: {} } }) } }
    const first = await askModern(url, callTool('ask', {}, meta), await issuer.bearer())
    const { requestState } = first.message.result as { requestState: string }
    expect(requestState).toBeDefined()
    const inputResponses = { word: { action: 'accept', content: { word: 'x' } } }
    const again = callTool('ask', {}, { ...meta, requestState, inputResponses })
    const forged = await askModern(
      url,
      callTool('ask', {}, { ...meta, requestState: `${requestState.slice(0, -4)}AAAA`, inputResponses }),
      await issuer.bearer(),
    )
    for (const other of OTHERS) {
      const answer = await askModern(url, again, await issuer.bearer(other))
      expect(answer.message.error).toEqual(forged.message.error)
    }
    expect(asked).toEqual([])
    expect((await askModern(url, again, await issuer.bearer())).message.result).toBeDefined()
    expect(asked).toEqual(['alice: x'])
  })

  test('a session over two endpoints does not exist for others', async () => {
    const { issuer, url } = await protectedServer()
    const stream = await httpStream(url.replace('/mcp', '/sse'), { method: 'GET', headers: await issuer.bearer() })
    const place = new URL((await stream.next())?.data as string, url).href
    const body = { jsonrpc: '2.0', id: 1, method: 'ping' }
    expect((await http(place, { body })).status).toBe(401)
    for (const other of OTHERS) expect((await http(place, { body, headers: await issuer.bearer(other) })).status).toBe(404)
    expect((await http(place, { body, headers: await issuer.bearer() })).status).toBe(202)
    expect(await stream.message()).toMatchObject({ id: 1, result: {} })
    stream.destroy()
  })

  test('a question to one principal is not answered by another in its session', async () => {
    const issuer = await startIssuer()
    const server = createServer({ name: 'a', version: '1' })
    server.tool('ask', {}, async (_args, ctx) =>
      JSON.stringify(await ctx.elicit('word', 'Which?', { type: 'object', properties: { word: { type: 'string' } } } as const)),
    )
    const { url } = await serve(server, { auth: issuer.protect() })
    const alice = await openSession(url, '2025-11-25', { capabilities: { elicitation: {} }, headers: await issuer.bearer() })
    const stream = await alice.askStream(callTool('ask'))
    const { id } = await stream.message()
    const answer = (word: string) => ({ jsonrpc: '2.0', id, result: { action: 'accept', content: { word } } })
    expect((await alice.post(answer('evil'), await issuer.bearer({ sub: 'mallory' }))).status).toBe(404)
    expect((await alice.post(answer('good'))).status).toBe(202)
    expect(textOf(await stream.message())).toContain('good')
  })

  test('a principal has a bounded number of sessions, whatever others have', async () => {
    const issuer = await startIssuer()
    const { url } = await serve(testServer(), { auth: issuer.protect(), limits: { maxSessionsPerPrincipal: 1 } })
    await openSession(url, '2025-11-25', { headers: await issuer.bearer() })
    await expect(openSession(url, '2025-11-25', { headers: await issuer.bearer() })).rejects.toThrow('429')
    await openSession(url, '2025-11-25', { headers: await issuer.bearer({ sub: 'bob' }) })
  })
})
