/** Old segments of a log are archived or removed, and verifying finds every other loss. */

import { appendFileSync, chmodSync, copyFileSync, cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, test, vi } from 'vitest'
import type { AuditRecord, RecordBody } from '../../../../src/host/model/audit-record.ts'
import { lineOf, seal } from '../../../../src/host/storage/audit/chain.ts'
import { type AuditLogOptions, openAuditLog, type WritableAuditLog } from '../../../../src/host/storage/audit/log.ts'
import { readAudit, readAuditPage } from '../../../../src/host/storage/audit/read.ts'
import { verifyAudit } from '../../../../src/host/storage/audit/verify.ts'
import { temporaryFolders } from '../../../support/folders.ts'
import { DONE, entry } from './entries.ts'

const newFolder = temporaryFolders()
const SMALL = { segmentBytes: 3_000, checkpointRecords: 4 }
const HOUR = 60 * 60_000

afterEach(() => void vi.useRealTimers())

const segmentsOf = (folder: string): string[] => readdirSync(folder).filter((name) => /^audit-\d+\.jsonl$/.test(name))

async function all(folder: string): Promise<AuditRecord[]> {
  const records: AuditRecord[] = []
  for await (const record of readAudit(folder)) records.push(record)
  return records
}

async function call(log: WritableAuditLog, calls: number): Promise<void> {
  for (let turn = 0; turn < calls; turn++) await (await log.intent(entry({ args: { turn } }))).outcome(DONE)
}

/** A log after a number of calls. */
async function written(calls: number, options: Partial<AuditLogOptions> = {}): Promise<string> {
  const folder = options.folder ?? join(newFolder(), 'log')
  const log = await openAuditLog({ folder, limits: SMALL, ...options })
  await call(log, calls)
  await log.close()
  return folder
}

/** A log whose key and anchors are elsewhere. */
async function apart(calls: number, staysOpen = false) {
  const base = newFolder()
  const folder = join(base, 'log')
  const options = { folder, keyFile: join(base, 'key'), anchor: join(base, 'anchors'), limits: SMALL }
  const log = await openAuditLog(options)
  await call(log, calls)
  await (staysOpen ? log.checkpoint() : log.close())
  return { folder, options: { ...options, publicKey: log.publicKey }, log: staysOpen ? log : undefined }
}

/** What a forger without the key can write: a claim with the signature of another statement. */
async function claimed(folder: string, upToSegment: number, last: AuditRecord): Promise<RecordBody> {
  const signed = (await all(folder)).find((record) => record.kind === 'checkpoint')
  if (signed?.kind !== 'checkpoint') throw new Error('Expected a checkpoint')
  const { keyId, signature } = signed.checkpoint
  return { kind: 'retired', upToSegment, upToSeq: last.seq, lastHash: last.hash, isArchived: false, keyId, signature }
}

