import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, test } from 'vitest'
// @ts-expect-error a plain script without types
import { buildIfStale } from '../../scripts/setup.mjs'
import { startTerminal } from '../cli/support/terminal.ts'
import { temporaryFolders } from '../support/folders.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))
const newFolder = temporaryFolders()

/** Packs a package as npm would publish it, and unpacks it. */
function packed(source: string, into: string): void {
  mkdirSync(into, { recursive: true })
  const { stdout, stderr, status } = spawnSync('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', into], {
    cwd: source,
    encoding: 'utf8',
  })
  expect(status, stderr).toBe(0)
  const [{ filename }] = JSON.parse(stdout) as [{ filename: string }]
  expect(spawnSync('tar', ['-xzf', filename, '--strip-components=1'], { cwd: into }).status).toBe(0)
}

let create = ''
let portico = ''
beforeAll(async () => {
  // `npm test` has built the types already; a run of this file alone has not.
  await buildIfStale({ types: true })
  const folder = newFolder()
  create = join(folder, 'create-portico')
  portico = join(folder, 'portico')
  packed(join(root, 'create-portico'), create)
  packed(root, portico)
}, 120_000)

interface Ended {
  code: number | null
  output: string
}

function run(command: string, args: readonly string[], cwd: string): Promise<Ended> {
  const child = spawn(command, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'], env: { PATH: process.env.PATH, HOME: cwd, CI: '1' } })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text
    })
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, output })))
}

const createProject = (cwd: string, ...args: string[]): Promise<Ended> => run(process.execPath, [join(create, 'index.mjs'), ...args], cwd)

/** Links what `npm install` would install: the packed package, and the packages of this repository for the others. */
function install(folder: string): void {
  const modules = join(folder, 'node_modules')
  mkdirSync(modules)
  for (const name of readdirSync(join(root, 'node_modules')))
    if (!['portico', 'portico-tests', 'portico-bench', '.package-lock.json', '.vite', '.cache'].includes(name))
      symlinkSync(join(root, 'node_modules', name), join(modules, name))
  // A copy: a linked package would find the packages of the folder in which it really is.
  spawnSync('cp', ['-r', portico, join(modules, 'portico')])
}

describe.each(['server', 'client', 'agent'])('the template %s', (template) => {
  test('the template compiles, and its tests pass with the packed package', async () => {
    const folder = newFolder()
    const made = await createProject(folder, 'My Project', '--template', template)
    expect(made.code, made.output).toBe(0)
    expect(made.output).toContain('cd "My Project"')
    const project = join(folder, 'My Project')
    install(project)
    const manifest = JSON.parse(readFileSync(join(project, 'package.json'), 'utf8'))
    expect(manifest).toMatchObject({ name: 'my-project', dependencies: { portico: expect.stringMatching(/^\^\d/) } })
    for (const name of Object.keys({ ...manifest.dependencies, ...manifest.devDependencies }))
      expect(readdirSync(join(project, 'node_modules', name)), name).toContain('package.json')
    for (const file of ['README.md', ...readdirSync(join(project, 'src')).map((name) => `src/${name}`)])
      expect(readFileSync(join(project, file), 'utf8')).not.toMatch(/NAME_OF|VERSION_OF/)
    expect(readFileSync(join(project, '.gitignore'), 'utf8')).toContain('node_modules/')
    const compiled = await run(process.execPath, [join(root, 'node_modules/typescript/bin/tsc')], project)
    expect(compiled, compiled.output).toMatchObject({ code: 0 })
    expect(readdirSync(join(project, 'dist'))).toContain('main.js')
    const tested = await run(process.execPath, [join(root, 'node_modules/vitest/vitest.mjs'), 'run'], project)
    expect(tested, tested.output).toMatchObject({ code: 0 })
    expect(tested.output).toMatch(/Tests .*\d+ passed/)
  }, 120_000)
})

