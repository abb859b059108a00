import { expect, test } from 'vitest'
import { comparedFirst, storedText } from '../../../console/src/state/recordings.ts'

const recording = (id: string, target: string) => ({ id, target })

test('the two newest recordings of the same server are compared first, the older one before', () => {
  const list = [
    recording('5', 'deploy'),
    recording('4', 'notes'),
    recording('3', 'rogue'),
    recording('2', 'notes'),
    recording('1', 'notes'),
  ]
  expect(comparedFirst(list)).toEqual(['2', '4'])
  expect(comparedFirst([recording('2', 'a'), recording('1', 'b')])).toEqual(['1', '2'])
  expect(comparedFirst([])).toEqual(['', ''])
})

test('the end of a recording says how many servers were silent', () => {
  const [stored, empty] = [{ state: 'stored' } as const, { state: 'empty' } as const]
  expect(storedText([stored, stored])).toBe('2 recordings stored.')
  expect(storedText([stored, empty, empty])).toBe('1 recording stored, 2 servers were silent.')
  expect(storedText([empty])).toBe('Nothing was sent, so nothing was stored.')
})
