import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { textDiff } from '../../../src/cli/migrate/text-diff.ts'
import { temporaryFolders } from '../../support/folders.ts'
import { portico } from '../support/cli.ts'

const newFolder = temporaryFolders()
const corpus = (name: string): string => readFileSync(fileURLToPath(new URL(`corpus/${name}`, import.meta.url)), 'utf8')

/** A project with TypeScript 6, two servers, and a file that is not meant. */
function project(): string {
  const folder = newFolder()
  mkdirSync(join(folder, 'src'))
  mkdirSync(join(folder, 'node_modules', 'other'), { recursive: true })
  symlinkSync(dirname(createRequire(import.meta.url).resolve('typescript-v6/package.json')), join(folder, 'node_modules', 'typescript'))
  writeFileSync(join(folder, 'src', 'tools.ts'), corpus('v1-tools.before.ts'))
  writeFileSync(join(folder, 'src', 'http.ts'), corpus('v1-http.before.ts'))
  writeFileSync(join(folder, 'src', 'plain.ts'), 'export const one = 1\n')
  writeFileSync(join(folder, 'node_modules', 'other', 'index.ts'), corpus('v1-tools.before.ts'))
  return folder
}

test('it shows the changes, makes them with --write, and says what is left and why', async () => {
  const folder = project()
  const file = (name: string): string => readFileSync(join(folder, name), 'utf8')
  const shown = await portico(['migrate'], { cwd: folder })
  expect(shown.code).toBe(0)
  expect(shown.stdout).toContain("-import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'")
  expect(shown.stdout).toContain('+  serveStdio(server)')
  expect(shown.stdout).not.toContain('plain.ts')
  expect(shown.stderr).toContain('Nothing was changed')
  expect(file('src/tools.ts')).toBe(corpus('v1-tools.before.ts'))

  const written = await portico(['migrate', 'src', '--write'], { cwd: folder })
  expect(written.code).toBe(0)
  expect(written.stdout).toBe('')
  expect(written.stderr).toContain('src/tools.ts: moved from the official SDK v1\n')
  expect(written.stderr).toContain('src/http.ts: moved from the official SDK v1, 4 left to you')
  expect(written.stderr).toContain('line 8: the caller and its claims are in caller')
  expect(file('src/tools.ts')).toBe(corpus('v1-tools.after.ts'))
  expect(file('src/http.ts')).toBe(corpus('v1-http.after.txt'))
  expect(file('node_modules/other/index.ts')).toBe(corpus('v1-tools.before.ts'))
})

test('what a server asked through its low-level server names its place in Portico', async () => {
  const folder = project()
  const lines = [
    "import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'",
    "const server = new McpServer({ name: 'bank', version: '1.0.0' })",
    "server.registerTool('close', {}, async () => {",
    "  await server.server.elicitInput({ message: 'Sure?', requestedSchema: { type: 'object', properties: {} } })",
    '  await server.server.createMessage({ messages: [], maxTokens: 1 })',
    '  const inner = server.server',
    "  return { content: [{ type: 'text', text: String(inner) }] }",
    '})',
  ]
  writeFileSync(join(folder, 'src', 'asking.ts'), `${lines.join('\n')}\n`)
  const { stderr } = await portico(['migrate', 'src/asking.ts'], { cwd: folder })
  expect(stderr).toContain('line 4: write await ctx.elicit(')
  expect(stderr).toContain('line 5: write await ctx.sample(')
  expect(stderr).toContain('line 6: Portico has no low-level server inside the server')
})

test('a path that does not exist is refused', async () => {
  const { code, stderr } = await portico(['migrate', 'nowhere'], { cwd: project() })
  expect(code).toBe(2)
  expect(stderr).toContain('There is no nowhere')
})

test('without the parser of TypeScript it says what to install', async () => {
  const { code, stderr } = await portico(['migrate'], { cwd: newFolder() })
  expect(code).toBe(2)
  expect(stderr).toContain('npm install --save-dev @typescript/typescript6')
})

test('a diff has one place for each change, with three lines around it', () => {
  const before = Array.from({ length: 30 }, (_, i) => `line ${i}`)
  const after = before.with(2, 'new').toSpliced(20, 1)
  const places = textDiff(before.join('\n'), after.join('\n'))
  expect(places.map((place) => place.map(({ sign, text }) => sign + text))).toEqual([
    [' line 0', ' line 1', '-line 2', '+new', ' line 3', ' line 4', ' line 5'],
    [' line 17', ' line 18', ' line 19', '-line 20', ' line 21', ' line 22', ' line 23'],
  ])
})

test('a second run changes nothing, also where something is left to you', async () => {
  const folder = project()
  await portico(['migrate', 'src', '--write'], { cwd: folder })
  const again = await portico(['migrate', 'src', '--write'], { cwd: folder })
  expect(again.code).toBe(0)
  expect(readFileSync(join(folder, 'src/http.ts'), 'utf8')).toBe(corpus('v1-http.after.txt'))
})

test('a file that cannot be moved safely stays as it is, with the reason, and the others are moved', async () => {
  const folder = project()
  const source = corpus('v1-tools.before.ts')
  const strange: Record<string, Buffer> = {
    'latin.ts': Buffer.concat([Buffer.from(source), Buffer.from('// caf'), Buffer.from([0xe9, 0x0a])]),
    'broken.ts': Buffer.from(`${source}\nserver.registerTool('b', { inputSchema: {\n`),
    'deep.ts': Buffer.from(`${source}\nexport const deep = ${'['.repeat(20_000)}${']'.repeat(20_000)}\n`),
  }
  for (const [name, bytes] of Object.entries(strange)) writeFileSync(join(folder, 'src', name), bytes)
  const { code, stderr } = await portico(['migrate', 'src', '--write'], { cwd: folder })
  expect(code).toBe(1)
  expect(stderr).toContain('src/latin.ts: not changed: it is not UTF-8')
  expect(stderr).toContain('src/broken.ts: not changed: it has syntax errors; correct them first')
  expect(stderr).toContain('src/deep.ts: not changed: its code is nested too deeply')
  for (const [name, bytes] of Object.entries(strange)) expect(readFileSync(join(folder, 'src', name)).equals(bytes)).toBe(true)
  expect(readFileSync(join(folder, 'src/tools.ts'), 'utf8')).toBe(corpus('v1-tools.after.ts'))
})

test('a file keeps its line ends and its byte order mark', async () => {
  const folder = project()
  const windows = (text: string): string => `\ufeff${text.replaceAll('\n', '\r\n')}`
  writeFileSync(join(folder, 'src', 'tools.ts'), windows(corpus('v1-tools.before.ts')))
  await portico(['migrate', 'src', '--write'], { cwd: folder })
  expect(readFileSync(join(folder, 'src/tools.ts'), 'utf8')).toBe(windows(corpus('v1-tools.after.ts')))
})