describe('retention', () => {
  test('removes the oldest segments beyond a size, and the rest still verifies', async () => {
    const folder = await written(40, { retention: { maxBytes: 8_000 } })
    expect(segmentsOf(folder).length).toBeLessThanOrEqual(4)
    expect(segmentsOf(folder)[0]).not.toBe('audit-000001.jsonl')
    const verdict = await verifyAudit(folder)
    expect(verdict).toMatchObject({ ok: true, firstBad: undefined })
    expect(verdict.retired).toBeGreaterThan(30)
    const records = await all(folder)
    expect(records[0]?.seq).toBe(verdict.retired + 1)
    expect(verdict.records).toBe(records.length)
    expect((await readAuditPage(folder, { limit: 3 })).records).toHaveLength(3)
    // The log goes on after the next start, with the same chain.
    await written(40, { folder, retention: { maxBytes: 8_000 } })
    expect((await verifyAudit(folder)).ok).toBe(true)
  })

  test('moves old segments to an archive, which verifies alone and together with the log', async () => {
    const archive = join(newFolder(), 'archive')
    const folder = await written(40, { retention: { maxBytes: 8_000, archive } })
    const moved = segmentsOf(archive)
    expect(moved[0]).toBe('audit-000001.jsonl')
    expect(segmentsOf(folder).some((name) => moved.includes(name))).toBe(false)
    const together = await verifyAudit(folder, { archive })
    expect(together).toMatchObject({ ok: true, retired: 0 })
    expect(together.records).toBe((await all(folder)).length + (await all(archive)).length)
    expect(await verifyAudit(archive)).toMatchObject({ ok: true, retired: 0, unmatchedIntents: expect.any(Array) })
    // A changed byte in the archive is found.
    const file = join(archive, moved[1] as string)
    writeFileSync(file, readFileSync(file, 'utf8').replace('bread', 'beard').replace('"turn":', '"tarn":'))
    expect((await verifyAudit(folder, { archive })).firstBad?.segment).toBe(moved[1])
  })

  test('retires segments by the age of their newest record, and ends segments after a day', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    const begun = Date.parse('2026-11-01T00:00:00Z')
    vi.setSystemTime(begun)
    const folder = join(newFolder(), 'log')
    const log = await openAuditLog({ folder, retention: { maxAgeMs: 72 * HOUR } })
    for (let day = 0; day < 8; day++) {
      vi.setSystemTime(begun + day * 25 * HOUR)
      await call(log, 2)
    }
    const kept = await all(folder)
    expect(segmentsOf(folder)).toHaveLength(3)
    expect(begun + 7 * 25 * HOUR - (kept[0]?.at ?? 0)).toBeLessThanOrEqual(72 * HOUR)
    await log.close()
    expect(await verifyAudit(folder)).toMatchObject({ ok: true })
    // Also at the start, without a new record.
    vi.setSystemTime(begun + 30 * 25 * HOUR)
    await written(0, { folder, retention: { maxAgeMs: 72 * HOUR } })
    expect(segmentsOf(folder)).toHaveLength(1)
    expect(await verifyAudit(folder)).toMatchObject({ ok: true })
  })

  test.each([
    [{}, 'auditRetention needs maxAgeMs or maxBytes'],
    [{ archive: 'old' }, 'auditRetention needs maxAgeMs or maxBytes'],
    [{ maxAge: 5, maxBytes: 5 } as object, 'auditRetention: unknown member "maxAge"; did you mean "maxAgeMs"?'],
  ])('refuses %j, which would not do what it says', async (retention, message) => {
    await expect(openAuditLog({ folder: join(newFolder(), 'log'), retention })).rejects.toThrow(message)
  })

  test('refuses its own folder as the archive', async () => {
    const folder = join(newFolder(), 'log')
    const retention = { maxBytes: 1e9, archive: `${folder}/../log/` }
    await expect(openAuditLog({ folder, retention })).rejects.toThrow('archive must be another folder than that of the audit log')
  })

  test('refuses values that would retire everything', async () => {
    for (const retention of [{ maxAgeMs: 0 }, { maxBytes: -1 }, { maxBytes: Number.NaN }])
      await expect(openAuditLog({ folder: join(newFolder(), 'log'), retention })).rejects.toMatchObject({ code: 'ERR_DEFINITION' })
  })

  test('refuses an age under a day and a size under a segment, which a wrong unit gives', async () => {
    const opened = (retention: object) => openAuditLog({ folder: join(newFolder(), 'log'), retention })
    await expect(opened({ maxAgeMs: 24 * HOUR - 1 })).rejects.toThrow(
      'maxAgeMs of the audit log must be at least 86400000 (a day), not 8639',
    )
    await expect(opened({ maxBytes: 2_000 })).rejects.toThrow('maxBytes of the audit log must be at least 16777216 (a segment), not 2000')
  })

  test('refuses an archive that others can read when it opens, and not when something is due', async () => {
    const base = newFolder()
    const archive = join(base, 'old')
    mkdirSync(archive, { mode: 0o755 })
    chmodSync(archive, 0o755)
    const options = { folder: join(base, 'log'), retention: { maxAgeMs: 90 * 24 * HOUR, archive } }
    const refused = { code: 'ERR_STORE', message: expect.stringMatching(/^The archive of the audit log: .*chmod 700/) }
    await expect(openAuditLog(options)).rejects.toMatchObject(refused)
    writeFileSync(join(base, 'file'), '')
    const blocked = { ...options, retention: { ...options.retention, archive: join(base, 'file', 'old') } }
    await expect(openAuditLog(blocked)).rejects.toMatchObject({ code: 'ERR_STORE', message: expect.stringContaining('cannot be used') })
    chmodSync(archive, 0o700)
    await (await openAuditLog(options)).close()
  })

  test('writes the outcome of an action whose intent was retired', async () => {
    const folder = join(newFolder(), 'log')
    const log = await openAuditLog({ folder, limits: SMALL, retention: { maxBytes: 5_000 } })
    const long = await log.intent(entry())
    await call(log, 40)
    await long.outcome(DONE)
    await log.close()
    expect(await verifyAudit(folder)).toMatchObject({ ok: true, unmatchedIntents: [] })
  })

  test('removes nothing and reports it if the archive cannot be written', async () => {
    const warnings: string[] = []
    const archive = join(newFolder(), 'archive')
    const folder = join(newFolder(), 'log')
    const retention = { maxBytes: 5_000, archive }
    const log = await openAuditLog({ folder, limits: SMALL, retention, onWarning: (text) => warnings.push(text) })
    rmSync(archive, { recursive: true })
    writeFileSync(archive, '')
    await call(log, 40)
    await log.close()
    expect(segmentsOf(folder)[0]).toBe('audit-000001.jsonl')
    expect(warnings[0]).toContain('Old segments of the audit log could not be retired')
    expect(await verifyAudit(folder)).toMatchObject({ ok: true, retired: 0 })
  })

  test('reports a fault that is not an Error', async () => {
    const warnings: string[] = []
    const folder = join(newFolder(), 'log')
    let isOpen = false
    const retention = {
      maxBytes: 5_000,
      get archive(): string {
        if (!isOpen) return newFolder()
        throw 'The disk is full'
      },
    }
    const log = await openAuditLog({ folder, limits: SMALL, retention, onWarning: (text) => warnings.push(text) })
    isOpen = true
    await call(log, 40)
    await log.close()
    expect(warnings[0]).toBe('Old segments of the audit log could not be retired: The disk is full')
  })

  test('retires what a crash set aside together with its segment', async () => {
    const archive = join(newFolder(), 'archive')
    const folder = await written(1)
    appendFileSync(join(folder, 'audit-000001.jsonl'), '{"at":17')
    await written(40, { folder, retention: { maxBytes: 5_000, archive } })
    expect(readdirSync(folder).filter((name) => name.startsWith('torn-'))).toEqual([])
    expect(readdirSync(archive).filter((name) => name.startsWith('torn-'))).toHaveLength(1)
    expect(await verifyAudit(folder, { archive })).toMatchObject({ ok: true, recovered: 1 })
  })
})

