import { chmodSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { auditRetention } from '../../src/cli/connections/audit-retention.ts'
import { openAuditLog } from '../../src/host/storage/audit/log.ts'
import { entry } from '../host/storage/audit/entries.ts'
import { temporaryFolders } from '../support/folders.ts'
import { portico, serve } from './support/cli.ts'

const newFolder = temporaryFolders()

test('the audit log is kept as options say, then as variables say, else for ever', () => {
  const env = { PORTICO_AUDIT_MAX_AGE: '36h', PORTICO_AUDIT_MAX_SIZE: '500MB', PORTICO_AUDIT_ARCHIVE: 'old' }
  expect(auditRetention({ env, cwd: '/x' })).toEqual({ maxAgeMs: 129_600_000, maxBytes: 500_000_000, archive: '/x/old' })
  expect(auditRetention({ env, cwd: '/x' }, { auditMaxAge: '30d', auditMaxSize: '2gb' })).toEqual({
    maxAgeMs: 2_592_000_000,
    maxBytes: 2_000_000_000,
    archive: '/x/old',
  })
  expect(auditRetention({ env: { PORTICO_AUDIT_MAX_AGE: '' }, cwd: '/x' })).toBeUndefined()
})

test.each([
  [{ PORTICO_AUDIT_MAX_AGE: 'a month' }, {}, 'PORTICO_AUDIT_MAX_AGE must be a time such as 30d, not "a month"'],
  [{}, { auditMaxAge: '1s' }, '--audit-max-age must be at least 1d, not "1s": older records leave the log'],
  [{ PORTICO_AUDIT_MAX_AGE: '23h' }, {}, 'PORTICO_AUDIT_MAX_AGE must be at least 1d, not "23h"'],
  [{}, { auditMaxSize: '2kB' }, '--audit-max-size must be at least 20MB, not "2kB": what is above it leaves the log'],
  [{}, { auditMaxSize: '500' }, '--audit-max-size must be a size such as 500MB or 2GB, not "500"'],
  [{ PORTICO_AUDIT_ARCHIVE: '/old' }, {}, 'PORTICO_AUDIT_ARCHIVE needs a largest age or size of the log'],
])('a retention that makes no sense (%j, %j) is an error that names its source', (env, options, told) => {
  expect(() => auditRetention({ env, cwd: '/x' }, options)).toThrow(told)
})

test('a command of the host moves old parts of the log into the archive, where they can be verified', async () => {
  const home = newFolder()
  const archive = join(home, 'old')
  const env = { HOME: home, PORTICO_HOME: join(home, 'host'), PORTICO_AUDIT_MAX_AGE: '1d', PORTICO_AUDIT_ARCHIVE: archive }
  await portico(['servers', 'add', 'rogue', ...serve('rogue')], { env })
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() - 3 * 24 * 60 * 60_000 })
  const log = await openAuditLog({ folder: join(env.PORTICO_HOME, 'audit') })
  await log.refusal(entry())
  await log.close()
  vi.useRealTimers()
  // It writes that it was refused, because no one can be asked.
  expect((await portico(['call', 'rogue/forecast', 'city=Paris'], { env })).code).toBe(3)
  expect(readdirSync(archive)).toContain('audit-000001.jsonl')
  expect(await portico(['audit', 'verify', '--archive', archive], { env })).toMatchObject({ code: 0 })
  const { code, stderr } = await portico(['call', 'rogue/forecast'], { env: { ...env, PORTICO_AUDIT_MAX_AGE: 'x' } })
  expect([code, stderr]).toEqual([8, expect.stringContaining('PORTICO_AUDIT_MAX_AGE must be a time')])
  const up = await portico(['up', '--audit-max-size', 'much'], { env })
  expect([up.code, up.stderr]).toEqual([2, expect.stringContaining('--audit-max-size must be a size')])
}, 20_000)

test('wrong variables and an archive that others can read are errors before anything is due', async () => {
  const home = newFolder()
  const run = (words: string[], env: Record<string, string>) =>
    portico(words, { env: { HOME: home, PORTICO_HOME: join(home, 'host'), ...env } })
  for (const words of [
    ['audit', 'verify'],
    ['audit', 'show'],
    ['audit', 'anchor', 'x'],
    ['servers', 'list'],
  ]) {
    const { code, stderr } = await run(words, { PORTICO_AUDIT_MAX_SIZE: '2XB' })
    expect([code, stderr]).toEqual([8, expect.stringContaining('PORTICO_AUDIT_MAX_SIZE must be a size such as 500MB or 2GB, not "2XB"')])
  }
  expect(await run(['servers', 'list'], { PORTICO_AUDIT_MAX_AGE: '90x' })).toMatchObject({
    code: 8,
    stderr: expect.stringContaining('30d'),
  })
  // Another terminal may have given the age as an option.
  expect((await run(['servers', 'list'], { PORTICO_AUDIT_ARCHIVE: home })).code).toBe(0)
  chmodSync(home, 0o755)
  const up = await run(['up', '--audit-max-age', '90d'], { PORTICO_AUDIT_ARCHIVE: home })
  expect([up.code, up.stderr]).toEqual([8, expect.stringMatching(/The archive of the audit log: .*chmod 700/s)])
}, 30_000)
