// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders are what this is about
/** What becomes of files that are not as they should be: a problem that says where, and everything else as if they were. */

import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readConfig, readText } from '../../../src/host/config/read-config.ts'
import { temporaryFolders } from '../../support/folders.ts'
import { expectLinear } from '../../support/linear.ts'

const newFolder = temporaryFolders()
const CANARY = 'canary-8f3kq0Zx7LwP2mN5'

function fileWith(name: string, content: string | Uint8Array): string {
  const file = join(newFolder(), name)
  writeFileSync(file, content)
  return file
}

describe('one bad entry', () => {
  test('one bad entry loses only that entry, and the problem names it', async () => {
    const file = fileWith(
      'mcp.json',
      JSON.stringify({
        mcpServers: {
          first: { command: 'one' },
          number: { command: 7 },
          list: ['npx'],
          args: { command: 'x', args: 'y' },
          env: { command: 'x', env: { A: { b: 1 } } },
          both: { command: 'x', url: 'https://x.example' },
          neither: { type: 'http' },
          scheme: { url: 'file:///etc/passwd' },
          nul: { command: 'x\0y' },
          empty: { command: ' ' },
          header: { url: 'https://x.example', headers: { 'a b': 'c' } },
          type: { type: 'carrier-pigeon', command: 'x' },
          time: { command: 'x', timeoutMs: -1 },
          last: { command: 'two' },
        },
      }),
    )
    const { servers, problems } = await readConfig(file)
    expect(servers.map(({ id }) => id)).toEqual(['first', 'last'])
    expect(problems.map(({ where }) => where)).toEqual([
      'mcpServers.number.command',
      'mcpServers.list',
      'mcpServers.args.args',
      'mcpServers.env.env.A',
      'mcpServers.both',
      'mcpServers.neither',
      'mcpServers.scheme.url',
      'mcpServers.nul',
      'mcpServers.empty.command',
      'mcpServers.header.headers',
      'mcpServers.type.type',
      'mcpServers.time.timeoutMs',
    ])
    expect(problems.every((problem) => problem.file === file && problem.text.endsWith('The server is ignored'))).toBe(true)
  })

  test('a bad member that is not a server loses no server', () => {
    const { servers, problems } = readText('{ "servers": { "a": { "command": "a" } }, "inputs": { "id": "x" } }', {
      file: '/.vscode/mcp.json',
    })
    expect(servers.map(({ id }) => id)).toEqual(['a'])
    expect(problems).toMatchObject([{ where: 'inputs', text: 'Expected a list, got an object' }])
  })

  test('an entry named like a built-in member of objects is an ordinary entry', () => {
    const { servers } = readText(
      '{ "mcpServers": { "__proto__": { "command": "a" }, "constructor": { "command": "b" }, "toString": { "command": "c" } } }',
      { file: '/x.json' },
    )
    expect(servers.map(({ id, transport }) => [id, transport.type === 'stdio' && transport.command])).toEqual([
      ['server-__proto__', 'a'],
      ['server-constructor', 'b'],
      ['server-toString', 'c'],
    ])
    expect(({} as Record<string, unknown>).command).toBeUndefined()
  })

  test('a duplicate name is reported, and the last entry counts', () => {
    const { servers, problems } = readText('{ "mcpServers": {\n "a": { "command": "1" },\n "a": { "command": "2" } } }', {
      file: '/x.json',
    })
    expect(servers.map(({ transport }) => transport.type === 'stdio' && transport.command)).toEqual(['2'])
    expect(problems.map(({ where }) => where)).toEqual(['line 3'])
  })
})