describe('verifying', () => {
  test('finds segments that were removed without a signed record', async () => {
    const folder = await written(40)
    rmSync(join(folder, 'audit-000001.jsonl'))
    const { ok, firstBad } = await verifyAudit(folder)
    expect(ok).toBe(false)
    expect(firstBad?.reason).toBe('the segments before audit-000002.jsonl are missing, and no signed record says that they were retired')
    const kept = await written(40, { retention: { maxBytes: 8_000 } })
    rmSync(join(kept, segmentsOf(kept)[0] as string))
    expect((await verifyAudit(kept)).firstBad?.reason).toContain('no signed record says that they were retired')
  })

  test('does not believe a record about retired segments that is not signed, and no host signs it', async () => {
    const { folder, options } = await apart(40)
    const last = (await all(folder)).at(-1) as AuditRecord
    const second = (await all(folder)).find((record) => record.kind === 'segment' && record.segment === 2) as AuditRecord
    const before = (await all(folder)).find(({ seq }) => seq === second.seq - 1) as AuditRecord
    appendFileSync(join(folder, segmentsOf(folder).at(-1) as string), lineOf(seal(await claimed(folder, 1, before), last, Date.now())))
    expect((await verifyAudit(folder)).firstBad?.reason).toBe('it says that segments were retired, but its signature does not match')
    await expect(openAuditLog(options)).rejects.toThrow('says that segments were retired, but its signature does not match')
    rmSync(join(folder, 'audit-000001.jsonl'))
    await expect(openAuditLog(options)).rejects.toThrow('no signed record says that it was retired')
    expect((await verifyAudit(folder)).ok).toBe(false)
  })

  test.each(['after the next start', 'while the host runs'])(
    'no host signs a log whose segments were all replaced by a claim, %s',
    async (when) => {
      const { folder, options, log } = await apart(40, when === 'while the host runs')
      const files = segmentsOf(folder)
      const last = (await all(folder)).at(-1) as AuditRecord
      const claim = await claimed(folder, files.length, last)
      for (const file of files) rmSync(join(folder, file))
      const header = seal({ kind: 'segment', segment: files.length + 1, previous: last.hash }, last, Date.now())
      const lines = [header, seal(claim, header, Date.now())].map(lineOf).join('')
      writeFileSync(join(folder, `audit-${String(files.length + 1).padStart(6, '0')}.jsonl`), lines, { mode: 0o600 })
      const going = log ? call(log, 1) : openAuditLog(options)
      await expect(going).rejects.toThrow('no signed record says that it was retired')
      await log?.close().catch(() => {})
      expect((await verifyAudit(folder, { publicKey: options.publicKey, anchors: options.anchor })).ok).toBe(false)
    },
  )

  test('finds archived segments that were removed from the archive', async () => {
    const archive = join(newFolder(), 'archive')
    const folder = await written(40, { retention: { maxBytes: 8_000, archive } })
    const moved = segmentsOf(archive)
    for (const removed of [moved.slice(0, 3), moved.slice(3)]) {
      for (const name of removed) rmSync(join(archive, name))
      const { firstBad } = await verifyAudit(folder, { archive })
      expect(firstBad).toMatchObject({
        segment: removed.at(-1),
        reason: expect.stringContaining('a signed record says that it was archived'),
      })
    }
    expect((await verifyAudit(folder)).ok).toBe(true)
  })

  test('accepts a log whose process ended between the record and the removal', async () => {
    const archive = join(newFolder(), 'archive')
    const folder = await written(40, { retention: { maxBytes: 8_000, archive } })
    const moved = segmentsOf(archive)
    const first = Number((await all(folder))[0]?.seq)
    copyFileSync(join(archive, moved.at(-1) as string), join(folder, moved.at(-1) as string))
    const verdict = await verifyAudit(folder)
    expect(verdict.ok).toBe(true)
    expect(verdict.retired).toBeLessThan(first - 1)
    await written(1, { folder, retention: { maxBytes: 8_000, archive } })
    expect(segmentsOf(folder)).not.toContain(moved.at(-1))
    expect(await verifyAudit(folder, { archive })).toMatchObject({ ok: true, retired: 0 })
  })

  test('finds a gap between the archive and the log', async () => {
    const archive = join(newFolder(), 'archive')
    const folder = await written(40, { retention: { maxBytes: 8_000, archive } })
    rmSync(join(archive, segmentsOf(archive).at(-1) as string))
    expect((await verifyAudit(folder, { archive })).firstBad?.reason).toContain('is missing')
  })
})

