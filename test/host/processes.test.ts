/** Hosts of several processes on one folder, one that is killed, and one whose disk is full. */

import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { fileTokenStore } from '../../src/auth/store/local-stores.ts'
import { createHost, openVault, readAudit, serverFile, verifyAudit } from '../../src/host/index.ts'
import { STORAGE_PATHS } from '../../src/host/setup/open-storage.ts'
import { createServer } from '../../src/server/index.ts'
import { hosts, person, textOf, until } from './hosts.ts'

const { folder: newFolder } = hosts()
const passphrase = 'correct horse battery staple'
const program = fileURLToPath(new URL('fixtures/host-process.mjs', import.meta.url))

const start = (...args: string[]): ChildProcess => spawn(process.execPath, [program, ...args], { stdio: ['ignore', 'pipe', 'inherit'] })

test('hosts in several processes share all stored state, and lose no change of each other', async () => {
  const folder = join(newFolder(), 'host')
  const names = ['one', 'two', 'three']
  const each = 8
  const ends = names.map((name) => once(start(folder, 'share', name, String(each)), 'close'))
  expect((await Promise.all(ends)).map(([code]) => code)).toEqual([0, 0, 0])

  const host = await createHost({ folder, keychain: false, passphrase })
  const grants = await host.grants.list()
  const approved = host.pins.list().map(({ server, items }) => [server, items.filter(({ kind }) => kind === 'tool').length])
  await host.close()
  const expected = names.flatMap((name) => Array.from({ length: each }, (_, n) => `${name}-${n}`)).sort()
  expect(grants.filter(({ action }) => action === 'tool.call')).toHaveLength(names.length * each)
  expect(approved.sort()).toEqual(names.map((name) => [name, 2]).sort())
  expect((await serverFile(folder).list()).servers.map(({ id }) => id).sort()).toEqual(expected)
  const vault = await openVault({ folder: join(folder, STORAGE_PATHS.secrets), keychain: false, passphrase })
  expect(await vault.list()).toEqual(expected)
  expect(await vault.get('two-3')).toBe('the secret 3 of two')
  const tokens = fileTokenStore({ folder: join(folder, STORAGE_PATHS.tokens), keychain: false, passphrase })
  for (const name of names) for (let n = 0; n < each; n++) expect(await tokens.get(`${name} ${n}`)).toBe(`token ${n}`)
  const calls = new Map<string, number>()
  for await (const record of readAudit(join(folder, STORAGE_PATHS.audit), { kinds: ['intent'] }))
    if (record.kind === 'intent' && record.entry.action === 'tool.call')
      calls.set(record.entry.server, (calls.get(record.entry.server) ?? 0) + 1)
  expect(Object.fromEntries(calls)).toEqual(Object.fromEntries(names.map((name) => [name, each])))
  expect(await verifyAudit(join(folder, STORAGE_PATHS.audit))).toMatchObject({ ok: true, unmatchedIntents: [] })
}, 120_000)

test('a killed host leaves a valid log with the unfinished actions, and the next host starts', async () => {
  const folder = join(newFolder(), 'host')
  let kills = 0
  const did: number[] = []
  for (; kills < 5; kills++) {
    const child = start(folder, 'endlessly', 'one')
    let said = ''
    child.stdout?.on('data', (data: Buffer) => {
      said += String(data)
    })
    const ended = once(child, 'close')
    await until(() => said.split('\n').length > 4)
    child.kill('SIGKILL')
    await ended
    did.push(
      ...said
        .split('\n')
        .slice(0, -1)
        .map((line) => JSON.parse(line).did as number),
    )
  }
  const service = createServer({ name: 'one', version: '1' })
  service.tool('echo', {}, () => 'still here')
  const host = await createHost({ folder, keychain: false, servers: { one: service }, ask: person() })
  await host.settled()
  expect(textOf(await host.call({ server: 'one', name: 'echo' }))).toBe('still here')
  await host.close()
  const { ok, firstBad, unmatchedIntents } = await verifyAudit(join(folder, STORAGE_PATHS.audit))
  expect({ ok, firstBad }).toEqual({ ok: true, firstBad: undefined })
  // The call that never ended, once for each kill, and at most one that had begun beside it.
  expect(unmatchedIntents.length).toBeGreaterThanOrEqual(kills)
  expect(unmatchedIntents.length).toBeLessThanOrEqual(2 * kills)
  const begun = new Map<number, string>()
  let intents = 0
  for await (const record of readAudit(join(folder, STORAGE_PATHS.audit), { kinds: ['intent'] })) {
    if (record.kind !== 'intent') continue
    begun.set(record.seq, record.entry.primitive ?? '')
    if (record.entry.primitive === 'echo') intents++
  }
  expect(unmatchedIntents.filter((seq) => begun.get(seq) === 'hang')).toHaveLength(kills)
  // Nothing was done that had not been written down first.
  expect(intents).toBeGreaterThanOrEqual(did.length)
}, 120_000)

test('a host with a full disk performs nothing that it cannot log, says so, and recovers', () => {
  const disk = newFolder()
  const run = onSmallDisk(disk, [process.execPath, program, join(disk, 'host'), 'fill', 'one'])
  const lines = run.said
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  const report = lines.pop() as { code: string; message: string; n: number; again: string; after: string; ok: boolean }
  expect(report.code).toBe('ERR_AUDIT')
  expect(report.message).toMatch(/ENOSPC|EFBIG|no space/i)
  expect(report.n).toBeGreaterThan(3)
  expect(report.again).toBe('ERR_AUDIT')
  expect(report.ok).toBe(true)
  const did = lines.map(({ did: each }) => each)
  expect(did).not.toContain('while it is full')
  if (run.mayGrow) {
    expect(report.after).toBe('done')
    expect(did).toContain('with room')
  }
})

/** A disk of 256 KiB where we may make one, else files that may not grow beyond 64 KiB. */
function onSmallDisk(folder: string, command: readonly string[]): { said: string; mayGrow: boolean } {
  mkdirSync(folder, { recursive: true })
  const mount = `mount -t tmpfs -o size=256k,mode=700 tmpfs '${folder}'`
  const run = (tool: string, ...args: string[]) => execFileSync(tool, args, { encoding: 'utf8' })
  try {
    execFileSync('unshare', ['-m', 'sh', '-c', mount], { stdio: 'ignore' })
  } catch {
    return { said: run('sh', '-c', 'ulimit -f 64; exec "$@"', 'sh', ...command), mayGrow: false }
  }
  return { said: run('unshare', '-m', 'sh', '-c', `${mount} && exec "$@"`, 'sh', ...command), mayGrow: true }
}
