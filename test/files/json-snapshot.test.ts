/** A document in memory that is never older than the last look at its file. */

import { join } from 'node:path'
import { expect, test } from 'vitest'
import { memorySnapshot, openSnapshot } from '../../src/files/json-snapshot.ts'
import { type SharedJson, sharedJson } from '../../src/files/shared-json.ts'
import { temporaryFolders } from '../support/folders.ts'

const newFolder = temporaryFolders()

const NUMBERS = { version: 1, member: 'numbers', upgrades: [(numbers: unknown) => numbers] }

const numbersIn = (file: string): SharedJson<number[]> =>
  sharedJson(file, { empty: [], format: NUMBERS, check: (value) => value as number[] })

test('a change by another process is visible after a refresh, and not before', async () => {
  const shared = numbersIn(join(newFolder(), 'state', 'numbers.json'))
  const snapshot = await openSnapshot(shared)
  await shared.update((numbers) => [...numbers, 1])
  expect(snapshot.current).toEqual([])
  expect(await snapshot.refresh()).toEqual([1])
  expect(snapshot.current).toEqual([1])
})

test('an unchanged file is not read again', async () => {
  const shared = numbersIn(join(newFolder(), 'state', 'numbers.json'))
  let reads = 0
  const read = (): Promise<number[]> => {
    reads++
    return shared.read()
  }
  const snapshot = await openSnapshot({ ...shared, read })
  await snapshot.update(() => [1])
  const before = reads
  const first = await snapshot.refresh()
  expect(await snapshot.refresh()).toBe(first)
  expect(reads).toBe(before)
})

test('refreshing while others write never shows an older state than at the start', async () => {
  const shared = numbersIn(join(newFolder(), 'state', 'numbers.json'))
  const snapshot = await openSnapshot(shared)
  let written = 0
  const looks: Promise<void>[] = []
  for (let turn = 0; turn < 20; turn++) {
    await shared.update((numbers) => [...numbers, turn])
    written++
    const least = written
    looks.push(snapshot.refresh().then((numbers) => expect(numbers.length).toBeGreaterThanOrEqual(least)))
  }
  await Promise.all(looks)
  expect(snapshot.current).toHaveLength(20)
})

test('a failed refresh does not stop the next one', async () => {
  const shared = numbersIn(join(newFolder(), 'state', 'numbers.json'))
  let isBroken = false
  const snapshot = await openSnapshot({ ...shared, read: async () => (isBroken ? Promise.reject(new Error('broken')) : shared.read()) })
  await shared.update(() => [1])
  isBroken = true
  await expect(snapshot.refresh()).rejects.toThrow('broken')
  isBroken = false
  expect(await snapshot.refresh()).toEqual([1])
})

test('a snapshot in memory returns the last value written', async () => {
  const snapshot = memorySnapshot<number[]>([])
  await Promise.all([1, 2, 3].map((each) => snapshot.update((numbers) => [...numbers, each])))
  expect(await snapshot.refresh()).toEqual([1, 2, 3])
})
