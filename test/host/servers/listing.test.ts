import { describe, expect, test } from 'vitest'
import type { Client } from '../../../src/client/client.ts'
import { DEFAULT_SUPERVISION_LIMITS, FIXED_SUPERVISION_LIMITS } from '../../../src/host/servers/limits.ts'
import { OfferingReader, type ServerListing } from '../../../src/host/servers/listing.ts'
import { McpError } from '../../../src/protocol/errors.ts'
import { createServer, type Server } from '../../../src/server/index.ts'
import { fakeClock } from '../../../src/testing/index.ts'
import { settle } from '../../support/raw-channel.ts'
import { call, memoryWay, names, processWay, supervise, until } from './support.ts'

const manyTools = (count: number): Server => {
  const server = createServer({ name: 'here', version: '1.0.0' })
  for (let at = 0; at < count; at++) server.tool(`t${at}`, {}, () => 'x')
  return server
}

/** A server that confirms that it will tell of changes when the test says so. */
function lateReader() {
  const clock = fakeClock()
  const tools = [{ name: 'first' }]
  const listings: ServerListing[] = []
  let reads = 0
  let confirm = (): void => {}
  const client = {
    server: { capabilities: { tools: { listChanged: true } } },
    onChange: () => new Promise<() => void>((resolve) => (confirm = () => resolve(() => {}))),
    tools: async function* () {
      reads++
      yield* [...tools]
    },
  }
  const reader = new OfferingReader({
    client: client as unknown as Client,
    limits: { ...DEFAULT_SUPERVISION_LIMITS, ...FIXED_SUPERVISION_LIMITS },
    clock,
    known: undefined,
    onListing: (listing) => listings.push(listing),
    onWarning: () => {},
  })
  return { clock, tools, listings, reader, reads: () => reads, confirm: () => confirm() }
}

describe('a server that acknowledges change notifications slowly', () => {
  test('a server slow to acknowledge change notifications is listed before and after it does', async () => {
    const { clock, tools, listings, reader, confirm } = lateReader()
    const started = reader.start()
    await clock.advance(1_999)
    expect(listings).toHaveLength(0)
    await clock.advance(1)
    await started
    expect(listings.map(({ offering: surface }) => surface.tools.length)).toEqual([1])
    tools.push({ name: 'second' })
    confirm()
    await until(() => listings.length === 2)
    expect(names(listings[1]?.offering.tools)).toEqual(['first', 'second'])
  })

  test('a server slow to acknowledge change notifications is not listed again after it was stopped', async () => {
    const { clock, reader, reads, confirm } = lateReader()
    const started = reader.start()
    await clock.advance(2_000)
    await started
    reader.stop()
    confirm()
    await settle()
    expect(reads()).toBe(1)
  })

  test('a server that acknowledges change notifications in time is listed once', async () => {
    const { clock, reader, reads, confirm } = lateReader()
    const started = reader.start()
    confirm()
    await started
    await clock.advance(60_000)
    expect(reads()).toBe(1)
  })
})

