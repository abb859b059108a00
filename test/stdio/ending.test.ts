import { PassThrough, Writable } from 'node:stream'
import { setImmediate as turn } from 'node:timers/promises'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { createServer, type Server } from '../../src/server/index.ts'
import { type ServeStdioOptions, type StdioServing, serveStdio } from '../../src/stdio/index.ts'

const ping = (id: string): string => `{"jsonrpc":"2.0","id":"${id}","method":"ping"}`
const call = (id: string, name: string): string =>
  `${JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params: { name, _meta: { progressToken: id } } })}\n`
const HANDSHAKE = `${JSON.stringify({
  jsonrpc: '2.0',
  id: 'hands',
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 't', version: '1' } },
})}\n{"jsonrpc":"2.0","method":"notifications/initialized"}\n`

interface Bench {
  server: Server
  input: PassThrough
  output: Writable
  serving: StdioServing
  /** The ids of the answers that were written, and the methods of notifications. */
  ids(): unknown[]
  /** Lets the tool `hold` answer. */
  letGo(): void
  /** The reason why `hold` was aborted. */
  abortReason(): unknown
  /** The output takes what was written; until then it does not. */
  takeAll(): void
}

/** A server in a session with a call in hand: `hold` answers when the test says so. */
async function holding(options: ServeStdioOptions = {}, { isSlow = false } = {}): Promise<Bench> {
  const server = createServer({ name: 'x', version: '1', onError: () => {} })
  let letGo = (): void => {}
  let signal: AbortSignal | undefined
  server.tool('hold', {}, (_args, ctx) => {
    signal = ctx.signal
    return new Promise<string>((resolve) => {
      letGo = () => resolve('let go')
    })
  })
  server.tool('report', {}, async (_args, ctx) => {
    await ctx.progress(1)
    return 'reported'
  })
  const input = new PassThrough()
  let text = ''
  const waiting: (() => void)[] = []
  const output = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      text += chunk.toString()
      if (isSlow) waiting.push(done)
      else done()
    },
  })
  const serving = serveStdio(server, { streams: { input, output }, ...options })
  input.write(HANDSHAKE)
  input.write(call('held', 'hold'))
  while (signal === undefined) await turn()
  const parsed = (): { id?: unknown; method?: string }[] => text.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line)]))
  return {
    server,
    input,
    output,
    serving,
    // That there are tools now may be said at any time.
    ids: () => parsed().flatMap(({ id, method }) => (method === 'notifications/tools/list_changed' ? [] : [id ?? method])),
    letGo: () => letGo(),
    abortReason: () => (signal?.aborted ? String(signal.reason) : undefined),
    takeAll: () => {
      for (let done = waiting.shift(); done; done = waiting.shift()) done()
    },
  }
}

/** Turns enough for everything that needs no timer. */
async function settle(): Promise<void> {
  for (let i = 0; i < 20; i++) await turn()
}

/** Whether a promise has settled. */
function watched(promise: Promise<unknown>): { isOver: boolean } {
  const state = { isOver: false }
  void promise.then(() => {
    state.isOver = true
  })
  return state
}

const fakeTimers = (): void => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
}

