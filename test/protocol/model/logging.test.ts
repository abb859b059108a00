import { expect, test } from 'vitest'
import { isAtLeast, isLogLevel, LOG_LEVELS } from '../../../src/protocol/model/logging.ts'
import { proves } from '../../support/proves.ts'

test('the eight levels go from debug to emergency', () => {
  proves('T-LOG-003')
  expect(LOG_LEVELS).toEqual(['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'])
})

test('a level admits itself and the more severe ones', () => {
  proves('T-LOG-003')
  for (const [i, minimum] of LOG_LEVELS.entries()) {
    expect(LOG_LEVELS.filter((level) => isAtLeast(level, minimum))).toEqual(LOG_LEVELS.slice(i))
  }
})

test.each(['verbose', 'DEBUG', 'warn', '', null, 3, undefined, ['debug'], 'toString'])('the value %j is not a log level', (level) => {
  expect(isLogLevel(level)).toBe(false)
})

test.each(LOG_LEVELS)('the value %s is a log level', (level) => {
  expect(isLogLevel(level)).toBe(true)
})
