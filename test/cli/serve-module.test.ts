import { spawn } from 'node:child_process'
import { existsSync, mkdirSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { temporaryFolders } from '../support/folders.ts'
import { CLI, portico } from './support/cli.ts'
import { GREETER, project, words } from './support/project.ts'
import { startTerminal } from './support/terminal.ts'

const newFolder = temporaryFolders()

const call = (cwd: string, file: string) =>
  portico(['call', 'greet', 'name=Ada', '--', process.execPath, CLI, 'serve', file], { cwd, env: { HOME: cwd } })

test('a module that exports a server is served on standard streams, in TypeScript through tsx', async () => {
  const folder = project(newFolder(), { 'server.ts': GREETER, 'words.ts': words('Hello') })
  expect(await call(folder, './server.ts')).toMatchObject({ code: 0, stdout: 'Hello Ada\n' })
}, 60_000)

test('a module that serves on standard streams itself needs no export', async () => {
  const source = GREETER.replace('export const server: Server', 'const server: Server')
  const folder = project(newFolder(), {
    'server.ts': `${source}serveStdio(server)\n`.replace('import { z }', "import { serveStdio } from 'portico/stdio'\nimport { z }"),
    'words.ts': words('Hello'),
  })
  expect(await call(folder, './server.ts')).toEqual({ code: 0, stdout: 'Hello Ada\n', stderr: '' })
}, 60_000)

test('a default export and a module of the package type module are served too', async () => {
  const source = GREETER.replace('export const server: Server', 'const server: Server')
  const folder = project(newFolder(), {
    'package.json': '{ "type": "module" }',
    'src/main.mts': `${source}export default server\n`,
    'src/words.ts': words('Hi'),
  })
  expect(await call(folder, 'src/main.mts')).toMatchObject({ code: 0, stdout: 'Hi Ada\n' })
}, 60_000)

// Skipped on a Node that loads TypeScript without help: the refusal cannot happen there.
test.skipIf('typescript' in process.features && process.features.typescript !== false)(
  'TypeScript without tsx is refused on a Node that cannot load it, with what to install',
  async () => {
    const folder = project(newFolder(), { 'server.ts': GREETER, 'words.ts': words('Hello') }, ['portico', 'zod'])
    const { code, stderr } = await portico(['serve', './server.ts'], { cwd: folder })
    expect(code).toBe(2)
    expect(stderr).toContain('cannot load TypeScript without help')
    expect(stderr).toContain('npm install -D tsx')
  },
  60_000,
)

const NODE_24 = fileURLToPath(new URL('../../.cache/node24/node_modules/node/bin/node', import.meta.url))

test.runIf(existsSync(NODE_24))(
  'TypeScript needs no tsx on a Node that removes types',
  async () => {
    const files = { 'package.json': '{ "type": "module" }', 'server.ts': GREETER, 'words.ts': words('Hello') }
    const folder = project(newFolder(), files, ['portico', 'zod'])
    const args = ['call', 'greet', 'name=Ada', '--', NODE_24, CLI, 'serve', './server.ts']
    expect(await portico(args, { cwd: folder, env: { HOME: folder } })).toMatchObject({ code: 0, stdout: 'Hello Ada\n' })
  },
  60_000,
)

test('a module without a server, with an error or that does not exist is refused in clear words', async () => {
  const folder = project(newFolder(), {
    'none.mjs': 'export const port = 3000\n',
    'broken.mjs': 'throw new Error("no database")\n',
    'bad.ts': 'export const x: number = (\n',
  })
  mkdirSync(join(folder, 'src'))
  const say = async (file: string): Promise<string> => (await portico(['serve', file], { cwd: folder })).stderr
  expect(await say('./none.mjs')).toContain('./none.mjs exports no server; it exports port')
  expect(await say('./none.mjs')).toContain('export default createServer(')
  expect(await say('./broken.mjs')).toContain('Cannot load ./broken.mjs: no database')
  // A module that fails is a failure; a file that has no server is a wrong argument.
  expect((await portico(['serve', './broken.mjs'], { cwd: folder })).code).toBe(1)
  expect((await portico(['serve', './none.mjs'], { cwd: folder })).code).toBe(2)
  expect(await say('./bad.ts')).toContain('bad.ts:2:0: ERROR: Unexpected end of file')
  expect(await say('./gone.ts')).toContain('No such file: ./gone.ts')
  expect(await say('./src')).toContain('./src is a folder')
}, 60_000)

test('a module is served over HTTP at the port that was chosen, and a busy port is refused', async () => {
  const folder = project(newFolder(), { 'server.ts': GREETER, 'words.ts': words('Hello') })
  const child = spawn(process.execPath, [CLI, 'serve', './server.ts', '--http', '--port', '0'], {
    cwd: folder,
    env: { PATH: process.env.PATH },
  })
  try {
    let said = ''
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      said += text
    })
    await expect.poll(() => said, { timeout: 20_000 }).toMatch(/at http:\S+ /)
    const url = /http:\S+/.exec(said)?.[0] as string
    expect(await portico(['call', url, 'greet', 'name=Ada'], { env: { HOME: folder } })).toMatchObject({ code: 0, stdout: 'Hello Ada\n' })
  } finally {
    child.kill('SIGKILL')
  }
  const taken = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => taken.once('listening', resolve))
  const { port } = taken.address() as { port: number }
  const busy = await portico(['serve', './server.ts', '--http', '--port', String(port)], { cwd: folder })
  expect(busy).toMatchObject({ code: 1, stderr: expect.stringContaining(`Port ${port} is in use`) })
  taken.close()
  expect((await portico(['serve', './server.ts', '--port', '80'], { cwd: folder })).stderr).toContain('--port needs --http')
}, 60_000)

test('at a terminal serve says that it waits for a client, and how to try the server', async () => {
  const folder = project(newFolder(), { 'server.ts': GREETER, 'words.ts': words('Hello') })
  const terminal = startTerminal([CLI, 'serve', './server.ts'], { cwd: folder, columns: 160, env: { HOME: folder } })
  await terminal.until('Serving on standard input and output, waiting for a client. To try it: portico dev ./server.ts')
}, 60_000)
