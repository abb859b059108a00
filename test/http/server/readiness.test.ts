/** What the answers of health checks mean, also of checks that are written without types. */

import { afterEach, describe, expect, it, vi } from 'vitest'
import { DEFAULT_HTTP_LIMITS } from '../../../src/http/index.ts'
import type { HttpCounts } from '../../../src/http/server/http-counts.ts'
import type { HealthCheck, HealthProblem } from '../../../src/http/server/operations/health.ts'
import { type Readiness, ReadinessChecks } from '../../../src/http/server/operations/readiness.ts'

const NO_LOAD = {
  inFlight: 0,
  tasks: 0,
  abandoned: 0,
  streams: 0,
  sessions: 0,
  legacySessions: 0,
  callers: 0,
  bodyBytes: 0,
  keptBytes: 0,
}

const log = vi.spyOn(console, 'error').mockImplementation(() => {})
afterEach(() => void log.mockClear())

function readinessOf(name: string, answer: () => unknown): Promise<Readiness> {
  const checks = new Map([[name, answer as HealthCheck]])
  return new ReadinessChecks({ isReady: true, counts: NO_LOAD, limits: DEFAULT_HTTP_LIMITS, checks }).read()
}

/** @param all counts the sessions of all replicas */
async function capacityWith(counts: Partial<HttpCounts>, all?: () => Promise<number>): Promise<unknown> {
  const limits = { ...DEFAULT_HTTP_LIMITS, maxSessions: 10 }
  const endpoint = { isReady: true, counts: { ...NO_LOAD, ...counts }, limits, checks: new Map() }
  return (await new ReadinessChecks(endpoint, all).read()).checks.capacity
}

const FAILED = { status: 'down', reason: 'The check failed; see the log of the server' }

describe('a health check', () => {
  it.each<[string, unknown]>([
    ['false', false],
    ['true', true],
    ['null', null],
    ['a text', 'down'],
    ['a list', []],
    ['an object', { status: 'down', reason: 'db gone' }],
    ['an object with the state unhealthy', { state: 'unhealthy', reason: 'x' }],
    ['an object with the state 1', { state: 1n, reason: 'x' }],
  ])('is down if it returns %s, and the log says what was expected', async (came, answer) => {
    const { status, checks } = await readinessOf('db', () => answer)
    expect([status, checks.db]).toEqual(['down', FAILED])
    expect(log.mock.calls.flat().join('\n')).toContain(
      `portico: the health check "db" failed: TypeError: Expected nothing, or { state: 'degraded' or 'down', reason }, got ${came}`,
    )
  })

  it('keeps its state if the reason is no text', async () => {
    for (const [state, reason] of [
      ['degraded', undefined],
      ['down', 5n],
    ]) {
      const { status, checks } = await readinessOf('db', () => ({ state, reason }))
      expect([status, checks.db]).toEqual([state, { status: state, reason: 'The check gave no reason' }])
    }
  })

  it('is ok only if it returns nothing', async () => {
    expect(await readinessOf('db', () => undefined)).toMatchObject({ status: 'ok', checks: { db: { status: 'ok' } } })
    expect(log).not.toHaveBeenCalled()
  })

  it.each(['__proto__', 'constructor'])('counts under any name, also %s', async (name) => {
    const { status, checks } = await readinessOf(name, () => ({ state: 'down', reason: 'gone' }))
    expect(status).toBe('down')
    expect(JSON.parse(JSON.stringify(checks))).toEqual(
      JSON.parse(`{"capacity":{"status":"ok"},"${name}":{"status":"down","reason":"gone"}}`),
    )
  })
})

