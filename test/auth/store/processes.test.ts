/** Processes that share a store: they take turns, outlive one that dies in the middle, and survive a disk that is full. */

import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { fileTokenStore } from '../../../src/auth/store/local-stores.ts'
import { withLockFile } from '../../../src/files/lock-file.ts'
import { bundled } from '../../support/bundled.ts'
import { temporaryFolders } from '../../support/folders.ts'

const newFolder = temporaryFolders()
const PROGRAM = fileURLToPath(new URL('fixtures/store-user.mjs', import.meta.url))

const start = (...args: string[]): ChildProcess => spawn(process.execPath, [PROGRAM, ...args], { stdio: ['ignore', 'pipe', 'inherit'] })

async function firstLine(child: ChildProcess): Promise<unknown> {
  const [text] = (await once(child.stdout as NonNullable<typeof child.stdout>, 'data')) as [Buffer]
  return JSON.parse(String(text).split('\n')[0] ?? '')
}

const storeIn = (folder: string) => fileTokenStore({ folder, keychain: false, onWarning: () => {} })

describe('two processes', () => {
  test('two processes that change the same entry take turns, and create one key', async () => {
    const folder = newFolder()
    const children = [start(folder, 'count', '25'), start(folder, 'count', '25'), start(folder, 'count', '25')]
    expect(await Promise.all(children.map(firstLine))).toEqual(['done', 'done', 'done'])
    expect(await storeIn(folder).get('counter')).toBe('75')
    expect(readdirSync(folder).filter((name) => /lock|tmp|removing/.test(name))).toEqual([])
  })

  test('two processes do not wait for one that was killed while it held the lock', async () => {
    const folder = newFolder()
    const holder = start(folder, 'hold')
    expect(await firstLine(holder)).toBe('held')
    const ended = once(holder, 'close')
    const waiting = [1, 2, 3].map((turn) => storeIn(folder).withLock('counter', async () => turn))
    holder.kill('SIGKILL')
    await ended
    const before = performance.now()
    expect(await Promise.all(waiting)).toEqual([1, 2, 3])
    expect(performance.now() - before).toBeLessThan(3000)
  })

  test('two processes wait for a living one up to the limit', async () => {
    const folder = newFolder()
    const holder = start(folder, 'hold')
    expect(await firstLine(holder)).toBe('held')
    const store = fileTokenStore({ folder, keychain: false, onWarning: () => {}, limits: { lockTimeoutMs: 150 } })
    const before = performance.now()
    await expect(store.withLock('counter', async () => 1)).rejects.toMatchObject({
      code: 'ERR_TIMEOUT',
      message: expect.stringContaining('lockTimeoutMs'),
    })
    expect(performance.now() - before).toBeGreaterThanOrEqual(150)
    holder.kill('SIGKILL')
  })
})

describe('a lock', () => {
  const limits = { lockTimeoutMs: 5000, lockStaleMs: 120 }

  test('a lock whose holder is on another machine is taken over when it is not renewed', async () => {
    const file = join(newFolder(), 'a.lock')
    for (const left of ['{"pid":1,"machine":"another","id":"x"}', '{"pid":1', '', '[]', 'null']) {
      writeFileSync(file, left)
      const before = performance.now()
      expect(await withLockFile(file, limits, async () => 'in')).toBe('in')
      expect(performance.now() - before).toBeGreaterThanOrEqual(limits.lockStaleMs)
      expect(existsSync(file)).toBe(false)
    }
  })

  test('a lock whose holder renews it is not taken over, however long it takes', async () => {
    const file = join(newFolder(), 'a.lock')
    const order: string[] = []
    const first = withLockFile(file, limits, async () => {
      await new Promise((resolve) => setTimeout(resolve, 600))
      order.push('first')
    })
    await expect.poll(() => existsSync(file)).toBe(true)
    await withLockFile(file, limits, async () => order.push('second'))
    await first
    expect(order).toEqual(['first', 'second'])
  })

  test('a lock that was taken over is not removed by its former holder', async () => {
    const file = join(newFolder(), 'a.lock')
    await withLockFile(file, limits, async () => writeFileSync(file, '{"pid":1,"machine":"another","id":"y"}'))
    expect(existsSync(file)).toBe(true)
  })

  test('a process that is killed leaves no lock without a holder, so nobody waits for it', async () => {
    const folder = newFolder()
    const file = join(folder, 'a.lock')
    const program = await bundled(new URL('fixtures/lock-forever.ts', import.meta.url), folder)
    let held = 0
    for (let i = 0; i < 15; i++) {
      const child = spawn(process.execPath, [program, file])
      await once(child.stdout, 'data')
      await new Promise((resolve) => setTimeout(resolve, 3 + i))
      child.kill('SIGKILL')
      await once(child, 'exit')
      if (existsSync(file)) {
        held++
        expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ pid: child.pid })
      }
      const before = performance.now()
      await withLockFile(file, { lockTimeoutMs: 5000, lockStaleMs: 4000 }, async () => {})
      expect(performance.now() - before).toBeLessThan(3500)
    }
    expect(held).toBeGreaterThan(0)
  }, 60_000)

  test('a dead lock is taken over once by many processes, also when one of them dies doing it', async () => {
    const file = join(newFolder(), 'a.lock')
    writeFileSync(file, '{"pid":1,"machine":"another","id":"x"}')
    writeFileSync(`${file}.removing`, '')
    utimesSync(`${file}.removing`, 0, 0)
    let running = 0
    let most = 0
    const turns = Array.from({ length: 20 }, () =>
      withLockFile(file, limits, async () => {
        most = Math.max(most, ++running)
        await new Promise((resolve) => setTimeout(resolve, 2))
        running--
      }),
    )
    await Promise.all(turns)
    expect(most).toBe(1)
  })
})

