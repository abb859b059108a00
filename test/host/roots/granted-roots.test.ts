import { mkdirSync, realpathSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { RootRegistry, type RootRegistryOptions } from '../../../src/host/roots/root-registry.ts'
import { validRoot } from '../../../src/host/roots/valid-root.ts'
import type { Root } from '../../../src/protocol/model/roots.ts'
import { createServer } from '../../../src/server/index.ts'
import { fakeClock } from '../../../src/testing/index.ts'
import { temporaryFolders } from '../../support/folders.ts'
import { proves } from '../../support/proves.ts'
import { call, memoryWay, supervise, until } from '../servers/support.ts'

const newFolder = temporaryFolders()
const open: RootRegistry[] = []
afterEach(() => {
  for (const roots of open.splice(0)) roots.close()
})

const newRoots = (options: Partial<RootRegistryOptions> = {}): RootRegistry => {
  const roots = new RootRegistry({ onChange: () => {}, ...options })
  open.push(roots)
  return roots
}

/** A directory to be granted, below one that can be moved. */
function directory(name = 'project'): string {
  const path = join(realpathSync(newFolder()), 'above', name)
  mkdirSync(path, { recursive: true })
  return path
}

const namesOf = (roots: readonly Root[]): (string | undefined)[] => roots.map(({ name }) => name)

describe('the roots of a server', () => {
  test('a server has no roots until they are granted, and each server has its own', async () => {
    proves('T-ROOT-018')
    const roots = newRoots()
    expect(roots.of('a')).toEqual([])
    const root = await validRoot(directory())
    roots.grant('a', root)
    expect(roots.of('a')).toEqual([{ uri: root.uri, name: 'project' }])
    expect(roots.of('b')).toEqual([])
  })

  test('roots can be listed, added and removed, and each change is announced', async () => {
    proves('T-ROOT-024', 'T-ROOT-008', 'T-ROOT-013')
    const told: [string, (string | undefined)[]][] = []
    const roots = newRoots({ onChange: (server, now) => told.push([server, namesOf(now)]) })
    const [first, second] = [await validRoot(directory('first')), await validRoot(directory('second'))]
    roots.grant('a', first)
    roots.grant('a', second)
    roots.grant('a', second)
    expect(roots.granted('a').map(({ path, fault }) => [path, fault])).toEqual([
      [first.path, undefined],
      [second.path, undefined],
    ])
    roots.grant('a', { ...second, name: 'renamed' })
    expect(roots.revoke('a', first.uri)).toBe(true)
    expect(roots.revoke('a', first.uri)).toBe(false)
    expect(roots.revoke('b', second.uri)).toBe(false)
    expect(told).toEqual([
      ['a', ['first']],
      ['a', ['first', 'second']],
      ['a', ['first', 'renamed']],
      ['a', ['renamed']],
    ])
    roots.forget('a')
    expect(roots.of('a')).toEqual([])
    expect(told).toHaveLength(4)
  })

  test('the number of roots of a server is limited', async () => {
    const roots = newRoots({ limits: { maxRoots: 2 } })
    for (const name of ['1', '2']) roots.grant('a', await validRoot(directory(name)))
    const third = await validRoot(directory('3'))
    expect(() => roots.grant('a', third)).toThrow(
      expect.objectContaining({ code: 'ERR_LIMIT', message: expect.stringContaining('maxRoots') }),
    )
    expect(roots.of('a')).toHaveLength(2)
    roots.grant('b', third)
  })
})

describe('a watched root', () => {
  const gone: readonly (readonly [string, (path: string) => void])[] = [
    ['deleted', (path) => rmSync(path, { recursive: true })],
    ['moved', (path) => renameSync(path, `${path}-moved`)],
    [
      'replaced by a link',
      (path) => {
        renameSync(path, `${path}-moved`)
        symlinkSync('/', path)
      },
    ],
    [
      'replaced by a file',
      (path) => {
        rmSync(path, { recursive: true })
        writeFileSync(path, '')
      },
    ],
  ]
  test.each(gone)('a watched root that is %s is removed, and the server is notified', async (_how, leave) => {
    proves('T-ROOT-019', 'T-ROOT-026')
    const told: Root[][] = []
    const warnings: string[] = []
    // So long that only an event of the system can be what is noticed.
    const roots = newRoots({
      onChange: (_server, now) => told.push([...now]),
      onWarning: (message) => warnings.push(message),
      limits: { pollMs: 3_600_000 },
    })
    const path = directory()
    const other = directory('other')
    roots.grant('a', await validRoot(path))
    roots.grant('a', await validRoot(other))
    await roots.check()
    leave(path)
    await until(() => told.length === 3)
    expect(namesOf(told[2] as Root[])).toEqual(['other'])
    expect(namesOf(roots.of('a'))).toEqual(['other'])
    expect(warnings).toEqual([expect.stringContaining(`${path} is no longer given to "a"`)])
    expect(roots.granted('a')[0]?.fault).toBeDefined()
  })

  test('a watched root is removed when a directory above it is moved, and returns with it', async () => {
    const clock = fakeClock()
    const roots = newRoots({ clock, limits: { pollMs: 1_000 } })
    const path = directory()
    const above = join(path, '..')
    roots.grant('a', await validRoot(path))
    renameSync(above, `${above}-moved`)
    await until(async () => {
      await clock.advance(1_000)
      return roots.of('a').length === 0
    })
    renameSync(`${above}-moved`, above)
    await until(async () => {
      await clock.advance(1_000)
      return roots.of('a').length === 1
    })
  })

  test('a watched root that is deleted and restored is watched again', async () => {
    const roots = newRoots({ limits: { pollMs: 20 } })
    const path = directory()
    roots.grant('a', await validRoot(path))
    for (let round = 0; round < 2; round++) {
      rmSync(path, { recursive: true })
      await until(() => roots.of('a').length === 0)
      mkdirSync(path)
      await until(() => roots.of('a').length === 1)
    }
  })
})

describe('a server that was given roots', () => {
  test('a server with roots is notified of changes and gets the currently granted roots', async () => {
    proves('T-ROOT-019', 'T-ROOT-007', 'T-ROOT-002')
    const service = createServer({ name: 'here', version: '1', revisions: ['2025-11-25'] })
    service.tool('roots', {}, async (_args, ctx) => JSON.stringify(namesOf(await ctx.roots())))
    const heard: string[] = []
    const open: typeof service.open = (options) => {
      const channel = service.open(options)
      const { receive } = channel
      return Object.assign(Object.create(channel) as typeof channel, {
        receive: (...[message, outlet]: Parameters<typeof receive>) => {
          if (message.kind === 'notification') heard.push(message.method)
          channel.receive(message, outlet)
        },
        close: (reason: string) => channel.close(reason),
      })
    }
    const roots: RootRegistry = newRoots({ onChange: () => server.announceRoots() })
    const server = supervise(memoryWay({ ...service, open }), { answers: { roots: () => roots.of('one') } })
    await server.retry()
    expect(await call(server, 'roots')).toBe('[]')
    const path = directory()
    roots.grant('one', await validRoot(path))
    expect(await call(server, 'roots')).toBe('["project"]')
    rmSync(path, { recursive: true })
    await until(() => heard.filter((method) => method === 'notifications/roots/list_changed').length === 2)
    expect(await call(server, 'roots')).toBe('[]')
  })
})
