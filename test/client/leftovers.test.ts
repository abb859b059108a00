/** What keeps a process alive while somebody waits, and that nothing does when nobody does. */

import { describe, expect, test, vi } from 'vitest'
import { Client, type ConnectOptions, type Progress, verdictMemory } from '../../src/client/index.ts'
import { ProgressSink } from '../../src/client/progress-sink.ts'
import { type Behaviour, cannedServer, type Script } from '../support/scripted-server.ts'
import { type WatchedClock, watchedClock } from '../support/watched-clock.ts'

/** How many wait for a signal at the moment. */
const listening = vi.hoisted(() => ({ count: 0 }))
vi.mock('../../src/base/on-abort.ts', async (importOriginal) => {
  const { onAbort } = await importOriginal<typeof import('../../src/base/on-abort.ts')>()
  const counting: typeof onAbort = (signal, run) => {
    const unwatch = onAbort(signal, run)
    let isWatched = true
    listening.count++
    return () => {
      if (isWatched) listening.count--
      isWatched = false
      unwatch()
    }
  }
  return { onAbort: counting }
})

const never = () => undefined

async function connect(behaviour: Behaviour, options: ConnectOptions = {}, restarts = false) {
  const clock = watchedClock()
  const server = cannedServer(behaviour, { restarts })
  const client = await Client.connect(server.target, { clock, pingIntervalMs: 0, memory: verdictMemory(), ...options })
  return { clock, server, client }
}

const failure = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => 'no failure',
    (error: unknown) => error,
  )

describe('an idle connection', () => {
  test.each(['2024-11-05', '2025-11-25', '2026-07-28'])('an idle connection does not keep the process alive in %s', async (revision) => {
    const { clock, client } = await connect({ revision })
    expect(clock.held()).toBe(0)
    await client.close()
  })

  test('an idle connection does not keep the process alive by its heartbeat', async () => {
    const { clock, client } = await connect({}, { pingIntervalMs: 1000 })
    await clock.advance(60_001)
    expect(clock.held()).toBe(0)
    const before = clock.open()
    await client.close()
    expect(clock.open()).toBe(before - 1)
  })
})

describe('a client that waits keeps the process alive, and no longer than it waits', () => {
  interface Waiting {
    behaviour: Behaviour
    options?: ConnectOptions
    restarts?: boolean
    start(client: Client, signal: AbortSignal, server: Script): Promise<unknown>
  }
  const page = { mode: 'url', message: 'Connect', url: 'https://example.com', elicitationId: 'e1' }
  const ask = { method: 'elicitation/create', params: { message: '?', requestedSchema: { type: 'object', properties: {} } } }
  const visitedFirst = () => {
    let calls = 0
    return () => {
      if (++calls === 1) throw Object.assign(new Error('Visit first'), { code: -32042, data: { elicitations: [page] } })
      return { content: [] }
    }
  }
  const aborted = (signal: AbortSignal) => new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
  const cases: Record<string, Waiting> = {
    'for an answer': {
      behaviour: { results: { 'tools/call': never } },
      start: (client, signal) => client.call('x', {}, { signal }),
    },
    'for the next key of a completion': {
      behaviour: { results: { 'completion/complete': { completion: { values: [] } } } },
      start: async (client, signal) => {
        const ref = { type: 'ref/prompt' as const, name: 'p' }
        await client.complete({ ref, argument: { name: 'a', value: 'x' } })
        await client.complete({ ref, argument: { name: 'a', value: 'xy' } }, { signal })
      },
    },
    'for a page that a person has to visit': {
      behaviour: {
        results: {
          'tools/call': () => {
            throw Object.assign(new Error('Visit first'), { code: -32042, data: { elicitations: [page] } })
          },
        },
      },
      options: { answer: { elicitUrl: () => ({ action: 'accept' }) } },
      start: (client, signal) => client.call('x', {}, { signal }),
    },
    'for a new connection': {
      behaviour: { results: { 'tools/call': never } },
      restarts: true,
      start: (client, signal, server) => {
        server.hangUp(new Error('crashed'))
        return client.call('x', {}, { signal })
      },
    },
  }
  const begin = async ({ behaviour, options, restarts, start }: Waiting) => {
    const { clock, server, client } = await connect(behaviour, options, restarts)
    const controller = new AbortController()
    const ended = failure(start(client, controller.signal, server))
    await clock.advance(10)
    return { clock, server, client, controller, ended }
  }

  test.each(Object.keys(cases))('waiting for %s keeps the process alive until the caller aborts', async (name) => {
    const { clock, client, controller, ended } = await begin(cases[name] as Waiting)
    expect(clock.held()).toBeGreaterThan(0)
    controller.abort(new Error('enough'))
    expect(await ended).toMatchObject({ message: 'enough' })
    await client.close()
    expect(clock.held()).toBe(0)
  })

  test.each(Object.keys(cases).filter((name) => !name.includes('completion')))(
    'waiting for %s keeps the process alive until the client is closed',
    async (name) => {
      const { clock, client, ended } = await begin(cases[name] as Waiting)
      await client.close()
      expect(await ended).toMatchObject({ code: 'ERR_CLOSED', message: 'The client was closed' })
      expect(clock.held()).toBe(0)
    },
  )

  test.each<[string, Behaviour['results'], (client: Client, signal: AbortSignal, server: Script) => Promise<unknown>]>([
    ['an answer', { 'tools/call': { content: [] } }, (client, signal) => client.call('x', {}, { signal })],
    [
      'the next key of a completion',
      { 'completion/complete': { completion: { values: [] } } },
      async (client, signal) => {
        const type = (value: string) =>
          client.complete({ ref: { type: 'ref/prompt', name: 'p' }, argument: { name: 'a', value } }, { signal })
        await Promise.all([type('x'), type('xy')])
      },
    ],
    [
      'a page that was visited',
      { 'tools/call': visitedFirst() },
      async (client, signal) => {
        const call = client.call('x', {}, { signal })
        while (!client.completeElicitation('e1')) await Promise.resolve()
        return call
      },
    ],
    [
      'a new connection',
      { 'tools/call': { content: [] } },
      (client, signal, server) => {
        server.hangUp(new Error('crashed'))
        return client.call('x', {}, { signal })
      },
    ],
  ])('after waiting for %s, no listener is left on the signal of the caller', async (_name, results, start) => {
    const { clock, client, server } = await connect(
      { results: results ?? {} },
      { answer: { elicitUrl: () => ({ action: 'accept' }) } },
      true,
    )
    const before = listening.count
    const ended = start(client, new AbortController().signal, server)
    await clock.advance(10)
    await clock.advance(2000)
    await ended
    expect(listening.count).toBe(before)
    expect(clock.held()).toBe(0)
    await client.close()
  })

  test('waiting for a form keeps the process alive until the client is closed, which aborts the handler', async () => {
    const { clock, client } = await connect(
      { revision: '2026-07-28', results: { 'tools/call': { resultType: 'input_required', inputRequests: { a: ask } } } },
      { answer: { elicit: (_form, { signal }) => aborted(signal) } },
    )
    for (const options of [{}, { signal: new AbortController().signal }]) failure(client.call('x', {}, options))
    const ended = failure(client.call('x'))
    await clock.advance(1)
    await client.close()
    expect(await ended).toMatchObject({ code: 'ERR_CLOSED', message: 'The client was closed' })
    expect(clock.held()).toBe(0)
  })

  test('waiting for a form keeps the process alive until the server has ended', async () => {
    const { clock, client, server } = await connect(
      { revision: '2026-07-28', results: { 'tools/call': { resultType: 'input_required', inputRequests: { a: ask } } } },
      { answer: { elicit: (_form, { signal }) => aborted(signal) } },
    )
    const ended = failure(client.call('x', {}, { signal: new AbortController().signal }))
    await clock.advance(1)
    server.hangUp(new Error('cable cut'))
    expect(await ended).toMatchObject({ message: 'cable cut' })
    await client.close()
  })
})

