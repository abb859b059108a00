import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import type { Health } from '../../../src/host/model/health.ts'
import type { ServerListing } from '../../../src/host/servers/listing.ts'
import { listen } from '../../../src/http/index.ts'
import { McpError } from '../../../src/protocol/errors.ts'
import type { Service } from '../../../src/protocol/interfaces/service.ts'
import { createServer } from '../../../src/server/index.ts'
import { fakeClock } from '../../../src/testing/index.ts'
import { temporaryFolders } from '../../support/folders.ts'
import { isAlive, untilGone } from '../../support/processes.ts'
import { proves } from '../../support/proves.ts'
import { call, httpWay, linesOf, memoryWay, missingWay, names, processWay, specOf, supervise, until } from './support.ts'

const folder = temporaryFolders()
const states = (seen: Health[]): string[] => seen.map(({ state }) => state)

const newServer = (name = 'here') => {
  const server = createServer({ name, version: '1.0.0' })
  server.tool('t', {}, () => 'x')
  return server
}

/** A server that can be made to answer nothing. */
function muteable(service: Service): { service: Service; mute(isMute: boolean): void } {
  let isMute = false
  const open: Service['open'] = (options) => {
    const channel = service.open(options)
    const receive: typeof channel.receive = (message, outlet) => {
      if (!isMute) channel.receive(message, outlet)
    }
    return new Proxy(channel, {
      get: (target, key) => {
        if (key === 'receive') return receive
        const value: unknown = Reflect.get(target, key, target)
        return typeof value === 'function' ? value.bind(target) : value
      },
    })
  }
  const wrapped = new Proxy(service, { get: (target, key) => (key === 'open' ? open : Reflect.get(target, key, target)) })
  return {
    service: wrapped,
    mute: (on) => {
      isMute = on
    },
  }
}

describe('starting a server', () => {
  test('starting a server happens in the background, after permission, and its offering is read', async () => {
    const seen: Health[] = []
    const server = supervise(processWay({ word: 'apple' }), { onHealth: (health) => seen.push(health) })
    server.start()
    expect(server.health.state).toBe('permitting')
    await server.settled()
    expect(states(seen)).toEqual(['permitting', 'connecting', 'ready'])
    const { offering: surface, isStale, faults } = server.listing as ServerListing
    expect({ isStale, faults }).toEqual({ isStale: false, faults: [] })
    expect(names(surface.tools)).toEqual(['die', 'echo', 'grow', 'pid', 'shout'])
    expect(surface.instructions).toBe('instructions of apple')
    expect(surface.resources[0]?.uri).toBe('fixture://apple')
    expect(surface.prompts[0]?.name).toBe('prompt-apple')
    expect(surface.capabilities.tools).toBeDefined()
    expect(await call(server, 'echo', { text: 'pie' })).toBe('apple pie')
  })

  test('a server that failed says why when the next start in the background would ask', async () => {
    const clock = fakeClock()
    let mayStart = true
    const server = supervise(missingWay, { clock, mayStart: async () => mayStart })
    server.start()
    await server.settled()
    expect(server.health.state).toBe('waiting')
    mayStart = false
    await until(async () => {
      await clock.advance(60_000)
      return server.health.state === 'not-enabled'
    })
    expect(server.health).toMatchObject({ state: 'not-enabled', lastError: { message: expect.stringContaining('nowhere') } })
  })

  test('every start needs permission, and a denied one is not tried again without a request', async () => {
    proves('T-HOST-002')
    const clock = fakeClock()
    const starts = join(folder(), 'starts')
    let mayStart = false
    let asked = 0
    const server = supervise(processWay({ starts }), {
      clock,
      permit: async () => {
        asked++
        if (!mayStart) throw new McpError('ERR_DENIED', 'The person said no')
        return processWay({ starts })
      },
    })
    server.start()
    await server.settled()
    expect(server.health).toMatchObject({ state: 'refused', error: { code: 'ERR_DENIED' } })
    await clock.advance(3_600_000)
    expect(asked).toBe(1)
    await expect(call(server, 'pid')).rejects.toMatchObject({ code: 'ERR_DENIED', message: 'The person said no' })
    expect(linesOf(starts)).toEqual([])

    mayStart = true
    expect(await server.retry()).toMatchObject({ state: 'ready' })
    expect(asked).toBe(2)
    expect(linesOf(starts)).toHaveLength(1)
  })

  test.each(['ERR_CONSENT', 'ERR_SECRET', 'ERR_AUTH', 'ERR_CONFIG'] as const)(
    'a start that ends with %s is a refusal, and is not retried',
    async (code) => {
      const server = supervise(missingWay, { permit: () => Promise.reject(new McpError(code, 'not now')) })
      expect(await server.retry()).toMatchObject({ state: 'refused', error: { code } })
    },
  )

  test('a server is started once, even if many callers want it at the same time', async () => {
    const starts = join(folder(), 'starts')
    const server = supervise(processWay({ starts }))
    const [first, second] = await Promise.all([call(server, 'pid'), call(server, 'pid'), server.retry(), server.retry()])
    expect(first).toBe(second)
    expect(linesOf(starts)).toEqual([first])
  })

  test('a disabled server is not started', async () => {
    const server = supervise(processWay(), { spec: { ...specOf(processWay()), isDisabled: true } })
    server.start()
    expect(await server.retry()).toEqual({ state: 'disabled' })
    await expect(call(server, 'pid')).rejects.toMatchObject({ code: 'ERR_SERVER_DOWN' })
  })
})

