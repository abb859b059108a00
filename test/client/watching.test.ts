import { describe, expect, test } from 'vitest'
import { Client, type ConnectOptions, McpError } from '../../src/client/index.ts'
import { fakeClock } from '../../src/testing/index.ts'
import { proves } from '../support/proves.ts'
import { type Message, settle } from '../support/raw-channel.ts'
import { cannedServer, type Script } from '../support/scripted-server.ts'

const ID = 'io.modelcontextprotocol/subscriptionId'

/** A server without sessions that agrees to a listen request when the test says so. */
const listening = async (options: ConnectOptions = {}) => {
  const server = cannedServer({
    revision: '2026-07-28',
    results: {
      'subscriptions/listen': (_params, { id }) => {
        const refusal = refusals.shift()
        if (refusal) throw refusal
        requests.push(id)
        return undefined
      },
    },
  })
  const requests: unknown[] = []
  const refusals: Error[] = []
  const client = await Client.connect(server.target, options)
  const tell = (method: string, subscription: unknown, params: Message) =>
    server.send({ jsonrpc: '2.0', method: `notifications/${method}`, params: { ...params, _meta: { [ID]: subscription } } })
  return {
    client,
    server,
    requests,
    refusals,
    agree: (subscription: unknown) => {
      const asked = server.received.find(({ id, method }) => id === subscription && method === 'subscriptions/listen')
      tell('subscriptions/acknowledged', subscription, { notifications: asked?.params.notifications })
      return settle()
    },
    change: (subscription: unknown, uri: string) => {
      tell('resources/updated', subscription, { uri })
      return settle()
    },
    cancelled: () => server.received.filter(({ method }) => method === 'notifications/cancelled').map(({ params }) => params.requestId),
  }
}
const watch = (client: Client, uri: string) => {
  const heard: string[] = []
  const over = (async () => {
    for await (const change of client.watch(uri)) heard.push(change.uri)
  })()
  over.catch(() => {})
  return { heard, over }
}

describe('watches without a session', () => {
  test('watches without a session that begin at the same time all hold', async () => {
    proves('R-LISTEN-010', 'R-LISTEN-011')
    const { client, requests, agree, change, cancelled } = await listening()
    const [first, second] = [watch(client, 'a:1'), watch(client, 'a:2')]
    await settle()
    expect(requests).toHaveLength(2)
    await agree(requests[0])
    await change(requests[0], 'a:1')
    await agree(requests[1])
    expect(cancelled()).toEqual([requests[0]])
    for (const uri of ['a:1', 'a:2']) await change(requests[1], uri)
    expect([first.heard, second.heard]).toEqual([['a:1', 'a:1'], ['a:2']])
    await client.close()
    await Promise.all([first.over, second.over])
  })

  test('watches hold when only the last one is acknowledged', async () => {
    const { client, requests, agree, change, cancelled } = await listening()
    const [first, second] = [watch(client, 'a:1'), watch(client, 'a:2')]
    await settle()
    await agree(requests[1])
    expect(cancelled()).toEqual([requests[0]])
    for (const uri of ['a:1', 'a:2']) await change(requests[1], uri)
    expect([first.heard, second.heard]).toEqual([['a:1'], ['a:2']])
    await client.close()
    await Promise.all([first.over, second.over])
  })

  test('watches without a session miss nothing while another one begins', async () => {
    proves('R-LISTEN-006', 'R-LISTEN-010')
    const { client, requests, agree, change } = await listening()
    const first = watch(client, 'a:1')
    await settle()
    await agree(requests[0])
    const second = watch(client, 'a:2')
    await settle()
    await change(requests[0], 'a:1')
    expect(first.heard).toEqual(['a:1'])
    await agree(requests[1])
    // What the old stream still says was said by the new one too.
    await change(requests[0], 'a:1')
    await change(requests[1], 'a:1')
    expect(first.heard).toEqual(['a:1', 'a:1'])
    await client.close()
    await Promise.all([first.over, second.over])
  })

  test('watches without a session go on when another one is refused or ended before it began', async () => {
    const { client, server, requests, refusals, agree, change } = await listening()
    const first = watch(client, 'a:1')
    await settle()
    await agree(requests[0])
    refusals.push(Object.assign(new Error('Enough'), { code: -32603 }))
    await expect(watch(client, 'a:2').over).rejects.toMatchObject({ message: 'Enough' })
    const ended = watch(client, 'a:3')
    await settle()
    server.send({ jsonrpc: '2.0', id: requests[1], result: { resultType: 'complete' } })
    await expect(ended.over).rejects.toMatchObject({ code: 'ERR_CLOSED' })
    await change(requests[0], 'a:1')
    expect(first.heard).toEqual(['a:1'])
    await client.close()
    await first.over
  })

  test('a watch that is returned ends a next() that waits, and unsubscribes, also before the server confirms', async () => {
    const { client, requests, agree, cancelled } = await listening()
    const confirmed = client.watch('a:1')
    const pending = confirmed.next()
    await settle()
    await agree(requests[0])
    expect(await confirmed.return(undefined)).toEqual({ done: true, value: undefined })
    expect(await pending).toEqual({ done: true, value: undefined })
    expect(await confirmed.next()).toEqual({ done: true, value: undefined })
    await settle()
    expect(cancelled()).toEqual([requests[0]])
    const early = client.watch('a:2')
    const next = early.next()
    await settle()
    await early.return(undefined)
    expect(await next).toEqual({ done: true, value: undefined })
    await agree(requests[1])
    expect(cancelled()).toEqual(requests)
    await client.close()
  })

  test('watches without a session that all end leave no stream behind', async () => {
    const { client, requests, agree, cancelled } = await listening()
    const stop = await (async () => {
      const started = client.onChange('tools', () => {})
      await settle()
      await agree(requests[0])
      return started
    })()
    stop()
    await settle()
    expect(cancelled()).toEqual([requests[0]])
    expect(requests).toHaveLength(1)
    await client.close()
  })
})

