/** What a client keeps, at the bound: the oldest goes, and nothing else. */

import { describe, expect, test } from 'vitest'
import { Deadlines } from '../../src/base/deadlines.ts'
import { Completer } from '../../src/client/completion.ts'
import { verdictMemory } from '../../src/client/index.ts'
import { PageVisits } from '../../src/client/page-visits.ts'
import { ChangeQueue, Watching } from '../../src/client/watching.ts'
import { RemoteError } from '../../src/jsonrpc/remote-error.ts'
import { watchedClock } from '../support/watched-clock.ts'

describe('what was found out about servers', () => {
  test('the client remembers the dialect of 1,000 servers, and forgets those unchanged for longest', () => {
    const memory = verdictMemory()
    for (let i = 0; i < 1000; i++) memory.set(`s${i}`, 'session')
    memory.set('s0', 'stateless')
    expect(memory.get('s1')).toBe('session')
    memory.set('s1000', 'session')
    expect([memory.get('s0'), memory.get('s1'), memory.get('s2')]).toEqual(['stateless', undefined, 'session'])
  })

  test('stored facts about a server can be forgotten, which makes room', () => {
    const memory = verdictMemory()
    for (let i = 0; i < 1000; i++) memory.set(`s${i}`, 'session')
    memory.set('s5', undefined)
    expect(memory.get('s5')).toBeUndefined()
    memory.set('new', 'session')
    expect([memory.get('s0'), memory.get('new')]).toEqual(['session', 'session'])
  })
})

describe('completion', () => {
  const completing = () => {
    const clock = watchedClock()
    const sent: string[] = []
    const completer = new Completer({
      clock,
      send: async ({ argument: { name, value } }) => {
        sent.push(`${name}=${value}`)
        return { completion: { values: [value] } }
      },
    })
    const type = (name: string, value: string): Promise<string> =>
      completer.complete({ ref: { type: 'ref/prompt', name: 'p' }, argument: { name, value } }).then(
        ({ values }) => values[0] ?? '',
        (error: Error) => error.name,
      )
    return { clock, sent, completer, type }
  }

  test('completion waits for a pause, separately for each of the last 200 arguments', async () => {
    const { clock, sent, type } = completing()
    for (let i = 0; i < 200; i++) await type(`a${i}`, 'x')
    expect(sent).toHaveLength(200)
    const first = type('a0', 'xy')
    await type('a200', 'x')
    expect(sent.slice(200)).toEqual(['a200=x'])
    // The one longest untouched made room, and all others still wait.
    await type('a1', 'xy')
    const waiting = [type('a3', 'xy'), type('a199', 'xy')]
    expect(sent.slice(201)).toEqual(['a1=xy'])
    const newer = type('a0', 'xyz')
    expect(await first).toBe('AbortError')
    await clock.advance(100)
    expect(await Promise.all([newer, ...waiting])).toEqual(['xyz', 'xy', 'xy'])
    expect(clock.open()).toBe(0)
  })

  test('completion is remembered for the last 200 values, for ten seconds, until the server changes', async () => {
    const { clock, sent, completer, type } = completing()
    for (let i = 0; i < 200; i++) await type(`a${i}`, 'x')
    await type('a0', 'x')
    expect(sent).toHaveLength(200)
    await type('a200', 'x')
    await clock.advance(9_999)
    await type('a1', 'x')
    expect(sent).toHaveLength(201)
    await type('a0', 'x')
    expect(sent.at(-1)).toBe('a0=x')
    await clock.advance(1)
    await type('a5', 'x')
    expect(sent.slice(202)).toEqual(['a5=x'])
    await clock.advance(100)
    completer.forget()
    await type('a5', 'x')
    expect(sent.slice(203)).toEqual(['a5=x'])
  })
})