test('a project made from a clone installs the package of the clone, and any other the published version', async () => {
  const folder = newFolder()
  const made = await createProject(folder, 'one', '-t', 'client')
  expect(made.output).not.toContain('npm pack')
  const required = (name: string) => JSON.parse(readFileSync(join(folder, name, 'package.json'), 'utf8')).dependencies.portico
  expect(required('one')).toMatch(/^\^\d/)
  const cloned = await run(process.execPath, [join(root, 'create-portico/index.mjs'), 'two', '-t', 'client'], folder)
  const tarball = required('two').replace(/^file:/, '')
  expect(dirname(tarball)).toBe(resolve(root))
  expect(readFileSync(join(folder, 'one', 'README.md'), 'utf8')).not.toContain('npm pack')
  expect(readFileSync(join(folder, 'two', 'README.md'), 'utf8')).toMatch(/^\(cd .* && npm pack\) .*\nnpm install$/m)
  if (!existsSync(tarball)) expect(cloned.output).toMatch(/npm pack\)\n {2}cd two\n {2}npm install/)
})

test('the built server of the template answers a client', async () => {
  const folder = newFolder()
  await createProject(folder, 'adder', '-t', 'server')
  const project = join(folder, 'adder')
  install(project)
  await run(process.execPath, [join(root, 'node_modules/typescript/bin/tsc')], project)
  const cli = join(project, 'node_modules/portico/dist/cli/index.js')
  const args = [cli, 'call', 'add', 'a=2', 'b=3', '--json', '--', process.execPath, 'dist/main.js']
  const { output } = await run(process.execPath, args, project)
  expect(JSON.parse(output)).toMatchObject({ structuredContent: { sum: 5 } })
}, 60_000)

test('the built agent of the template ends without an error when its input ends', async () => {
  const folder = newFolder()
  await createProject(folder, 'helper', '-t', 'agent')
  const project = join(folder, 'helper')
  install(project)
  await run(process.execPath, [join(root, 'node_modules/typescript/bin/tsc')], project)
  const { code, output } = await run(process.execPath, ['dist/main.js'], project)
  expect(code, output).toBe(0)
  expect(output).toContain('Talk to scripted')
}, 60_000)

test('a folder with files, an unknown template and other mistakes are refused in one line', async () => {
  const folder = newFolder()
  mkdirSync(join(folder, 'full'))
  writeFileSync(join(folder, 'full', 'notes.txt'), 'mine')
  writeFileSync(join(folder, 'file'), '')
  const say = async (...args: string[]): Promise<string> => {
    const { code, output } = await createProject(folder, ...args)
    expect(code, output).toBe(2)
    return output.trim()
  }
  expect(await say('full', '-t', 'server')).toBe('full is not empty: it contains notes.txt. Choose another folder.')
  expect(await say('file', '-t', 'server')).toBe('file is a file')
  expect(await say('new', '-t', 'severs')).toBe('Unknown template "severs"; expected server, client, agent')
  expect(await say('new')).toBe('Missing --template; expected server, client, agent')
  expect(await say('a', 'b', '-t', 'server')).toBe('Expected one folder, got a, b')
  expect(await say('--unknown')).toContain('Unknown option')
  const inFile = await createProject(folder, join('file', 'new'), '-t', 'server')
  expect([inFile.code, inFile.output.trim()]).toEqual([1, expect.stringMatching(/^The project cannot be made in .*: ENOTDIR.*$/)])
  expect(readdirSync(join(folder, 'full'))).toEqual(['notes.txt'])
  expect(readdirSync(folder).sort()).toEqual(['file', 'full'])
})

test('at a terminal one question chooses the template', async () => {
  const folder = newFolder()
  const terminal = startTerminal([join(create, 'index.mjs'), 'mine'], { cwd: folder })
  await terminal.until('Which template?')
  terminal.type('9\r')
  await terminal.until('Expected a number from 1 to 3')
  terminal.type('2\r')
  expect(await terminal.exit, terminal.text()).toBe(0)
  expect(readdirSync(join(folder, 'mine', 'src')).sort()).toEqual(['client.ts', 'main.ts'])
})

test('it has the version of the package, which is the version that its templates ask for', () => {
  const versionOf = (path: string): string => JSON.parse(readFileSync(join(root, path), 'utf8')).version
  expect(versionOf('create-portico/package.json')).toBe(versionOf('package.json'))
})
