import { expect, test } from 'vitest'
import { readTorn } from '../../../../src/host/storage/audit/torn.ts'

test.each([
  ['', 99],
  ['', 100],
  ['{"at":1', 100],
])('after %j a crash may leave %i zeros where a record has at most 100 bytes', (begun, zeros) => {
  const bytes = Buffer.concat([Buffer.from(begun), Buffer.alloc(zeros)])
  expect(readTorn(bytes, 100)).toEqual({ bytes, begun: begun.length, isClosed: false })
})

test.each(['', '{"at":1'])('more zeros after %j than a record may have bytes were not left by a crash', (begun) => {
  expect(readTorn(Buffer.concat([Buffer.from(begun), Buffer.alloc(101)]), 100)).toEqual({
    fault: '101 zeros stand at its end, more than a record may have bytes (100)',
  })
})
