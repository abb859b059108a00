import { expect, test } from 'vitest'
import { BatchOutlet } from '../../src/jsonrpc/batch.ts'
import { recordingOutlet } from '../support/recording-outlet.ts'

test('the answers are written as one array when the last of them is in', () => {
  const outlet = recordingOutlet()
  const batch = new BatchOutlet(outlet, 2)
  batch.answer('{"id":2}')
  expect(outlet.answers).toEqual([])
  batch.answer('{"id":1}')
  expect(outlet.answers).toEqual([[{ id: 2 }, { id: 1 }]])
})

test('what was cancelled is left out', () => {
  const outlet = recordingOutlet()
  const batch = new BatchOutlet(outlet, 3)
  batch.drop()
  batch.answer('{"id":1}')
  batch.drop()
  expect(outlet.answers).toEqual([[{ id: 1 }]])
  expect(outlet.dropped).toBe(0)
})

test('a batch of which everything was cancelled is dropped', () => {
  const outlet = recordingOutlet()
  const batch = new BatchOutlet(outlet, 2)
  batch.drop()
  batch.drop()
  expect(outlet).toMatchObject({ answers: [], dropped: 1 })
})

test('what belongs to one of its requests is not held back', () => {
  const outlet = recordingOutlet()
  void new BatchOutlet(outlet, 2).push('{"method":"x"}')
  expect(outlet.pushed).toEqual([{ method: 'x' }])
})