describe('the wait for a new connection', () => {
  const lost = async (options: ConnectOptions = {}) => {
    const { clock, client, server } = await connect({ results: { 'tools/call': { content: [] } } }, options, true)
    server.hangUp(new Error('crashed'))
    return { clock, client, server }
  }

  test('the wait for a new connection ends with the timeout of the request', async () => {
    const { clock, client } = await lost()
    const short = failure(client.call('x', {}, { timeoutMs: 50 }))
    const long = client.call('x')
    await clock.advance(50)
    expect(await short).toMatchObject({
      code: 'ERR_TIMEOUT',
      message: 'There was no connection to send tools/call on within 50 ms (timeoutMs)',
    })
    await clock.advance(1000)
    expect(await long).toEqual({ content: [] })
    await client.close()
    expect(clock.held()).toBe(0)
  })

  test('the wait for a new connection ends at once for a request that was aborted before', async () => {
    const { client } = await lost()
    await expect(client.call('x', {}, { signal: AbortSignal.abort(new Error('too late')) })).rejects.toThrow('too late')
    await client.close()
  })

  test('the wait for a new connection opens nothing when the client is closed meanwhile', async () => {
    const { clock, client, server } = await lost()
    await client.close()
    await clock.advance(60_000)
    expect(server.opened).toBe(1)
  })
})

describe('progress', () => {
  const rate = { perSecond: 10, burst: 1 }
  const sink = () => {
    const clock: WatchedClock = watchedClock()
    const heard: Progress[] = []
    return { clock, heard, sink: new ProgressSink((progress) => heard.push(progress), rate, clock) }
  }

  test('delayed progress is delivered at the end, and no timer is left', () => {
    const { clock, heard, sink: progress } = sink()
    for (const each of [1, 2, 3]) progress.take({ progress: each })
    expect([heard.length, clock.open()]).toEqual([1, 1])
    progress.end()
    expect(heard).toEqual([{ progress: 1 }, { progress: 3 }])
    expect(clock.open()).toBe(0)
    expect(progress.take({ progress: 4 })).toBe(false)
  })

  test('progress that was not delayed is delivered once', () => {
    const { heard, sink: progress } = sink()
    progress.take({ progress: 1 })
    progress.end()
    progress.end()
    expect(heard).toEqual([{ progress: 1 }])
  })

  test('delayed progress is delivered once when the next slot is free', async () => {
    const { clock, heard, sink: progress } = sink()
    for (const each of [1, 2, 3]) progress.take({ progress: each })
    await clock.advance(99)
    expect(heard).toHaveLength(1)
    await clock.advance(1)
    expect(heard).toEqual([{ progress: 1 }, { progress: 3 }])
    progress.end()
    expect([heard.length, clock.open()]).toEqual([2, 0])
  })
})
