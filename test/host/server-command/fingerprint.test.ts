/** A server is what it runs, not what it is called. */

import { execFileSync } from 'node:child_process'
import { chmodSync, copyFileSync, mkdirSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import type { HttpTransport, StdioTransport } from '../../../src/host/model/server-spec.ts'
import { type Fingerprint, fingerprintChanges, fingerprintOf, versionChanges } from '../../../src/host/server-command/fingerprint.ts'
import { refuseSecretPrograms } from '../../../src/host/server-command/secret-programs.ts'
import { createServer } from '../../../src/server/index.ts'
import { temporaryFolders } from '../../support/folders.ts'

const temporaryFolder = temporaryFolders()
const newFolder = (): string => realpathSync(temporaryFolder())

const command = (name: string, ...args: string[]): StdioTransport => ({ type: 'stdio', command: name, args, env: {} })

function program(folder: string, name: string, text = '#!/bin/sh\necho hello\n'): string {
  const file = join(folder, name)
  writeFileSync(file, text)
  chmodSync(file, 0o755)
  return file
}

const between = (before: Fingerprint, after: Fingerprint): string[] => fingerprintChanges(before.parts, after.parts)

describe('a program', () => {
  test('the fingerprint stays the same while nothing changes', async () => {
    const file = program(newFolder(), 'server')
    const [one, two] = [await fingerprintOf(command(file, 'a')), await fingerprintOf(command(file, 'a'))]
    expect(one).toEqual(two)
    expect(one.fingerprint).toMatch(/^[0-9a-f]{64}$/)
    expect(between(one, two)).toEqual([])
  })

  test('one changed byte in the file of a program changes the fingerprint', async () => {
    const file = program(newFolder(), 'server')
    const before = await fingerprintOf(command(file))
    writeFileSync(file, '#!/bin/sh\necho hellp\n')
    const after = await fingerprintOf(command(file))
    expect(after.fingerprint).not.toBe(before.fingerprint)
    expect(between(before, after)).toEqual([`the file ${file} has changed since you approved it`])
  })

  test('a program of the same name earlier on the path changes the fingerprint', async () => {
    const [first, second] = [newFolder(), newFolder()]
    program(second, 'server')
    const path = `${first}:${second}`
    const before = await fingerprintOf(command('server'), { path })
    program(first, 'server')
    const after = await fingerprintOf(command('server'), { path })
    expect(between(before, after)).toContain(`program: ${join(second, 'server')} → ${join(first, 'server')}`)
  })

  test('a link that now points to another program changes the fingerprint', async () => {
    const folder = newFolder()
    program(folder, 'good')
    copyFileSync(join(folder, 'good'), join(folder, 'copy'))
    symlinkSync('good', join(folder, 'one'))
    symlinkSync('copy', join(folder, 'two'))
    const [one, two] = [await fingerprintOf(command('./one'), { cwd: folder }), await fingerprintOf(command('./two'), { cwd: folder })]
    expect(between(one, two)).toContain(`program: ${join(folder, 'good')} → ${join(folder, 'copy')}`)
  })

  test('a program that is missing or not executable is reported as missing', async () => {
    const folder = newFolder()
    writeFileSync(join(folder, 'text'), '')
    mkdirSync(join(folder, 'folder'))
    for (const name of ['none', 'text', 'folder']) {
      expect((await fingerprintOf(command(name), { path: folder })).warnings).toEqual([`The program ${name} was not found`])
    }
  })

  test('a program is searched on the path that it will get', async () => {
    const folder = newFolder()
    program(folder, 'server')
    const { warnings } = await fingerprintOf({ ...command('server'), env: { PATH: folder } }, { path: '/nowhere' })
    expect(warnings).toEqual([])
  })

  test.each(['', '.', 'bin'])('a program is searched in the working folder if an entry of the path is %j', async (entry) => {
    const [folder, elsewhere] = [newFolder(), newFolder()]
    mkdirSync(join(folder, 'bin'))
    program(resolve(folder, entry), 'server')
    program(elsewhere, 'server')
    const transport: StdioTransport = { ...command('server'), cwd: folder, env: { PATH: `${entry}:${elsewhere}` } }
    expect((await fingerprintOf(transport)).launch?.program).toEqual({
      path: join(folder, entry, 'server'),
      real: join(folder, entry, 'server'),
    })
  })

  test('a program in the server folder with the name of an interpreter counts by its content', async () => {
    const folder = newFolder()
    const file = program(folder, 'node')
    for (const transport of [
      command('./node', 'x'),
      { ...command('node', 'x'), env: { PATH: '' } },
      command('env', './node'),
      command(file),
    ]) {
      writeFileSync(file, '#!/bin/sh\necho one\n')
      const before = await fingerprintOf(transport, { cwd: folder })
      writeFileSync(file, '#!/bin/sh\necho two\n')
      expect(between(before, await fingerprintOf(transport, { cwd: folder }))).toEqual([
        `the file ${file} has changed since you approved it`,
      ])
    }
  })

  test('a program behind a wrapper counts by its path, and by its content unless it is an interpreter', async () => {
    const [first, second] = [newFolder(), newFolder()]
    for (const name of ['server', 'node']) program(second, name)
    const path = `${first}:${second}`
    const look = (): Promise<Fingerprint> => fingerprintOf(command('timeout', '60', 'server', 'node'), { path })
    const before = await look()
    writeFileSync(join(second, 'node'), 'another version')
    expect(between(before, await look())).toEqual([])
    writeFileSync(join(second, 'server'), 'another server')
    expect(between(before, await look())).toEqual([`the file ${join(second, 'server')} has changed since you approved it`])
    program(first, 'node')
    expect(between(before, await look())).toContain(`program node: ${join(second, 'node')} → ${join(first, 'node')}`)
  })

  test('a program larger than the read limit changes the fingerprint if its size changes', async () => {
    const file = program(newFolder(), 'server', 'x'.repeat(11))
    const limits = { maxProgramBytes: 10 }
    const before = await fingerprintOf(command(file), { limits })
    writeFileSync(file, 'x'.repeat(12))
    expect(between(before, await fingerprintOf(command(file), { limits }))).toHaveLength(1)
  })

  test('a program exactly as large as the read limit is read completely', async () => {
    const file = program(newFolder(), 'server', 'x'.repeat(10))
    const limits = { maxProgramBytes: 10 }
    const read = await fingerprintOf(command(file), { limits })
    expect(read).toEqual(await fingerprintOf(command(file)))
  })
})

describe('a script', () => {
  test.each<[string, string, string[]]>([
    ['of node', 'node', ['server.js']],
    ['after options', 'node', ['--no-warnings', 'server.js']],
    ['after an option whose value is a file too', 'node', ['--conditions', 'other.js', 'server.js']],
    ['without its ending', 'node', ['./server']],
    ['of python', '/usr/bin/python3.11', ['-u', 'server.js']],
    ['of deno', 'deno', ['run', '-A', 'server.js']],
    ['that is loaded first', 'node', ['--import', 'server.js', 'other.js']],
    ['that is loaded first, in one word', 'node', ['--require=./server.js', 'other.js']],
    ['that is loaded first, by its URL', 'node', ['--import', 'file://FOLDER/server.js', 'other.js']],
    ['that is loaded first, right after the letter', 'ruby', ['-r./server.js', 'other.js']],
    ['of a shell', 'bash', ['server.js']],
    ['in an archive', 'java', ['-jar', 'server.js']],
    ['in a list of archives', 'java', ['-cp', 'lib:server.js', 'Main']],
    ['of an agent', 'java', ['-javaagent:server.js', 'Main']],
    ['after env', 'env', ['node', 'server.js']],
    ['after env with a variable', 'env', ['NODE_OPTIONS=--require=./server.js', 'node', 'other.js']],
    ['after env that splits', 'env', ['-S', 'node server.js']],
    ['after timeout', 'timeout', ['60', 'node', 'server.js']],
    ['after nice', 'nice', ['-n', '10', 'node', 'server.js']],
    ['after two wrappers', 'nohup', ['stdbuf', '-oL', 'node', 'server.js']],
    ['after a wrapper that nobody knows', 'some-wrapper', ['--', 'node', 'server.js']],
    ['in the code of a shell', 'sh', ['-c', 'exec node server.js']],
    ['in the code of a shell, with quotes', 'sh', ['-c', 'cd . && node "./serv"er.js;']],
    ['in the code of a shell, by a variable', 'sh', ['-c', 'node $PWD/server.js']],
    ['in the code of a shell, in another folder', 'sh', ['-c', 'cd lib; node inner.js']],
    ['in the code of node', 'node', ['-e', "import('./server.js')"]],
    ['of a runner of packages', 'npx', ['-y', 'tsx@4.0.0', 'server.js']],
    ['that is mounted into a container', 'docker', ['run', '-v', 'FOLDER/server.js:/app/server.js', 'image']],
    ['that is a module of python', 'python3', ['-m', 'module']],
    ['that is a module of python in a package', 'python3', ['-m', 'package.tool']],
    ['that is a package of python', 'env', ['python3', '-m', 'package']],
    ['that uv runs in a folder', 'uv', ['--directory', 'lib', 'run', 'inner.js']],
    ['that a manifest names', 'npm', ['--prefix', 'lib', 'start']],
    ['that npx finds installed', 'npx', ['installed']],
    ['of a package that is loaded first', 'node', ['--import', 'hook', 'other.js']],
    ['of a package that is loaded first by env', 'env', ['node', '--require=hook', 'other.js']],
    ['of make', 'make', ['serve']],
    ['that is data, which cannot be told from code', 'node', ['other.js', 'server.js']],
  ])('%s counts by its content', async (_name, interpreter, args) => {
    const folder = newFolder()
    const files = ['server.js', 'other.js', 'lib/inner.js', 'lib/package.json', 'module.py', 'package/tool.py', 'package/__main__.py']
    for (const each of ['lib', 'package', 'node_modules/installed', 'node_modules/hook']) mkdirSync(join(folder, each), { recursive: true })
    writeFileSync(join(folder, 'node_modules/installed/package.json'), '{"bin":"cli.js"}')
    const write = (text: string): void => {
      for (const name of [...files, 'Makefile', 'node_modules/installed/cli.js', 'node_modules/hook/index.js'])
        if (name !== 'other.js') writeFileSync(join(folder, name), text)
    }
    writeFileSync(join(folder, 'other.js'), 'other')
    writeFileSync(join(folder, 'unnamed.txt'), 'one')
    write('one')
    const transport: StdioTransport = { ...command(interpreter, ...args.map((arg) => arg.replaceAll('FOLDER', folder))), cwd: folder }
    const before = await fingerprintOf(transport)
    writeFileSync(join(folder, 'unnamed.txt'), 'two')
    expect(await fingerprintOf(transport)).toEqual(before)
    write('two')
    const after = await fingerprintOf(transport)
    expect(after.fingerprint).not.toBe(before.fingerprint)
    const changes = between(before, after)
    expect(changes.length).toBeGreaterThan(0)
    for (const change of changes) expect(change).toMatch(/^the file .* has changed since you approved it$/)
  })

  test.each<[string, Record<string, string>]>([
    ['NODE_OPTIONS', { NODE_OPTIONS: '--no-warnings --require=./hook.js' }],
    ['NODE_OPTIONS with a word of its own', { NODE_OPTIONS: '--import ./hook.js' }],
    ['BASH_ENV', { BASH_ENV: 'hook.js' }],
    ['LD_PRELOAD', { LD_PRELOAD: '/nowhere.so:FOLDER/hook.js' }],
    ['PYTHONSTARTUP', { PYTHONSTARTUP: `\${env:PORTICO_TEST_UNSET:-hook.js}` }],
  ])('a script that the variable %s names counts by its content', async (_name, env) => {
    const folder = newFolder()
    writeFileSync(join(folder, 'hook.js'), 'one')
    const filled = Object.fromEntries(Object.entries(env).map(([name, value]) => [name, value.replaceAll('FOLDER', folder)]))
    const transport: StdioTransport = { ...command('node', '--version'), cwd: folder, env: filled }
    const before = await fingerprintOf(transport)
    writeFileSync(join(folder, 'hook.js'), 'two')
    expect(between(before, await fingerprintOf(transport))).toEqual([
      `the file ${join(folder, 'hook.js')} has changed since you approved it`,
    ])
  })

  test('a script counts by the target of a placeholder, also if its default is used', async () => {
    const folder = newFolder()
    for (const name of ['a.js', 'b.js']) writeFileSync(join(folder, name), 'one')
    const transport: StdioTransport = { ...command('node', `\${env:PORTICO_TEST_UNSET:-a.js}`, `\${input:script}`), cwd: folder }
    const look = (): Promise<Fingerprint> => fingerprintOf(transport, { inputs: new Map([['script', 'b.js']]) })
    const before = await look()
    writeFileSync(join(folder, 'a.js'), 'two')
    expect(between(before, await look())).toHaveLength(1)
    writeFileSync(join(folder, 'b.js'), 'two')
    expect(between(before, await look())).toHaveLength(2)
  })

  test.each<[string, Partial<StdioTransport>]>([
    ['argument 2', { args: ['-c', `\${env:PORTICO_TEST_VALUE}`] }],
    ['command', { command: `./\${env:PORTICO_TEST_VALUE:-x}` }],
    ['variable CITY', { env: { CITY: `in \${env:PORTICO_TEST_VALUE}` } }],
    ['working folder', { cwd: `/nowhere/\${env:PORTICO_TEST_VALUE}` }],
  ])('another value of an environment variable changes the fingerprint: %s', async (place, over) => {
    const look = (value: string): Promise<Fingerprint> => {
      vi.stubEnv('PORTICO_TEST_VALUE', value)
      return fingerprintOf({ ...command('sh'), ...over }, { cwd: '/' })
    }
    onTestFinished(() => void vi.unstubAllEnvs())
    const before = await look('echo one')
    expect(await look('echo one')).toEqual(before)
    const after = await look('echo two')
    expect(after.fingerprint).not.toBe(before.fingerprint)
    expect(between(before, after)).toContain(`the value of ${place} has changed`)
    expect(JSON.stringify(after.parts.filter(({ name }) => name.startsWith('value of')))).not.toContain('echo two')
  })

  test('another value of a secret variable does not change the fingerprint', async () => {
    const look = (value: string): Promise<Fingerprint> => {
      vi.stubEnv('PORTICO_TEST_TOKEN', value)
      return fingerprintOf(command('sh', 'x.sh', `\${env:PORTICO_TEST_TOKEN}`), { cwd: '/' })
    }
    onTestFinished(() => void vi.unstubAllEnvs())
    expect(await look('one')).toEqual(await look('two'))
  })

  test.each<[string, StdioTransport]>([
    ['the command', command(`\${env:API_TOKEN}`)],
    ['argument 2', command('sh', '-c', `\${env:API_TOKEN}`)],
    ['argument 2', command('npx', '-y', `\${env:API_TOKEN}`)],
    ['argument 1', command('server', `--exec=\${env:API_TOKEN}`)],
    ['the variable NODE_OPTIONS', { ...command('node', 'x.js'), env: { NODE_OPTIONS: `\${env:API_TOKEN}` } }],
  ])('a secret variable is refused where it decides what runs: %s', (place, transport) => {
    expect(() => refuseSecretPrograms(transport)).toThrow(`\${env:API_TOKEN} is in ${place}, which decides what runs`)
  })

  test('a secret variable is allowed as a plain argument and as a plain variable', () => {
    const args = ['-y', 'some-server', '--api-key', `\${env:API_TOKEN}`, `--token=\${env:API_TOKEN}`]
    refuseSecretPrograms({ ...command('npx', ...args), env: { API_TOKEN: `\${env:API_TOKEN}`, AUTH: `Bearer \${env:API_TOKEN}` } })
  })

  test('a script that the configuration marks as data does not count', async () => {
    const folder = newFolder()
    for (const name of ['server.js', 'data.db']) writeFileSync(join(folder, name), 'one')
    const transport: StdioTransport = { ...command('node', 'server.js', '--db=data.db'), cwd: folder }
    const facts = { dataFiles: ['./data.db'] }
    const before = await fingerprintOf(transport, facts)
    writeFileSync(join(folder, 'data.db'), 'two')
    expect(between(before, await fingerprintOf(transport, facts))).toEqual([])
    writeFileSync(join(folder, 'server.js'), 'two')
    expect(between(before, await fingerprintOf(transport, facts))).toHaveLength(1)
  })

  test('the number of places in which a script is searched is limited', async () => {
    const words = Array.from({ length: 30 }, (_, i) => `word${i}`)
    await expect(fingerprintOf(command('server', ...words), { limits: { maxLookups: 29 } })).rejects.toMatchObject({
      code: 'ERR_LIMIT',
      message: expect.stringContaining('maxLookups'),
    })
    await expect(fingerprintOf(command('server', ...words), { limits: { maxLookups: 30 } })).resolves.toBeDefined()
  })

  test('a script over the total read limit counts by its size and times', async () => {
    const folder = newFolder()
    for (const name of ['a', 'b']) writeFileSync(join(folder, name), '12345')
    const digests = async (maxTotalBytes: number): Promise<string[]> => {
      const { parts } = await fingerprintOf({ ...command('node', 'a', 'b'), cwd: folder }, { limits: { maxTotalBytes } })
      return parts.flatMap(({ name, digest }) => (name.startsWith('content') ? [digest] : []))
    }
    expect(await digests(10)).toEqual([expect.stringMatching(/^[0-9a-f]{64}$/), expect.stringMatching(/^[0-9a-f]{64}$/)])
    expect(await digests(9)).toEqual([expect.stringMatching(/^[0-9a-f]{64}$/), expect.stringMatching(/^size 5/)])
  })

  test('a pipe in the command is not a script, and is not waited for', async () => {
    const folder = newFolder()
    execFileSync('mkfifo', [join(folder, 'pipe')])
    const { parts } = await fingerprintOf({ ...command('node', 'pipe', '/dev/zero'), cwd: folder })
    expect(parts.filter(({ name }) => name.startsWith('content'))).toEqual([])
  })

  test('the script of a folder is the file that its package names', async () => {
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
    ['npx', ['-p', 'a@1.2.3', '-p', 'some-server', 'bin'], 'some-server'],
    ['npx', ['-pa@1.2.3', '--package=some-server', 'bin'], 'some-server'],
    ['uvx', ['-p', '3.12', 'some-server'], 'some-server'],
    ['uvx', ['--with', 'some-server', 'a==1.2.3'], 'some-server'],
    ['npx', ['some-server@1.2.3 || 9'], 'some-server@1.2.3 || 9'],
    ['npx', ['some-server@1.2.3-beta.1+build'], undefined],
    ['npx', ['-p', 'a@1.2.3', '-p', 'b@1.2.3', 'bin'], undefined],
    ['npx', ['some-server@1.2.3.x'], 'some-server@1.2.3.x'],
    ['npx', ['some-server@1.2.3'], undefined],
    ['npx', ['@scope/server@1.2.3'], undefined],
    ['uvx', ['some-server==1.2.3'], undefined],
    ['node', ['some-server'], undefined],
    ['env', ['npx', 'some-server'], 'some-server'],
    ['timeout', ['60', 'npx', '-y', 'some-server'], 'some-server'],
    ['sh', ['npx -y some-server'], 'some-server'],
    ['nice', ['uvx', 'some-server==1.2.3'], undefined],
    ['npx', ['./some-server'], undefined],
    ['node', ['main.js', 'npx', 'some-server'], undefined],
  ])('the person is warned: %s %j has %s', async (runner, args, spec) => {
    const folder = newFolder()
    program(folder, runner)
    const { warnings } = await fingerprintOf(command(runner, ...args), { path: folder, cwd: folder })
    // Words in one argument also look like code, which is another warning.
    expect(warnings.filter((warning) => !warning.startsWith('An argument looks like code'))).toEqual(
      spec === undefined ? [] : [`${spec} has no fixed version: the latest published version runs. Name a version to pin it`],
    )
  })

  test('another version is recognised as a change, also if something else changed with it', () => {
    const having = (...parts: [string, string][]): Fingerprint => ({
      fingerprint: JSON.stringify(parts),
      parts: parts.map(([name, digest]) => ({ name, digest, shown: '' })),
      warnings: [],
    })
    const before = having(['version of a', '1'], ['content of x', '1'])
    expect(versionChanges(before, before)).toBe('none')
    expect(versionChanges(before, having(['version of a', '2'], ['content of x', '1']))).toBe('changed')
    expect(versionChanges(before, having(['version of a', '2'], ['content of x', '2']))).toBe('changed')
    expect(versionChanges(before, having(['content of x', '2']))).toBe('changed')
    expect(versionChanges(before, having(['version of a', '1'], ['content of x', '2']))).toBe('other')
    expect(versionChanges(before, having(['version of a', '1'], ['content of x', '1'], ['version of b', '1']))).toBe('found')
  })

  test('a package in a lock file counts by its installed content', async () => {
    const folder = newFolder()
    program(folder, 'npx')
    const lock = (integrity: string): void =>
      writeFileSync(
        join(folder, 'package-lock.json'),
        JSON.stringify({ packages: { 'node_modules/@scope/server': { integrity, version: '1.0.0' } } }),
      )
    const install = (version: string): void => {
      mkdirSync(join(folder, 'node_modules/@scope/server'), { recursive: true })
      writeFileSync(join(folder, 'node_modules/@scope/server/package.json'), JSON.stringify({ name: '@scope/server', version }))
    }
    const look = (limits = {}, spec = '@scope/server'): Promise<Fingerprint> =>
      fingerprintOf({ ...command('npx', spec), cwd: folder }, { path: folder, limits })
    lock('sha512-a')
    expect((await look()).warnings, 'not installed').toHaveLength(1)
    install('1.0.1')
    expect((await look()).warnings, 'another version is installed').toHaveLength(1)
    install('1.0.0')
    expect((await look({}, '@scope/server@^2')).warnings, 'the command names other versions').toHaveLength(1)
    const before = await look()
    lock('sha512-b')
    expect(between(before, await look())).toEqual(['package @scope/server: sha512-a → sha512-b'])
    expect(before.warnings).toEqual([])
    expect((await look({ maxLockBytes: 10 })).warnings).toHaveLength(1)
    writeFileSync(join(folder, 'package-lock.json'), 'x')
    expect((await look()).warnings).toHaveLength(1)
  })
})

describe('files that a command runs without naming them completely', () => {
  /** The file that is replaced, the words of the command, and variables. */
  test.each<[string, string, string[], Record<string, string>?]>([
    ['my pre/x.cjs', 'node', ['s.js'], { NODE_OPTIONS: '--require="./my pre/x.cjs"' }],
    ['pre.cjs', 'node', ['s.js'], { NODE_OPTIONS: '--no-warnings "--require=./pr\\e.cjs"' }],
    ['my pre/x.cjs', 'node', ['s.js'], { NODE_OPTIONS: '--require "./my pre/x.cjs"' }],
    ['my pre/x.cjs', 'env', ['NODE_OPTIONS=--require="./my pre/x.cjs"', 'node', 's.js']],
    ['my pre/x.cjs', 'sh', ['-c', `NODE_OPTIONS='--require="./my pre/x.cjs"' node s.js`]],
    ['my pre/x.cjs', 'java', ['-cp', 'a', 'Main'], { JAVA_TOOL_OPTIONS: '"-javaagent=./my pre/x.cjs"' }],
    ['node_modules/.bin/srv', 'env', ['npx', 'srv']],
    ['node_modules/.bin/srv', 'timeout', ['60', 'npx', 'srv']],
    ['node_modules/.bin/srv', 'sh', ['-c', 'npx srv']],
    ['node_modules/.bin/srv', 'npm', ['exec', '--', 'srv']],
    ['node_modules/srv/cli.js', 'nice', ['npx', '-y', 'srv@1.0.0']],
    ['../node_modules/.bin/srv', 'npx', ['srv']],
    ['sub/node_modules/.bin/srv', 'npx', ['--prefix', 'sub', 'srv']],
    ['sub/cli.js', 'npx', ['-y', './sub']],
    ['../package.json', 'npm', ['start']],
    ['.npmrc', 'npm', ['start']],
    ['package.json', 'node', ['--run', 'start']],
    ['bunfig.toml', 'bun', ['s.js']],
    ['uv.lock', 'env', ['uv', 'run', 's.js']],
    ['Cargo.toml', 'cargo', ['run']],
    ['pom.xml', 'mvn', ['exec:java']],
    ['.envrc', 'direnv', ['exec', '.', 'node', 's.js']],
    ['http.py', 'python3', ['-m', 'http.server']],
    ['http/__init__.py', 'python3', ['-m', 'http.server']],
    ['http/__init__.py', 'python3', ['-mhttp.server']],
    ['classes/Main.class', 'java', ['-cp', 'classes', 'Main']],
    ['classes/com/example/Main.class', 'java', ['-cp', 'classes', 'com.example.Main']],
    ['classes/Main.class', 'java', ['Main'], { CLASSPATH: 'classes' }],
    ['lib/a.jar', 'java', ['-cp', 'lib/*', 'Main']],
    ['args.txt', 'java', ['@args.txt']],
    ['server.node', 'node', ['server']],
    ['server.tsx', 'bun', ['server']],
    ['a b.sh', 'sh', ['-c', 'sh a\\ b.sh']],
    ['a b.sh', 'sh', ['-c', 'sh "a b.sh"']],
    ['sub/x.js', 'sh', ['-c', 'D=sub; node $D/x.js']],
    ['sub/x.js', 'sh', ['-c', 'for f in sub/*.js; do node $f; done']],
  ])('the fingerprint covers %s, for %s %j %j', async (file, name, args, env = {}) => {
    const folder = join(newFolder(), 'home')
    for (const each of [dirname(file), 'sub', 'node_modules/srv']) mkdirSync(join(folder, each), { recursive: true })
    writeFileSync(join(folder, 's.js'), '')
    writeFileSync(join(folder, 'sub/package.json'), '{"bin":"cli.js"}')
    writeFileSync(join(folder, 'node_modules/srv/package.json'), '{"bin":{"srv":"cli.js"}}')
    const transport: StdioTransport = { ...command(name, ...args), cwd: folder, env }
    const without = await fingerprintOf(transport)
    writeFileSync(join(folder, file), 'one')
    const before = await fingerprintOf(transport)
    writeFileSync(join(folder, file), 'two')
    const change = expect.stringContaining(`the file ${join(folder, file)}`)
    expect(between(without, before)).toContainEqual(change)
    expect(between(before, await fingerprintOf(transport))).toEqual([change])
  })

  test.each([
    ['#!./interp', 'interp'],
    ['#! ./interp -x', 'interp'],
    ['#!/usr/bin/env -S node --import ./pre.mjs', 'pre.mjs'],
    ['#!/usr/bin/env -S node --import=./pre.mjs', 'pre.mjs'],
    ['#!/usr/bin/env -S node --require hook', 'node_modules/hook/index.js'],
  ])('the fingerprint covers files in the first line of a script: %s', async (line, file) => {
    const folder = newFolder()
    mkdirSync(join(folder, 'node_modules/hook'), { recursive: true })
    program(folder, 'server', `${line}\n`)
    const write = (text: string): string => program(folder, file, text)
    write('one')
    for (const transport of [command('./server'), command('env', './server'), command('sh', '-c', 'exec ./server')]) {
      const before = await fingerprintOf(transport, { cwd: folder })
      write(before.fingerprint)
      const after = await fingerprintOf(transport, { cwd: folder })
      expect(between(before, after)).toEqual([expect.stringContaining(`the file ${join(folder, file)}`)])
    }
  })

  test('a pattern with many stars matches every file, in the same time', async () => {
    const folder = newFolder()
    const file = join(folder, 'a'.repeat(200))
    writeFileSync(file, 'one')
    const { launch } = await fingerprintOf({ ...command('sh', '-c', `node ${'*a'.repeat(40)}*b`), cwd: folder })
    expect(launch?.files).toContain(file)
  })

  test('a star that no shell expands is not a pattern', async () => {
    const folder = newFolder()
    for (const name of ['s.js', 'data.db']) writeFileSync(join(folder, name), 'one')
    const { launch } = await fingerprintOf({ ...command('node', 's.js', '--origin=*'), cwd: folder })
    expect(launch?.files).toEqual([join(folder, 's.js')])
  })

  test('the fingerprint covers files named in a file of arguments', async () => {
    const folder = newFolder()
    writeFileSync(join(folder, 'args.txt'), '-cp "my lib/a.jar" Main')
    mkdirSync(join(folder, 'my lib'))
    writeFileSync(join(folder, 'my lib/a.jar'), 'one')
    const look = (): Promise<Fingerprint> => fingerprintOf({ ...command('java', '@args.txt'), cwd: folder })
    const before = await look()
    writeFileSync(join(folder, 'my lib/a.jar'), 'two')
    expect(between(before, await look())).toEqual([expect.stringContaining('my lib/a.jar')])
  })
})

describe('a command that runs code it does not name', () => {
  const warning = expect.stringContaining('runs code that it does not name')

  test.each<[string, string[]]>([
    ['npm', ['start', '-w', '@x/ws']],
    ['env', ['npm', 'start']],
    ['sh', ['-c', 'cd x && make serve']],
    ['cargo', ['run']],
    ['go', ['run', '.']],
    ['dotnet', ['run']],
    ['gradle', ['run']],
    ['docker', ['run', '-v', '.:/app', 'image', '/app/server.js']],
    ['python3', ['-m', 'installed_module']],
    ['timeout', ['9', 'python3', '-um', 'installed_module']],
    ['java', ['-cp', 'nowhere', 'Main']],
    ['node', ['--run', 'start']],
    ['env', ['node', '--run=start']],
    ['deno', ['task', 'start']],
    ['deno', ['run', '-A', 'npm:some-server']],
    ['sh', ['-c', 'deno run https://example.com/server.ts']],
    ['bun', ['run', 'start']],
    ['php', ['-S', 'localhost:1']],
    ['a-tool-that-nobody-knows', ['run', 'server']],
    ['a-tool-that-nobody-knows', ['--folder', 'x', 'exec', 'server']],
    ['a-tool-that-nobody-knows', ['--', 'make']],
  ])('a command that runs code it does not name is recognised: %s %j', async (name, args) => {
    const { warnings, launch } = await fingerprintOf({ ...command(name, ...args), cwd: newFolder() })
    expect(warnings).toContainEqual(warning)
    expect(launch?.runsUnnamed).toBe(true)
  })

  test.each<[string, string[]]>([
    ['node', ['s.js', 'make']],
    ['node', ['s.js', 'run']],
    ['python3', ['s.js', 'run']],
    ['python3', ['-m', 'module']],
    ['env', ['node', 's.js']],
    ['sh', ['s.js']],
    ['java', ['-jar', 'a.jar']],
    ['deno', ['run', '-A', 's.js']],
    ['bun', ['run', 's.js']],
    ['npx', ['srv@1.0.0']],
    ['some-server', ['serve', 'run', 'make']],
  ])('a command that names all its code is recognised: %s %j', async (name, args) => {
    const folder = newFolder()
    for (const file of ['s.js', 'module.py', 'a.jar']) writeFileSync(join(folder, file), '')
    const { warnings, launch } = await fingerprintOf({ ...command(name, ...args), cwd: folder })
    expect(warnings).not.toContainEqual(warning)
    expect(launch?.runsUnnamed).toBe(false)
  })
})

describe('a server on the network', () => {
  const http = (url: string, headers: Record<string, string> = {}): HttpTransport => ({ type: 'http', url, headers })

  test('different spellings of an address have the same fingerprint', async () => {
    expect(await fingerprintOf(http('https://Example.com:443/a/../b#c'))).toEqual(await fingerprintOf(http('https://example.com/b')))
  })

  test('another authorization server or resource changes the fingerprint', async () => {
    const at = (name: string): Promise<Fingerprint> => fingerprintOf(http(`https://\${env:${name}}/x`))
    const [one, two] = [await at('A'), await at('B')]
    expect(one.fingerprint).not.toBe(two.fingerprint)
  })

  test('fingerprints of addresses and programs reveal no secret in the configuration', async () => {
    const canary = 'sk-canary1234567890abcdef'
    const ways = [
      http(`https://user:${canary}@example.com/?key=${canary}`, { 'X-Key': canary }),
      { ...command('x', '--api-key', canary, `--token=${canary}`), env: { KEY: canary } },
    ]
    for (const transport of ways) expect(JSON.stringify(await fingerprintOf(transport))).not.toContain(canary)
  })
})

describe('the description of a change', () => {
  const script = (folder: string, text = 'one'): string => {
    writeFileSync(join(folder, 'raw.mjs'), text)
    return join(folder, 'raw.mjs')
  }

  test('a changed folder is reported with the changed file in it', async () => {
    const [one, two, three] = [newFolder(), newFolder(), newFolder()]
    const [first, second] = [script(one), script(two)]
    const look = (cwd: string): Promise<Fingerprint> => fingerprintOf(command('node', 'raw.mjs'), { cwd })
    const before = await look(one)
    expect(between(before, await look(two))).toEqual([
      `the folder was ${one} and is ${two} now`,
      `the command now names the file ${second}`,
      `not used in this folder: ${first}`,
    ])
    expect(between(before, await look(three))).toEqual([`the folder was ${one} and is ${three} now`, `not used in this folder: ${first}`])
  })

  test('the interpreter is not reported if only the folder decides about its content', async () => {
    const [one, home] = [newFolder(), newFolder()]
    mkdirSync(join(home, 'bin'))
    program(join(home, 'bin'), 'node')
    script(one)
    const look = (cwd: string): Promise<Fingerprint> => fingerprintOf(command('node', 'raw.mjs'), { cwd, path: join(home, 'bin') })
    const [there, here] = [await look(one), await look(home)]
    expect(here.parts.map(({ name }) => name)).toContain(`content of ${join(home, 'bin/node')}`)
    expect(between(there, here).join('\n')).not.toContain(`file ${join(home, 'bin/node')}`)
    expect(between(here, there).join('\n')).not.toContain(`file ${join(home, 'bin/node')}`)
    expect(between(there, here)[0]).toBe(`the folder was ${one} and is ${home} now`)
  })

  test('a changed folder alone keeps the fingerprint if all files are named in full', async () => {
    const [one, two] = [newFolder(), newFolder()]
    const transport = command('node', script(one))
    const [before, after] = [await fingerprintOf(transport, { cwd: one }), await fingerprintOf(transport, { cwd: two })]
    expect(after.fingerprint).toBe(before.fingerprint)
    expect(between(before, after)).toEqual([`the folder was ${one} and is ${two} now`])
  })

  test('a configured folder is reported once, with its placeholders as written', async () => {
    const one = newFolder()
    const [before, after] = [
      await fingerprintOf({ ...command('node'), cwd: one }),
      await fingerprintOf({ ...command('node'), cwd: `\${env:HOME}` }),
    ]
    expect(between(before, after)).toEqual([`the folder was ${one} and is \${env:HOME} now`])
  })

  test('removed and added files are reported', async () => {
    const folder = newFolder()
    const look = (): Promise<Fingerprint> => fingerprintOf(command('node', './raw'), { cwd: folder })
    const without = await look()
    const file = script(folder)
    const withIt = await look()
    expect(between(without, withIt)).toEqual([`the file ${file} is new`])
    rmSync(file)
    expect(between(withIt, await look())).toEqual([`the file ${file} no longer exists`])
  })

  test('the same command in another folder reports what is not used there, and nothing as gone', async () => {
    const [one, other] = [newFolder(), newFolder()]
    writeFileSync(join(one, 'main.mjs'), '')
    const look = (cwd: string): Promise<Fingerprint> => fingerprintOf(command(process.execPath, 'main.mjs'), { cwd })
    const file = join(one, 'main.mjs')
    expect(between(await look(one), await look(other))).toEqual([
      `the folder was ${one} and is ${other} now`,
      `not used in this folder: ${file}`,
    ])
    expect(between(await look(other), await look(one))).toEqual([
      `the folder was ${other} and is ${one} now`,
      `the command now names the file ${file}`,
    ])
  })

  test('changed variables are reported by name', async () => {
    const look = (env: Record<string, string>): Promise<Fingerprint> => fingerprintOf({ ...command('no-such-program'), env }, { cwd: '/' })
    const before = await look({ CITY: 'Rome', OLD: 'x' })
    expect(between(before, await look({ CITY: 'Paris', NEW: 'x' }))).toEqual([
      'the variable CITY has changed',
      'the variable OLD is gone',
      'the variable NEW is new',
    ])
  })

  test('a masked value is not shown', async () => {
    const canary = 'sk-canary1234567890abcdef'
    const folder = newFolder()
    const before = await fingerprintOf(command('x', `--token=${canary}`, 'a', canary), { cwd: folder })
    const after = await fingerprintOf(command('x', `--token=${canary}2`, 'b'), { cwd: folder })
    expect(between(before, after)).toEqual(['argument 1 has changed', 'argument 2: a → b', 'argument 3 is gone'])
    expect(between(after, before)).toContain('argument 3 is new')
  })

  test('an old record without a folder reports no folder', async () => {
    const { parts } = await fingerprintOf(command('x'), { cwd: newFolder() })
    const old = parts.filter(({ name }) => name !== 'folder')
    expect(fingerprintChanges(old, parts)).toEqual([])
    expect(fingerprintChanges(parts, old)).toEqual([])
  })
})

test('a server in this process is identified by its name and version', async () => {
  const transport = { type: 'memory', service: createServer({ name: 'a', version: '1' }) } as const
  const [one, two] = [
    await fingerprintOf(transport, { info: { name: 'a', version: '1' } }),
    await fingerprintOf(transport, { info: { name: 'b', version: '1' } }),
  ]
  expect(between(one, two)).toEqual(['name: a → b'])
})
