import { lstatSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import { parse } from 'jsonc-parser'
import { describe, expect, test } from 'vitest'
import { entryNames, withEntry } from '../../src/cli/clients/edit-json.ts'
import { CLIENT_NAMES, KNOWN_CLIENTS } from '../../src/cli/clients/known-clients.ts'
import { lineDiff } from '../../src/cli/clients/line-diff.ts'
import { SNIPPET_CLIENTS, type SnippetName } from '../../src/cli/clients/snippets.ts'
import { readConfig } from '../../src/host/config/read-config.ts'
import { temporaryFolders } from '../support/folders.ts'
import { CLI, portico } from './support/cli.ts'
import { GREETER, project, words } from './support/project.ts'
import { startTerminal } from './support/terminal.ts'

const newFolder = temporaryFolders()

/** An author with a server, and a home in which no client has a file yet. */
function author() {
  const home = newFolder()
  const work = project(join(home, 'work'), { 'server.ts': GREETER, 'words.ts': words('Hello') })
  const env = { HOME: home, PORTICO_HOME: join(home, 'host') }
  const run = (...args: string[]) => portico(args, { env, cwd: work })
  const put = (path: string, text: string): string => {
    const file = join(home, path)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, text)
    return file
  }
  return { home, work, env, run, put }
}

const COMMENTED = `{
\t// my servers
\t"mcpServers": {
\t\t"other": { "command": "other", "env": { "API_TOKEN": "tok_secret_value_1234567890" } }, /* keep */
\t},
\t"unknown": [1, 2,],
}
`

