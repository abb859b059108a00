import { expect, test } from 'vitest'
import { isProgressToken } from '../../../src/protocol/model/progress.ts'
import { proves } from '../../support/proves.ts'

test.each(['', 'abc', 0, -1, 7, Number.MAX_SAFE_INTEGER])('the value %j can be a progress token', (token) => {
  proves('T-PROG-003')
  expect(isProgressToken(token)).toBe(true)
})

test.each([1.5, Number.NaN, Number.POSITIVE_INFINITY, null, undefined, true, [1], { token: 1 }, 1n])(
  'the value %s cannot be a progress token',
  (token) => {
    proves('T-PROG-003')
    expect(isProgressToken(token)).toBe(false)
  },
)
