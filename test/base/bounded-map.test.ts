import { expect, test } from 'vitest'
import { BoundedMap } from '../../src/base/bounded-map.ts'

test('a full map drops its oldest entry and reports it', () => {
  const dropped: [string, number][] = []
  const map = new BoundedMap<string, number>(2, (key, value) => dropped.push([key, value]))
  map.set('a', 1).set('b', 2).set('c', 3)
  expect([...map]).toEqual([
    ['b', 2],
    ['c', 3],
  ])
  expect(dropped).toEqual([['a', 1]])
})

test('setting a key again makes it the newest, and reading it does not', () => {
  const map = new BoundedMap<string, number>(2)
  map.set('a', 1).set('b', 2).set('a', 3)
  map.get('b')
  map.set('c', 4)
  expect([...map.keys()]).toEqual(['a', 'c'])
})

test('deleting an entry makes room', () => {
  const map = new BoundedMap<string, number>(1)
  map.set('a', 1)
  map.delete('a')
  map.set('b', 2)
  expect([...map]).toEqual([['b', 2]])
})

test('a map with no room keeps the newest entry only', () => {
  const map = new BoundedMap<string, number>(0)
  map.set('a', 1).set('b', 2)
  expect(map.size).toBe(1)
})
