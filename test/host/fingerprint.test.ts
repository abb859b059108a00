/** A server is what it runs, not what it is called. */

import { chmodSync, copyFileSync, mkdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { type Fingerprint, fingerprintChanges, fingerprintOf } from '../../src/host/fingerprint.ts'
import type { HttpWay, ProcessWay } from '../../src/host/servers/spec.ts'
import { createServer } from '../../src/server/index.ts'
import { temporaryFolders } from '../support/folders.ts'

const temporaryFolder = temporaryFolders()
const newFolder = (): string => realpathSync(temporaryFolder())

const command = (name: string, ...args: string[]): ProcessWay => ({ transport: 'stdio', command: name, args, env: {} })

function program(folder: string, name: string, text = '#!/bin/sh\necho hello\n'): string {
  const file = join(folder, name)
  writeFileSync(file, text)
  chmodSync(file, 0o755)
  return file
}

const between = (before: Fingerprint, after: Fingerprint): string[] => fingerprintChanges(before.parts, after.parts)

describe('a program', () => {
  test('is the same as long as nothing changes', async () => {
    const file = program(newFolder(), 'server')
    const [one, two] = [await fingerprintOf(command(file, 'a')), await fingerprintOf(command(file, 'a'))]
    expect(one).toEqual(two)
    expect(one.fingerprint).toMatch(/^[0-9a-f]{64}$/)
    expect(between(one, two)).toEqual([])
  })

  test('E2: with one byte changed in its file is another', async () => {
    const file = program(newFolder(), 'server')
    const before = await fingerprintOf(command(file))
    writeFileSync(file, '#!/bin/sh\necho hellp\n')
    const after = await fingerprintOf(command(file))
    expect(after.fingerprint).not.toBe(before.fingerprint)
    expect(between(before, after)).toEqual([expect.stringContaining(`content of ${file}: `)])
  })

  test('E2: of the same name that comes earlier on the path is another', async () => {
    const [first, second] = [newFolder(), newFolder()]
    program(second, 'server')
    const path = `${first}:${second}`
    const before = await fingerprintOf(command('server'), { path })
    program(first, 'server')
    const after = await fingerprintOf(command('server'), { path })
    expect(between(before, after)).toContain(`program: ${join(second, 'server')} → ${join(first, 'server')}`)
  })

  test('E2: behind a link that was turned to another one is another', async () => {
    const folder = newFolder()
    program(folder, 'good')
    copyFileSync(join(folder, 'good'), join(folder, 'copy'))
    symlinkSync('good', join(folder, 'one'))
    symlinkSync('copy', join(folder, 'two'))
    const [one, two] = [await fingerprintOf(command('./one'), { cwd: folder }), await fingerprintOf(command('./two'), { cwd: folder })]
    expect(between(one, two)).toContain(`program: ${join(folder, 'good')} → ${join(folder, 'copy')}`)
  })

  test('that is not there, or is no program, is said to be missing', async () => {
    const folder = newFolder()
    writeFileSync(join(folder, 'text'), '')
    mkdirSync(join(folder, 'folder'))
    for (const name of ['none', 'text', 'folder']) {
      expect((await fingerprintOf(command(name), { path: folder })).warnings).toEqual([`No program ${name} was found`])
    }
  })

  test('is looked for on the path that it will have', async () => {
    const folder = newFolder()
    program(folder, 'server')
    const { warnings } = await fingerprintOf({ ...command('server'), env: { PATH: folder } }, { path: '/nowhere' })
    expect(warnings).toEqual([])
  })

  test('larger than is read is another when its size is', async () => {
    const file = program(newFolder(), 'server', 'x'.repeat(11))
    const limits = { maxProgramBytes: 10 }
    const before = await fingerprintOf(command(file), { limits })
    writeFileSync(file, 'x'.repeat(12))
    expect(between(before, await fingerprintOf(command(file), { limits }))).toHaveLength(1)
  })

  test('exactly as large as is read is read whole', async () => {
    const file = program(newFolder(), 'server', 'x'.repeat(10))
    const limits = { maxProgramBytes: 10 }
    const read = await fingerprintOf(command(file), { limits })
    expect(read).toEqual(await fingerprintOf(command(file)))
  })
})

describe('a script', () => {
  test.each<[string, string, string[]]>([
    ['of node', 'node', ['server.js', 'data.txt']],
    ['after options', 'node', ['--no-warnings', 'server.js', 'data.txt']],
    ['without its ending', 'node', ['./server', 'data.txt']],
    ['of python', '/usr/bin/python3.11', ['-u', 'server.js', 'data.txt']],
    ['of deno', 'deno', ['run', '-A', 'server.js', 'data.txt']],
    ['that is loaded first', 'node', ['--import', 'server.js', 'main.js']],
    ['that is loaded first, in one word', 'node', ['--require=./server.js', 'main.js']],
    ['of a shell', 'bash', ['server.js']],
    ['in an archive', 'java', ['-jar', 'server.js', 'data.txt']],
  ])('E2: %s counts by its content, and what it is given does not', async (_name, interpreter, args) => {
    const folder = newFolder()
    for (const name of ['server.js', 'main.js', 'data.txt']) writeFileSync(join(folder, name), 'one')
    const way: ProcessWay = { ...command(interpreter, ...args), cwd: folder }
    const before = await fingerprintOf(way)
    writeFileSync(join(folder, 'data.txt'), 'two')
    expect(await fingerprintOf(way)).toEqual(before)
    writeFileSync(join(folder, 'server.js'), 'two')
    const after = await fingerprintOf(way)
    expect(after.fingerprint).not.toBe(before.fingerprint)
    expect(between(before, after)).toEqual([expect.stringContaining(`content of ${join(folder, 'server.js')}: `)])
  })

  test.each<[string, string[]]>([
    ['node', ['-e', 'code', 'data.txt']],
    ['python', ['-m', 'module', 'data.txt']],
    ['npx', ['-y', 'some-server@1.0.0', 'data.txt']],
    ['docker', ['run', 'image', 'data.txt']],
  ])('%s %j has none', async (interpreter, args) => {
    const folder = newFolder()
    writeFileSync(join(folder, 'data.txt'), 'one')
    const { parts } = await fingerprintOf({ ...command(interpreter, ...args), cwd: folder })
    expect(parts.filter(({ name }) => name.startsWith('content'))).toEqual([])
  })

  test('of a folder is the one that it names', async () => {
    const folder = newFolder()
    writeFileSync(join(folder, 'package.json'), '{"main":"lib.js"}')
    writeFileSync(join(folder, 'lib.js'), 'one')
    const { parts } = await fingerprintOf({ ...command('node', '.'), cwd: folder })
    expect(parts.map(({ name }) => name)).toContain(`content of ${join(folder, 'lib.js')}`)
  })
})

describe('a package', () => {
  test.each<[string, string[], string | undefined]>([
    ['npx', ['-y', 'some-server'], 'some-server'],
    ['npx', ['-y', '@scope/server@latest'], '@scope/server@latest'],
    ['npx', ['--package=some-server', 'bin'], 'some-server'],
    ['npx', ['-p', '@scope/server@^1', 'bin'], '@scope/server@^1'],
    ['uvx', ['--from', 'some-server', 'bin'], 'some-server'],
    ['npx', ['some-server@1.2.3'], undefined],
    ['npx', ['@scope/server@1.2.3'], undefined],
    ['uvx', ['some-server==1.2.3'], undefined],
    ['node', ['some-server'], undefined],
  ])('%s %j: a person is warned of %s', async (runner, args, spec) => {
    const folder = newFolder()
    program(folder, runner)
    const { warnings } = await fingerprintOf(command(runner, ...args), { path: folder, cwd: folder })
    expect(warnings).toEqual(
      spec === undefined ? [] : [`${spec} is whatever version is published when it starts; name a version to keep one`],
    )
  })

  test('E2: in a lock file counts by what was installed', async () => {
    const folder = newFolder()
    program(folder, 'npx')
    const lock = (integrity: string): void =>
      writeFileSync(join(folder, 'package-lock.json'), JSON.stringify({ packages: { 'node_modules/@scope/server': { integrity } } }))
    const look = (limits = {}): Promise<Fingerprint> =>
      fingerprintOf({ ...command('npx', '@scope/server'), cwd: folder }, { path: folder, limits })
    lock('sha512-a')
    const before = await look()
    lock('sha512-b')
    expect(between(before, await look())).toEqual(['package @scope/server: sha512-a → sha512-b'])
    expect(before.warnings).toEqual([])
    expect((await look({ maxLockBytes: 10 })).warnings).toHaveLength(1)
    writeFileSync(join(folder, 'package-lock.json'), 'x')
    expect((await look()).warnings).toHaveLength(1)
  })
})

describe('a place on the network', () => {
  const http = (url: string, headers: Record<string, string> = {}): HttpWay => ({ transport: 'http', url, headers })

  test('is the same however its address is written', async () => {
    expect(await fingerprintOf(http('https://Example.com:443/a/../b#c'))).toEqual(await fingerprintOf(http('https://example.com/b')))
  })

  test('is another with another authorization server or resource', async () => {
    const way = http('https://example.com/')
    const before = await fingerprintOf(way, { issuer: 'https://as.example', resource: 'https://example.com/' })
    const after = await fingerprintOf(way, { issuer: 'https://as.evil.example', resource: 'https://example.com/' })
    expect(between(before, after)).toEqual(['authorization server: https://as.example → https://as.evil.example'])
  })

  test('may have placeholders where its host will be', async () => {
    const at = (name: string): Promise<Fingerprint> => fingerprintOf(http(`https://\${env:${name}}/x`))
    const [one, two] = [await at('A'), await at('B')]
    expect(one.fingerprint).not.toBe(two.fingerprint)
  })

  test('and a program keep secrets to themselves that somebody wrote into their configuration', async () => {
    const canary = 'sk-canary1234567890abcdef'
    const ways = [
      http(`https://user:${canary}@example.com/?key=${canary}`, { 'X-Key': canary }),
      { ...command('x', '--api-key', canary, `--token=${canary}`), env: { KEY: canary } },
    ]
    for (const way of ways) expect(JSON.stringify(await fingerprintOf(way))).not.toContain(canary)
  })
})

test('a server in this process is what it says it is: nobody else could put it there', async () => {
  const way = { transport: 'memory', service: createServer({ name: 'a', version: '1' }) } as const
  const [one, two] = [
    await fingerprintOf(way, { info: { name: 'a', version: '1' } }),
    await fingerprintOf(way, { info: { name: 'b', version: '1' } }),
  ]
  expect(between(one, two)).toEqual(['name: a → b'])
})