describe('a subscription that the server never acknowledges', () => {
  const limits = { timeoutMs: 5000 }
  const failure = {
    code: 'ERR_TIMEOUT',
    message: 'subscriptions/listen was not acknowledged within 5000 ms (limits.timeoutMs)',
  }

  test.each([
    ['onChange', (client: Client) => client.onChange('tools', () => {})],
    ['onResourceChange', (client: Client) => client.onResourceChange('a:1', () => {})],
    ['watch', (client: Client) => client.watch('a:1').next()],
  ])('an unacknowledged subscription ends %s with an error after the timeout and is cancelled', async (_name, listen) => {
    const clock = fakeClock()
    const { client, requests, agree, cancelled } = await listening({ clock, limits })
    const waiting = listen(client)
    waiting.catch(() => {})
    await settle()
    // An acknowledgement of another request is none of this one.
    await agree(99)
    await clock.advance(4999)
    expect(cancelled()).toEqual([])
    await clock.advance(1)
    await expect(waiting).rejects.toMatchObject(failure)
    expect(cancelled()).toEqual([requests[0]])
    await client.close()
  })

  test('an unacknowledged subscription does not affect acknowledged ones', async () => {
    const clock = fakeClock()
    const { client, requests, agree, change } = await listening({ clock, limits })
    const first = watch(client, 'a:1')
    await settle()
    await agree(requests[0])
    // The limit is one for the agreement, not for the listening.
    await clock.advance(60_000)
    const second = watch(client, 'a:2')
    await settle()
    await clock.advance(5000)
    await expect(second.over).rejects.toMatchObject(failure)
    await change(requests[0], 'a:1')
    expect(first.heard).toEqual(['a:1'])
    await client.close()
  })

  test('an acknowledgement whose id is text is accepted', async () => {
    const { client, server, requests, change } = await listening()
    const heard = watch(client, 'a:1')
    await settle()
    server.send({
      jsonrpc: '2.0',
      method: 'notifications/subscriptions/acknowledged',
      params: { notifications: { resourceSubscriptions: ['a:1'] }, _meta: { [ID]: String(requests[0]) } },
    })
    await settle()
    await change(String(requests[0]), 'a:1')
    expect(heard.heard).toEqual(['a:1'])
    await client.close()
  })
})

describe('a subscription that the server ends with notifications/cancelled', () => {
  const forms: [string, (id: unknown) => Message][] = [
    ['the id of the request', (id) => ({ requestId: id })],
    ['the id of the request as text', (id) => ({ requestId: String(id) })],
    ['the id of the subscription', (id) => ({ _meta: { [ID]: id } })],
    ['both', (id) => ({ requestId: id, reason: 'shutting down', _meta: { [ID]: id } })],
  ]

  test.each(forms)('a subscription cancelled by %s is opened again, and everything may have changed meanwhile', async (_name, params) => {
    proves('R-CANC-004', 'R-LISTEN-013')
    const clock = fakeClock()
    const { client, server, requests, agree, change, cancelled } = await listening({ clock })
    const { heard, over } = watch(client, 'a:1')
    await settle()
    await agree(requests[0])
    server.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: params(requests[0]) })
    await settle()
    await clock.advance(1000)
    expect(requests).toHaveLength(2)
    await agree(requests[1])
    expect(heard).toEqual(['a:1'])
    await change(requests[1], 'a:1')
    expect(heard).toEqual(['a:1', 'a:1'])
    // Who ended it need not be told that it is over.
    expect(cancelled()).toEqual([])
    await client.close()
    await over
  })

  test.each(forms)('a subscription cancelled by %s before its acknowledgement fails', async (_name, params) => {
    proves('R-CANC-004')
    const { client, server, requests } = await listening()
    const { over } = watch(client, 'a:1')
    await settle()
    server.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: params(requests[0]) })
    await expect(over).rejects.toMatchObject({ code: 'ERR_CLOSED', message: 'The server cancelled subscriptions/listen' })
    await client.close()
  })

  test('a cancellation of another id does not end a subscription', async () => {
    const { client, server, requests, agree, change } = await listening()
    const { heard } = watch(client, 'a:1')
    await settle()
    await agree(requests[0])
    for (const params of [{ requestId: 77 }, {}, { requestId: null }, { _meta: { [ID]: 'other' } }, undefined])
      server.send({ jsonrpc: '2.0', method: 'notifications/cancelled', ...(params ? { params } : {}) })
    await settle()
    await change(requests[0], 'a:1')
    expect(heard).toEqual(['a:1'])
    await client.close()
  })
})

