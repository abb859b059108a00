import { describe, expect, test } from 'vitest'
import { httpHandler } from '../../../src/http/index.ts'
import { FIXED_HTTP_LIMITS } from '../../../src/http/server/fixed-limits.ts'
import { UsageByCaller } from '../../../src/http/server/limits/caller-usage.ts'
import { addressKey, forwardedAddress } from '../../../src/http/server/limits/client-address.ts'
import { DEFAULT_HTTP_LIMITS } from '../../../src/http/server/options.ts'
import { OpenStreams } from '../../../src/http/server/streams/open-streams.ts'
import { createServer } from '../../../src/server/index.ts'
import { fakeClock } from '../../../src/testing/index.ts'
import { askModern, callTool, serve, testServer } from '../../support/http-service.ts'

describe('what counts as one address', () => {
  test.each([
    ['192.0.2.1', '192.0.2.1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['::FFFF:192.0.2.1', '192.0.2.1'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8:1:2::', '2001:db8:1:2::/64'],
    ['2001:0DB8:0001:0002::9', '2001:db8:1:2::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['::', '0:0:0:0::/64'],
    ['1::2:3:4:5:6:7', '1:0:2:3::/64'],
    ['64:ff9b::192.0.2.1', '64:ff9b:0:0::/64'],
    ['', ''],
  ])('the address %j counts as %j', (address, key) => {
    expect(addressKey(address)).toBe(key)
  })

  test('all addresses of one IPv6 network share one count, two networks do not', () => {
    const holders = new UsageByCaller(new OpenStreams({ ...DEFAULT_HTTP_LIMITS, ...FIXED_HTTP_LIMITS }, fakeClock(), () => {}))
    const one = holders.of(undefined, '2001:db8::1')
    expect(holders.of(undefined, '2001:db8::2')).toBe(one)
    expect(holders.of(undefined, '2001:db8:0:1::1')).not.toBe(one)
    expect(holders.of('anna', '2001:db8::1')).not.toBe(one)
    expect(holders.of('anna', '192.0.2.1')).toBe(holders.of('anna', undefined))
  })

  test('callers that hold nothing are forgotten at the next tick, others are not', async () => {
    const clock = fakeClock()
    const holders = new UsageByCaller(new OpenStreams({ ...DEFAULT_HTTP_LIMITS, ...FIXED_HTTP_LIMITS }, clock, () => {}))
    const holding = holders.of(undefined, '192.0.2.1')
    holding.inFlight++
    for (let i = 0; i < 1000; i++) holders.of(undefined, `10.0.${i >> 8}.${i & 255}`)
    expect(holders.size).toBe(1001)
    await clock.advance(1_000)
    expect(holders.size).toBe(1)
    expect(holders.of(undefined, '192.0.2.1')).toBe(holding)
    holding.inFlight--
    await clock.advance(1_000)
    expect(holders.size).toBe(0)
  })
})

describe('trustProxy', () => {
  test.each([
    ['192.0.2.1', 1, '192.0.2.1'],
    ['203.0.113.9, 192.0.2.1', 1, '192.0.2.1'],
    ['203.0.113.9, 192.0.2.1', 2, '203.0.113.9'],
    ['203.0.113.9 ,192.0.2.1:4711', 1, '192.0.2.1'],
    ['2001:db8::1', 1, '2001:db8::1'],
    ['[2001:db8::1]:4711', 1, '2001:db8::1'],
    ['[2001:db8::1]', 1, '2001:db8::1'],
    ['192.0.2.1', 2, 'SOCKET'],
    [undefined, 1, 'SOCKET'],
    ['', 1, 'SOCKET'],
    ['unknown', 1, 'SOCKET'],
    ['_hidden', 1, 'SOCKET'],
    ['192.0.2', 1, 'SOCKET'],
    ['[evil]', 1, 'SOCKET'],
    ['a'.repeat(10_000), 1, 'SOCKET'],
  ])('X-Forwarded-For %j behind %i is %s', (header, proxies, address) => {
    expect(forwardedAddress(header, proxies, 'SOCKET')).toBe(address)
  })

  test.each([-1, 1.5, Number.NaN, 'yes'])('the address %j is refused', (trustProxy) => {
    const server = createServer({ name: 'x', version: '1' })
    expect(() => httpHandler(server, { trustProxy: trustProxy as never })).toThrow(
      'trustProxy must be true, false or the number of proxies',
    )
  })

  const seenBy = async (trustProxy: boolean | number | undefined): Promise<(string | undefined)[]> => {
    const seen: (string | undefined)[] = []
    const authenticate = (knock: { remoteAddress: string | undefined }) => {
      seen.push(knock.remoteAddress)
      return { principal: 'anna' }
    }
    const { url, handler } = await serve(testServer(), { authenticate, ...(trustProxy === undefined ? {} : { trustProxy }) })
    const headers = { 'x-forwarded-for': '203.0.113.9, 192.0.2.1' }
    await askModern(url, callTool('hi'), headers)
    await handler.fetch(new Request(url, { method: 'POST', headers }), { remoteAddress: '198.51.100.1' })
    return seen
  }

  test('trustProxy is off by default, and the header is ignored', async () => {
    expect(await seenBy(undefined)).toEqual(['127.0.0.1', '198.51.100.1'])
    expect(await seenBy(false)).toEqual(['127.0.0.1', '198.51.100.1'])
  })

  test('trustProxy gives the address that the proxies report, on Node and with fetch', async () => {
    expect(await seenBy(true)).toEqual(['192.0.2.1', '192.0.2.1'])
    expect(await seenBy(2)).toEqual(['203.0.113.9', '203.0.113.9'])
  })

  test('a runtime without client addresses has no limits by address', async () => {
    const server = testServer()
    const handler = httpHandler(server, { limits: { maxSessionsPerAddress: 1, maxInFlightPerAddress: 1, maxStreamsPerAddress: 1 } })
    const statuses = await Promise.all(
      Array.from({ length: 5 }, async () => {
        const { status } = await handler.fetch(
          new Request('http://127.0.0.1/mcp', {
            method: 'POST',
            headers: { 'content-type': 'application/json' },
            body: JSON.stringify({
              jsonrpc: '2.0',
              id: 1,
              method: 'initialize',
              params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'x', version: '1' } },
            }),
          }),
        )
        return status
      }),
    )
    expect(statuses).toEqual([200, 200, 200, 200, 200])
    expect(handler.counts.sessions).toBe(5)
    handler.close()
    expect(handler.counts).toMatchObject({ sessions: 0, inFlight: 0 })
  })
})
