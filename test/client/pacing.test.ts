import { describe, expect, test } from 'vitest'
import { Deadlines } from '../../src/base/deadlines.ts'
import { Pacing } from '../../src/client/pacing.ts'
import { RemoteError } from '../../src/jsonrpc/remote-error.ts'
import { fakeClock } from '../../src/testing/fake-clock.ts'

const tooFast = (retryAfterMs: unknown): RemoteError =>
  new RemoteError({ code: -32603, message: 'Too many requests', data: { reason: 'rate-limited', retryAfterMs } })

function setUp() {
  const clock = fakeClock()
  const pacing = new Pacing({ clock, deadlines: new Deadlines(clock) })
  const sent: string[] = []
  /** Sends `name`; refused as long as `isRefused` says so. */
  const send = (name: string, isRefused: () => unknown, options: { timeoutMs?: number; signal?: AbortSignal; method?: string } = {}) => {
    const run = async (): Promise<string> => {
      sent.push(`${name} at ${clock.now()}`)
      const refusal = isRefused()
      if (refusal !== undefined) throw refusal
      return name
    }
    const { method = 'tools/call', timeoutMs = 60_000, signal } = options
    const outcome = pacing.send({ method, send: run, timeoutMs, signal }).then(
      (value) => value,
      (error: Error) => error,
    )
    return outcome
  }
  const pass = (ms: number): Promise<void> => clock.advance(ms)
  return { clock, pacing, sent, send, pass }
}

describe('requests over the rate limit of the server', () => {
  test('requests over the rate limit are sent again after the time that the server named', async () => {
    const { sent, send, pass } = setUp()
    let refusals = 1
    const outcome = send('a', () => (refusals-- > 0 ? tooFast(50) : undefined))
    await pass(49)
    expect(sent).toEqual(['a at 0'])
    await pass(1)
    expect(sent).toEqual(['a at 0', 'a at 50'])
    expect(await outcome).toBe('a')
  })

  test('requests over the rate limit are repeated ever more slowly when the server names no wait', async () => {
    const { sent, send, pass } = setUp()
    const outcome = send('a', () => tooFast(0), { timeoutMs: 20_000 })
    await pass(49)
    expect(sent).toEqual(['a at 0'])
    await pass(5000)
    expect(sent).toEqual(['a at 0', 'a at 50', 'a at 150', 'a at 350', 'a at 750', 'a at 1550', 'a at 3150'])
    await pass(20_000)
    expect(await outcome).toMatchObject({ name: 'RemoteError' })
    expect(sent.length).toBeLessThan(12)
  })

  test('requests over the rate limit are repeated one by one, in order, and later ones after them', async () => {
    const { sent, send, pass } = setUp()
    let isRefused = true
    const refuse = (): unknown => (isRefused ? tooFast(10) : undefined)
    const outcomes = ['a', 'b'].map((name) => send(name, refuse))
    await pass(1)
    isRefused = false
    outcomes.push(send('c', refuse))
    const other = send('list', () => undefined, { method: 'tools/list' })
    expect(await other).toBe('list')
    expect(sent).toEqual(['a at 0', 'b at 0', 'list at 1'])
    await pass(40)
    expect(sent.slice(3).map((each) => each.split(' ')[0])).toEqual(['a', 'b', 'c'])
    expect(await Promise.all(outcomes)).toEqual(['a', 'b', 'c'])
    // The line is gone: the next is sent at once.
    expect(await send('d', () => undefined)).toBe('d')
  })

  test('repeated requests stay close to the rate that the server allows', async () => {
    const { clock, sent, send, pass } = setUp()
    let tokens = 20
    let filledAt = 0
    const bucket = (): unknown => {
      tokens = Math.min(20, tokens + (clock.now() - filledAt) / 10)
      filledAt = clock.now()
      if (tokens < 1) return tooFast(Math.ceil((1 - tokens) * 10))
      tokens--
      return undefined
    }
    const outcomes = Array.from({ length: 100 }, (_, i) => send(String(i), bucket))
    await pass(1500)
    expect((await Promise.all(outcomes)).filter((each) => typeof each === 'string')).toHaveLength(100)
    expect(sent.length).toBeLessThan(100 + 80 + 100)
  })

  test('a request over the rate limit fails at its timeout, or at once if the wait would be longer', async () => {
    const { send, pass, sent } = setUp()
    const early = send('a', () => tooFast(500), { timeoutMs: 400 })
    await pass(1)
    expect(await early).toMatchObject({ name: 'RemoteError', data: { retryAfterMs: 500 } })
    const late = send('b', () => tooFast(30), { timeoutMs: 100 })
    await pass(110)
    expect(await late).toMatchObject({ name: 'RemoteError' })
    expect(sent.filter((each) => each.startsWith('b'))).toHaveLength(4)
  })

  test('requests over the rate limit are not repeated when they are aborted or the connection ends', async () => {
    const { pacing, send, pass, sent } = setUp()
    const gone = new AbortController()
    const aborted = send('a', () => tooFast(10), { signal: gone.signal })
    const closed = send('b', () => tooFast(10))
    await pass(1)
    gone.abort(new Error('no longer wanted'))
    await pass(1)
    expect(await aborted).toMatchObject({ message: 'no longer wanted' })
    pacing.close(new Error('closed'))
    expect(await closed).toMatchObject({ message: 'closed' })
    await pass(50)
    expect(sent).toEqual(['a at 0', 'b at 0'])
  })

  test.each([
    ['another error', new RemoteError({ code: -32603, message: 'x', data: { reason: 'limit', retryAfterMs: 1 } })],
    ['an error without a time', tooFast(undefined)],
    ['an error with a time that is none', tooFast(-1)],
    ['a fault of ours', new Error('x')],
  ])('requests are not repeated after %s', async (_, error) => {
    const { send, sent } = setUp()
    expect(await send('a', () => error)).toBe(error)
    expect(sent).toHaveLength(1)
  })
})
