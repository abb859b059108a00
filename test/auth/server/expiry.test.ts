import { describe, expect, test } from 'vitest'
import { http, httpStream } from '../../support/http-requests.ts'
import { askModern, callTool, gate, modern, openSession, serveInFakeTime, testServer, until, WATCHED } from '../../support/http-service.ts'
import { proves } from '../../support/proves.ts'
import { seconds, startIssuer } from '../../support/token-issuer.ts'

/** Tokens with ten seconds to live; a stream may go on for a minute after that. */
async function shortLived() {
  const issuer = await startIssuer()
  const server = testServer()
  const aborted = gate()
  const goOn = gate()
  server.tool('work', {}, async (_args, ctx) => {
    ctx.signal.addEventListener('abort', () => aborted.open())
    await ctx.progress(1)
    await goOn.opened
    return 'done'
  })
  const { url, pass, endpoint } = await serveInFakeTime(server, {
    auth: issuer.protect(),
    limits: { keepAliveMs: 20_000, pingMs: 10 * 60_000 },
  })
  const headers = await issuer.bearer({ exp: seconds() + 10 })
  return { issuer, server, url, pass, endpoint, headers, aborted: aborted.opened, goOn: goOn.open }
}

const ended = async (stream: { ended: Promise<string> }): Promise<string> =>
  Promise.race([stream.ended, new Promise<string>((resolve) => setTimeout(resolve, 300, 'open'))])

describe('a stream ends a minute after the token it was opened with', () => {
  test('a stream of changes ends a minute after its token, with its answer', async () => {
    const { url, pass, headers } = await shortLived()
    const listen = { method: 'subscriptions/listen', params: { notifications: { toolsListChanged: true } } }
    const stream = await httpStream(url, modern(listen, headers))
    await stream.message()
    await pass(65_000)
    expect(await ended(stream)).toBe('open')
    await pass(6_000)
    expect(await stream.ended).toBe('end')
    expect((await stream.messages()).at(-1)).toMatchObject({ id: 1, result: {} })
  })

  test('a stream of a session ends a minute after its token, and can be reopened with a new one', async () => {
    const { issuer, url, pass, headers } = await shortLived()
    const session = await openSession(url, '2025-11-25', { headers })
    const stream = await session.listen()
    await pass(65_000)
    expect(await ended(stream)).toBe('open')
    await pass(6_000)
    expect(await stream.ended).toBe('end')
    const fresh = await httpStream(url, {
      method: 'GET',
      headers: { ...session.headers, ...(await issuer.bearer()), accept: 'text/event-stream' },
    })
    expect(fresh.status).toBe(200)
    fresh.destroy()
  })

  test('a stream of a stateless request ends a minute after its token, and the handler is aborted', async () => {
    const { url, pass, headers, aborted, endpoint } = await shortLived()
    const stream = await httpStream(url, modern(callTool('work', {}, WATCHED), headers))
    await stream.message()
    await pass(65_000)
    expect(await ended(stream)).toBe('open')
    await pass(6_000)
    expect(await ended(stream)).toBe('cut')
    await aborted
    await until(() => endpoint.counts.streams === 0)
  })

  test('a stream of a request in a session ends a minute after its token, and its answer can be fetched', async () => {
    const { issuer, url, pass, headers, goOn } = await shortLived()
    const session = await openSession(url, '2025-11-25', { headers })
    const stream = await session.askStream(callTool('work', {}, WATCHED))
    await stream.message()
    await pass(71_000)
    expect(await stream.ended).toBe('end')
    goOn()
    const last = stream.events.filter(({ id }) => id !== undefined).at(-1)?.id as string
    const rest = await httpStream(url, {
      method: 'GET',
      headers: { ...session.headers, ...(await issuer.bearer()), accept: 'text/event-stream', 'last-event-id': last },
    })
    expect(await rest.message()).toMatchObject({ id: 1, result: { content: [{ text: 'done' }] } })
  })

  test('a stream of the oldest transport ends a minute after its token', async () => {
    const { url, pass, headers } = await shortLived()
    const stream = await httpStream(url.replace('/mcp', '/sse'), { method: 'GET', headers })
    await stream.next()
    await pass(65_000)
    expect(await ended(stream)).toBe('open')
    await pass(6_000)
    expect(await stream.ended).toBe('end')
  })

  test('every request is judged by its own token, also while a stream is open', async () => {
    proves('T-SEC-008')
    const { issuer, url, headers } = await shortLived()
    const session = await openSession(url, '2025-11-25', { headers })
    const stream = await session.listen()
    const expired = await issuer.bearer({ exp: seconds() - 60 })
    expect((await session.ask(callTool('hi'), expired)).status).toBe(401)
    expect((await askModern(url, callTool('hi'), expired)).status).toBe(401)
    expect((await http(url, { method: 'DELETE', headers: { ...session.headers, ...expired } })).status).toBe(401)
    expect((await session.ask(callTool('hi'))).status).toBe(200)
    stream.destroy()
  })

  test('the minute after the end of a token is an option', async () => {
    const issuer = await startIssuer()
    const { url, pass } = await serveInFakeTime(testServer(), { auth: issuer.protect(), limits: { authGraceMs: 0 } })
    const listen = { method: 'subscriptions/listen', params: { notifications: { toolsListChanged: true } } }
    const stream = await httpStream(url, modern(listen, await issuer.bearer({ exp: seconds() + 10 })))
    await pass(8_000)
    expect(await ended(stream)).toBe('open')
    await pass(3_000)
    expect(await stream.ended).toBe('end')
  })
})
