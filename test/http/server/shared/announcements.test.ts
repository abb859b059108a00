/** Announcements that wait for a slow store, or for one that does not answer. */

import { expect, test } from 'vitest'
import { Announcements } from '../../../../src/http/server/shared/announcements.ts'
import type { ReplicaServices } from '../../../../src/http/server/shared/replica-services.ts'
import { StandingStreams } from '../../../../src/http/server/shared/standing-stream.ts'
import { McpError } from '../../../../src/protocol/errors.ts'
import type { Change } from '../../../../src/protocol/interfaces/replaceable-services.ts'
import type { Appended, Batch } from '../../../../src/store/stream-logs.ts'
import { type FakeClock, fakeClock } from '../../../../src/testing/index.ts'
import { gate, until } from '../../../support/http-service.ts'

test('many notices about tasks do not displace those about lists', async () => {
  const go = gate()
  const sent: string[] = []
  const reports: string[] = []
  const broadcast = async (json: string): Promise<void> => {
    await go.opened
    sent.push(JSON.parse(json).change.kind)
  }
  const store = { replica: { broadcast }, topics: { page: async () => ({ members: [], next: undefined }) } }
  const report = (error: Error): void => void reports.push(error.message)
  const announcements = new Announcements({ store, report } as unknown as ReplicaServices)
  for (let i = 0; i < 1100; i++)
    announcements.add({ kind: 'change', change: { kind: 'extension', id: 'tasks', method: 'notifications/tasks', params: {} } })
  announcements.add({ kind: 'change', change: { kind: 'tools' } })
  expect(reports[0]).toContain('announcements to clients (extension) wait')
  go.open()
  await until(() => sent.at(-1) === 'tools')
})

test('notices that wait are limited by their size, too, and one that is larger may wait alone', async () => {
  const go = gate()
  const sent: number[] = []
  const reports: string[] = []
  const broadcast = async (json: string): Promise<void> => {
    await go.opened
    sent.push(json.length)
  }
  const store = { replica: { broadcast }, topics: { page: async () => ({ members: [], next: undefined }) } }
  const report = (error: Error): void => void reports.push(error.message)
  const announcements = new Announcements({ store, report } as unknown as ReplicaServices)
  const add = (chars: number): void =>
    announcements.add({
      kind: 'change',
      change: { kind: 'extension', id: 'tasks', method: 'notifications/tasks', params: { text: 'x'.repeat(chars) } },
    })
  // The first one is on its way, so it does not wait.
  add(1)
  for (let i = 0; i < 6; i++) add(4 * 1024 * 1024 - 100)
  expect(reports).toHaveLength(2)
  expect(reports[0]).toContain(`More than ${16 * 1024 * 1024} characters of announcements to clients (extension) wait`)
  go.open()
  await until(() => sent.length === 5)
  const again = gate()
  go.opened = again.opened
  add(1)
  add(17 * 1024 * 1024)
  expect(reports).toHaveLength(2)
  again.open()
  await until(() => sent.length === 7)
})

interface Scripted {
  announcements: Announcements
  /** Those of another endpoint with the same store. */
  another(): Announcements
  clock: FakeClock
  standing: StandingStreams
  /** What the store has added, in order. */
  added: string[]
  reports: string[]
  replica: { id: string; isHeld: boolean; leaseMs: number; broadcast(json: string): Promise<void> }
  /** Called before each append, and after it. What it throws is what the announcement gets. */
  faults: { before?(sid: string): void; after?(sid: string): void; isFenced?(sid: string): boolean }
}