describe('the log of health checks', () => {
  /** Answers probes that come at these seconds, and returns the lines that each of them had. */
  async function linesOf(probes: [second: number, answer: () => unknown][], name = 'db'): Promise<string[][]> {
    const [lines, checks] = [[] as string[][], new Map<string, HealthCheck>()]
    const readiness = new ReadinessChecks({ isReady: true, counts: NO_LOAD, limits: DEFAULT_HTTP_LIMITS, checks })
    const clock = vi.spyOn(performance, 'now')
    const begun = performance.now()
    for (const [second, answer] of probes) {
      clock.mockReturnValue(begun + second * 1000)
      checks.set(name, answer as HealthCheck)
      log.mockClear()
      await readiness.read()
      lines.push(log.mock.calls.map(([text]) => (text as string).replace(/^portico: the health check /, '')))
    }
    clock.mockRestore()
    return lines
  }
  const down = (): HealthProblem => ({ state: 'down', reason: 'no\ndisk' })
  const degraded = (): HealthProblem => ({ state: 'degraded', reason: 'slow' })
  const ok = (): undefined => {}
  const failing = (): never => {
    throw new Error('no database')
  }

  it('has one line for each change of a state, also when the check is ok again', async () => {
    const lines = await linesOf([ok, down, down, ok, degraded, degraded, down].map((answer, i) => [i * 100, answer]))
    expect(lines).toEqual([
      [],
      ['"db" is down: no\\ndisk'],
      [],
      ['"db" is ok again'],
      ['"db" is degraded: slow'],
      [],
      ['"db" is down: no\\ndisk'],
    ])
  })

  it.each(['store', 'keys'])('has no line of the check %s, whose faults have lines of their own', async (name) => {
    expect(
      (
        await linesOf(
          [ok, down, ok].map((answer, i) => [i * 100, answer]),
          name,
        )
      ).flat(),
    ).toEqual([])
  })

  it('has the stack of a check that throws only when it begins to', async () => {
    const lines = await linesOf([failing, failing, failing, down, ok].map((answer, i) => [i * 2, answer]))
    expect(lines).toEqual([[expect.stringMatching(/^"db" failed: Error: no database\n {4}at /)], [], [], [], ['"db" is ok again']])
  })

  it('has at most one line a minute of a check whose state changes all the time, and then its state', async () => {
    const lines = await linesOf(Array.from({ length: 601 }, (_, i) => [i * 2, i % 2 === 0 ? down : ok]))
    expect(lines.flat().length).toBeLessThanOrEqual(2 + 20)
    const quiet = await linesOf([
      [0, down],
      [2, ok],
      [4, down],
      [30, down],
      [61, down],
      [63, down],
    ])
    expect(quiet.map((each) => each.length)).toEqual([1, 1, 0, 0, 1, 0])
  })

  it('forgets checks that were removed', async () => {
    const checks = new Map<string, HealthCheck>([['db', down]])
    const readiness = new ReadinessChecks({ isReady: true, counts: NO_LOAD, limits: DEFAULT_HTTP_LIMITS, checks })
    const clock = vi.spyOn(performance, 'now').mockReturnValue(1e6)
    await readiness.read()
    checks.clear()
    clock.mockReturnValue(2e6)
    await readiness.read()
    clock.mockRestore()
    expect(log.mock.calls.flat()).toEqual(['portico: the health check "db" is down: no\\ndisk'])
  })
})

describe('the capacity', () => {
  const degraded = (reason: string): object => ({ status: 'degraded', reason })

  it('counts the sessions of all replicas, because their limit holds for all together', async () => {
    expect(await capacityWith({ sessions: 1 }, async () => 9)).toEqual(degraded('9 of 10 sessions of all replicas (limits.maxSessions)'))
    expect(await capacityWith({ sessions: 1 }, async () => 8)).toEqual({ status: 'ok' })
    expect(await capacityWith({ sessions: 9 })).toEqual(degraded('9 of 10 sessions (limits.maxSessions)'))
  })

  it('counts sessions of the oldest transport, which have the same limit for themselves', async () => {
    const full = degraded('10 of 10 sessions of the oldest transport (limits.maxSessions)')
    expect(await capacityWith({ legacySessions: 10 })).toEqual(full)
    expect(await capacityWith({ legacySessions: 10 }, async () => 1)).toEqual(full)
  })

  it('leaves out the sessions of all replicas while the store does not answer', async () => {
    const failing = async (): Promise<number> => {
      throw new Error('The store is away')
    }
    for (const count of [failing, () => new Promise<number>(() => {})]) expect(await capacityWith({}, count)).toEqual({ status: 'ok' })
    expect(log).not.toHaveBeenCalled()
  })
})
