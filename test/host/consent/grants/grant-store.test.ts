/** What people have allowed: for how long, how often, and until when they think otherwise. */

import { execFile } from 'node:child_process'
import { chmodSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, test } from 'vitest'
import { openGrants } from '../../../../src/host/consent/grants/grant-store.ts'
import type { Grant, GrantScope } from '../../../../src/host/model/grant.ts'
import { bundled } from '../../../support/bundled.ts'
import { temporaryFolders } from '../../../support/folders.ts'
import { proves } from '../../../support/proves.ts'

const newFolder = temporaryFolders()
const newFile = (): string => join(newFolder(), 'state', 'grants.json')

const NOW = 1_000_000

const grant = (id: string, changes: Partial<Omit<Grant, 'bind'>> & { bind?: Partial<Grant['bind']> } = {}): Grant => ({
  id,
  action: 'tool.call',
  scope: 'always',
  expiresAt: NOW + 1000,
  by: 'me',
  at: NOW,
  ...changes,
  bind: { server: 'notes', fingerprint: 'f1', primitive: 'read', pin: 'p1', args: { kind: 'any' }, principal: 'me', ...changes.bind },
})

const ids = (grants: readonly Grant[]): string[] => grants.map(({ id }) => id).sort()

describe.each([
  ['in a file', newFile],
  ['in memory', () => undefined],
])('grants %s', (_name, fileOf) => {
  const open = (limits = {}) => {
    const file = fileOf()
    return openGrants({ ...(file !== undefined && { file }), limits })
  }

  test('grants are live until they expire', async () => {
    const grants = await open()
    await grants.add(grant('a'))
    expect(ids(await grants.live(NOW + 999))).toEqual(['a'])
    expect(await grants.live(NOW + 1000)).toEqual([])
    expect(await grants.use('a', NOW + 1000)).toBe(false)
  })

  test('revoked grants no longer apply', async () => {
    proves('T-HOST-008')
    const grants = await open()
    await grants.add(grant('a'))
    await grants.add(grant('b', { scope: 'session', bind: { run: 'r' } }))
    expect(await grants.revoke('a')).toBe(1)
    expect(await grants.revoke('a')).toBe(0)
    expect(await grants.revoke('b')).toBe(1)
    expect(await grants.live(NOW)).toEqual([])
    expect(await grants.use('a', NOW)).toBe(false)
  })

  test('grants can be revoked by server, by tool, by project, and all together', async () => {
    const grants = await open()
    await grants.add(grant('a'))
    await grants.add(grant('b', { bind: { server: 'mail' } }))
    await grants.add(grant('c', { bind: { server: 'mail', primitive: 'send' } }))
    await grants.add(grant('d', { scope: 'project', bind: { project: '/p' } }))
    expect(await grants.revoke({ server: 'mail', primitive: 'send' })).toBe(1)
    expect(await grants.revoke({ project: '/p' })).toBe(1)
    expect(ids(await grants.list())).toEqual(['a', 'b'])
    expect(await grants.revoke({})).toBe(2)
  })

  test.each<[GrantScope, Partial<Grant['bind']>]>([
    ['once', { run: 'r' }],
    ['always', {}],
  ])('a grant of %s with one use is used once, even by many callers at the same time', async (scope, bind) => {
    const grants = await open()
    await grants.add(grant('a', { scope, usesLeft: 1, bind }))
    const taken = await Promise.all(Array.from({ length: 8 }, () => grants.use('a', NOW)))
    expect(taken.filter(Boolean)).toHaveLength(1)
    expect(await grants.live(NOW)).toEqual([])
  })

  test('grants for once have one use, even if they say otherwise', async () => {
    const grants = await open()
    await grants.add(grant('a', { scope: 'once', usesLeft: 50, bind: { run: 'r' } }))
    await grants.add(grant('b', { scope: 'once', bind: { run: 'r' } }))
    for (const id of ['a', 'b']) expect([await grants.use(id, NOW), await grants.use(id, NOW)]).toEqual([true, false])
  })

  test('grants without a number of uses can be used any number of times', async () => {
    const grants = await open()
    await grants.add(grant('a'))
    for (let turn = 0; turn < 5; turn++) expect(await grants.use('a', NOW)).toBe(true)
  })

  test('grants for a former server or definition are removed', async () => {
    const grants = await open()
    await grants.add(grant('stays'))
    await grants.add(grant('other server', { bind: { fingerprint: 'f2' } }))
    await grants.add(grant('other definition', { bind: { pin: 'p2' } }))
    await grants.add(grant('for now', { scope: 'session', bind: { run: 'r', pin: 'p2' } }))
    await grants.add(grant('whole server', { action: 'server.launch', bind: { primitive: undefined, pin: undefined } }))
    expect(await grants.sweep(NOW, { fingerprintOf: () => 'f1', pinOf: () => 'p1' })).toBe(3)
    expect(ids(await grants.list())).toEqual(['stays', 'whole server'])
  })

  test('grants of a server that is currently missing are kept', async () => {
    const grants = await open()
    await grants.add(grant('a'))
    expect(await grants.sweep(NOW, { fingerprintOf: () => undefined, pinOf: () => undefined })).toBe(0)
    expect(await grants.sweep(NOW + 1000)).toBe(1)
  })

  test('grants end with the turn, and with the run', async () => {
    const grants = await open()
    await grants.add(grant('turn', { scope: 'turn', bind: { run: 'r', turn: 1 } }))
    await grants.add(grant('next', { scope: 'turn', bind: { run: 'r', turn: 2 } }))
    await grants.add(grant('session', { scope: 'session', bind: { run: 'r' } }))
    await grants.add(grant('other', { scope: 'session', bind: { run: 's' } }))
    await grants.endTurn('r', 2)
    expect(ids(await grants.list())).toEqual(['next', 'other', 'session'])
    await grants.endRun('r')
    expect(ids(await grants.list())).toEqual(['other'])
  })

  test('grants are limited in number, the error names the limit, and expired ones make room', async () => {
    const grants = await open({ maxGrants: 2 })
    await grants.add(grant('a'))
    await grants.add(grant('b', { expiresAt: NOW + 1 }))
    await expect(grants.add(grant('c'))).rejects.toMatchObject({ code: 'ERR_LIMIT', message: expect.stringContaining('maxGrants') })
    await grants.add(grant('c', { at: NOW + 1 }))
    expect(ids(await grants.list())).toEqual(['a', 'c'])
  })

  test('grants are limited in size, and the error names the limit', async () => {
    const size = Buffer.byteLength(JSON.stringify(grant('a')))
    const grants = await open({ maxGrantBytes: size })
    await grants.add(grant('a'))
    await expect(grants.add(grant('bb'))).rejects.toMatchObject({ code: 'ERR_LIMIT', message: expect.stringContaining('maxGrantBytes') })
  })

  test('grants have unique ids', async () => {
    const grants = await open()
    await grants.add(grant('a'))
    await expect(grants.add(grant('a'))).rejects.toMatchObject({ code: 'ERR_STORE' })
  })
})