/** Announcements to sessions of a store that fails as a test says. It knows a batch that comes again, as every store. */
function announceTo(pages: string[][]): Scripted {
  const [clock, added, reports, faults]: [FakeClock, string[], string[], Scripted['faults']] = [fakeClock(), [], [], {}]
  const last = new Map<string, number>()
  const append = async (sid: string, _stream: string, { n, events }: Batch): Promise<Appended> => {
    faults.before?.(sid)
    const before = last.get(sid) ?? 0
    if (n < before || faults.isFenced?.(sid)) return 'fenced'
    if (n > before) for (const { json } of events) added.push(`${sid} ${JSON.parse(json).method}`)
    last.set(sid, n)
    faults.after?.(sid)
    return { positions: [], reader: undefined }
  }
  const page = async (_topic: string, cursor = '0') => {
    const next = Number(cursor) + 1
    return { members: pages[Number(cursor)] ?? [], next: next < pages.length ? String(next) : undefined }
  }
  const replica = { id: 'a', isHeld: true, leaseMs: 1000, broadcast: async () => {} }
  const store = { replica, topics: { page, remove: async () => {} }, streams: { append } }
  let batches = 0
  const services = { store, clock, nextBatch: () => ++batches, report: (error: Error): void => void reports.push(error.message) }
  const standing = new StandingStreams(services as unknown as ReplicaServices)
  const another = (): Announcements => new Announcements({ ...services, standing } as unknown as ReplicaServices)
  return { announcements: another(), another, clock, standing, added, reports, replica, faults }
}

const TOOLS = { kind: 'change', change: { kind: 'tools' } } as const
const PROMPTS = { kind: 'change', change: { kind: 'prompts' } } as const
const toolsTo = (sids: string): string[] => [...sids].map((sid) => `${sid} notifications/tools/list_changed`)
const down = (): never => {
  throw new McpError('ERR_STORE_DOWN', 'The store does not answer')
}

test('a notice whose reply was lost is added once, also by a replica with another name', async () => {
  const { announcements, clock, added, faults, replica } = announceTo([['a', 'b']])
  let failures = 0
  faults.after = (sid) => {
    if (sid !== 'a' || ++failures > 2) return
    replica.isHeld = failures === 2
    replica.id = String(failures)
    down()
  }
  announcements.add(TOOLS)
  await clock.advance(10_000)
  expect(added).toEqual(toolsTo('ab'))
  expect(failures).toBe(3)
})

test('neither the other replicas nor a session keep the other sessions from a notice', async () => {
  const { announcements, clock, added, reports, replica, faults } = announceTo([['a', 'b', 'c']])
  const refuse = (what: string): never => {
    throw new McpError('ERR_STORE', `No ${what}`)
  }
  replica.broadcast = async () => refuse('broadcast')
  faults.before = (sid) => void (sid === 'b' && refuse('session'))
  announcements.add(TOOLS)
  await clock.advance(1)
  expect(added).toEqual(toolsTo('ac'))
  expect(reports.sort()).toEqual(['No broadcast', 'No session'])
})

test('a session whose level is being changed gets a log message once, although it is in two topics', async () => {
  const { announcements, clock, added } = announceTo([['a', 'b']])
  announcements.add({ kind: 'log', level: 'info', json: '{"method":"notifications/message"}' })
  await clock.advance(1)
  expect(added.sort()).toEqual(['a notifications/message', 'b notifications/message'])
})

test('after a failure all pages of a topic are read again, and no session is told twice', async () => {
  const pages = [['a', 'b'], ['c']]
  const { announcements, clock, added, faults } = announceTo(pages)
  let failures = 0
  faults.before = (sid) => {
    if (sid !== 'b' || failures++ > 0) return
    // As a Redis that was restarted: what was on a later page is on an earlier one.
    pages.splice(0, 2, ['c', 'a'], ['b'])
    down()
  }
  announcements.add(TOOLS)
  await clock.advance(10_000)
  expect(added.sort()).toEqual(toolsTo('abc'))
})

test('a session that the store refuses while it renews the lease does not hold up the others for ever', async () => {
  const { announcements, clock, added, reports, faults } = announceTo([['a', 'b']])
  faults.before = (sid) => void (sid === 'a' && down())
  announcements.add(TOOLS)
  announcements.add(PROMPTS)
  await clock.advance(5000)
  expect(added).toEqual(toolsTo('b'))
  await clock.advance(10_000)
  expect(added).toEqual([...toolsTo('b'), 'b notifications/prompts/list_changed'])
  expect(reports).toHaveLength(2)
  delete faults.before
  announcements.add(TOOLS)
  await clock.advance(1)
  expect(added.slice(2)).toEqual(toolsTo('ab'))
})

