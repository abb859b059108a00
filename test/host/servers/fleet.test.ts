import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { Fleet, type FleetOptions } from '../../../src/host/servers/fleet.ts'
import type { ServerSpec } from '../../../src/host/servers/spec.ts'
import { SupervisedServer } from '../../../src/host/servers/supervised.ts'
import { createServer } from '../../../src/server/index.ts'
import { temporaryFolders } from '../../support/folders.ts'
import { isAlive, untilGone } from '../../support/processes.ts'
import { call, linesOf, memoryWay, missingWay, processWay, specOf, until } from './support.ts'

const folder = temporaryFolders()
const fleets: Fleet[] = []
afterEach(() => Promise.all(fleets.splice(0).map((fleet) => fleet.close())))

const newFleet = (options: Partial<FleetOptions> = {}): Fleet => {
  const fleet = new Fleet({
    supervise: (spec) => new SupervisedServer({ spec, permit: async () => spec.way, limits: { waitMs: 10_000 } }),
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
  test('manages a client for each and ends them all [T-HOST-001]', async () => {
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

  test('is not held up by a server that hangs or one that is not there [T-ARCH-015]', async () => {
    const fleet = newFleet()
    await fleet.configure([specOf(processWay({ hangs: true }), 'hangs'), specOf(missingWay, 'missing'), memorySpec('good')])
    expect(await call(fleet.get('good'), 't')).toBe('good')
    await until(() => fleet.health().missing?.state === 'waiting')
    expect(fleet.health()).toMatchObject({ hangs: { state: 'connecting' }, good: { state: 'ready' } })
    await fleet.settled(50)
    expect(fleet.get('hangs').health.state).toBe('connecting')
  })

  test('follows its configuration: what is the same is left alone, what is new starts, what is gone ends', async () => {
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

  test('never has two processes of one server, however fast the configuration changes', async () => {
    const starts = join(folder(), 'starts')
    const fleet = newFleet()
    await Promise.all(['a', 'b', 'c', 'd'].map((word) => fleet.configure([specOf(processWay({ starts, word }), 'one')])))
    await fleet.settled(10_000)
    expect(await call(fleet.get('one'), 'echo', { text: '' })).toBe('d ')
    expect(linesOf(starts).map(Number).filter(isAlive)).toHaveLength(1)
  })

  test('has so many servers at most, and none twice', async () => {
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
