import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { auditRetention } from '../../src/cli/connections/audit-retention.ts'
import { temporaryFolders } from '../support/folders.ts'
import { portico, serve } from './support/cli.ts'

const newFolder = temporaryFolders()

test('the audit log is kept as options say, then as variables say, else for ever', () => {
  const env = { PORTICO_AUDIT_MAX_AGE: '12h', PORTICO_AUDIT_MAX_SIZE: '500MB', PORTICO_AUDIT_ARCHIVE: 'old' }
  expect(auditRetention({ env, cwd: '/x' })).toEqual({ maxAgeMs: 43_200_000, maxBytes: 500_000_000, archive: '/x/old' })
  expect(auditRetention({ env, cwd: '/x' }, { auditMaxAge: '30d', auditMaxSize: '2gb' })).toEqual({
    maxAgeMs: 2_592_000_000,
    maxBytes: 2_000_000_000,
    archive: '/x/old',
  })
  expect(auditRetention({ env: { PORTICO_AUDIT_MAX_AGE: '' }, cwd: '/x' })).toBeUndefined()
})

test.each([
  [{ PORTICO_AUDIT_MAX_AGE: 'a month' }, {}, 'PORTICO_AUDIT_MAX_AGE must be a time such as 12h or 30d, not "a month"'],
  [{}, { auditMaxSize: '500' }, '--audit-max-size must be a size such as 500MB or 2GB, not "500"'],
  [{ PORTICO_AUDIT_ARCHIVE: '/old' }, {}, 'PORTICO_AUDIT_ARCHIVE needs a largest age or size of the log'],
])('a retention that makes no sense (%j, %j) is an error that names its source', (env, options, told) => {
  expect(() => auditRetention({ env, cwd: '/x' }, options)).toThrow(told)
})

test('a command of the host moves old parts of the log into the archive, where they can be verified', async () => {
  const home = newFolder()
  const archive = join(home, 'old')
  const env = { HOME: home, PORTICO_HOME: join(home, 'host'), PORTICO_AUDIT_MAX_AGE: '1s', PORTICO_AUDIT_ARCHIVE: archive }
  await portico(['servers', 'add', 'rogue', ...serve('rogue')], { env })
  // Each writes that it was refused, because no one can be asked.
  const call = () => portico(['call', 'rogue/forecast', 'city=Paris'], { env })
  await expect
    .poll(async () => (await call()).code === 3 && existsSync(archive) && readdirSync(archive).includes('audit-000001.jsonl'), {
      timeout: 15_000,
    })
    .toBe(true)
  expect(await portico(['audit', 'verify', '--archive', archive], { env })).toMatchObject({ code: 0 })
  const { code, stderr } = await portico(['call', 'rogue/forecast'], { env: { ...env, PORTICO_AUDIT_MAX_AGE: 'x' } })
  expect([code, stderr]).toEqual([8, expect.stringContaining('PORTICO_AUDIT_MAX_AGE must be a time')])
  const up = await portico(['up', '--audit-max-size', 'much'], { env })
  expect([up.code, up.stderr]).toEqual([2, expect.stringContaining('--audit-max-size must be a size')])
}, 20_000)
