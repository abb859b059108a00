/** What is in the log, and what verifying it finds. */

import { createHash } from 'node:crypto'
import { appendFileSync, cpSync, readdirSync, readFileSync, renameSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { AuditRecord, Checkpoint } from '../../../../src/host/model/audit-record.ts'
import { type AuditLogOptions, openAuditLog } from '../../../../src/host/storage/audit/log.ts'
import { readAudit } from '../../../../src/host/storage/audit/read.ts'
import { verifyAudit } from '../../../../src/host/storage/audit/verify.ts'
import { canonicalJson } from '../../../../src/protocol/model/digest-json.ts'
import { temporaryFolders } from '../../../support/folders.ts'
import { counted, proofRuns } from '../../../support/proof.ts'
import { proves } from '../../../support/proves.ts'
import { DONE, entry } from './entries.ts'

const newFolder = temporaryFolders()
const SMALL = { segmentBytes: 3_000, checkpointRecords: 4 }
const first = (folder: string) => join(folder, 'audit-000001.jsonl')
const linesIn = (file: string) => readFileSync(file, 'utf8').split('\n').slice(0, -1)

async function all(folder: string): Promise<AuditRecord[]> {
  const records: AuditRecord[] = []
  for await (const record of readAudit(folder)) records.push(record)
  return records
}

/** A log of several segments with a number of calls in it. */
async function written(calls = 12, options: Partial<AuditLogOptions> = {}): Promise<{ folder: string; publicKey: string }> {
  const folder = join(newFolder(), 'log')
  const log = await openAuditLog({ folder, limits: SMALL, ...options })
  for (let turn = 0; turn < calls; turn++) await (await log.intent(entry({ args: { turn } }))).outcome(DONE)
  await log.close()
  return { folder, publicKey: log.publicKey }
}

describe('the log', () => {
  test('the log has the intent before the outcome, each with server, tool, time and result', async () => {
    proves('T-TOOL-049')
    const folder = join(newFolder(), 'log')
    const log = await openAuditLog({ folder })
    const before = Date.now()
    const intent = await log.intent(entry({ answer: { kind: 'allow', scope: 'once', by: 'anna' }, facts: { usage: { tokensToday: 7 } } }))
    // It is there before anything else happens.
    const kept = (await all(folder)).at(-1)
    expect(kept).toMatchObject({
      kind: 'intent',
      seq: intent.seq,
      entry: { server: 'notes', primitive: 'search', facts: { usage: { tokensToday: 7 } } },
    })
    expect(kept?.at).toBeGreaterThanOrEqual(before)
    expect(await verifyAudit(folder)).toMatchObject({ ok: true, unmatchedIntents: [intent.seq] })
    await intent.outcome({ kind: 'failed', durationMs: 5, error: 'no such note' })
    expect((await all(folder)).at(-1)).toMatchObject({
      kind: 'outcome',
      intent: intent.seq,
      outcome: { kind: 'failed', error: 'no such note' },
    })
    await expect(intent.outcome(DONE)).rejects.toMatchObject({ code: 'ERR_AUDIT' })
    await log.refusal(entry({ effect: 'deny', reasons: ['the policy says so'] }))
    await log.close()
    expect(await verifyAudit(folder)).toMatchObject({ ok: true, unmatchedIntents: [] })
    expect((await all(folder)).map(({ kind }) => kind)).toEqual(['segment', 'intent', 'outcome', 'refusal', 'checkpoint'])
  })

  test('each record is chained by the hash of its canonical JSON and of the record before', async () => {
    const { folder } = await written(2)
    let before = '0'.repeat(64)
    for (const { hash, ...rest } of await all(folder)) {
      const expected = createHash('sha256').update(canonicalJson(rest)).update(Buffer.from(before, 'hex')).digest('hex')
      expect(hash).toBe(expected)
      before = hash
    }
  })

  test('secrets in arguments are not logged, by name, shape or registration, and large values are cut', async () => {
    proves('T-SAMP-044')
    const folder = join(newFolder(), 'log')
    const registered = 'correct horse battery'
    const log = await openAuditLog({
      folder,
      scrub: (text) => text.replaceAll(registered, '[secret]'),
      limits: { previewBytes: 500, factsBytes: 100 },
    })
    const args = { password: 'hunter2hunter2', header: 'Bearer abcdefghijklmnopqrstuvwxyz0123', note: `say ${registered}`, [registered]: 1 }
    const intent = await log.intent(entry({ args, reasons: [`because ${registered}`], facts: { big: 'z'.repeat(200) } }))
    await intent.outcome({ kind: 'failed', durationMs: 1, error: `token=abcdefgh and ${registered}` })
    await log.intent(entry({ args: { text: 'w'.repeat(600) } }))
    await log.close()
    const text = linesIn(first(folder)).join('\n')
    for (const secret of ['hunter2', 'abcdefghijklmnop', registered, 'token=abcdefgh', 'zzz', 'w'.repeat(501)])
      expect(text).not.toContain(secret)
    const [small, large] = (await all(folder)).flatMap((record) => (record.kind === 'intent' ? [record.entry.args] : []))
    expect(small).toMatchObject({ isWhole: true, preview: { password: '[redacted]', note: 'say [secret]' } })
    expect(large).toMatchObject({ isWhole: false, bytes: Buffer.byteLength(canonicalJson({ text: 'w'.repeat(600) })) })
    expect(readdirSync(folder).every((name) => (statSync(join(folder, name)).mode & 0o077) === 0)).toBe(true)
  })

  test('equal arguments have equal digests in one log, and different ones in another log', async () => {
    const digests: string[][] = []
    for (let turn = 0; turn < 2; turn++) {
      const folder = join(newFolder(), 'log')
      const log = await openAuditLog({ folder })
      await Promise.all([log.refusal(entry({ args: { a: 1, b: 2 } })), log.refusal(entry({ args: { b: 2, a: 1 } }))])
      await log.close()
      digests.push((await all(folder)).flatMap((record) => (record.kind === 'refusal' ? [record.entry.args?.digest ?? ''] : [])))
    }
    expect(digests[0]?.[0]).toBe(digests[0]?.[1])
    expect(digests[0]?.[0]).not.toBe(digests[1]?.[0])
  })

  test('the log refuses too many waiting records and records that are too long', async () => {
    const folder = join(newFolder(), 'log')
    const log = await openAuditLog({ folder, limits: { pendingRecords: 3, recordBytes: 2_000, textLength: 5_000 } })
    const many = await Promise.allSettled(Array.from({ length: 5 }, () => log.refusal(entry())))
    expect(many.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'fulfilled', 'rejected', 'rejected'])
    expect((many[4] as PromiseRejectedResult).reason).toMatchObject({
      code: 'ERR_AUDIT',
      message: expect.stringContaining('pendingRecords'),
    })
    await expect(log.refusal(entry({ reasons: ['r'.repeat(3_000)] }))).rejects.toMatchObject({
      code: 'ERR_AUDIT',
      message: expect.stringContaining('recordBytes'),
    })
    await log.refusal(entry())
    await log.close()
    expect(await verifyAudit(folder)).toMatchObject({ ok: true })
  })

  test('the log continues in new segments, and is one chain when it is opened again', async () => {
    const { folder } = await written(20)
    const log = await openAuditLog({ folder, limits: SMALL })
    await log.refusal(entry({ server: 'deploy' }))
    await log.close()
    expect(readdirSync(folder).filter((name) => name.startsWith('audit-')).length).toBeGreaterThan(3)
    const verdict = await verifyAudit(folder)
    expect(verdict).toMatchObject({ ok: true, recovered: 0, unmatchedIntents: [] })
    expect(verdict.signedUpTo).toBe(verdict.records - 1)
    const found: AuditRecord[] = []
    for await (const record of readAudit(folder, { server: 'deploy', kinds: ['refusal'] })) found.push(record)
    expect(found).toHaveLength(1)
  })

  test('the log can be filtered by the subject of entries, with their outcomes', async () => {
    const folder = join(newFolder(), 'log')
    const log = await openAuditLog({ folder })
    const intents = await Promise.all(['notes', 'deploy', 'notes'].map((server) => log.intent(entry({ server }))))
    for (const intent of intents.toReversed()) await intent.outcome(DONE)
    await log.close()
    const found: AuditRecord[] = []
    for await (const record of readAudit(folder, { server: 'deploy' })) found.push(record)
    expect(found).toMatchObject([
      { kind: 'intent', entry: { server: 'deploy' } },
      { kind: 'outcome', intent: intents[1]?.seq },
    ])
    const later: AuditRecord[] = []
    for await (const record of readAudit(folder, { fromSeq: found[1]?.seq ?? 0, since: 1, until: Date.now() })) later.push(record)
    expect(later[0]).toEqual(found[1])
  })

  test('a log is not continued with another key, and never gets a new key silently', async () => {
    const { folder } = await written(1)
    const key = join(folder, 'log.key')
    renameSync(key, `${key}.away`)
    await expect(openAuditLog({ folder })).rejects.toMatchObject({ code: 'ERR_AUDIT', message: expect.stringContaining('missing') })
    cpSync(join((await written(1)).folder, 'log.key'), key)
    await expect(openAuditLog({ folder })).rejects.toMatchObject({
      code: 'ERR_AUDIT',
      message: expect.stringContaining('is not the key of this audit log'),
    })
    renameSync(`${key}.away`, key)
    await (await openAuditLog({ folder })).close()
  })

  test('the log refuses values that cannot be written', async () => {
    const log = await openAuditLog({ folder: join(newFolder(), 'log') })
    await expect(log.intent(entry({ args: { run: () => {} } }))).rejects.toMatchObject({ code: 'ERR_AUDIT' })
    await log.close()
  })

  test('the log signs a checkpoint after some time', async () => {
    const folder = join(newFolder(), 'log')
    let signed: (checkpoint: Checkpoint) => void = () => {}
    const checkpoint = new Promise<Checkpoint>((resolve) => {
      signed = resolve
    })
    const log = await openAuditLog({ folder, limits: { checkpointMs: 20 }, anchor: (each) => signed(each) })
    expect((await checkpoint).to).toBeGreaterThanOrEqual(1)
    await log.close()
  })

  test('a checkpoint that the second place refused is stored there later, with a warning', async () => {
    const taken: Checkpoint[] = []
    const warnings: string[] = []
    let isUp = false
    const anchor = (checkpoint: Checkpoint) => {
      if (!isUp) throw new Error('not now')
      taken.push(checkpoint)
    }
    const folder = join(newFolder(), 'log')
    const log = await openAuditLog({ folder, anchor, onWarning: (text) => warnings.push(text) })
    await log.checkpoint()
    isUp = true
    await log.refusal(entry())
    await log.close()
    expect(warnings).toEqual([expect.stringContaining('not now')])
    expect(taken).toHaveLength(2)
    expect(await verifyAudit(folder, { anchors: taken })).toMatchObject({ ok: true })
  })
})

