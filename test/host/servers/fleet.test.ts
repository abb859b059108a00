import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import type { ServerSpec } from '../../../src/host/model/server-spec.ts'
import { Fleet, type FleetOptions } from '../../../src/host/servers/fleet.ts'
import { SupervisedServer } from '../../../src/host/servers/supervised.ts'
import { createServer } from '../../../src/server/index.ts'
import { temporaryFolders } from '../../support/folders.ts'
import { isAlive, untilGone } from '../../support/processes.ts'
import { proves } from '../../support/proves.ts'
import { call, linesOf, memoryWay, missingWay, processWay, specOf, until } from './support.ts'

const folder = temporaryFolders()
const fleets: Fleet<SupervisedServer>[] = []
afterEach(() => Promise.all(fleets.splice(0).map((fleet) => fleet.close())))

const newFleet = (options: Partial<FleetOptions<SupervisedServer>> = {}): Fleet<SupervisedServer> => {
  const fleet = new Fleet({
    supervise: (spec) => new SupervisedServer({ spec, permit: async () => spec.transport, limits: { waitMs: 10_000 } }),
    ...options,
  })
  fleets.push(fleet)
  return fleet
}

const memorySpec = (id: string): ServerSpec => {
  const server = createServer({ name: id, version: '1' })
  server.tool('t', {}, () => id)
  return specOf(memoryWay(server), id)
}

describe('a fleet of servers', () => {
  test('a fleet has one client per server, and ends them all', async () => {
    proves('T-HOST-001')
    const file = join(folder(), 'starts')
    const fleet = newFleet()
    await fleet.configure([specOf(processWay({ starts: file, word: 'a' }), 'a'), specOf(processWay({ starts: file, word: 'b' }), 'b')])
    await fleet.settled(10_000)
    expect(await call(fleet.get('a'), 'echo', { text: '1' })).toBe('a 1')
    expect(await call(fleet.get('b'), 'echo', { text: '2' })).toBe('b 2')
    await fleet.close()
    const pids = linesOf(file).map(Number)
    expect(pids).toHaveLength(2)
    expect(pids.filter(isAlive)).toEqual([])
    await expect(fleet.configure([])).rejects.toMatchObject({ code: 'ERR_CLOSED' })
  })

  test('a server that hangs or is missing does not delay the fleet', async () => {
    proves('T-ARCH-015')
    const fleet = newFleet()
    await fleet.configure([specOf(processWay({ hangs: true }), 'hangs'), specOf(missingWay, 'missing'), memorySpec('good')])
    expect(await call(fleet.get('good'), 't')).toBe('good')
    await until(() => fleet.get('missing').health.state === 'waiting')
    expect(fleet.get('hangs').health.state).toBe('connecting')
    expect(fleet.get('good').health.state).toBe('ready')
    await fleet.settled(50)
    expect(fleet.get('hangs').health.state).toBe('connecting')
  })

  test('a fleet follows its configuration: new servers start, removed ones end, others are untouched', async () => {
    const folderOf = folder()
    const file = (name: string): string => join(folderOf, name)
    const spec = (name: string, word: string): ServerSpec => specOf(processWay({ starts: file(name), word }), name)
    const fleet = newFleet()
    await fleet.configure([spec('kept', 'a'), spec('changed', 'b'), spec('gone', 'c')])
    await fleet.settled(10_000)
    await fleet.configure([spec('kept', 'a'), spec('changed', 'B'), spec('added', 'd')])
    await fleet.settled(10_000)

    expect(fleet.ids()).toEqual(['added', 'changed', 'kept'])
    expect(linesOf(file('kept'))).toHaveLength(1)
    expect(linesOf(file('changed'))).toHaveLength(2)
    expect(await call(fleet.get('changed'), 'echo', { text: '' })).toBe('B ')
    expect(await call(fleet.get('added'), 'echo', { text: '' })).toBe('d ')
    await untilGone(Number(linesOf(file('gone'))[0]), 3_000)
    await untilGone(Number(linesOf(file('changed'))[0]), 3_000)
    expect(() => fleet.get('gone')).toThrow(expect.objectContaining({ code: 'ERR_SERVER_UNKNOWN' }))
  })

  test('a fleet never has two processes of one server, even if the configuration changes fast', async () => {
    const starts = join(folder(), 'starts')
    const fleet = newFleet()
    await Promise.all(['a', 'b', 'c', 'd'].map((word) => fleet.configure([specOf(processWay({ starts, word }), 'one')])))
    await fleet.settled(10_000)
    expect(await call(fleet.get('one'), 'echo', { text: '' })).toBe('d ')
    expect(linesOf(starts).map(Number).filter(isAlive)).toHaveLength(1)
  })

  test('servers that are killed repeatedly are never mixed up, and each returns once', { timeout: 30_000 }, async () => {
    const starts = join(folder(), 'starts')
    const words = ['a', 'b', 'c', 'd']
    const fleet = newFleet({
      supervise: (spec) =>
        new SupervisedServer({
          spec,
          permit: async () => spec.transport,
          limits: { waitMs: 10_000, firstRetryMs: 10, maxRetryMs: 20, breakerFailures: 1_000 },
        }),
    })
    await fleet.configure(words.map((word) => specOf(processWay({ starts, word }), word)))
    const outcomes: string[] = []
    const work = async (word: string): Promise<void> => {
      for (let round = 0; round < 12; round++) {
        const text = String(round)
        await until(() => fleet.get(word).health.state === 'ready')
        const said = call(fleet.get(word), 'echo', { text })
        if (round % 4 === 3) await call(fleet.get(word), 'die').catch(() => {})
        outcomes.push(
          await said.then(
            (answer) => (answer === `${word} ${text}` ? 'answered' : `mixed up: ${answer}`),
            (error: { code?: string }) => String(error.code),
          ),
        )
      }
    }
    await Promise.all(words.map(work))
    expect(outcomes).toContain('answered')
    expect(outcomes.filter((outcome) => !['answered', 'ERR_EXIT', 'ERR_CLOSED', 'ERR_SERVER_DOWN'].includes(outcome))).toEqual([])
    await until(() => fleet.all().every(({ health }) => health.state === 'ready'))
    for (const word of words) expect(await call(fleet.get(word), 'echo', { text: 'back' })).toBe(`${word} back`)
    const pids = linesOf(starts).map(Number)
    expect(pids).toHaveLength(4 + 4 * 3)
    expect(pids.filter(isAlive)).toHaveLength(4)
  })

  test('the number of servers is limited, and no server is added twice', async () => {
    const fleet = newFleet({ limits: { maxServers: 2 } })
    await expect(fleet.configure([memorySpec('a'), memorySpec('b'), memorySpec('c')])).rejects.toMatchObject({
      code: 'ERR_LIMIT',
      message: expect.stringContaining('maxServers'),
    })
    await expect(fleet.configure([memorySpec('a'), memorySpec('a')])).rejects.toMatchObject({
      code: 'ERR_CONFIG',
      message: 'Two servers have the id "a"',
    })
    await fleet.configure([memorySpec('a'), memorySpec('b')])
    expect(fleet.ids()).toEqual(['a', 'b'])
  })
})