describe('pages that a person has to visit', () => {
  const page = (elicitationId: string) => ({ mode: 'url', message: 'Connect', url: 'https://example.com', elicitationId })
  const required = (...ids: string[]) => new RemoteError({ code: -32042, message: 'Visit', data: { elicitations: ids.map(page) } })
  const visiting = () => {
    const clock = watchedClock()
    const pages = new PageVisits()
    const answerer = { answers: { elicitUrl: () => {} }, answer: async () => ({ action: 'accept' }) }
    const signal = new AbortController().signal
    const deadlines = new Deadlines(clock, { holdsProcess: true })
    const visit = { server: 's', signal, over: signal, maxTotalMs: 5000, deadlines }
    const call = (...ids: string[]): Promise<unknown> => {
      let sent = 0
      const send = async () => {
        if (++sent === 1) throw required(...ids)
        return { sent }
      }
      return pages.through(send, answerer as never, visit).catch((error: unknown) => error)
    }
    return { clock, pages, call }
  }

  test('at most 1,000 pages are waited for; the oldest call is then repeated without its page', async () => {
    const { clock, pages, call } = visiting()
    const calls = Array.from({ length: 1000 }, (_, i) => call(`e${i}`))
    await clock.advance(0)
    expect(pages.complete('e1')).toBe(true)
    const next = [call('e1000')]
    await clock.advance(0)
    expect(clock.held()).toBe(1)
    next.push(call('e1001'))
    expect(await calls[0]).toEqual({ sent: 2 })
    expect(pages.complete('e0')).toBe(false)
    expect(pages.complete('e2')).toBe(true)
    await clock.advance(5000)
    expect(await calls[3]).toMatchObject({ code: 'ERR_TIMEOUT', message: expect.stringContaining('5000 ms') })
    await Promise.all([...calls, ...next])
    expect(clock.held()).toBe(0)
  })

  test('pages are visited one after another, and no call waits for a page after its visit', async () => {
    const { clock, pages, call } = visiting()
    const both = call('first', 'second')
    await clock.advance(0)
    expect(pages.complete('second')).toBe(false)
    expect(pages.complete('first')).toBe(true)
    await clock.advance(0)
    expect(pages.complete('second')).toBe(true)
    expect(await both).toEqual({ sent: 2 })
    const late = call('late')
    await clock.advance(5000)
    expect(await late).toMatchObject({ code: 'ERR_TIMEOUT' })
    expect(pages.complete('late')).toBe(false)
    expect(clock.held()).toBe(0)
  })
})

describe('watches', () => {
  test('the number of watches is limited, and ended or failed ones make room', async () => {
    let refusal: Error | undefined
    const filters: unknown[] = []
    const watching = new Watching(async (filter) => {
      filters.push(filter)
      if (refusal) throw refusal
    }, 2)
    refusal = new Error('no')
    await expect(watching.onList('tools', () => {})).rejects.toThrow('no')
    expect(watching.isWanted).toBe(false)
    refusal = undefined
    const stop = await watching.onResource('a:1', () => {})
    await watching.onList('tools', () => {})
    await expect(watching.onList('prompts', () => {})).rejects.toMatchObject({
      code: 'ERR_LIMIT',
      message: 'The limit of 2 watched resources, lists and tasks is reached',
    })
    stop()
    stop()
    await watching.onList('prompts', () => {})
    // What is wanted is said once for each change of it.
    expect(filters).toEqual([
      { toolsListChanged: true },
      { resourceSubscriptions: ['a:1'] },
      { resourceSubscriptions: ['a:1'], toolsListChanged: true },
      { toolsListChanged: true },
      { toolsListChanged: true, promptsListChanged: true },
    ])
  })
})

describe('changes to loop over', () => {
  test('changes that are pending at the end are delivered, and nothing after them', async () => {
    let returned = 0
    const queue = new ChangeQueue(() => returned++)
    for (const uri of ['a', 'b', 'a']) queue.push(uri)
    queue.end()
    const told: string[] = []
    for await (const { uri } of queue) told.push(uri)
    expect(told).toEqual(['a', 'b'])
    expect(returned).toBe(0)
    expect(await queue.return()).toMatchObject({ done: true })
    expect(returned).toBe(1)
  })

  test('a loop over changes ends when either side ends it', async () => {
    for (const end of [(queue: ChangeQueue) => queue.end(), (queue: ChangeQueue) => queue.return()]) {
      const queue = new ChangeQueue(() => {})
      const next = queue.next()
      void end(queue)
      expect(await next).toEqual({ done: true, value: undefined })
    }
  })
})
