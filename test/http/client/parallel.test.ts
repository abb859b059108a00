/** Many requests at once: our own client and server with their defaults, and what a server may make the client open. */

import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { systemClock } from '../../../src/base/clock.ts'
import { listen } from '../../../src/http/index.ts'
import { createServer } from '../../../src/server/index.ts'
import { failureOf, open, openSession, SAID, sessionServer, statelessServer } from './scripted-http.ts'

const CALLS = 1000

async function serving(): Promise<{ url: string; most(): number }> {
  let now = 0
  let most = 0
  const server = createServer({ name: 'busy', version: '1' })
  server.tool('work', {}, async () => {
    most = Math.max(most, ++now)
    await new Promise((resolve) => setTimeout(resolve, 5))
    now--
    return 'done'
  })
  const { url, close } = await listen(server)
  onTestFinished(() => close())
  return { url: String(url), most: () => most }
}

test('a thousand calls at once succeed in every revision, with the defaults of both sides', { timeout: 120_000 }, async () => {
  const revisions = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25', '2026-07-28']
  const over: [string, string, (url: string) => string][] = revisions.map((revision) => [revision, revision, (url) => url])
  over.push(['two endpoints', '2024-11-05', (url) => url.replace(/[^/]*$/, 'sse')])
  const outcomes = await Promise.all(
    over.map(async ([name, revision, at]) => {
      const server = await serving()
      const { client, warnings } = await open(at(server.url), { revisions: [revision] })
      const results = await Promise.all(Array.from({ length: CALLS }, () => client.call('work')))
      const done = results.filter(({ isError }) => isError !== true).length
      return { name, revision: client.revision, done, isBounded: server.most() <= 64, warnings }
    }),
  )
  expect(outcomes).toEqual(over.map(([name, revision]) => ({ name, revision, done: CALLS, isBounded: true, warnings: [] })))
})

const delayed = (ms: number, run: () => void): unknown => setTimeout(run, ms)

describe('calls beyond maxConnections', () => {
  test('calls over maxConnections wait and are all answered', async () => {
    let most = 0
    const server = await statelessServer({
      'tools/call': (_, answer) => {
        most = Math.max(most, server.sockets.size)
        delayed(2, () => answer.result({ resultType: 'complete', ...SAID }))
      },
    })
    const { client } = await open(server, { http: { limits: { maxConnections: 4, maxStreams: 2 } } })
    const results = await Promise.all(Array.from({ length: 200 }, () => client.call('echo')))
    expect(results).toHaveLength(200)
    // With those for notices, and the one for a goodbye.
    expect(most).toBeLessThanOrEqual(4 + 2 + 8 + 1)
  })

  test('calls over maxConnections that are aborted leave the queue, and are never sent', async () => {
    const finish: (() => void)[] = []
    const server = await statelessServer({
      'tools/call': (_, answer) => void finish.push(() => answer.result({ resultType: 'complete', ...SAID })),
    })
    const { client } = await open(server, { http: { limits: { maxConnections: 1 } } })
    await client.tools().all()
    const first = client.call('echo', { n: 1 })
    await server.until(({ message }) => message.method === 'tools/call')
    const gone = new AbortController()
    const second = failureOf(client.call('echo', { n: 2 }, { signal: gone.signal }))
    const third = client.call('echo', { n: 3 })
    gone.abort(new Error('no longer wanted'))
    expect((await second).message).toBe('no longer wanted')
    finish.shift()?.()
    await first
    await server.until(({ message }) => (message.params?.arguments as { n?: number } | undefined)?.n === 3)
    finish.shift()?.()
    await third
    expect(server.posts('tools/call').map(({ message }) => message.params.arguments.n)).toEqual([1, 3])
  })

  test('calls over the limit of waiting requests are refused at once, and the error names the limits', async () => {
    const server = await statelessServer({ 'tools/call': () => {} })
    const { client } = await open(server, { http: { limits: { maxConnections: 1 } } })
    await client.tools().all()
    const kept = Array.from({ length: 10_001 }, () => failureOf(client.call('echo')))
    const refused = await failureOf(client.call('echo'))
    expect(refused).toMatchObject({ code: 'ERR_LIMIT', message: expect.stringMatching(/at most 10000; limits\.maxConnections is 1/) })
    await client.close()
    for (const each of kept) expect(await each).toMatchObject({ code: 'ERR_CLOSED' })
  })

  test('calls over maxConnections do not wait for streamed answers while maxStreams has room', async () => {
    const server = await statelessServer({
      'tools/call': ({ message }, answer) => {
        if (message.params.arguments.isLong === true) answer.events().raw(': begun\n\n')
        else answer.result({ resultType: 'complete', ...SAID })
      },
    })
    const { client } = await open(server, { http: { limits: { maxConnections: 1, maxStreams: 2 } } })
    await client.tools().all()
    const long = [1, 2].map(() => failureOf(client.call('echo', { isLong: true })))
    expect(await client.call('echo', {})).toMatchObject(SAID)
    // The third finds no room beside the calls and keeps its place among them.
    long.push(failureOf(client.call('echo', { isLong: true })))
    await expect(client.call('echo', {}, { timeoutMs: 200 })).rejects.toMatchObject({ code: 'ERR_TIMEOUT' })
    await client.close()
    await Promise.all(long)
  })

  test('calls over maxConnections do not delay our answers, which the server may need', async () => {
    const asked = new Map<unknown, () => void>()
    const server = await sessionServer({
      'tools/call': ({ message }, answer) => {
        const events = answer.events()
        const id = `ask-${message.id}`
        asked.set(id, () => events.result(SAID).end())
        events.message({ jsonrpc: '2.0', id, method: 'ping' })
      },
      answer: ({ message }, answer) => {
        answer.status(202)
        asked.get(message.id)?.()
      },
    })
    const { client } = await openSession(server, { http: { limits: { maxConnections: 1, maxStreams: 1 } } })
    const results = await Promise.all(Array.from({ length: 20 }, () => client.call('echo')))
    expect(results).toHaveLength(20)
  })
})

