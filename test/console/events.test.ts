/** The event stream of a console: ids, resuming, heartbeat, limits, slow readers. */

import { describe, expect, test } from 'vitest'
import { EventLog } from '../../src/console/event-log.ts'
import type { ConsoleOptions } from '../../src/console/index.ts'
import { fakeClock } from '../../src/testing/index.ts'
import { rawHttp } from '../support/http-requests.ts'
import { until } from '../support/until.ts'
import { consoles, event, Page } from './pages.ts'

const opened = consoles()
const bare = (console: ConsoleOptions = {}) => opened({ host: { servers: {} }, console })

const warning = (text: string) => ({ kind: 'warning', text }) as const

describe('a stream', () => {
  test('begins with a hello, and then has each event with an id', async () => {
    const { console, feed } = await bare()
    const events = await (await Page.open(console)).events()
    expect(events.status).toBe(200)
    expect(events.headers['content-type']).toBe('text/event-stream; charset=utf-8')
    expect(await event(events, 'hello')).toMatchObject({ isComplete: true })
    feed.onEvent(warning('one'))
    feed.onEvent(warning('two'))
    const one = await event(events, 'warning')
    const two = await event(events, 'warning')
    expect([one.text, two.text]).toEqual(['one', 'two'])
    expect(one.eventId).toMatch(/^[0-9a-f]{12}-\d+$/)
    expect(two.eventId).not.toBe(one.eventId)
  })

  test('a reader that comes back gets exactly what it missed', async () => {
    const { console, feed } = await bare()
    const page = await Page.open(console)
    const events = await page.events()
    feed.onEvent(warning('seen'))
    const { eventId } = await event(events, 'warning')
    events.destroy()
    feed.onEvent(warning('missed'))
    const again = await page.events(eventId)
    expect(await event(again, 'hello')).toMatchObject({ isComplete: true, eventId })
    feed.onEvent(warning('new'))
    expect((await event(again, 'warning')).text).toBe('missed')
    expect((await event(again, 'warning')).text).toBe('new')
  })

  test('a reader whose events are gone is told to fetch the whole state', async () => {
    const { console, feed } = await bare({ limits: { maxEvents: 2 } })
    const page = await Page.open(console)
    const events = await page.events()
    feed.onEvent(warning('0'))
    const { eventId } = await event(events, 'warning')
    for (const text of ['1', '2', '3']) feed.onEvent(warning(text))
    expect(await event(await page.events(eventId), 'hello')).toMatchObject({ isComplete: false })
  })

  test.each(['x', '000000000000-1', '-', '999999999999-99999'])('the unknown id %s is told to fetch the whole state', async (id) => {
    const { console } = await bare()
    expect(await event(await (await Page.open(console)).events(id), 'hello')).toMatchObject({ isComplete: false })
  })

  test('a stream without events sends a comment now and then', async () => {
    const clock = fakeClock()
    const { console } = await bare({ clock })
    const events = await (await Page.open(console)).events()
    await event(events, 'hello')
    await clock.advance(15_000)
    await events.untilComments(1)
    await clock.advance(15_000)
    await events.untilComments(2)
    expect(events.comments).toBe(2)
  })

  test('an event with line breaks and control characters is one event', async () => {
    const { console, feed } = await bare()
    const events = await (await Page.open(console)).events()
    const text = 'a\r\n\ndata: x\n\nevent: hello\u2028\u0000'
    feed.onEvent(warning(text))
    expect((await event(events, 'warning')).text).toBe(text)
  })

  test('a large event only says how large it is', async () => {
    const { console, feed } = await bare({ limits: { maxInlineBytes: 1000 } })
    const events = await (await Page.open(console)).events()
    feed.onEvent(warning('x'.repeat(2000)))
    const large = await event(events, 'warning')
    expect(large.text).toBeUndefined()
    expect(large.omittedBytes).toBeGreaterThan(2000)
  })
})

