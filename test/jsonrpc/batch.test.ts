import { expect, test } from 'vitest'
import { BatchOutlet } from '../../src/jsonrpc/batch.ts'
import { recordingOutlet } from '../support/recording-outlet.ts'

test('the answers to a batch are written as one array after the last answer', () => {
  const outlet = recordingOutlet()
  const batch = new BatchOutlet(outlet, 2)
  batch.answer('{"id":2}')
  expect(outlet.answers).toEqual([])
  batch.answer('{"id":1}')
  expect(outlet.answers).toEqual([[{ id: 2 }, { id: 1 }]])
})

test('a cancelled request is left out of the answers to a batch', () => {
  const outlet = recordingOutlet()
  const batch = new BatchOutlet(outlet, 3)
  batch.drop()
  batch.answer('{"id":1}')
  batch.drop()
  expect(outlet.answers).toEqual([[{ id: 1 }]])
  expect(outlet.dropped).toBe(0)
})

test('a batch is dropped when all of its requests are cancelled', () => {
  const outlet = recordingOutlet()
  const batch = new BatchOutlet(outlet, 2)
  batch.drop()
  batch.drop()
  expect(outlet).toMatchObject({ answers: [], dropped: 1 })
})

test('notifications about a request of a batch are not held back', () => {
  const outlet = recordingOutlet()
  void new BatchOutlet(outlet, 2).push('{"method":"x"}')
  expect(outlet.pushed).toEqual([{ method: 'x' }])
})