describe('the file of a client', () => {
  const place = { file: 'mcp.json', member: 'mcpServers' }

  test('an entry is added, replaced and removed without a change anywhere else', () => {
    const added = withEntry(COMMENTED, place, 'greeter', { command: 'node' })
    expect(added).toBe(COMMENTED.replace('/* keep */\n', '/* keep */\n\t\t"greeter": {\n\t\t\t"command": "node"\n\t\t},\n'))
    const replaced = withEntry(added, place, 'greeter', { command: 'deno' })
    expect(replaced).toBe(added.replace('"node"', '"deno"'))
    expect(withEntry(replaced, place, 'greeter', undefined)).toBe(COMMENTED)
  })

  test.each([
    ['{}', '{\n  "mcpServers": {\n    "a": {\n      "c": 1\n    }\n  }\n}'],
    ['{ "mcpServers": {} }', '{ "mcpServers": {\n  "a": {\n    "c": 1\n  }\n} }'],
    ['{\n  "x": 1 // one\n}\n', '{\n  "x": 1, // one\n  "mcpServers": {\n    "a": {\n      "c": 1\n    }\n  }\n}\n'],
    ['{\n  "mcpServers": {\n    // none yet\n  }\n}', '{\n  "mcpServers": {\n    // none yet\n    "a": {\n      "c": 1\n    }\n  }\n}'],
    ['{ "mcpServers": { "b": {} } }', '{ "mcpServers": { "b": {},\n  "a": {\n    "c": 1\n  }\n} }'],
  ])('an entry is put into %j and taken out again', (before, after) => {
    const added = withEntry(before, place, 'a', { c: 1 })
    expect(added).toBe(after)
    expect(entryNames(withEntry(added, place, 'a', undefined), place)).toEqual(before.includes('"b"') ? ['b'] : [])
  })

  test('whatever the file looks like, all other values and all comments stay', () => {
    const value = fc.letrec<{ any: unknown }>((tie) => ({
      any: fc.oneof(
        { maxDepth: 3 },
        fc.string(),
        fc.integer(),
        fc.constant(null),
        fc.array(tie('any')),
        fc.dictionary(fc.string(), tie('any')),
      ),
    })).any
    const document = fc.record({ x: value, mcpServers: fc.dictionary(fc.stringMatching(/^[a-z]{1,4}$/), value) }, { requiredKeys: [] })
    fc.assert(
      fc.property(
        document,
        fc.constantFrom(undefined, 2, '\t'),
        fc.stringMatching(/^[a-z]{1,4}$/),
        fc.boolean(),
        (before, indent, name, isCommented) => {
          const plain = JSON.stringify(before, null, indent)
          const text = isCommented ? plain.replaceAll('\n', ' // note, "x": {\n').replaceAll(/(?<=^[^"]*)\{/g, '{/*{*/') : plain
          const added = withEntry(text, place, name, { command: 'x' })
          const comments = (all: string): number => all.split('// note').length + all.split('/*{*/').length
          expect(parse(added)).toEqual({ ...before, mcpServers: { ...before.mcpServers, [name]: { command: 'x' } } })
          expect(comments(added)).toBeGreaterThanOrEqual(comments(text) - (before.mcpServers && name in before.mcpServers ? 100 : 0))
          const { [name]: _, ...others } = before.mcpServers ?? {}
          expect(parse(withEntry(added, place, name, undefined))).toEqual({ ...before, mcpServers: others })
        },
      ),
      { numRuns: 300, seed: 11 },
    )
  })

  test('an empty file, Windows line breaks and a byte order mark are accepted', () => {
    expect(JSON.parse(withEntry('', place, 'a', { command: 'x' }))).toEqual({ mcpServers: { a: { command: 'x' } } })
    const text = '\u{feff}{\r\n    "theme": "dark"\r\n}\r\n'
    const added = withEntry(text, place, 'a', { command: 'x' })
    expect(added.startsWith('\u{feff}{\r\n    "theme": "dark",\r\n    "mcpServers": {\r\n        "a"')).toBe(true)
    expect(added).not.toMatch(/[^\r]\n/)
  })

  test.each([
    ['a syntax error', '{ "mcpServers": { "a": } }', 'is not valid JSON: line 1'],
    ['two documents', '{} {}', 'is not valid JSON'],
    ['a list', '[]', 'expected an object, got array'],
    ['servers in a list', '{ "mcpServers": [] }', 'expected an object in "mcpServers", got array'],
    ['a doubled member', '{ "mcpServers": {}, "mcpServers": {} }', 'has the member "mcpServers" twice'],
  ])('it is refused with %s', (_, text, message) => {
    expect(() => withEntry(text, place, 'a', {})).toThrow(message)
  })

  test('a file with many members is edited without delay, and one that is nested too deep is refused', () => {
    const many = `{ "mcpServers": { ${Array.from({ length: 200_000 }, (_, i) => `"s${i}": 1`).join(', ')} } }`
    const start = performance.now()
    expect(entryNames(withEntry(many, place, 'a', {}), place)).toHaveLength(200_001)
    expect(performance.now() - start).toBeLessThan(8000)
    const deep = (levels: number): string => `{ "x": ${'['.repeat(levels)}${']'.repeat(levels)} }`
    expect(entryNames(withEntry(deep(199), place, 'a', {}), place)).toEqual(['a'])
    for (const levels of [200, 1_000_000])
      expect(() => withEntry(deep(levels), place, 'a', {})).toThrow('mcp.json has more than 200 levels of objects and arrays')
  })

  test('a name from the prototype of objects is an ordinary name', () => {
    const added = withEntry('{}', place, '__proto__', { command: 'x' })
    expect(entryNames(added, place)).toEqual(['__proto__'])
  })
})

test('the difference shows the changed lines with three lines around them', () => {
  const before = 'a\nb\nc\nd\ne\nf\n'
  const shown = lineDiff(before, before.replace('d', 'D')).map(({ sign, text }) => `${sign}${text}`)
  expect(shown).toEqual([' a', ' b', ' c', '-d', '+D', ' e', ' f'])
  expect(lineDiff('', 'x\n')).toEqual([{ sign: '+', text: 'x' }])
})

test.each(CLIENT_NAMES)(
  'what is written for %s is what its reader understands',
  async (name) => {
    const { run, home, work } = author()
    const { code, stderr } = await run('install', './server.ts', '--client', name, '--name', 'greeter', '--no-check', '--yes')
    expect(code, stderr).toBe(0)
    const file = /Added greeter to (.+?)\. /.exec(stderr)?.[1] as string
    expect(file.startsWith(home)).toBe(true)
    const { servers, problems } = await readConfig(file, { project: work })
    expect(problems).toEqual([])
    expect(servers).toMatchObject([
      {
        id: 'greeter',
        transport: { type: 'stdio', command: process.execPath, args: [expect.any(String), 'serve', join(work, 'server.ts')] },
      },
    ])
    expect(servers[0]?.provenance[0]?.client).toBe(KNOWN_CLIENTS[name].title)
  },
  30_000,
)

test('the server is started first, the change is shown, and the entry starts the server', async () => {
  const { run, put, work } = author()
  const file = put('.cursor/mcp.json', COMMENTED)
  const shown = await run('install', './server.ts', '--client', 'cursor')
  expect(shown.code, shown.stderr).toBe(3)
  expect(shown.stderr).toContain('It works: greeter 1.0.0, 1 tool')
  expect(shown.stderr).toMatch(/^\+\s+"greeter": \{/m)
  expect(shown.stderr).not.toContain('tok_secret_value')
  expect(shown.stderr).toContain('use --yes')
  expect(readFileSync(file, 'utf8')).toBe(COMMENTED)
  const written = await run('install', './server.ts', '--client', 'cursor', '--yes')
  expect(written.code, written.stderr).toBe(0)
  const { servers } = await readConfig(file, { project: work })
  const { transport } = servers.find(({ id }) => id === 'greeter') ?? {}
  if (transport?.type !== 'stdio') throw new Error(`expected a command, got ${JSON.stringify(transport)}`)
  expect(await run('call', 'greet', 'name=Ada', '--', transport.command, ...transport.args)).toMatchObject({ stdout: 'Hello Ada\n' })
  expect((await run('install', './server.ts', '--client', 'cursor', '--yes')).stderr).toContain('has this server already')
}, 60_000)

test('a command names the files of this folder in full, because the client starts it elsewhere', async () => {
  const { run, home, work, put } = author()
  const file = join(home, '.cursor/mcp.json')
  writeFileSync(join(work, 'server.mjs'), '')
  writeFileSync(join(work, 'some-server'), '')
  const words = ['npx', '-y', 'some-server', 'server.mjs', './server.mjs', 'missing.mjs', '--file=server.mjs', '.', 'https://x.example/a']
  const install = (...more: string[]) => run('install', '--name', 'x', '--no-check', '--client', 'cursor', ...more, '--', ...words)
  const full = join(work, 'server.mjs')
  expect((await install()).stderr).toContain(JSON.stringify(full))
  expect((await install('--yes')).code).toBe(0)
  const { command, args } = JSON.parse(readFileSync(file, 'utf8')).mcpServers.x
  expect([command, ...args]).toEqual([...words.slice(0, 3), full, full, ...words.slice(5)])
  // A project's file is shared, and its servers start in its folder.
  put('.cursor/mcp.json', '{}')
  expect((await install('--project', '--yes')).code).toBe(0)
  expect(JSON.parse(readFileSync(join(work, '.cursor/mcp.json'), 'utf8')).mcpServers.x.args).toEqual(words.slice(1))
}, 60_000)

test('a change is undone byte for byte, unless the file was changed since', async () => {
  const { run, put } = author()
  const file = put('.cursor/mcp.json', COMMENTED)
  const install = () => run('install', '--name', 'x', '--no-check', '--client', 'cursor', '--yes', '--', 'some-server')
  await install()
  expect(readFileSync(file, 'utf8')).not.toBe(COMMENTED)
  expect((await run('uninstall', '--undo', '--client', 'cursor', '--yes')).code).toBe(0)
  expect(readFileSync(file, 'utf8')).toBe(COMMENTED)
  expect((await run('uninstall', '--undo', '--client', 'cursor', '--yes')).stderr).toContain('There is no change')
  await install()
  writeFileSync(file, readFileSync(file, 'utf8').replace('[1, 2,]', '[3]'))
  expect((await run('uninstall', '--undo', '--client', 'cursor', '--yes')).stderr).toContain('was changed since')
  expect((await run('uninstall', 'y', '--client', 'cursor', '--yes')).stderr).toContain('Unknown server "y"')
  expect((await run('uninstall', 'x', '--client', 'cursor', '--yes')).code).toBe(0)
  expect(entryNames(readFileSync(file, 'utf8'), { file, member: 'mcpServers' })).toEqual(['other'])
}, 60_000)

test('a new file is removed by undo, and a linked file stays a link with its mode', async () => {
  const { run, home, put } = author()
  await run('install', '--name', 'x', '--no-check', '--client', 'kiro', '--yes', '--', 'some-server')
  const fresh = join(home, '.kiro/settings/mcp.json')
  expect(statSync(fresh).mode & 0o777).toBe(0o600)
  const undone = await run('uninstall', '--undo', '--client', 'kiro', '--yes')
  expect(undone.stderr).toMatch(/Removed .*mcp\.json\.\n$/)
  expect(() => statSync(join(home, '.kiro'))).toThrow('ENOENT')
  mkdirSync(join(home, '.kiro'))
  await run('install', '--name', 'x', '--no-check', '--client', 'kiro', '--yes', '--', 'some-server')
  await run('uninstall', '--undo', '--client', 'kiro', '--yes')
  expect(readdirSync(join(home, '.kiro'))).toEqual([])
  const real = put('dotfiles/cursor.json', '{}\n')
  mkdirSync(join(home, '.cursor'))
  symlinkSync(real, join(home, '.cursor/mcp.json'))
  const mode = statSync(real).mode
  const linked = await run('install', '--name', 'x', '--no-check', '--client', 'cursor', '--yes', '--', 'some-server')
  expect(linked.stderr).toContain(`.cursor/mcp.json (a link to ${real})`)
  expect(lstatSync(join(home, '.cursor/mcp.json')).isSymbolicLink()).toBe(true)
  expect(readFileSync(real, 'utf8')).toContain('some-server')
  expect(statSync(real).mode).toBe(mode)
}, 60_000)

test('the file of a project names nothing of this machine', async () => {
  const { run, work } = author()
  await run('install', './server.ts', '--name', 'greeter', '--no-check', '--client', 'vscode', '--project', '--yes')
  expect(JSON.parse(readFileSync(join(work, '.vscode/mcp.json'), 'utf8'))).toEqual({
    servers: { greeter: { type: 'stdio', command: 'npx', args: ['portico', 'serve', './server.ts'] } },
  })
}, 30_000)

test('the file of a project is not written through a link that leaves the project', async () => {
  const { run, work, put } = author()
  const outside = put('private/settings.json', '{}\n')
  mkdirSync(join(work, '.cursor'))
  symlinkSync(outside, join(work, '.cursor/mcp.json'))
  symlinkSync(dirname(outside), join(work, '.vscode'))
  for (const client of ['cursor', 'vscode']) {
    const { code, stderr } = await run('install', './server.ts', '--name', 'x', '--no-check', '--client', client, '--project', '--yes')
    expect(code).not.toBe(0)
    expect(stderr).toContain('which is outside the project')
  }
  expect(readdirSync(dirname(outside))).toEqual(['settings.json'])
  expect(readFileSync(outside, 'utf8')).toBe('{}\n')
}, 30_000)

test('another server of the same name is replaced only when --name says so', async () => {
  const { run, put } = author()
  const file = put('.cursor/mcp.json', '{ "mcpServers": { "greeter": { "command": "mine" } } }')
  const refused = await run('install', './server.ts', '--client', 'cursor', '--yes')
  expect(refused.code).not.toBe(0)
  expect(refused.stderr).toContain('has another server with the name "greeter"')
  expect(readFileSync(file, 'utf8')).toContain('"mine"')
  const replaced = await run('install', './server.ts', '--client', 'cursor', '--yes', '--name', 'greeter')
  expect(replaced.stderr).toContain('Replaced greeter in ')
  expect(readFileSync(file, 'utf8')).not.toContain('"mine"')
}, 60_000)

test('what cannot be installed is refused in clear words, and nothing is written', async () => {
  const { run, put } = author()
  const file = put('.cursor/mcp.json', '{ broken')
  const say = async (...args: string[]): Promise<string> => (await run('install', ...args)).stderr
  expect(await say('--name', 'x', '--no-check', '--client', 'cursor', '--yes', '--', 'x')).toContain('is not valid JSON: line 1')
  expect(readFileSync(file, 'utf8')).toBe('{ broken')
  expect(await say('./server.ts', '--client', 'cursors')).toContain('Did you mean "cursor"?')
  expect(await say('./gone.ts', '--client', 'cursor')).toContain('No such file: ./gone.ts')
  expect(await say('https://x.example/mcp', '--name', 'x', '--client', 'claude-desktop')).toContain('takes no URL')
  expect(await say('https://x.example/mcp', '--client', 'zed')).toContain('Missing --name')
  expect(await say('./server.ts', '--client', 'claude-desktop', '--project')).toContain('no file for a project')
  expect(await say('--client', 'kiro', '--yes', '--', process.execPath, '-e', 'process.exit(1)')).toContain('exited with code 1')
}, 60_000)

test('at a terminal the change is written only after a yes', async () => {
  const { env, work, home } = author()
  const args = [CLI, 'install', './server.ts', '--client', 'cursor', '--name', 'greeter', '--no-check']
  const refusing = startTerminal(args, { env, cwd: work })
  await refusing.until('Write this change?')
  await refusing.press('n')
  expect(await refusing.exit).toBe(4)
  expect(() => statSync(join(home, '.cursor/mcp.json'))).toThrow('ENOENT')
  const agreeing = startTerminal(args, { env, cwd: work })
  await agreeing.until('Write this change?')
  await agreeing.press('y')
  expect(await agreeing.exit, agreeing.text()).toBe(0)
  expect(readFileSync(join(home, '.cursor/mcp.json'), 'utf8')).toContain('greeter')
}, 60_000)

describe('clients whose files are TOML or YAML', () => {
  const FILES = { codex: 'config.toml', goose: 'goose.yaml', continue: 'continue.yaml' }

  test.each(Object.keys(SNIPPET_CLIENTS) as SnippetName[])('the lines for %s are read as the server that was described', async (client) => {
    const command = {
      kind: 'command',
      command: '/usr/bin/my node',
      args: ['a "quoted" word', 'C:\\x', '# no'],
      env: { KEY: 'a: b' },
    } as const
    const url = { kind: 'url', url: 'https://mail.example/mcp?a=1', headers: { 'X-Team': 'a "b"' } } as const
    for (const server of [command, url]) {
      const file = join(newFolder(), FILES[client])
      writeFileSync(file, `${SNIPPET_CLIENTS[client].lines('my server', server).join('\n')}\n`)
      const { servers, problems } = await readConfig([{ file }], { project: '/nowhere' })
      expect(problems).toEqual([])
      expect(servers.map(({ transport }) => transport)).toMatchObject([
        server.kind === 'command'
          ? { type: 'stdio', command: server.command, args: [...server.args], env: server.env }
          : { type: 'http', url: server.url, headers: server.headers },
      ])
    }
  })

  test('the lines are printed, nothing is written, and an uninstall says what to do', async () => {
    const { home, run } = author()
    const { code, stdout, stderr } = await run(
      'install',
      '--client',
      'codex',
      '--name',
      'files',
      '--no-check',
      '--',
      'files-server',
      '/docs',
    )
    expect(code, stderr).toBe(0)
    expect(stdout).toBe('[mcp_servers.files]\ncommand = "files-server"\nargs = ["/docs"]\n')
    expect(stderr).toContain('Portico does not write the file of Codex')
    expect(stderr).toContain(join(home, '.codex', 'config.toml'))
    expect(readdirSync(home)).not.toContain('.codex')
    const removed = await run('uninstall', 'files', '--client', 'codex')
    expect(removed).toMatchObject({ code: 2, stderr: expect.stringContaining('Remove the entry from') })
  })
})

test('a command without a client lists the clients', async () => {
  const { run } = author()
  for (const command of [
    ['install', './server.ts'],
    ['uninstall', 'greeter'],
  ]) {
    const { code, stderr } = await run(...command)
    expect(code).toBe(2)
    expect(stderr).toMatch(/Missing --client NAME\n\s+Available: claude-desktop, .*zed/)
  }
})