describe('questions of a server', () => {
  test('thousands of questions of a server are answered without a connection for each', { timeout: 60_000 }, async () => {
    const PINGS = 3000
    let most = 0
    const answered = new Set<unknown>()
    let finish = (): void => {}
    const server = await sessionServer({
      'tools/call': (_, answer) => {
        const events = answer.events()
        finish = () => events.result(SAID).end()
        const ping = (_: unknown, i: number): string => `data: ${JSON.stringify({ jsonrpc: '2.0', id: `p${i}`, method: 'ping' })}\n\n`
        events.raw(Array.from({ length: PINGS }, ping).join(''))
      },
      answer: ({ message }, answer) => {
        most = Math.max(most, server.sockets.size)
        answered.add(message.id)
        answer.status(202)
        if (answered.size === PINGS) finish()
      },
    })
    const { client, warnings } = await openSession(server)
    expect(await client.call('echo')).toMatchObject(SAID)
    expect(answered.size).toBe(PINGS)
    expect(most).toBeLessThanOrEqual(20)
    expect(warnings).toEqual([])
  })

  test('questions of a server are not read while too many of our answers are queued', { timeout: 60_000 }, async () => {
    const filler = 'x'.repeat(1000)
    const held: (() => void)[] = []
    let isOpen = false
    let written = 0
    let answers = 0
    const server = await sessionServer({
      'tools/call': (_, answer) => {
        const events = answer.events()
        const more = (): void => {
          while (written < 20_000) {
            const isTaken = events.response.write(
              `data: ${JSON.stringify({ jsonrpc: '2.0', id: `${written++}${filler}`, method: 'ping' })}\n\n`,
            )
            if (!isTaken) return void events.response.once('drain', more)
          }
          events.result(SAID).end()
        }
        more()
      },
      answer: (_, answer) => {
        answers++
        if (isOpen) return answer.status(202)
        held.push(() => answer.status(202))
      },
    })
    const { client } = await openSession(server)
    const call = client.call('echo')
    await server.until(({ message }) => message.method === undefined && message.id !== undefined)
    // The writer stops when the buffers of both sockets are full: far from the end.
    let before = -1
    for (let still = 0; still < 8; still = before === written ? still + 1 : 0) {
      before = written
      await new Promise((resolve) => setTimeout(resolve, 200))
    }
    expect(written).toBeLessThan(20_000)
    expect(answers).toBeLessThanOrEqual(8)
    isOpen = true
    for (const accept of held) accept()
    expect(await call).toMatchObject(SAID)
  })
})