describe('one bad file', () => {
  test('one bad file is reported with the position of the fault, and other files are read', async () => {
    const good = fileWith('good.json', '{ "mcpServers": { "a": { "command": "a" } } }')
    const files = {
      json: fileWith('bad.json', '{\n  "mcpServers": {\n    "a" { }\n}'),
      yaml: fileWith('bad.yaml', 'a: [1, 2\nb: 3'),
      toml: fileWith('bad.toml', 'a = 1\nb = = 2'),
      list: fileWith('list.json', '[1, 2]'),
      bytes: fileWith('bytes.json', Uint8Array.of(0x7b, 0xff, 0xfe, 0x7d)),
      folder: newFolder(),
      missing: join(newFolder(), 'missing.json'),
    }
    const { servers, problems } = await readConfig([...Object.values(files), good])
    expect(servers.map(({ id }) => id)).toEqual(['a'])
    expect(problems.map(({ file, text }) => [file, text])).toEqual([
      [files.json, expect.stringContaining('line 3')],
      [files.yaml, expect.stringContaining('line 2')],
      [files.toml, expect.stringContaining('line 2')],
      [files.list, 'Expected an object, got a list'],
      [files.bytes, 'The file is not UTF-8 text'],
      [files.folder, 'Not a regular file'],
      [files.missing, 'File not found'],
    ])
  })

  test('a bad file may have any name', async () => {
    expect((await readConfig(fileWith('constructor', '{ "mcpServers": { "a": { "command": "a" } } }'))).servers).toHaveLength(1)
  })

  test('a file that is a pipe does not make the reader wait', async () => {
    const file = join(newFolder(), 'mcp.json')
    execFileSync('mkfifo', [file])
    expect((await readConfig(file)).problems).toEqual([{ file, where: '', text: 'Not a regular file' }])
  })

  test('an empty file and a file with a byte order mark are valid', async () => {
    expect(await readConfig(fileWith('a.json', ' \n'))).toEqual({ servers: [], inputs: [], problems: [] })
    const marked = await readConfig(fileWith('b.json', '\u{feff}{ "mcpServers": { "a": { "command": "a" } } }'))
    expect(marked).toMatchObject({ servers: [{ id: 'a' }], problems: [] })
  })
})