describe('a disk', () => {
  test('a full disk is an error, once, and existing entries stay', async () => {
    const folder = newFolder()
    const [command, args] = onSmallDisk(folder)
    const said = execFileSync(command, [...args, process.execPath, PROGRAM, folder, 'fill'], { encoding: 'utf8' })
    const report = JSON.parse(said) as { written: number; code: string; cause: string; length: number }
    expect(report.code).toBe('ERR_STORE')
    expect(['ENOSPC', 'EFBIG']).toContain(report.cause)
    expect(report.written).toBeGreaterThan(0)
    // The last value that was written whole.
    expect(report.length).toBe(1024 + (report.written - 1) * 16_384)
  })

  test('a read-only disk is an error, and existing entries can be read', async () => {
    const folder = newFolder()
    const store = storeIn(folder)
    await store.set('k', 'before')
    const readOnly = onReadOnlyDisk(folder)
    const said = execFileSync(readOnly[0], [...readOnly[1], process.execPath, PROGRAM, folder, 'overwrite'], { encoding: 'utf8' })
    expect(JSON.parse(said)).toEqual({ code: 'ERR_STORE', lock: 'ERR_STORE', value: 'before' })
    chmodSync(folder, 0o700)
    expect(await store.get('k')).toBe('before')
  })

  test('a folder that cannot be created is an error that names it', async () => {
    const file = join(newFolder(), 'file')
    writeFileSync(file, '')
    await expect(storeIn(join(file, 'tokens')).set('k', '1')).rejects.toMatchObject({
      code: 'ERR_STORE',
      message: expect.stringContaining(file),
    })
    mkdirSync(`${file}2`, { mode: 0o755 })
    chmodSync(`${file}2`, 0o755)
    await expect(storeIn(`${file}2`).set('k', '1')).rejects.toMatchObject({ code: 'ERR_STORE' })
  })
})

/** A disk of 64 KiB where we may make one, else files that may not grow beyond 64 KiB. */
function onSmallDisk(folder: string): [string, string[]] {
  const mount = `mount -t tmpfs -o size=64k,mode=700 tmpfs '${folder}'`
  if (mayMount(mount)) return ['unshare', ['-m', 'sh', '-c', `${mount} && exec "$@"`, 'sh']]
  return ['sh', ['-c', 'ulimit -f 64; exec "$@"', 'sh']]
}

/** Mounted read-only where we may, which also binds root; else by its permissions. */
function onReadOnlyDisk(folder: string): [string, string[]] {
  const mount = `mount --bind '${folder}' '${folder}' && mount -o remount,ro,bind '${folder}'`
  if (mayMount(mount)) return ['unshare', ['-m', 'sh', '-c', `${mount} && exec "$@"`, 'sh']]
  chmodSync(folder, 0o500)
  return ['env', []]
}

function mayMount(mount: string): boolean {
  try {
    execFileSync('unshare', ['-m', 'sh', '-c', mount], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}
