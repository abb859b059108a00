import { expect, test } from 'vitest'
import { BlockedAddresses } from '../../../src/http/server/limits/blocked-addresses.ts'
import { FailedLogins, tooManyFailures } from '../../../src/http/server/limits/failed-logins.ts'

const RATE = { perSecond: 0.5, burst: 2 }

test('refused credentials are counted by address up to the burst, then answered with a wait', async () => {
  let now = 0
  const logins = new FailedLogins(RATE, () => now)
  expect([await logins.count('192.0.2.1', 'a'), await logins.count('192.0.2.1', 'b')]).toEqual([0, 0])
  const waitMs = await logins.count('192.0.2.1', 'c')
  expect(tooManyFailures(RATE.burst, waitMs)).toMatchObject({ status: 429, limit: 'failedLogins', headers: { 'retry-after': '2' } })
  expect(await logins.count('192.0.2.2', 'c')).toBe(0)
  now = 1_999
  expect(await logins.count('192.0.2.1', 'c')).toBe(1)
  now = 2_000
  expect(await logins.count('192.0.2.1', 'c')).toBe(0)
})

test('repeating the same credentials is not a new attempt, but trying before the wait ends is', async () => {
  const logins = new FailedLogins(RATE, () => 0)
  for (let i = 0; i < 5; i++) expect(await logins.count('192.0.2.1', 'a')).toBe(0)
  expect(await logins.count('192.0.2.1', 'b')).toBe(0)
  for (let i = 0; i < 2; i++) expect(await logins.count('192.0.2.1', 'c')).toBeGreaterThan(0)
  // The last that was counted is still known.
  expect(await logins.count('192.0.2.1', 'b')).toBe(0)
})

test('nothing is counted without a limit', async () => {
  const logins = new FailedLogins(false, () => 0)
  for (let i = 0; i < 5; i++) expect(await logins.count('192.0.2.1', String(i))).toBe(0)
})

test('at most 10,000 addresses are remembered, and the oldest is forgotten', async () => {
  const logins = new FailedLogins({ perSecond: 0.5, burst: 1 }, () => 0)
  const addressOf = (i: number): string => `10.${i >> 16}.${(i >> 8) & 255}.${i & 255}`
  for (let i = 0; i < 10_000; i++) await logins.count(addressOf(i), 'a')
  expect(await logins.count(addressOf(0), 'b')).toBeGreaterThan(0)
  await logins.count(addressOf(10_000), 'a')
  // The first is new again, and its coming drives the second out; the third is known.
  expect(await logins.count(addressOf(0), 'b')).toBe(0)
  expect(await logins.count(addressOf(2), 'b')).toBeGreaterThan(0)
})

test('credentials that were accepted are known for 15 minutes, and noted again after a minute', async () => {
  let now = 0
  const blocked = new BlockedAddresses(() => now)
  blocked.note('ada', 'right')
  await expect.poll(() => blocked.isGood('right')).toBe(true)
  expect(await blocked.isGood('wrong')).toBe(false)
  // Not every request takes a digest.
  now = 59_999
  blocked.note('ada', 'newer')
  now = 60_000
  blocked.note('ada', 'newest')
  await expect.poll(() => blocked.isGood('newest')).toBe(true)
  expect(await blocked.isGood('newer')).toBe(false)
  now = 15 * 60_000
  expect(await blocked.isGood('right')).toBe(false)
})

test('at most 10,000 blocked addresses and accepted credentials are remembered', async () => {
  const blocked = new BlockedAddresses(() => 0)
  const addressOf = (i: number): string => `10.${i >> 16}.${(i >> 8) & 255}.${i & 255}`
  for (let i = 0; i <= 10_000; i++) blocked.block(addressOf(i), 1000)
  expect([blocked.waitOf(addressOf(0)), blocked.waitOf(addressOf(1))]).toEqual([0, 1000])
  for (let i = 0; i <= 10_000; i++) blocked.note(`caller ${i}`, `key ${i}`)
  await expect.poll(() => blocked.isGood('key 10000')).toBe(true)
  // Digests may end in another order than they began in, so one of the first is the oldest.
  const first = Array.from({ length: 50 }, (_, i) => `key ${i}`)
  await expect.poll(async () => (await Promise.all(first.map((key) => blocked.isGood(key)))).filter((isGood) => !isGood).length).toBe(1)
})