describe('limits', () => {
  const serversOf = (count: number): string =>
    JSON.stringify({ mcpServers: Object.fromEntries(Array.from({ length: count }, (_, i) => [`s${i}`, { command: 'x' }])) })

  test('a file may have maxFileBytes, and no more', async () => {
    const text = serversOf(1)
    const file = fileWith('mcp.json', text)
    expect((await readConfig(file, { limits: { maxFileBytes: text.length } })).servers).toHaveLength(1)
    const over = await readConfig(file, { limits: { maxFileBytes: text.length - 1 } })
    expect(over).toMatchObject({ servers: [], problems: [{ text: expect.stringContaining('maxFileBytes') }] })
  })

  test('servers beyond maxServers are left out and counted', () => {
    expect(readText(serversOf(3), { file: '/x.json' }, { limits: { maxServers: 3 } }).problems).toEqual([])
    const over = readText(serversOf(5), { file: '/x.json' }, { limits: { maxServers: 3 } })
    expect(over.servers).toHaveLength(3)
    expect(over.problems.map(({ text }) => text)).toEqual(['The file has more than 3 servers; 2 are ignored (maxServers)'])
  })

  test('all files together have at most maxServers servers', async () => {
    const files = [fileWith('a.json', serversOf(3)), fileWith('b.json', serversOf(3))]
    const { servers, problems } = await readConfig(files, { limits: { maxServers: 4 } })
    expect(servers.map(({ id }) => id)).toEqual(['s0', 's1', 's2', 's0-2'])
    expect(problems.map(({ text }) => text)).toContain('All files together have more than 4 servers; 2 are ignored (maxServers)')
  })

  test('files beyond maxFiles are not read, and problems beyond maxProblems are counted', async () => {
    const file = fileWith(
      'mcp.json',
      JSON.stringify({ mcpServers: { a: { command: 'a', ...Object.fromEntries('bcdefg'.split('').map((k) => [k, 1])) } } }),
    )
    const one = await readConfig([file, file], { limits: { maxFiles: 1, maxProblems: 4 } })
    expect(one.servers).toHaveLength(1)
    expect(one.problems.map(({ text }) => text).slice(4)).toEqual([
      '2 more problems are not listed (maxProblems)',
      'This file and the following are not read: there are more than 1 (maxFiles)',
    ])
  })

  test('YAML may have up to a hundred aliases, and a duplicate name is reported', () => {
    const text = (count: number): string => `x: &x y\nextensions: { a: { cmd: a, args: [${Array(count).fill('*x').join(', ')}] } }`
    expect(readText(text(100), { file: '/x.yaml' }).servers).toHaveLength(1)
    expect(readText(text(101), { file: '/x.yaml' }).problems[0]?.text).toContain('more than 100 aliases')
    const twice = readText('extensions:\n  a: { cmd: a }\n  a: { cmd: b }', { file: '/x.yaml' })
    expect(twice).toMatchObject({ servers: [{ transport: { command: 'b' } }], problems: [{ where: 'line 3' }] })
  })

  test.each([
    ['x.yaml', (i: number) => `k${i}: ${i}\n`],
    ['x.toml', (i: number) => `k${i} = ${i}\n`],
    ['x.json', (i: number) => `${i === 0 ? '{' : ','}"k${i}": ${i}`],
  ])('very many names in %s take linear time', (file, line) => {
    expectLinear(400, (size) => {
      const text = Array.from({ length: size }, (_, i) => line(i)).join('') + (file === 'x.json' ? '}' : '')
      return () => void readText(text, { file: `/${file}` })
    })
  })

  test('YAML aliases that grow exponentially or contain themselves are refused', () => {
    const levels = Array.from({ length: 12 }, (_, i) => `a${i + 1}: &a${i + 1} [${Array(10).fill(`*a${i}`).join(', ')}]`)
    const bomb = `a0: &a0 [x, x]\n${levels.join('\n')}\nextensions: {}`
    const started = performance.now()
    expect(readText(bomb, { file: '/x.yaml' }).problems[0]?.text).toContain('aliases')
    expect(performance.now() - started).toBeLessThan(5000)
    const large = `x: &x [${'1,'.repeat(40_000)}]\nextensions: { a: { cmd: a, args: [${Array(90).fill('*x').join(', ')}] } }`
    expect(readText(large, { file: '/x.yaml' }).problems[0]?.text).toContain('aliases')
    expect(readText('extensions: &a\n  b: *a', { file: '/x.yaml' }).problems[0]?.text).toMatch(/deep|cannot be read|aliases/)
  })

  test.each([
    ['x.json', '['.repeat(300_000)],
    ['x.json', `${'{"a":'.repeat(100)}1${'}'.repeat(100)}`],
    ['x.yaml', `a: ${'['.repeat(2000)}`],
    ['x.toml', `a = ${'['.repeat(5000)}`],
  ])('text that nests too deep in %s is a problem and does not crash the process', (file, text) => {
    const { servers, problems } = readText(text, { file: `/${file}` })
    expect(servers).toEqual([])
    expect(problems).toHaveLength(1)
  })
})