describe('after a crash', () => {
  test('an unfinished line is set aside, and the log records it', async () => {
    const { folder } = await written(1)
    const torn = '{"at":12,"entry":{"acti'
    appendFileSync(first(folder), torn)
    expect(await verifyAudit(folder)).toMatchObject({ ok: false, firstBad: { reason: expect.stringContaining('incomplete') } })
    const log = await openAuditLog({ folder })
    await log.refusal(entry())
    await log.close()
    const recovered = (await all(folder)).find((record) => record.kind === 'recovered')
    expect(recovered).toMatchObject({ bytes: torn.length, digest: createHash('sha256').update(torn).digest('hex') })
    expect(readFileSync(join(folder, (recovered as { file: string }).file), 'utf8')).toBe(torn)
    expect(await verifyAudit(folder)).toMatchObject({ ok: true, recovered: 1 })
  })

  test('a record that lacks only its end is kept', async () => {
    const { folder } = await written(1)
    const records = (await all(folder)).length
    truncateSync(first(folder), statSync(first(folder)).size - 1)
    await (await openAuditLog({ folder })).close()
    expect(await verifyAudit(folder)).toMatchObject({ ok: true, recovered: 0, records })
  })

  test('zeros at the end after a crash of the machine are set aside too', async () => {
    const { folder } = await written(1)
    const records = (await all(folder)).length
    for (const [times, begun] of ['', '{"at":12,"entry":{"acti'].entries()) {
      appendFileSync(first(folder), Buffer.concat([Buffer.from(begun), Buffer.alloc(100)]))
      const warnings: string[] = []
      await (await openAuditLog({ folder, onWarning: (text) => warnings.push(text) })).close()
      expect(await verifyAudit(folder)).toMatchObject({ ok: true, recovered: times + 1 })
      expect(warnings).toEqual([expect.stringContaining(`its ${begun.length + 100} bytes were moved to`)])
    }
    expect((await all(folder)).length).toBeGreaterThan(records)
  })

  test('verification reports the remains of a crash and how the next start treats them', async () => {
    const { folder } = await written(1)
    const whole = readFileSync(first(folder))
    for (const [end, reason] of [
      [Buffer.alloc(100), /^the file ends with zeros.*the next start of a host moves it to another file/],
      [Buffer.from('{"at":12\0\0'), /^its line is incomplete, and zeros follow it.*moves it to another file/],
      [Buffer.from('{"at":12'), /^its line is incomplete: .*moves it to another file/],
    ] as const) {
      writeFileSync(first(folder), Buffer.concat([whole, end]))
      expect(await verifyAudit(folder)).toMatchObject({ ok: false, firstBad: { reason: expect.stringMatching(reason) } })
    }
    writeFileSync(first(folder), whole.subarray(0, -1))
    expect((await verifyAudit(folder)).firstBad?.reason).toContain('keeps the record')
  })

  test('zeros instead of the last line end lose no record', async () => {
    const { folder } = await written(1)
    const records = (await all(folder)).length
    truncateSync(first(folder), statSync(first(folder)).size - 1)
    appendFileSync(first(folder), Buffer.alloc(7))
    await (await openAuditLog({ folder })).close()
    expect(await verifyAudit(folder)).toMatchObject({ ok: true, recovered: 0, records })
  })

  test('a segment that was just begun is started again', async () => {
    const { folder } = await written(12)
    const last = readdirSync(folder).filter((name) => name.startsWith('audit-')).length
    for (const begun of ['', '{"at":1']) {
      const copy = join(newFolder(), 'log')
      cpSync(folder, copy, { recursive: true })
      writeFileSync(join(copy, `audit-00000${last + 1}.jsonl`), begun, { mode: 0o600 })
      const log = await openAuditLog({ folder: copy, limits: SMALL })
      await log.refusal(entry())
      await log.close()
      expect(await verifyAudit(copy)).toMatchObject({ ok: true, recovered: begun ? 1 : 0 })
    }
  })

  test('after a crash at any byte of the last record, all complete records are still there', async () => {
    const { folder } = await written(1)
    const bytes = readFileSync(first(folder))
    const before = (await all(folder)).length
    const start = bytes.lastIndexOf(0x0a, bytes.length - 2) + 1
    for (let cut = start; cut <= bytes.length; cut += 9) {
      const copy = join(newFolder(), 'log')
      cpSync(folder, copy, { recursive: true })
      truncateSync(first(copy), cut)
      await (await openAuditLog({ folder: copy })).close()
      const verdict = await verifyAudit(copy)
      expect(verdict).toMatchObject({ ok: true })
      expect(verdict.records).toBeGreaterThanOrEqual(before - 1)
    }
  })
})