describe('a server that fails', () => {
  test('a server killed in the middle of a call fails the call at once, and is restarted and listed', async () => {
    const seen: Health[] = []
    const listings: ServerListing[] = []
    const starts = join(folder(), 'starts')
    const server = supervise(processWay({ starts }), {
      limits: { firstRetryMs: 20 },
      onHealth: (health) => seen.push(health),
      onListing: (listing) => listings.push(listing),
    })
    const pid = Number(await call(server, 'pid'))
    await server.settled()
    await expect(call(server, 'die')).rejects.toMatchObject({ code: 'ERR_EXIT' })
    expect(seen.at(-1)).toMatchObject({ state: 'waiting', lastError: { code: 'ERR_EXIT' } })
    expect(server.listing).toMatchObject({ isStale: true, faults: [{ list: 'connection' }] })
    expect(names(server.listing?.offering.tools)).toContain('echo')

    await until(() => server.health.state === 'ready')
    await server.settled()
    expect(server.listing?.isStale).toBe(false)
    expect(listings.map(({ isStale }) => isStale)).toEqual([false, true, false])
    const next = Number(await call(server, 'pid'))
    expect(next).not.toBe(pid)
    expect(linesOf(starts).map(Number)).toEqual([pid, next])
    expect(isAlive(pid)).toBe(false)
  })

  test('a server that is down at the start is connected as soon as it is available', async () => {
    const starts = join(folder(), 'starts')
    const server = supervise(processWay({ starts, failures: 2 }), { limits: { firstRetryMs: 10 } })
    server.start()
    await until(() => server.health.state === 'ready')
    // An opening that fails may take two processes: some old servers exit at the first question they do not know.
    expect(linesOf(starts).length).toBeGreaterThan(2)
    expect(await call(server, 'echo', { text: 'at last' })).toBe('word at last')
  })

  test('a failing server is restarted after growing pauses up to a limit, and calls report the pause', async () => {
    const clock = fakeClock()
    const pauses: number[] = []
    const server = supervise(missingWay, {
      clock,
      limits: { breakerFailures: 100, maxRetryMs: 8_000 },
      onHealth: (health) => {
        if (health.state === 'waiting') pauses.push(health.retryAt - clock.now())
      },
    })
    server.start()
    for (let failures = 1; failures <= 6; failures++) {
      await until(() => pauses.length === failures)
      const error = await call(server, 't').catch((reason: unknown) => reason)
      expect(error).toMatchObject({ code: 'ERR_SERVER_DOWN', data: { retryAfterMs: Math.ceil(pauses.at(-1) as number) } })
      await clock.advance(pauses.at(-1) as number)
    }
    for (const [at, atMost] of [1_000, 2_000, 4_000, 8_000, 8_000, 8_000].entries()) {
      expect(pauses[at]).toBeGreaterThanOrEqual(atMost / 2)
      expect(pauses[at]).toBeLessThanOrEqual(atMost)
    }
  })

  test('a server that fails too often is paused, tried once, and paused again if that fails', async () => {
    const clock = fakeClock()
    let attempts = 0
    const server = supervise(missingWay, {
      clock,
      limits: { breakerFailures: 3, breakerOpenMs: 60_000 },
      permit: async () => {
        attempts++
        return missingWay
      },
    })
    const settle = async (ms: number, expected: number): Promise<void> => {
      await clock.advance(ms)
      await until(() => attempts === expected && !['permitting', 'connecting'].includes(server.health.state))
    }
    server.start()
    await settle(0, 1)
    await settle(1_000, 2)
    expect(server.health.state).toBe('waiting')
    await settle(2_000, 3)
    expect(server.health).toMatchObject({ state: 'open-circuit', retryAt: clock.now() + 60_000 })
    await expect(call(server, 't')).rejects.toMatchObject({ code: 'ERR_SERVER_DOWN', data: { retryAfterMs: 60_000 } })
    await clock.advance(59_999)
    expect(attempts).toBe(3)
    await settle(1, 4)
    expect(server.health.state).toBe('open-circuit')
    expect(await server.retry()).toMatchObject({ state: 'waiting' })
    expect(attempts).toBe(5)
  })

  test('a failure right after connecting counts like a failed start', async () => {
    const clock = fakeClock()
    const server = supervise(memoryWay(newServer()), { clock, limits: { breakerFailures: 4 } })
    server.start()
    for (let deaths = 1; deaths <= 4; deaths++) {
      await until(() => server.health.state === 'ready')
      await server.use((client) => client.close())
      expect(server.health.state).toBe(deaths < 4 ? 'waiting' : 'open-circuit')
      if (server.health.state === 'waiting') await clock.advance(server.health.retryAt - clock.now())
    }
    await clock.advance(60_000)
    await until(() => server.health.state === 'ready')
    await server.use((client) => client.close())
    expect(server.health.state).toBe('open-circuit')
  })

  test('a server that fails after a long stable time is retried soon', async () => {
    const clock = fakeClock()
    const server = supervise(memoryWay(newServer()), { clock, limits: { breakerFailures: 2, pingIntervalMs: 0 } })
    for (let deaths = 0; deaths < 4; deaths++) {
      server.start()
      await clock.advance(1_000)
      await until(() => server.health.state === 'ready')
      await clock.advance(30_000)
      await server.use((client) => client.close())
      expect(server.health).toMatchObject({ state: 'waiting' })
    }
  })
})