describe('a server that is closed', () => {
  test('a server that is closed answers running requests, but accepts no later message', async () => {
    const { input, serving, ids, letGo } = await holding({ graceMs: 60_000 })
    void serving.close()
    input.write(`${ping('late')}\n`)
    await settle()
    letGo()
    await serving.closed
    await settle()
    expect(ids()).toEqual(['hands', 'held'])
  })

  test('a server that is closed does not accept a message that only the end of its input completes', async () => {
    const { input, serving, ids, letGo } = await holding({ graceMs: 60_000 })
    input.write(ping('half'))
    await settle()
    void serving.close()
    input.end()
    await settle()
    letGo()
    await serving.closed
    await settle()
    expect(ids()).toEqual(['hands', 'held'])
  })

  test('a server that is closed waits graceMs for running requests, then aborts them, without timers left', async () => {
    fakeTimers()
    const { serving, ids, abortReason } = await holding({ graceMs: 5_000 })
    const timers = vi.getTimerCount()
    const closing = watched(serving.close())
    await settle()
    await vi.advanceTimersByTimeAsync(4_999)
    await settle()
    expect([abortReason(), closing.isOver]).toEqual([undefined, false])
    await vi.advanceTimersByTimeAsync(1)
    await settle()
    expect([abortReason(), closing.isOver]).toEqual([expect.stringContaining('The server was closed'), true])
    expect(ids()).toEqual(['hands'])
    expect(vi.getTimerCount()).toBe(timers)
  })

  test('a server that is closed ends as soon as no request is running, and leaves no timer behind', async () => {
    fakeTimers()
    const { serving, letGo } = await holding({ graceMs: 5_000 })
    const timers = vi.getTimerCount()
    const closing = watched(serving.close())
    await settle()
    expect([closing.isOver, vi.getTimerCount()]).toEqual([false, timers + 1])
    letGo()
    await settle()
    expect([closing.isOver, vi.getTimerCount()]).toEqual([true, timers])
  })

  test('a server that is closed aborts running requests at once where graceMs is 0', async () => {
    const { serving, abortReason } = await holding({ graceMs: 0 })
    void serving.close()
    expect(abortReason()).toContain('The server was closed')
    await serving.closed
  })

  test('a server that is closed a second time ends when the first end does', async () => {
    const { serving, letGo } = await holding({ graceMs: 60_000 })
    const closings = [watched(serving.close()), watched(serving.close())]
    await settle()
    expect(closings.map(({ isOver }) => isOver)).toEqual([false, false])
    letGo()
    await settle()
    expect(closings.map(({ isOver }) => isOver)).toEqual([true, true])
  })

  test('a server that is closed has ended when its output has accepted the last answer', async () => {
    fakeTimers()
    const { serving, letGo, takeAll, ids } = await holding({ graceMs: 5_000 }, { isSlow: true })
    takeAll()
    const timers = vi.getTimerCount()
    const closing = watched(serving.close())
    letGo()
    await settle()
    expect([ids(), closing.isOver]).toEqual([['hands', 'held'], false])
    takeAll()
    await settle()
    takeAll()
    await settle()
    expect([closing.isOver, vi.getTimerCount()]).toEqual([true, timers])
  })

  test('a server that is closed waits 300 ms for an output that does not accept anything', async () => {
    fakeTimers()
    const { serving, letGo } = await holding({ graceMs: 5_000 }, { isSlow: true })
    const closing = watched(serving.close())
    letGo()
    await settle()
    await vi.advanceTimersByTimeAsync(299)
    await settle()
    expect(closing.isOver).toBe(false)
    await vi.advanceTimersByTimeAsync(1)
    await settle()
    expect(closing.isOver).toBe(true)
  })

  test('a server that is closed writes a delayed answer before it ends', async () => {
    fakeTimers()
    const { input, serving, ids, letGo } = await holding({ graceMs: 5_000 })
    input.write(call('reporting', 'report'))
    await settle()
    letGo()
    await settle()
    // The time of the gap stands still.
    expect(ids()).not.toContain('reporting')
    await serving.close()
    expect(ids()).toContain('reporting')
  })

  test('a server that is closed writes nothing more', async () => {
    const { server, serving, ids, letGo } = await holding({ graceMs: 0 })
    await serving.close()
    letGo()
    server.log.info('too late')
    await settle()
    expect(ids()).toEqual(['hands'])
  })
})

describe('a client that goes away', () => {
  test.each(['input', 'output'] as const)('a client that destroys our %s without an error ends the conversation', async (which) => {
    const bench = await holding({ graceMs: 60_000 })
    bench[which].destroy()
    await bench.serving.closed
    expect(bench.abortReason()).toContain('The client is gone')
  })

  test.each(['input', 'output'] as const)('a client that goes away with an error of our %s ends the conversation', async (which) => {
    const bench = await holding({ graceMs: 60_000 })
    bench[which].destroy(new Error('reset'))
    await bench.serving.closed
    expect(bench.abortReason()).toContain('The client is gone')
  })

  test('a client that ends our input gets the answers to its earlier requests', async () => {
    const { input, serving, ids, letGo, abortReason } = await holding({ graceMs: 60_000 })
    input.end(ping('last'))
    await settle()
    expect([input.closed, abortReason()]).toEqual([true, undefined])
    letGo()
    await serving.closed
    expect(ids()).toEqual(['hands', 'last', 'held'])
  })
})