describe('a file of grants', () => {
  test('a file of grants holds those for a project and for always, not those of a conversation', async () => {
    const file = newFile()
    const grants = await openGrants({ file })
    await grants.add(grant('once', { scope: 'once', bind: { run: 'r' } }))
    await grants.add(grant('turn', { scope: 'turn', bind: { run: 'r', turn: 1 } }))
    await grants.add(grant('session', { scope: 'session', bind: { run: 'r' } }))
    expect(existsSync(file)).toBe(false)
    await grants.add(grant('project', { scope: 'project', bind: { project: '/p' } }))
    await grants.add(grant('always'))
    expect(ids(await (await openGrants({ file })).list())).toEqual(['always', 'project'])
    expect(ids(await grants.list())).toEqual(['always', 'once', 'project', 'session', 'turn'])
  })

  test('a file of grants is for its owner only', async () => {
    const file = newFile()
    const grants = await openGrants({ file })
    await grants.add(grant('a'))
    expect(statSync(file).mode & 0o777).toBe(0o600)
    chmodSync(file, 0o644)
    await expect(openGrants({ file })).rejects.toMatchObject({ code: 'ERR_STORE' })
  })

  test('a file of grants that another process changed is read again before a decision', async () => {
    const file = newFile()
    const [one, other] = [await openGrants({ file }), await openGrants({ file })]
    await one.add(grant('a'))
    expect(ids(await other.live(NOW))).toEqual(['a'])
    await other.revoke('a')
    expect(await one.live(NOW)).toEqual([])
    expect(await one.use('a', NOW)).toBe(false)
  })

  test.each([
    ['no JSON', 'x'],
    ['something else', '{}'],
    ['a grant without a server', JSON.stringify([{ ...grant('a'), bind: { ...grant('a').bind, server: 1 } }])],
    ['a grant of another scope', JSON.stringify([{ ...grant('a'), scope: 'forever' }])],
    ['a grant without a predicate', JSON.stringify([{ ...grant('a'), bind: { ...grant('a').bind, args: { kind: 'exact' } } }])],
    ['a grant that is used half', JSON.stringify([{ ...grant('a'), usesLeft: 0.5 }])],
  ])('a file of grants with %s in it is refused, and left as it is', async (_name, text) => {
    const file = join(newFolder(), 'grants.json')
    writeFileSync(file, text, { mode: 0o600 })
    await expect(openGrants({ file })).rejects.toMatchObject({ code: 'ERR_STORE', message: expect.stringContaining(file) })
    expect(readFileSync(file, 'utf8')).toBe(text)
  })
})

describe('two processes', () => {
  const run = promisify(execFile)
  let program = ''
  beforeAll(async () => {
    program = await bundled(new URL('fixtures/grant-user.ts', import.meta.url), newFolder())
  })
  const start = async (...args: string[]): Promise<number> => Number((await run(process.execPath, [program, ...args])).stdout)

  test('two processes that add and revoke at the same time lose no change', async () => {
    const file = newFile()
    await Promise.all(['x', 'y', 'z'].map((name) => start(file, 'churn', name, '10')))
    const expected = ['x', 'y', 'z'].flatMap((name) => [0, 2, 4, 6, 8].map((turn) => `${name}-${turn}`))
    expect(ids(await (await openGrants({ file })).list())).toEqual(expected.sort())
  })

  test('two processes share a grant of three uses', async () => {
    const file = newFile()
    const grants = await openGrants({ file })
    await grants.add(grant('a', { usesLeft: 3, expiresAt: Date.now() + 600_000 }))
    const used = await Promise.all([start(file, 'use', 'a', '5'), start(file, 'use', 'a', '5')])
    expect(used.reduce((sum, each) => sum + each, 0)).toBe(3)
    expect(await grants.list()).toEqual([])
  })
})
