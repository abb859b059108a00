import { expect, test } from 'vitest'
import { FailedLogins } from '../../../src/http/server/limits/failed-logins.ts'

const RATE = { perSecond: 0.5, burst: 2 }

test('refused credentials are counted by address up to the burst, then answered with a wait', async () => {
  let now = 0
  const logins = new FailedLogins(RATE, () => now)
  expect([await logins.count('192.0.2.1', 'a'), await logins.count('192.0.2.1', 'b')]).toEqual([undefined, undefined])
  expect(await logins.count('192.0.2.1', 'c')).toMatchObject({ status: 429, limit: 'failedLogins', headers: { 'retry-after': '2' } })
  expect(await logins.count('192.0.2.2', 'c')).toBeUndefined()
  now = 1_999
  expect(await logins.count('192.0.2.1', 'c')).toMatchObject({ headers: { 'retry-after': '1' } })
  now = 2_000
  expect(await logins.count('192.0.2.1', 'c')).toBeUndefined()
})

test('repeating the same credentials is not a new attempt, but trying before the wait ends is', async () => {
  const logins = new FailedLogins(RATE, () => 0)
  for (let i = 0; i < 5; i++) expect(await logins.count('192.0.2.1', 'a')).toBeUndefined()
  expect(await logins.count('192.0.2.1', 'b')).toBeUndefined()
  for (let i = 0; i < 2; i++) expect(await logins.count('192.0.2.1', 'c')).toBeDefined()
  // The last that was counted is still known.
  expect(await logins.count('192.0.2.1', 'b')).toBeUndefined()
})

test('nothing is counted without a limit', async () => {
  const logins = new FailedLogins(false, () => 0)
  for (let i = 0; i < 5; i++) expect(await logins.count('192.0.2.1', String(i))).toBeUndefined()
})

test('at most 10,000 addresses are remembered, and the oldest is forgotten', async () => {
  const logins = new FailedLogins({ perSecond: 0.5, burst: 1 }, () => 0)
  const addressOf = (i: number): string => `10.${i >> 16}.${(i >> 8) & 255}.${i & 255}`
  for (let i = 0; i < 10_000; i++) await logins.count(addressOf(i), 'a')
  expect(await logins.count(addressOf(0), 'b')).toBeDefined()
  await logins.count(addressOf(10_000), 'a')
  // The first is new again, and its coming drives the second out; the third is known.
  expect(await logins.count(addressOf(0), 'b')).toBeUndefined()
  expect(await logins.count(addressOf(2), 'b')).toBeDefined()
})