test('a log with a key and without records is incomplete', async () => {
  const { folder } = await written(1)
  writeFileSync(first(folder), '')
  const bad = { ok: false, records: 0, firstBad: { seq: 1, line: 0, reason: expect.stringContaining('has a key but no records') } }
  expect(await verifyAudit(folder)).toMatchObject(bad)
  rmSync(first(folder))
  expect(await verifyAudit(folder)).toMatchObject(bad)
  rmSync(join(folder, 'public-key.pem'))
  await expect(verifyAudit(folder)).rejects.toMatchObject({ code: 'ERR_AUDIT' })
})

describe('damage that a crash cannot cause', () => {
  /** The last segment of a log, and its bytes. */
  const lastOf = (folder: string) => {
    const names = readdirSync(folder).filter((name) => name.startsWith('audit-'))
    const file = join(folder, names.sort().at(-1) as string)
    return { file, bytes: readFileSync(file) }
  }
  const places = (bytes: Buffer): number[] => [...bytes.entries()].flatMap(([at, byte]) => (byte === 0x0a ? [at] : []))

  test.each<[string, (bytes: Buffer) => Buffer]>([
    ['a zero in the middle of a record', (bytes) => with0(bytes, (places(bytes)[1] as number) + 20)],
    ['a zero in the place of a line end', (bytes) => with0(bytes, places(bytes)[1] as number)],
    ['a zero in the last record', (bytes) => with0(bytes, bytes.length - 20)],
    ['a zero before other bytes at the end', (bytes) => Buffer.concat([bytes, Buffer.of(0, 0x7b)])],
    ['zeros, a line end, and zeros', (bytes) => Buffer.concat([bytes, Buffer.alloc(50), Buffer.from('\n{"half'), Buffer.alloc(5)])],
    ['spaces in the place of line ends', (bytes) => Buffer.from(bytes.toString('latin1').replaceAll('\n', ' '), 'latin1')],
    ['two records in the last line', (bytes) => joined(bytes, '')],
    ['records in a list', (bytes) => joined(bytes, ',')],
    [
      'the last record with another letter, and without its end',
      (bytes) =>
        Buffer.from(
          bytes
            .toString('latin1')
            .slice(0, -1)
            .replace(/durationMs":3(?!.*durationMs)/s, 'durationMs":4'),
          'latin1',
        ),
    ],
    ['text that is no record', (bytes) => Buffer.concat([bytes, Buffer.from('hello')])],
    ['a number that is none', (bytes) => Buffer.concat([bytes, Buffer.from('{"at":[{"at":1')])],
  ])('damage that a crash cannot cause stops writing, and is reported to readers: %s', async (_, change) => {
    // Without a last checkpoint, so that only what is there can tell.
    const folder = join(newFolder(), 'log')
    const log = await openAuditLog({ folder })
    for (let turn = 0; turn < 3; turn++) await (await log.intent(entry({ args: { turn } }))).outcome(DONE)
    const copy = join(newFolder(), 'log')
    cpSync(folder, copy, { recursive: true })
    rmSync(join(copy, 'log.lock'), { force: true })
    await log.close()
    const { file, bytes } = lastOf(copy)
    const changed = change(bytes)
    expect(changed.equals(bytes)).toBe(false)
    writeFileSync(file, changed)
    await expect(openAuditLog({ folder: copy })).rejects.toMatchObject({
      code: 'ERR_AUDIT',
      message: expect.stringContaining('is damaged'),
    })
    expect(readFileSync(file).equals(changed)).toBe(true)
    expect(readdirSync(copy).filter((name) => name.startsWith('torn-'))).toEqual([])
    expect(await verifyAudit(copy)).toMatchObject({ ok: false })
  })

  const with0 = (bytes: Buffer, at: number): Buffer => {
    const changed = Buffer.from(bytes)
    changed[at] = 0
    return changed
  }
  /** Without the last two line ends. */
  const joined = (bytes: Buffer, between: string): Buffer => {
    const lines = bytes.toString('latin1').split('\n').slice(0, -1)
    const last = lines.splice(-2)
    return Buffer.from(`${lines.join('\n')}\n${last.join(between)}`, 'latin1')
  }

  test('data set aside is checked for records, changes and removal', async () => {
    const { folder } = await written(1)
    appendFileSync(first(folder), '{"at":12,"entry":{"acti')
    await (await openAuditLog({ folder })).close()
    expect(await verifyAudit(folder)).toMatchObject({ ok: true, recovered: 1 })
    const file = join(folder, readdirSync(folder).find((name) => name.startsWith('torn-')) as string)
    for (const [change, reason] of [
      [() => writeFileSync(file, '{"at":12,"entry":{"bcti'), 'was changed since'],
      [() => writeFileSync(file, 'x'), 'has 1 bytes'],
      [() => rmSync(file), 'cannot be read (ENOENT)'],
    ] as const) {
      change()
      expect(await verifyAudit(folder)).toMatchObject({ ok: false, firstBad: { reason: expect.stringContaining(reason) } })
    }
  })
})

describe('verifying', () => {
  test('verification names every record in which one byte was changed', async () => {
    const { folder } = await written(6)
    const names = readdirSync(folder).filter((name) => name.startsWith('audit-'))
    const originals = new Map(names.map((name) => [name, readFileSync(join(folder, name))]))
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...names), fc.nat(), fc.integer({ min: 1, max: 255 }), async (name, place, change) => {
        const original = originals.get(name) as Buffer
        const at = place % original.length
        const edited = Buffer.from(original)
        edited[at] = (original[at] as number) ^ change
        writeFileSync(join(folder, name), edited)
        const { ok, firstBad } = await verifyAudit(folder)
        writeFileSync(join(folder, name), original)
        const line = original.subarray(0, at).filter((byte) => byte === 0x0a).length + 1
        expect(ok).toBe(false)
        expect(firstBad).toMatchObject({ segment: name, line })
        counted({ 'changed bytes found': 1 })
      }),
      { numRuns: proofRuns(300) },
    )
    expect(await verifyAudit(folder)).toMatchObject({ ok: true })
  })

  test('verification finds a number that is too large', async () => {
    const { folder } = await written(2)
    const original = readFileSync(first(folder), 'utf8')
    const edited = original.replace(/"at":(\d)\d/, '"at":$1e')
    expect(edited).not.toBe(original)
    writeFileSync(first(folder), edited)
    expect(await verifyAudit(folder)).toMatchObject({ ok: false, firstBad: { line: 1 } })
  })

  test('verification finds an edit that does not change the meaning of a record', async () => {
    const folder = join(newFolder(), 'log')
    const log = await openAuditLog({ folder })
    await log.refusal(entry({ args: { text: 'a\u001fb\ufffdc' } }))
    await log.close()
    const original = readFileSync(first(folder))
    const edits: [string | Uint8Array, string | Uint8Array][] = [
      ['\\u001f', '\\u001F'],
      // Not UTF-8, and read as the sign for what is not.
      [Uint8Array.of(0xef, 0xbf, 0xbd), Uint8Array.of(0xf0, 0xbf, 0xbd)],
    ]
    for (const [before, after] of edits) {
      const at = original.indexOf(before)
      expect(at).toBeGreaterThan(0)
      const edited = Buffer.concat([original.subarray(0, at), Buffer.from(after as string), original.subarray(at + before.length)])
      writeFileSync(first(folder), edited)
      expect(await verifyAudit(folder)).toMatchObject({ ok: false, firstBad: { seq: 2, line: 2 } })
    }
  })

  test('verification finds lines that were removed, swapped, duplicated or inserted', async () => {
    const { folder } = await written(2)
    const lines = linesIn(first(folder))
    const edits: [string[], number][] = [
      [lines.toSpliced(2, 1), 3],
      [lines.toSpliced(1, 2, lines[2] as string, lines[1] as string), 2],
      [lines.toSpliced(2, 0, lines[1] as string), 3],
      [lines.toSpliced(1, 0, '{}'), 2],
      [lines.slice(1), 1],
    ]
    for (const [edited, line] of edits) {
      writeFileSync(first(folder), `${edited.join('\n')}\n`)
      expect(await verifyAudit(folder)).toMatchObject({ ok: false, firstBad: { segment: 'audit-000001.jsonl', line } })
      await expect(openAuditLog({ folder })).rejects.toMatchObject({ code: 'ERR_AUDIT', message: expect.stringContaining('is damaged') })
    }
  })

  test('verification finds a cut end only if checkpoints are stored elsewhere', async () => {
    const anchors = join(newFolder(), 'anchors')
    const { folder } = await written(3, { limits: {}, anchor: anchors })
    const lines = linesIn(first(folder))
    writeFileSync(first(folder), `${lines.slice(0, 4).join('\n')}\n`)
    expect(await verifyAudit(folder)).toMatchObject({ ok: true, signedUpTo: 0 })
    expect(await verifyAudit(folder, { anchors })).toMatchObject({
      ok: false,
      firstBad: { seq: 5, reason: expect.stringContaining('a checkpoint in the anchors') },
    })
  })

  test('verification finds segments that were removed, or replaced by those of another log', async () => {
    const { folder } = await written(20)
    const other = (await written(20)).folder
    const second = join(folder, 'audit-000002.jsonl')
    renameSync(second, `${second}.away`)
    expect(await verifyAudit(folder)).toMatchObject({
      ok: false,
      firstBad: { segment: 'audit-000003.jsonl', reason: expect.stringContaining('missing') },
    })
    cpSync(join(other, 'audit-000002.jsonl'), second)
    expect(await verifyAudit(folder)).toMatchObject({ ok: false, firstBad: { segment: 'audit-000002.jsonl', line: 1 } })
  })

  test('verification finds a log that was rewritten with another key', async () => {
    const anchors = join(newFolder(), 'anchors')
    const { folder, publicKey } = await written(3, { anchor: anchors })
    rmSync(folder, { recursive: true })
    const forged = await openAuditLog({ folder, limits: SMALL })
    for (let turn = 0; turn < 3; turn++) await (await forged.intent(entry({ args: { turn: 'harmless' } }))).outcome(DONE)
    await forged.close()
    expect(await verifyAudit(folder)).toMatchObject({ ok: true })
    expect(await verifyAudit(folder, { publicKey })).toMatchObject({
      ok: false,
      firstBad: { reason: expect.stringContaining('another key') },
    })
    await expect(verifyAudit(folder, { anchors })).rejects.toMatchObject({
      code: 'ERR_AUDIT',
      message: expect.stringContaining('another key'),
    })
  })

  test('verification finds a checkpoint that was made without the key', async () => {
    const { folder } = await written(1, { limits: {} })
    const lines = linesIn(first(folder))
    const records = lines.map((line) => JSON.parse(line) as AuditRecord & { checkpoint?: Checkpoint })
    const last = records.at(-1) as AuditRecord & { checkpoint: Checkpoint }
    const forged = { ...last.checkpoint, signedAt: 1 }
    const { hash: _hash, ...rest } = { ...last, checkpoint: forged }
    const hash = createHash('sha256')
      .update(canonicalJson(rest))
      .update(Buffer.from(records.at(-2)?.hash ?? '', 'hex'))
      .digest('hex')
    writeFileSync(first(folder), `${[...lines.slice(0, -1), canonicalJson({ ...rest, hash })].join('\n')}\n`)
    expect(await verifyAudit(folder)).toMatchObject({
      ok: false,
      firstBad: { seq: last.seq, reason: expect.stringContaining('signature') },
    })
  })

  test('a writing process notices that records were removed, and writes nothing after the gap', async () => {
    const folder = join(newFolder(), 'log')
    const log = await openAuditLog({ folder })
    await log.refusal(entry())
    truncateSync(first(folder), 10)
    await expect(log.intent(entry())).rejects.toMatchObject({ code: 'ERR_AUDIT', message: expect.stringContaining('shorter') })
    await expect(log.close()).rejects.toMatchObject({ code: 'ERR_AUDIT' })
  })

  test('verification reports that there is no log', async () => {
    await expect(verifyAudit(newFolder())).rejects.toMatchObject({ code: 'ERR_AUDIT' })
  })
})