describe('a subscription whose connection breaks', () => {
  const lost = (code: 'ERR_NETWORK' | 'ERR_HTTP' | 'ERR_TIMEOUT' | 'ERR_CLOSED' | 'ERR_AUTH') => new McpError(code, 'cable cut')
  const begin = async () => {
    const clock = fakeClock()
    const warnings: string[] = []
    const all = await listening({ clock, onWarning: (message) => warnings.push(message) })
    const { heard } = watch(all.client, 'a:1')
    await settle()
    await all.agree(all.requests[0])
    return { ...all, clock, warnings, heard }
  }

  test.each(['ERR_NETWORK', 'ERR_HTTP', 'ERR_TIMEOUT', 'ERR_CLOSED'] as const)(
    'a subscription whose connection breaks with %s is opened again after a second',
    async (code) => {
      const { client, server, clock, requests, agree, heard, warnings } = await begin()
      server.lose(requests[0], lost(code))
      await clock.advance(999)
      expect(requests).toHaveLength(1)
      await clock.advance(1)
      expect(requests).toHaveLength(2)
      await agree(requests[1])
      // What changed meanwhile is not known.
      expect(heard).toEqual(['a:1'])
      expect(warnings).toEqual([])
      await client.close()
    },
  )

  test.each([
    ['permission', (server: Script, id: unknown) => server.lose(id, lost('ERR_AUTH'))],
    [
      'an error of the server',
      (server: Script, id: unknown) => server.send({ jsonrpc: '2.0', id, error: { code: -32603, message: 'cable cut' } }),
    ],
  ])('a subscription is not opened again after %s, and that is reported', async (_what, end) => {
    const { client, server, clock, requests, warnings } = await begin()
    end(server, requests[0])
    await clock.advance(100_000)
    expect(requests).toHaveLength(1)
    expect(warnings).toEqual([expect.stringMatching(/^Change notices have stopped: .*cable cut$/)])
    await client.close()
  })

  test('a broken subscription is retried ever more slowly, and a refusal stops it', async () => {
    const { client, server, clock, requests, warnings, refusals } = await begin()
    const times: number[] = []
    server.lose(requests[0], lost('ERR_NETWORK'))
    for (let tries = 1; tries <= 10; tries++) {
      while (requests.length === tries) await clock.advance(100)
      times.push(clock.now())
      server.lose(requests[tries], lost('ERR_NETWORK'))
    }
    const pauses = times.map((at, i) => at - (times[i - 1] ?? 0))
    for (const [i, pause] of pauses.entries()) {
      const longest = i === 0 ? 1000 : Math.min(30_000, 1000 * 2 ** i)
      expect(pause, String(i)).toBeGreaterThanOrEqual(i === 0 ? 1000 : longest / 2)
      expect(pause, String(i)).toBeLessThanOrEqual(longest + 100)
    }
    expect(warnings).toEqual([])
    refusals.push(Object.assign(new Error('Enough'), { code: -32603 }))
    await clock.advance(31_000)
    expect(warnings).toEqual([expect.stringMatching(/^Change notices have stopped: .*Enough$/)])
    await clock.advance(100_000)
    expect(requests).toHaveLength(11)
    await client.close()
  })

  test('a broken subscription is not opened again when the client is closed or no watcher is left', async () => {
    const first = await begin()
    first.server.lose(first.requests[0], lost('ERR_NETWORK'))
    await first.client.close()
    await first.clock.advance(5000)
    expect(first.requests).toHaveLength(1)
    const clock = fakeClock()
    const { client, server, requests, agree } = await listening({ clock })
    const started = client.onChange('tools', () => {})
    await settle()
    await agree(requests[0])
    const stop = await started
    server.lose(requests[0], lost('ERR_NETWORK'))
    stop()
    await clock.advance(5000)
    expect(requests).toHaveLength(1)
    await client.close()
  })

  test('a subscription that ends by request or with the client reports no error', async () => {
    const { client, clock, warnings } = await begin()
    await client.close()
    await clock.advance(5000)
    expect(warnings).toEqual([])
  })
})
