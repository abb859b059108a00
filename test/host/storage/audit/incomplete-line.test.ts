import { expect, test } from 'vitest'
import { readIncompleteLine } from '../../../../src/host/storage/audit/incomplete-line.ts'

test.each([
  ['', 99],
  ['', 100],
  ['{"at":1', 100],
])('after %j a crash may leave %i zeros if a record has at most 100 bytes', (begun, zeros) => {
  const bytes = Buffer.concat([Buffer.from(begun), Buffer.alloc(zeros)])
  expect(readIncompleteLine(bytes, 100)).toEqual({ bytes, begun: begun.length, isComplete: false })
})

test.each(['', '{"at":1'])('more zeros after %j than a record has bytes do not come from a crash', (begun) => {
  expect(readIncompleteLine(Buffer.concat([Buffer.from(begun), Buffer.alloc(101)]), 100)).toEqual({
    fault: 'it ends with 101 zeros, more than the size of a record (100 bytes)',
  })
})
