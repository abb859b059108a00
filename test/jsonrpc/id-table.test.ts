import fc from 'fast-check'
import { expect, test } from 'vitest'
import { IdTable } from '../../src/jsonrpc/id-table.ts'
import type { Id } from '../../src/jsonrpc/message.ts'

class Entry {
  readonly id: Id
  sibling: Entry | undefined

  constructor(id: Id) {
    this.id = id
  }
}

const ids = fc.oneof(fc.integer({ min: 0, max: 300 }), fc.maxSafeInteger(), fc.integer({ min: 0, max: 300 }).map(String), fc.string())

test('an id table behaves like a Map for any sequence of changes', () => {
  fc.assert(
    fc.property(fc.array(ids, { maxLength: 400 }), (steps) => {
      const table = new IdTable<Entry>()
      const map = new Map<Id, Entry>()
      for (const id of steps) {
        const known = map.get(id)
        expect(table.get(id)).toBe(known)
        if (known) {
          map.delete(id)
          expect(table.remove(known)).toBe(true)
        } else {
          const entry = new Entry(id)
          map.set(id, entry)
          table.add(entry)
        }
        expect(table.size).toBe(map.size)
      }
      expect(new Set(table.all())).toEqual(new Set(map.values()))
    }),
  )
})

test('a number and the string of its digits are two ids', () => {
  const table = new IdTable<Entry>()
  const number = new Entry(1)
  table.add(number)
  expect(table.get('1')).toBeUndefined()
  expect(table.remove(new Entry(1))).toBe(false)
  expect(table.get(1)).toBe(number)
})

test('a removed entry is no longer referenced', () => {
  const table = new IdTable<Entry>()
  const [first, second] = [new Entry(1), new Entry(65)]
  table.add(first)
  table.add(second)
  expect(second.sibling).toBe(first)
  table.remove(second)
  expect(second.sibling).toBeUndefined()
  expect(table.all()).toEqual([first])
})