describe('any text at all', () => {
  const file = fc.constantFrom('/x.json', '/x.yaml', '/x.toml', '/.mcp.json', '/.vscode/mcp.json', '/.claude.json', '/.cursor/mcp.json')
  const member = fc.constantFrom(
    ...[
      'mcpServers',
      'servers',
      'mcp',
      'context_servers',
      'extensions',
      'mcp_servers',
      'packages',
      'remotes',
      'inputs',
      'projects',
      'server',
    ],
    ...['command', 'args', 'env', 'url', 'headers', 'type', 'variables', 'transport', 'asserted', 'customizations', 'vscode', '__proto__'],
  )
  const { document } = fc.letrec((tie) => ({
    document: fc.oneof(
      { maxDepth: 5 },
      fc.constantFrom('x', 'https://a.example', '${env:A}', '${secret:b}', 'stdio', 'local', 'npm', 'named'),
      fc.jsonValue({ maxDepth: 1 }),
      fc.array(tie('document'), { maxLength: 3 }),
      fc.dictionary(fc.oneof({ weight: 4, arbitrary: member }, { weight: 1, arbitrary: fc.string() }), tie('document'), { maxKeys: 4 }),
    ),
  }))

  test('any text gives servers and problems, and never an exception', () => {
    fc.assert(
      fc.property(
        file,
        fc.oneof(
          fc.string({ unit: 'binary' }),
          document.map((value) => JSON.stringify(value)),
        ),
        (name, text) => {
          const { servers, problems } = readText(text, { file: name }, { home: '/h', project: '/p' })
          expect(new Set(servers.map(({ id }) => id)).size).toBe(servers.length)
          for (const { id } of servers) expect(id).toMatch(/^[A-Za-z0-9_][A-Za-z0-9._-]{0,63}$/)
          for (const problem of problems) expect(problem.text.length + problem.where.length).toBeLessThan(2000)
        },
      ),
      { numRuns: 3000 },
    )
  })

  test('a problem never contains a value, for any text', () => {
    const entry = {
      command: 'x',
      args: ['--key', CANARY],
      env: { KEY: CANARY },
      url: `https://u:${CANARY}@x.example`,
      headers: { A: CANARY },
    }
    const whole = JSON.stringify({ mcpServers: { a: entry, b: { ...entry, type: CANARY } }, inputs: [{ id: CANARY, type: CANARY }] })
    const texts = Array.from({ length: whole.length }, (_, i) => `${whole.slice(0, i)}${whole.slice(i + 1)}`)
    const toml = `[mcp_servers.a]\ncommand = "x"\nenv = { KEY = "${CANARY}" }\nbad = ${CANARY}`
    const yaml = `extensions:\n  a:\n    cmd: x\n   envs: { KEY: ${CANARY}`
    for (const name of ['/x.json', '/.vscode/mcp.json']) {
      for (const text of texts) expect(JSON.stringify(readText(text, { file: name }).problems)).not.toContain(CANARY)
    }
    for (const [name, text] of [
      ['/x.toml', toml],
      ['/x.yaml', yaml],
    ] as const) {
      const { problems } = readText(text, { file: name })
      expect(problems).not.toEqual([])
      expect(JSON.stringify(problems)).not.toContain(CANARY)
    }
  })
})

describe('a name', () => {
  test('an unusable name is replaced and kept as the title, and no server is lost', () => {
    const { servers } = readText(
      '{ "mcpServers": { "My Server!": { "command": "a" }, "My/Server": { "command": "b" }, "": { "command": "c" } } }',
      {
        file: '/x.json',
      },
    )
    expect(servers.map(({ id, title }) => [id, title])).toEqual([
      ['My-Server', 'My Server!'],
      ['My-Server-2', 'My/Server'],
      ['server', undefined],
    ])
  })

  test('a name in two files becomes two names', async () => {
    const [a, b] = ['1', '2'].map((command) => fileWith('mcp.json', JSON.stringify({ mcpServers: { a: { command } } }))) as [string, string]
    const { servers, problems } = await readConfig([a, b])
    expect(servers.map(({ id }) => id)).toEqual(['a', 'a-2'])
    expect(problems).toMatchObject([{ file: b, where: 'a' }])
  })
})

test('reading the configuration of a project starts nothing and changes nothing', async () => {
  const project = newFolder()
  const mark = join(project, 'was-run')
  mkdirSync(join(project, '.vscode'))
  const entry = {
    command: process.execPath,
    args: ['-e', `require('fs').writeFileSync(${JSON.stringify(mark)}, '')`],
    headersHelper: `touch ${mark}`,
  }
  const files = ['.mcp.json', '.vscode/mcp.json'].map((name) => join(project, name))
  for (const file of files)
    writeFileSync(
      file,
      JSON.stringify({ mcpServers: { a: entry }, servers: { a: entry }, inputs: [{ id: 'x', type: 'command', command: `touch ${mark}` }] }),
    )
  const before = files.map((file) => readFileSync(file))
  const { servers } = await readConfig(files, { project })
  expect(servers).toHaveLength(2)
  expect(files.map((file) => readFileSync(file))).toEqual(before)
  expect(() => readFileSync(mark)).toThrow('ENOENT')
})