describe('the limits of streams', () => {
  test('one session can open only so many', async () => {
    const { console } = await bare({ limits: { maxStreamsPerSession: 2 } })
    const page = await Page.open(console)
    const [first] = [await page.events(), await page.events()]
    expect(await page.fails('GET /api/events')).toEqual({
      status: 429,
      code: 'ERR_LIMIT',
      message: '2 event streams of this window are open already (maxStreamsPerSession)',
    })
    first?.destroy()
    await until(async () => (await page.events()).status === 200)
  })

  test('all sessions together can open only so many', async () => {
    const { console } = await bare({ limits: { maxStreams: 1 } })
    await (await Page.open(console)).events()
    expect(await (await Page.open(console)).fails('GET /api/events')).toMatchObject({
      status: 429,
      message: '1 event streams are open already (maxStreams)',
    })
  })

  test('a reader that does not read is cut off, and the others are not', async () => {
    const { console, feed } = await bare({ limits: { maxUnreadBytes: 256 * 1024 } })
    const page = await Page.open(console)
    const reading = await page.events()
    await event(reading, 'hello')
    const socket = rawHttp(
      console.port,
      `GET /api/events HTTP/1.1\r\nhost: 127.0.0.1:${console.port}\r\ncookie: ${page.cookie}\r\nportico-token: ${page.token}\r\n\r\n`,
    )
    await socket.until(/hello/)
    socket.socket.pause()
    const text = 'x'.repeat(64 * 1024)
    // The kernel takes several megabytes before the console notices. The other reader reads between the events.
    for (let sent = 0; sent < 200; sent++) {
      feed.onEvent(warning(text))
      await event(reading, 'warning')
    }
    socket.socket.resume()
    // Hangs if the console does not close the connection.
    await socket.closed
    feed.onEvent(warning('last'))
    expect((await event(reading, 'warning', (data) => data.text === 'last')).text).toBe('last')
  })

  test('a reader that stops reading for good is cut off by the heartbeat', async () => {
    const clock = fakeClock()
    const { console, feed } = await bare({ clock, limits: { maxUnreadBytes: 64 * 1024 * 1024, maxStreamsPerSession: 1 } })
    const page = await Page.open(console)
    const reader = await page.events()
    await event(reader, 'hello')
    reader.pause()
    for (let i = 0; i < 200; i++) feed.onEvent(warning('x'.repeat(100 * 1024)))
    // The place of the first stream is free when it is cut off.
    await until(async () => {
      await clock.advance(15_000)
      return (await page.events()).status === 200
    })
    reader.resume()
    expect(await reader.ended).toBe('cut')
  })
})

describe('the kept events', () => {
  test('are bounded by their bytes', () => {
    const log = new EventLog({ maxEvents: 1000, maxEventBytes: 1000, maxInlineBytes: 10_000 })
    const first = log.lastId
    log.publish('warning', { text: 'x'.repeat(400) })
    expect(log.begin(first)).toContain('"isComplete":true')
    const second = log.lastId
    for (let i = 0; i < 3; i++) log.publish('warning', { text: 'x'.repeat(400) })
    expect(log.begin(second)).toContain('"isComplete":false')
    expect(log.begin(log.lastId)).toContain('"isComplete":true')
  })

  test('an event larger than all kept bytes is sent and not kept', () => {
    const log = new EventLog({ maxEvents: 1000, maxEventBytes: 100, maxInlineBytes: 10_000 })
    const sent: string[] = []
    log.listen((text) => sent.push(text))
    const before = log.lastId
    log.publish('warning', { text: 'x'.repeat(400) })
    expect(sent).toHaveLength(1)
    expect(log.begin(before)).toContain('"isComplete":false')
  })
})

describe('events of the host', () => {
  test('changes of servers and lists arrive as events', async () => {
    const { console, host } = await opened()
    const page = await Page.open(console)
    const events = await page.events()
    await host.configure(host.specs().filter(({ id }) => id !== 'deploy'))
    expect(await event(events, 'health', ({ server }) => server === 'deploy')).toMatchObject({ health: { state: 'closed' } })
    expect((await event(events, 'catalog')).kinds).toContain('tool')
  })

  test('an event of a kind that the console does not know is passed on', async () => {
    const { console, feed } = await bare()
    const events = await (await Page.open(console)).events()
    feed.onEvent({ kind: 'later' } as never)
    expect(await event(events, 'host')).toMatchObject({ kind: 'later' })
  })
})
