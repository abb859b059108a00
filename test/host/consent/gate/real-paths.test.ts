/** `within` holds only for a path that every server reads as the same file. */

import { mkdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, test } from 'vitest'
import { decide } from '../../../../src/host/consent/decide.ts'
import { realPathsOf } from '../../../../src/host/consent/gate/real-paths.ts'
import { pathPointers } from '../../../../src/host/consent/path-pointers.ts'
import { compileRules } from '../../../../src/host/policy/compile-policy.ts'
import { temporaryFolders } from '../../../support/folders.ts'
import { action } from '../actions.ts'

const temporaryFolder = temporaryFolders()

/** A project with links, beside a secret. */
function project(): string {
  const root = realpathSync(temporaryFolder())
  const home = join(root, 'project')
  mkdirSync(join(home, 'a/b/c/d'), { recursive: true })
  symlinkSync('a/b/c/d', join(home, 'docs'))
  symlinkSync('..', join(home, 'out'))
  symlinkSync('../secret.txt', join(home, 'x'))
  writeFileSync(join(root, 'secret.txt'), '')
  writeFileSync(join(home, 'file.txt'), '')
  return home
}

async function effectOf(home: string, path: string): Promise<string> {
  const policy = compileRules({
    layers: {
      user: [{ id: 'inside', effect: 'allow', match: { action: 'tool.call' }, args: { '/path': { within: `\${root:project}` } } }],
    },
    roots: { project: home },
  })
  const wanted = action({ args: { path } })
  return decide(policy, { ...wanted, realPaths: await realPathsOf(wanted, pathPointers(policy, wanted)) }, []).effect
}

test.each([
  '/file.txt',
  '/new/file.txt',
  '/docs/new.txt',
  '/a/../file.txt',
  '//file.txt',
  '/./file.txt',
  '/a/b/../../file.txt',
  'URI/file.txt',
  'URI/a/../file.txt',
  'URI/a%20b',
])('%s of the project is within it', async (path) => {
  const home = project()
  const whole = path.startsWith('URI') ? `${pathToFileURL(home).href}${path.slice(3)}` : `${home}${path}`
  expect(await effectOf(home, whole)).toBe('allow')
})

test.each([
  ['.. after a link', '/docs/../../../secret.txt'],
  ['.. after a link that stays inside either way', '/docs/../file.txt'],
  ['a link out', '/out/secret.txt'],
  ['.. out', '/../secret.txt'],
  ['.. out of a folder that is not there', '/new/../../secret.txt'],
  ['a URI with a fragment', 'URI/x#/../../secret.txt'],
  ['a URI with a query', 'URI/x?/../../secret.txt'],
  ['a URI with an empty query', 'URI/file.txt?'],
  ['a URI with .. after a link', 'URI/docs/../../../secret.txt'],
  ['a URI with escaped dots', 'URI/docs/%2e%2e/%2e%2e/%2e%2e/secret.txt'],
  ['a URI with backslashes', 'URI/docs\\..\\..\\..\\secret.txt'],
  ['a URI with a tab', 'URI/x\t'],
  ['backslashes', '/docs\\..\\..\\..\\secret.txt'],
  ['a space at the end, which a server may drop', '/x '],
  ['a quote at the end, which a server may drop', '/x"'],
  ['escaped dots', '/a/%2e%2e/%2e%2e/secret.txt'],
  ['a line break', '/x\n'],
])('%s is not known to be within the project', async (_name, path) => {
  const home = project()
  const whole = path.startsWith('URI') ? `${pathToFileURL(home).href}${path.slice(3)}` : `${home}${path}`
  expect(await effectOf(home, whole)).toBe('ask')
})

test.each(['file.txt', './file.txt', '~/file.txt', 'file:file.txt', 'file:/file.txt', 'file://elsewhere/file.txt'])(
  'the target of %s depends on the server, so it is not known to be within anything',
  async (path) => {
    expect(await effectOf(project(), path)).toBe('ask')
  },
)

// Skipped on other systems: these paths go through /proc, which only Linux has.
describe.skipIf(process.platform !== 'linux')('a path that leads each process to its own place', () => {
  /** Paths that lead this process to the file in the project, and another process elsewhere. */
  const pathsTo = (home: string): string[] => {
    const fromHere = relative(process.cwd(), home)
    symlinkSync('/proc/self/cwd', join(home, 'link'))
    symlinkSync('link', join(home, 'link-to-link'))
    symlinkSync('/dev/fd/9', join(home, 'descriptor'))
    return [
      `/proc/self/cwd/${fromHere}/file.txt`,
      `/proc/thread-self/cwd/${fromHere}/file.txt`,
      `/proc/${process.pid}/root${home}/file.txt`,
      `/proc/self/../self/root${home}/file.txt`,
      `/dev/../proc/self/root${home}/file.txt`,
      `${pathToFileURL('/proc/self/root').href}${home}/file.txt`,
      `${home}/link/${fromHere}/file.txt`,
      `${home}/link-to-link/${fromHere}/file.txt`,
      `${home}/link/not-there-yet`,
      `${home}/descriptor`,
      '/dev/stdin',
      '/dev/fd/0',
    ]
  }

  test('a path that differs between processes is not known to be within the project', async () => {
    const home = project()
    for (const path of pathsTo(home)) expect([path, await effectOf(home, path)]).toEqual([path, 'ask'])
  })

  test('a path that differs between processes does not evade a rule that forbids a folder', async () => {
    const home = project()
    const policy = compileRules({
      roots: {},
      layers: {
        user: [
          { id: 'all', effect: 'allow', match: { action: 'tool.call' } },
          { id: 'not-etc', effect: 'deny', match: { action: 'tool.call' }, args: { '/path': { within: '/etc' } } },
        ],
      },
    })
    for (const path of pathsTo(home)) {
      const wanted = action({ args: { path } })
      const known = { ...wanted, realPaths: await realPathsOf(wanted, pathPointers(policy, wanted)) }
      expect([path, decide(policy, known, [])]).toMatchObject([path, { effect: 'ask', isForced: true }])
      expect([path, decide(policy, { ...known, mode: 'headless' }, []).effect]).toEqual([path, 'deny'])
    }
  })
})