describe('a server that is busy', () => {
  const busyTimes = (times: number, status: number, headers: Record<string, string>) => {
    let refused = 0
    return statelessServer({
      'tools/call': (_, answer) => {
        if (refused++ < times) return answer.json({ jsonrpc: '2.0', id: null, error: { code: -32603, message: 'later' } }, status, headers)
        answer.result({ resultType: 'complete', ...SAID })
      },
    })
  }

  test.each([429, 503])('a server that is busy with %i and Retry-After is asked again after that time', async (status) => {
    const server = await busyTimes(1, status, { 'retry-after': '1' })
    const { client } = await open(server)
    expect(await client.call('echo')).toMatchObject(SAID)
    const [first, second] = server.posts('tools/call')
    expect(second?.text).toBe(first?.text)
    expect((second?.at ?? 0) - (first?.at ?? 0)).toBeGreaterThanOrEqual(990)
  })

  test('a server that is busy may say so with a date', async () => {
    const server = await busyTimes(1, 503, { 'retry-after': new Date(Date.now() - 1000).toUTCString() })
    const { client } = await open(server)
    expect(await client.call('echo')).toMatchObject(SAID)
  })

  test('a server that stays busy is an error after 5 retries', async () => {
    const server = await busyTimes(100, 429, { 'retry-after': '0' })
    const { client, warnings } = await open(server)
    expect(await failureOf(client.call('echo'))).toMatchObject({ code: 'ERR_HTTP', data: { status: 429, retryAfterMs: 0 } })
    expect(server.posts('tools/call')).toHaveLength(6)
    expect(warnings).toEqual([expect.stringMatching(/^http:\S+ answered 429 Too Many Requests: "?later"?\. Trying again in 1 s$/)])
    // Requests that came later wait for the same reason.
    await failureOf(client.call('echo'))
    expect(warnings).toHaveLength(1)
  })

  test('a server that is busy for some calls only is one warning, until there was none for a minute', async () => {
    const tries = new Map<unknown, number>()
    const server = await statelessServer({
      'tools/call': ({ message: { id, params } }, answer) => {
        const count = tries.get(id) ?? 0
        tries.set(id, count + 1)
        if (params?.name === 'slow' && count < 2) return answer.status(429, { 'retry-after': '0' })
        answer.result({ resultType: 'complete', ...SAID })
      },
    })
    const { client, warnings } = await open(server)
    const both = async (): Promise<void> => {
      for (const name of ['slow', 'quick']) expect(await client.call(name)).toMatchObject(SAID)
    }
    for (let i = 0; i < 3; i++) await both()
    expect(warnings).toHaveLength(1)
    const { now } = systemClock
    const later = vi.spyOn(systemClock, 'now').mockImplementation(() => now() + 61_000)
    onTestFinished(() => later.mockRestore())
    await both()
    expect(warnings).toHaveLength(2)
  })

  test('one short wait for a busy server is no warning', async () => {
    const server = await busyTimes(1, 503, { 'retry-after': '0' })
    const { client, warnings } = await open(server)
    expect(await client.call('echo')).toMatchObject(SAID)
    expect(warnings).toEqual([])
  })

  test('a server that is busy for longer than maxRetryAfterMs is an error at once', async () => {
    const server = await busyTimes(100, 429, { 'retry-after': '31' })
    const { client } = await open(server)
    expect(await failureOf(client.call('echo'))).toMatchObject({ code: 'ERR_HTTP', data: { status: 429, retryAfterMs: 31_000 } })
    expect(server.posts('tools/call')).toHaveLength(1)
  })

  test('a server that is busy without Retry-After is an error at once', async () => {
    const server = await busyTimes(100, 503, {})
    const { client } = await open(server)
    expect(await failureOf(client.call('echo'))).toMatchObject({ code: 'ERR_HTTP', data: { status: 503 } })
    expect(server.posts('tools/call')).toHaveLength(1)
  })

  test('a busy server does not extend the timeout of a call', async () => {
    const server = await busyTimes(100, 429, { 'retry-after': '20' })
    const { client } = await open(server)
    expect(await failureOf(client.call('echo', {}, { timeoutMs: 100 }))).toMatchObject({ code: 'ERR_TIMEOUT' })
    expect(server.posts('tools/call')).toHaveLength(1)
  })

  test('a server that is busy during the probe does not count as silent', async () => {
    let refused = 0
    const server = await statelessServer({
      'server/discover': (_, answer) => {
        if (refused++ === 0) return answer.status(503, { 'retry-after': '1' })
        answer.result({ resultType: 'complete', supportedVersions: ['2026-07-28'], capabilities: {}, ttlMs: 0, cacheScope: 'private' })
      },
    })
    const { client } = await open(server, { limits: { probeTimeoutMs: 600 } })
    expect(client.revision).toBe('2026-07-28')
    expect(server.posts('initialize')).toEqual([])
  })

  test('a notification to a busy server is sent later', async () => {
    let refused = 0
    const server = await sessionServer({
      'notifications/roots/list_changed': (_, answer) => answer.status(refused++ === 0 ? 429 : 202, { 'retry-after': '0' }),
    })
    const { client, warnings } = await openSession(server, { answer: { roots: ['file:///a'] } })
    client.setRoots(['file:///b'])
    const sent = (): number => server.posts('notifications/roots/list_changed').length
    await server.until(() => sent() === 2)
    expect(warnings).toEqual([])
  })

  test('the GET stream of a busy server waits as long as the server says', async () => {
    let gets = 0
    const server = await sessionServer({
      GET: (_, answer) => {
        if (++gets === 1) return answer.status(503, { 'retry-after': '1' })
        answer.events()
      },
    })
    await openSession(server)
    const first = await server.until(({ verb }) => verb === 'GET')
    const second = await server.until((each) => each.verb === 'GET' && each !== first)
    expect(second.at - first.at).toBeGreaterThanOrEqual(990)
  })
})