describe('the offering of a server', () => {
  test('an offering is read again when the server announces a change', async () => {
    const server = supervise(processWay({ word: 'new' }))
    await server.retry()
    expect(names(server.listing?.offering.tools)).not.toContain('grown-new')
    await call(server, 'grow')
    await until(() => names(server.listing?.offering.tools).includes('grown-new'))
  })

  test('several changes together cause one read, and only of the changed list', async () => {
    const clock = fakeClock()
    const service = manyTools(1)
    const asked: string[] = []
    service.use((invocation, next) => {
      asked.push(invocation.method)
      return next()
    })
    service.prompt('p', {}, () => 'x')
    const listings: ServerListing[] = []
    const server = supervise(memoryWay(service), { clock, onListing: (listing) => listings.push(listing) })
    await server.retry()
    expect(listings).toHaveLength(1)
    asked.length = 0
    for (let at = 0; at < 20; at++) service.tool(`later${at}`, {}, () => 'x')
    await clock.advance(199)
    expect(listings).toHaveLength(1)
    await clock.advance(1)
    await until(() => listings.length === 2)
    expect(listings[1]?.offering.tools).toHaveLength(21)
    expect(asked).toEqual(['tools/list'])
  })

  test('an offering that keeps changing is read less often, until it is stable again', async () => {
    const clock = fakeClock()
    const service = manyTools(1)
    let reads = 0
    service.use((invocation, next) => {
      if (invocation.method === 'tools/list') reads++
      return next()
    })
    const server = supervise(memoryWay(service), { clock })
    await server.retry()
    reads = 0
    let names = 0
    const storm = async (ms: number): Promise<void> => {
      for (let passed = 0; passed < ms; passed += 250) {
        service.tool(`later${names++}`, {}, () => 'x').remove()
        await clock.advance(250)
        await settle()
      }
    }
    await storm(60_000)
    // At 0.2 s, 0.4 s, 0.8 s, ... after each other, and every 10 s at last.
    expect(reads).toBeGreaterThan(6)
    expect(reads).toBeLessThan(16)
    reads = 0
    await storm(30_000)
    expect(reads).toBeLessThan(5)
    // One last read of what changed, and half a minute of rest.
    for (let passed = 0; passed < 45_000; passed += 500) await clock.advance(500)
    await settle()
    reads = 0
    service.tool('last', {}, () => 'x')
    await clock.advance(200)
    await until(() => reads === 1)
  })

  test('an offering is read at the configured pace', async () => {
    const clock = fakeClock()
    const service = manyTools(1)
    let reads = 0
    service.use((invocation, next) => {
      if (invocation.method === 'tools/list') reads++
      return next()
    })
    const server = supervise(memoryWay(service), { clock, limits: { listDebounceMs: 100, maxListPauseMs: 100 } })
    await server.retry()
    reads = 0
    for (let at = 0; at < 20; at++) {
      service.tool(`later${at}`, {}, () => 'x')
      await clock.advance(100)
      await settle()
    }
    expect(reads).toBeGreaterThan(15)
  })

  test('listing warns of a few faults, counts the others, and never quotes a server at length', async () => {
    const warnings: string[] = []
    const service = manyTools(1)
    service.prompt('p', {}, () => 'x')
    service.use(async (invocation, next) => {
      if (invocation.method === 'prompts/list') throw new McpError('ERR_INVALID_PARAMS', 'x'.repeat(100_000))
      if (invocation.method !== 'tools/list') return next()
      return { tools: Array(500).fill({ name: 'same', inputSchema: { type: 'object' } }) }
    })
    const server = supervise(memoryWay(service), { onWarning: (text) => warnings.push(text) })
    await server.retry()
    expect(server.listing?.offering.tools).toHaveLength(1)
    expect(warnings.filter((text) => text.includes('listed twice'))).toHaveLength(10)
    expect(warnings).toContain('489 more items are left out of the tools')
    expect(warnings.find((text) => text.includes('could not be listed'))?.length).toBeLessThan(2_010)
  })

  test('the last offering stays if a list fails, with a warning and a later retry', async () => {
    const clock = fakeClock()
    const service = manyTools(2)
    service.prompt('p', {}, () => 'x')
    let isBroken = false
    service.use((invocation, next) => {
      if (isBroken && invocation.method === 'tools/list') throw new McpError('ERR_INVALID_PARAMS', 'not today')
      return next()
    })
    const server = supervise(memoryWay(service), { clock })
    await server.retry()
    isBroken = true
    service.tool('t2', {}, () => 'x')
    service.prompt('q', {}, () => 'x')
    await clock.advance(200)
    await until(() => server.listing?.isStale === true)
    expect(names(server.listing?.offering.tools)).toEqual(['t0', 't1'])
    expect(names(server.listing?.offering.prompts)).toEqual(['p', 'q'])
    expect(server.listing?.faults).toMatchObject([{ list: 'tools', error: { message: expect.stringContaining('not today') } }])
    isBroken = false
    await clock.advance(30_000)
    await until(() => server.listing?.isStale === false)
    expect(names(server.listing?.offering.tools)).toEqual(['t0', 't1', 't2'])
  })

  test('an offering survives a reconnection after which the lists fail', async () => {
    const service = manyTools(2)
    let isBroken = false
    service.use((invocation, next) => {
      if (isBroken && invocation.method.endsWith('/list')) throw new McpError('ERR_INVALID_PARAMS', 'not today')
      return next()
    })
    const server = supervise(memoryWay(service), { limits: { firstRetryMs: 5 } })
    await server.retry()
    isBroken = true
    await server.use((client) => client.close())
    await until(() => server.health.state === 'ready')
    await server.settled()
    expect(names(server.listing?.offering.tools)).toEqual(['t0', 't1'])
    expect(server.listing).toMatchObject({ isStale: true, faults: [{ list: 'tools' }] })
  })

  test.each([
    [9, false],
    [10, false],
    [11, true],
  ])('an offering with %i items, of 10 that are allowed, is refused: %s', async (count, isRefused) => {
    const server = supervise(memoryWay(manyTools(count)), { limits: { maxOfferingItems: 10 } })
    await server.retry()
    expect(server.listing?.isStale).toBe(isRefused)
    expect(server.listing?.offering.tools).toHaveLength(isRefused ? 0 : count)
    if (isRefused) expect(server.listing?.faults[0]?.error.message).toMatch(/maxItems|maxOfferingItems/)
    expect(server.health.state).toBe('ready')
  })

  test('number and bytes of an offering are limited over all lists', async () => {
    const service = manyTools(6)
    for (let at = 0; at < 6; at++) service.prompt(`p${at}`, {}, () => 'x')
    const byNumber = supervise(memoryWay(service), { limits: { maxOfferingItems: 11 } })
    await byNumber.retry()
    expect(byNumber.listing?.faults.map(({ error }) => error.message)).toEqual([expect.stringContaining('maxOfferingItems')])

    const exact = supervise(memoryWay(service))
    await exact.retry()
    const { offering: surface } = exact.listing as ServerListing
    const { info, instructions, capabilities } = surface
    const size = [...surface.tools, ...surface.prompts].reduce((sum, item) => sum + JSON.stringify(item).length, 0)
    const all = size + JSON.stringify({ info, capabilities, instructions }).length
    for (const [maxOfferingBytes, faults] of [
      [all, 0],
      [all - 1, 1],
    ] as const) {
      const byBytes = supervise(memoryWay(service), { limits: { maxOfferingBytes } })
      await byBytes.retry()
      expect(byBytes.listing?.faults).toHaveLength(faults)
    }
  })

  test('listing does not wait for a server that never acknowledges change notifications', async () => {
    const clock = fakeClock()
    const service = manyTools(2)
    const silent = new Proxy(service, {
      get: (target, key) => (key === 'open' ? openWithout('subscriptions/listen') : Reflect.get(target, key, target)),
    })
    const openWithout =
      (method: string): typeof service.open =>
      (options) => {
        const channel = service.open(options)
        return new Proxy(channel, {
          get: (target, key) => {
            const value: unknown = Reflect.get(target, key, target)
            if (key === 'receive')
              return (...[message, outlet]: Parameters<typeof channel.receive>) => {
                if (message.kind !== 'request' || message.method !== method) target.receive(message, outlet)
              }
            return typeof value === 'function' ? value.bind(target) : value
          },
        })
      }
    const server = supervise(memoryWay(silent), { clock })
    server.start()
    await until(() => server.health.state === 'ready')
    expect(server.listing).toBeUndefined()
    await clock.advance(2_000)
    await until(() => server.listing !== undefined)
    expect(names(server.listing?.offering.tools)).toEqual(['t0', 't1'])
  })

  test('of two tools with the same name the first is kept', async () => {
    const service = manyTools(1)
    service.use(async (invocation, next) => {
      const result = await next()
      if (invocation.method !== 'tools/list') return result
      const tools = [
        { name: 'a', description: 'first', inputSchema: { type: 'object' } },
        { name: 'a', description: 'second', inputSchema: { type: 'object' } },
      ]
      return { ...result, tools }
    })
    const warnings: string[] = []
    const server = supervise(memoryWay(service), { onWarning: (message) => warnings.push(message) })
    await server.retry()
    expect(server.listing?.offering.tools).toMatchObject([{ name: 'a', description: 'first' }])
    expect(warnings).toEqual(['"a" is listed twice in the tools; the first one is used'])
  })
})
