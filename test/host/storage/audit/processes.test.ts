/** Processes that write to one log: killed in the middle, several at once, and on a disk that is full. */

import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { beforeAll, describe, expect, test } from 'vitest'
import { openAuditLog } from '../../../../src/host/storage/audit/log.ts'
import { readAudit } from '../../../../src/host/storage/audit/read.ts'
import { type AuditVerdict, verifyAudit } from '../../../../src/host/storage/audit/verify.ts'
import { bundled } from '../../../support/bundled.ts'
import { temporaryFolders } from '../../../support/folders.ts'
import { proves } from '../../../support/proves.ts'
import { entry } from './entries.ts'

const newFolder = temporaryFolders()
let program = ''

beforeAll(async () => {
  program = await bundled(new URL('fixtures/writer.ts', import.meta.url), newFolder())
})

const start = (...args: string[]): ChildProcess => spawn(process.execPath, [program, ...args], { stdio: ['ignore', 'pipe', 'inherit'] })

describe('a process that is killed while it writes', () => {
  test('a process that is killed while writing loses no acknowledged record', async () => {
    proves('T-TOOL-049')
    const folder = join(newFolder(), 'log')
    const acknowledged: number[] = []
    for (let kill = 0; kill < 20; kill++) {
      const child = start(folder, 'endlessly')
      let said = ''
      child.stdout?.on('data', (data: Buffer) => {
        said += String(data)
      })
      const ended = once(child, 'close')
      while (!said.includes('\n')) await sleep(5)
      await sleep(Math.random() * 60)
      child.kill('SIGKILL')
      await ended
      acknowledged.push(...said.split('\n').slice(0, -1).map(Number))
    }
    const log = await openAuditLog({ folder })
    await log.close()
    const kept = new Set<number>()
    for await (const { seq } of readAudit(folder, { kinds: ['intent'] })) kept.add(seq)
    expect(acknowledged.length).toBeGreaterThan(40)
    expect(new Set(acknowledged).size).toBe(acknowledged.length)
    expect(acknowledged.filter((seq) => !kept.has(seq))).toEqual([])
    const { ok, firstBad, unmatchedIntents } = await verifyAudit(folder)
    expect({ ok, firstBad }).toEqual({ ok: true, firstBad: undefined })
    // What was begun when the process was killed, and nothing else: at most three a time.
    expect(unmatchedIntents.length).toBeLessThanOrEqual(60)
    expect(readdirSync(folder).filter((name) => name.startsWith('audit-')).length).toBeGreaterThan(1)
  }, 120_000)
})

describe('several processes', () => {
  test('several processes append to one chain in turn, and lose no record', async () => {
    const folder = join(newFolder(), 'log')
    const children = ['a', 'b', 'c'].map((name) => start(folder, 'count', '40', name))
    await Promise.all(children.map((child) => once(child, 'close')))
    const by = new Map<string, number>()
    for await (const record of readAudit(folder, { kinds: ['intent'] }))
      if (record.kind === 'intent') by.set(record.entry.run, (by.get(record.entry.run) ?? 0) + 1)
    expect(Object.fromEntries(by)).toEqual({ a: 40, b: 40, c: 40 })
    expect(await verifyAudit(folder)).toMatchObject({ ok: true, unmatchedIntents: [] })
  }, 60_000)
})

describe('a disk', () => {
  test('a full disk refuses what cannot be logged, keeps existing records, and recovers', async () => {
    const disk = newFolder()
    const { said, mayGrow } = onSmallDisk(disk, [process.execPath, program, join(disk, 'log'), 'fill'])
    const report = JSON.parse(said) as {
      code: string
      message: string
      before: number
      again: string
      acknowledged: number[]
      kept: number[]
      verdict: AuditVerdict
    }
    expect(report.code).toBe('ERR_AUDIT')
    expect(report.message).toMatch(/ENOSPC|EFBIG/)
    expect(report.before).toBeGreaterThan(5)
    expect(report.again).toBe('ERR_AUDIT')
    expect(report.acknowledged.length).toBe(report.before + (mayGrow ? 1 : 0))
    expect(report.kept).toEqual(report.acknowledged)
    expect(report.verdict).toMatchObject({ ok: true, recovered: 0 })
  })

  test('a folder that is open to others or cannot be created is refused before any action', async () => {
    const open = join(newFolder(), 'open')
    mkdirSync(open)
    chmodSync(open, 0o755)
    await expect(openAuditLog({ folder: open })).rejects.toMatchObject({ code: 'ERR_AUDIT', message: expect.stringContaining(open) })
    const log = await openAuditLog({ folder: join(newFolder(), 'log') })
    await log.close()
    await expect(log.intent(entry())).rejects.toMatchObject({ code: 'ERR_AUDIT' })
  })
})

/** A disk of 96 KiB where we may make one, else files that may not grow beyond 64 KiB. */
function onSmallDisk(folder: string, command: readonly string[]): { said: string; mayGrow: boolean } {
  const mount = `mount -t tmpfs -o size=96k,mode=700 tmpfs '${folder}'`
  const run = (program: string, ...args: string[]) => execFileSync(program, args, { encoding: 'utf8' })
  try {
    execFileSync('unshare', ['-m', 'sh', '-c', mount], { stdio: 'ignore' })
  } catch {
    return { said: run('sh', '-c', 'ulimit -f 64; exec "$@"', 'sh', ...command, 'one-segment'), mayGrow: false }
  }
  return { said: run('unshare', '-m', 'sh', '-c', `${mount} && exec "$@"`, 'sh', ...command), mayGrow: true }
}