describe('a server over HTTP', () => {
  test('an HTTP server that is not available is connected later, and reconnected after an outage', async () => {
    const first = await listen(newServer(), { handleSignals: false })
    const { port, url } = first
    await first.close()
    const server = supervise(httpWay(url), { limits: { firstRetryMs: 30, maxRetryMs: 100, breakerFailures: 1_000 } })
    expect(await server.retry()).toMatchObject({ state: 'waiting' })

    const second = await listen(newServer(), { port, handleSignals: false })
    await until(() => server.health.state === 'ready')
    expect(await call(server, 't')).toBe('x')
    await second.close()
    await expect(call(server, 't')).rejects.toThrow()
    await until(() => server.health.state !== 'ready')

    const third = await listen(newServer(), { port, handleSignals: false })
    await until(() => server.health.state === 'ready')
    await server.settled()
    expect(await call(server, 't')).toBe('x')
    await server.close()
    await third.close()
  })

  test('an HTTP server that fails one request and answers the next stays connected', async () => {
    const listening = await listen(newServer(), { handleSignals: false })
    const seen: Health[] = []
    const server = supervise(httpWay(listening.url), { onHealth: (health) => seen.push(health) })
    await server.retry()
    const broken = new McpError('ERR_HTTP', 'The server answered 502')
    await expect(server.use(() => Promise.reject(broken))).rejects.toBe(broken)
    expect(await call(server, 't')).toBe('x')
    expect(states(seen).filter((state) => state === 'ready')).toHaveLength(1)
    await server.close()
    await listening.close()
  })
})

describe('a server that does not answer', () => {
  test('a server that does not answer the handshake delays calls only briefly, and is ended', async () => {
    const starts = join(folder(), 'starts')
    const server = supervise(processWay({ starts, hangs: true }), { limits: { waitMs: 100 } })
    await expect(call(server, 'pid')).rejects.toMatchObject({ code: 'ERR_SERVER_DOWN', data: { retryAfterMs: 100 } })
    await until(() => linesOf(starts).length === 1)
    const [pid] = linesOf(starts).map(Number)
    expect(server.health.state).toBe('connecting')
    await server.close()
    expect(server.health.state).toBe('closed')
    await untilGone(pid as number, 5_000)
    expect(linesOf(starts)).toHaveLength(1)
  })

  test('a cancelled call does not wait for a server that does not answer', async () => {
    const server = supervise(processWay({ hangs: true }))
    await expect(server.use(async () => {}, { signal: AbortSignal.timeout(50) })).rejects.toMatchObject({ name: 'TimeoutError' })
  })

  test('a server that misses a ping shows it, and is reconnected after the second miss', async () => {
    const clock = fakeClock()
    const { service, mute } = muteable(newServer())
    const server = supervise(memoryWay(service), { clock })
    await server.retry()
    mute(true)
    await clock.advance(30_000 + 10_000)
    expect(server.health).toEqual({ state: 'ready', missedPings: 1 })
    await clock.advance(30_000 + 10_000)
    expect(server.health).toMatchObject({ state: 'waiting', lastError: { code: 'ERR_TIMEOUT' } })
    mute(false)
    await clock.advance(1_000)
    expect(server.health).toEqual({ state: 'ready', missedPings: 0 })
  })

  test('a server that misses one ping and answers the next is ready again', async () => {
    const clock = fakeClock()
    const { service, mute } = muteable(newServer())
    const server = supervise(memoryWay(service), { clock })
    await server.retry()
    mute(true)
    await clock.advance(40_000)
    mute(false)
    await clock.advance(40_000)
    expect(server.health).toEqual({ state: 'ready', missedPings: 0 })
  })

  test('a server that works on a call is not pinged', async () => {
    const clock = fakeClock()
    const { service, mute } = muteable(newServer())
    const server = supervise(memoryWay(service), { clock })
    await server.retry()
    mute(true)
    let end: () => void = () => {}
    const working = server.use(
      () =>
        new Promise<void>((resolve) => {
          end = resolve
        }),
    )
    await clock.advance(300_000)
    expect(server.health).toEqual({ state: 'ready', missedPings: 0 })
    end()
    await working
  })
})