test('a message of a handler does not displace a notice that is being sent again', async () => {
  const { announcements, clock, standing, added, faults } = announceTo([['a']])
  faults.after = down
  announcements.add(TOOLS)
  await clock.advance(1)
  await expect(standing.append('a', { json: '{"method":"other"}' })).rejects.toMatchObject({ code: 'ERR_STORE_DOWN' })
  delete faults.after
  await clock.advance(10_000)
  expect(await standing.append('a', { json: '{"method":"later"}' })).toBe(true)
  expect(added).toEqual([...toolsTo('a'), 'a later'])
})

test('a replica that ends sends nothing again', async () => {
  const { announcements, clock, reports, faults } = announceTo([['a']])
  faults.before = down
  announcements.add(TOOLS)
  await clock.advance(1)
  announcements.stop()
  await clock.advance(10_000)
  expect(reports).toEqual(['The store does not answer'])
})

test('an endpoint that ends goes on with what it has heard while another one uses the store', async () => {
  const { announcements, another, clock, added, reports, faults } = announceTo([['a']])
  const others = another()
  faults.before = down
  for (const each of [announcements, others]) each.hear(TOOLS)
  await clock.advance(1)
  announcements.stop()
  await clock.advance(1000)
  delete faults.before
  await clock.advance(1000)
  expect(added).toEqual(toolsTo('a'))
  expect(reports).toEqual([])
  others.stop()
})

test('a notice that the store takes for an older one is reported, and the other sessions are told', async () => {
  const { announcements, clock, added, reports, faults } = announceTo([['a', 'b']])
  faults.isFenced = (sid) => sid === 'a'
  announcements.add(TOOLS)
  await clock.advance(0)
  await until(() => added.length > 0)
  expect(added).toEqual(toolsTo('b'))
  expect(reports).toEqual(['A notice was dropped: the store took it for an older one'])
})

test('a change that is announced again while it waits is told once', async () => {
  const go = gate()
  const sent: string[] = []
  const reports: unknown[] = []
  const broadcast = async (json: string): Promise<void> => {
    await go.opened
    const { change } = JSON.parse(json)
    sent.push(change.uri ?? change.kind)
  }
  const store = { replica: { broadcast }, topics: { page: async () => ({ members: [], next: undefined }) } }
  const service = { requiredScopes: () => [] }
  const report = (error: unknown): void => void reports.push(error)
  const announcements = new Announcements({ store, service, report } as unknown as ReplicaServices)
  const add = (change: Change): void => announcements.add({ kind: 'change', change })
  for (let i = 0; i < 1500; i++) {
    for (const uri of ['note://1', 'note://2']) add({ kind: 'resource', uri })
    add({ kind: 'tools' })
    if (i < 2) add({ kind: 'extension', id: 'tasks', method: 'notifications/tasks', params: {} })
  }
  go.open()
  // The first one had begun, so what changed since then is told again.
  const told = ['note://1', 'note://2', 'tools', 'extension', 'note://1', 'extension']
  await until(() => sent.length >= told.length)
  add({ kind: 'prompts' })
  await until(() => sent.at(-1) === 'prompts')
  expect(sent).toEqual([...told, 'prompts'])
  expect(reports).toEqual([])
})

test('short faults of the store with a long time between them drop no notice', async () => {
  const { announcements, clock, added, reports, faults } = announceTo([['a']])
  for (let day = 0; day < 3; day++) {
    let hasFailed = false
    faults.before = () => {
      if (hasFailed) return
      hasFailed = true
      down()
    }
    announcements.add(TOOLS)
    await clock.advance(24 * 60 * 60 * 1000)
  }
  expect([added, reports]).toEqual([toolsTo('aaa'), []])
})