describe('two processes', () => {
  test('one goes on after the other retired the segment that it wrote to last', async () => {
    const folder = join(newFolder(), 'log')
    const retention = { maxBytes: 5_000 }
    const [idle, busy] = [
      await openAuditLog({ folder, limits: SMALL, retention }),
      await openAuditLog({ folder, limits: SMALL, retention }),
    ]
    await call(idle, 1)
    await call(busy, 40)
    await call(idle, 1)
    await idle.close()
    await busy.close()
    expect(await verifyAudit(folder)).toMatchObject({ ok: true })
  })

  test('one refuses to write after its segment disappeared in another way', async () => {
    const folder = join(newFolder(), 'log')
    const [idle, busy] = [await openAuditLog({ folder, limits: SMALL }), await openAuditLog({ folder, limits: SMALL })]
    await call(idle, 1)
    await call(busy, 40)
    const copy = join(newFolder(), 'copy')
    mkdirSync(copy)
    cpSync(folder, copy, { recursive: true })
    rmSync(join(folder, 'audit-000001.jsonl'))
    await expect(call(idle, 1)).rejects.toThrow('audit-000001.jsonl is missing, and no signed record says that it was retired')
    copyFileSync(join(copy, 'audit-000001.jsonl'), join(folder, 'audit-000001.jsonl'))
    await idle.close()
    await busy.close()
  })
})