describe('a listener that fails', () => {
  test('an error in a listener stops nothing', async () => {
    const warnings: string[] = []
    const fail = (): never => {
      throw new Error('in the listener')
    }
    const server = supervise(memoryWay(newServer()), { onHealth: fail, onListing: fail, onWarning: (message) => warnings.push(message) })
    await server.retry()
    expect(await call(server, 't')).toBe('x')
    expect(server.listing?.offering.tools).toHaveLength(1)
    expect(warnings).toContain('A listener for the server "one" failed: Error: in the listener')
  })
})

describe('closing a server', () => {
  test('closing a server leaves no process, even after many starts', async () => {
    const starts = join(folder(), 'starts')
    const server = supervise(processWay({ starts }), { limits: { firstRetryMs: 10 } })
    await call(server, 'pid')
    await call(server, 'die').catch(() => {})
    await until(() => server.health.state === 'ready')
    await server.close()
    const pids = linesOf(starts).map(Number)
    expect(pids).toHaveLength(2)
    for (const pid of pids) await untilGone(pid, 3_000)
    await expect(call(server, 'pid')).rejects.toMatchObject({ code: 'ERR_CLOSED' })
    expect(await server.retry()).toEqual({ state: 'closed' })
  })

  test('closing a server does not wait for an open question about its start', async () => {
    let signal: AbortSignal | undefined
    const server = supervise(processWay(), {
      permit: (given) => {
        signal = given
        return new Promise(() => {})
      },
    })
    server.start()
    await server.close()
    expect(signal?.aborted).toBe(true)
  })
})

describe('log output of a server', () => {
  test('log output of a server is passed on within the rate, and the rest is counted', async () => {
    const lines: unknown[] = []
    const warnings: string[] = []
    const clock = fakeClock()
    const server = supervise(processWay(), {
      clock,
      limits: { logs: { perSecond: 1, burst: 3 } },
      onLog: (log) => lines.push(log),
      onWarning: (message) => warnings.push(message),
    })
    await server.retry()
    await call(server, 'shout', { times: 10 })
    await until(() => lines.length === 3)
    expect(lines[0]).toEqual({ kind: 'stderr', line: 'word on standard error' })
    // Standard error does not come in order with the answers.
    await sleep(300)
    await clock.advance(1_000)
    await call(server, 'shout', { times: 1 })
    await until(() => lines.length === 4)
    expect(warnings).toEqual(['7 log messages were left out (limits.logs)'])
    await call(server, 'shout', { times: 1 })
    await sleep(300)
    await clock.advance(1_000)
    await call(server, 'shout', { times: 1 })
    await until(() => lines.length === 5)
    expect(warnings[1]).toBe('1 log message was left out (limits.logs)')
  })
})

describe('a watched resource', () => {
  test('a watched resource is watched on the next connection too, and reported as changed', async () => {
    const service = createServer({ name: 'here', version: '1' })
    service.resource('a://b', { name: 'b' }, () => 'x')
    const server = supervise(memoryWay(service), { limits: { firstRetryMs: 5 } })
    await server.retry()
    const told: string[] = []
    const stop = await server.subscribe('a://b', (uri) => told.push(uri))
    service.resourceChanged('a://b')
    await until(() => told.length === 1)
    await server.use((client) => client.close())
    await until(() => told.length === 2)
    service.resourceChanged('a://b')
    await until(() => told.length === 3)
    stop()
    service.resourceChanged('a://b')
    await call(server, 't').catch(() => {})
    expect(told).toEqual(['a://b', 'a://b', 'a://b'])
  })

  test('the number of watched resources is limited', async () => {
    const server = supervise(memoryWay(newServer()), { limits: { maxSubscriptions: 1 } })
    await server.subscribe('a://b', () => {})
    await expect(server.subscribe('a://c', () => {})).rejects.toMatchObject({
      code: 'ERR_LIMIT',
      message: expect.stringContaining('maxSubscriptions'),
    })
  })
})
