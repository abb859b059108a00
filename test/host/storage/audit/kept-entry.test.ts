/** What of an entry is kept, and how much of it is searched for secrets. */

import { expect, test, vi } from 'vitest'
import { DEFAULT_ENTRY_LIMITS, keeping } from '../../../../src/host/storage/audit/storable-entry.ts'
import { entry } from './entries.ts'

const searched = vi.hoisted(() => ({ chars: 0 }))
vi.mock('../../../../src/base/text/redact.ts', async (original) => {
  const real = await original<typeof import('../../../../src/base/text/redact.ts')>()
  const count = <T>(value: T): T => {
    searched.chars += JSON.stringify(value).length
    return value
  }
  return {
    ...real,
    redact: (value: unknown) => real.redact(count(value)),
    redactText: (text: string) => real.redactText(count(text)),
    redactHead: (text: string, max: number) => real.redactHead(count(text.slice(0, max + 1024)), max),
  }
})

const scrubbed = { chars: 0 }
const scrub = (text: string): string => {
  scrubbed.chars += text.length
  return text.replaceAll('open sesame, friend', '[redacted]')
}
const kept = keeping(Buffer.from('salt'), scrub, DEFAULT_ENTRY_LIMITS)

test('only the stored beginning of a long text is searched for secrets', () => {
  searched.chars = 0
  const { args, reasons } = kept.entry(
    entry({
      args: { text: 'x'.repeat(4_000_000), list: Array(100_000).fill('word') },
      reasons: ['y'.repeat(1_000_000)],
      facts: { z: 'z'.repeat(1_000_000) },
    }),
  )
  expect(searched.chars).toBeLessThan(60_000)
  expect(scrubbed.chars).toBeLessThan(300_000)
  expect(args).toMatchObject({ isWhole: false, bytes: expect.any(Number) })
  expect(args?.bytes).toBeGreaterThan(4_000_000)
  expect(String(args?.preview)).toMatch(/^\{"text":"x{4000,}/)
  expect(reasons[0]).toBe(`${'y'.repeat(2048)}…`)
})

test('if the cut goes through a registered secret, no part of the secret is stored', () => {
  for (let at = 4_050; at < 4_120; at++) {
    const { args, reasons } = kept.entry(
      entry({ args: { text: `${'x'.repeat(at - 20)} open sesame, friend ${'y'.repeat(9_000)}` }, reasons: [] }),
    )
    expect(JSON.stringify([args, reasons])).not.toContain('open')
  }
  for (let at = 2_020; at < 2_060; at++) {
    const { reasons } = kept.entry(entry({ reasons: [`${'x'.repeat(at)} open sesame, friend ${'y'.repeat(9_000)}`] }))
    expect(reasons[0]).not.toContain('open')
  }
})

test('a text within the limit is stored completely', () => {
  expect(kept.entry(entry({ args: { a: [1, 'two', null, { b: true }] } })).args).toMatchObject({
    isWhole: true,
    preview: { a: [1, 'two', null, { b: true }] },
  })
})
