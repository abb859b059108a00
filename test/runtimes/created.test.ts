/** A fresh project, made by the packed create-portico with the packed library, under npm, pnpm, Bun and Deno. */

import { type SpawnOptions, spawn } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
// @ts-expect-error a plain script without types
import { root } from '../../scripts/setup.mjs'
import { temporaryFolders } from '../support/folders.ts'
import { INSTALL_MS } from '../support/packages.ts'
import { bun, deno, installRuntimes, pnpm } from './support/install.ts'
import { must } from './support/packed.ts'

const TIMEOUT_MS = 180_000
const newFolder = temporaryFolders()

const made = { folder: '', create: '', portico: '', server: '', env: {} as NodeJS.ProcessEnv }

beforeAll(async () => {
  await installRuntimes()
  made.folder = newFolder()
  const pack = (source: string): string => {
    const [{ filename }] = JSON.parse(must('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', made.folder], source))
    return join(made.folder, filename)
  }
  made.create = pack(join(root, 'create-portico'))
  made.portico = pack(root)
  // `npm test` sets many variables for its own folder. The registry is the one that this machine uses.
  made.env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(?:npm_|NODE_ENV$|VITEST|TEST$)/i.test(name)))
  made.env.NPM_CONFIG_REGISTRY = must('npm', ['config', 'get', 'registry'], made.folder).trim()
  made.env.CI = '1'
  made.server = await createProject('server')
}, INSTALL_MS)

/** The output of a command. Rejects with all output if it fails. */
function run(command: string, args: readonly string[], cwd: string, options: SpawnOptions = {}): Promise<string> {
  const child = spawn(command, [...args], { cwd, env: made.env, stdio: ['ignore', 'pipe', 'pipe'], ...options })
  const output = { all: '', out: '' }
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    output.out += text
    output.all += text
  })
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    output.all += text
  })
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) =>
      code === 0 ? resolve(output.out) : reject(new Error(`${[command, ...args].join(' ')} ended with ${code}\n${output.all}`)),
    )
  })
}

/** Makes a project as `npm create portico` does, with the packed library. */
async function createProject(template: string): Promise<string> {
  const said = await run(
    'npm',
    ['exec', '--yes', `--package=${made.create}`, '--', 'create-portico', template, '-t', template],
    made.folder,
  )
  expect(said).toContain(`Made ${template} in ${template}`)
  const project = join(made.folder, template)
  const manifest = join(project, 'package.json')
  const text = readFileSync(manifest, 'utf8')
  // The registry does not have this version.
  expect(text).toMatch(/"portico": "\^\d/)
  writeFileSync(
    manifest,
    text.replace(/"portico": "\^[^"]+"/, () => `"portico": ${JSON.stringify(`file:${made.portico}`)}`),
  )
  // Proves that the tests run on the runtime that is meant, not on one that it starts.
  writeFileSync(
    join(project, 'test/runtime.test.ts'),
    "import { expect, test } from 'vitest'\ntest('runtime', () => expect(Object.keys(process.versions)).toContain(process.env.RUNTIME))\n",
  )
  return project
}

function copyOf(project: string, name: string): string {
  const copy = join(made.folder, name)
  cpSync(project, copy, { recursive: true })
  return copy
}

/** Runs the tests of a project, its own and the one about the runtime. */
async function expectToPass(project: string, runtime: string, command: string, args: readonly string[]): Promise<void> {
  const output = await run(command, args, project, { env: { ...made.env, RUNTIME: runtime, NO_COLOR: '1' } })
  expect(output).toMatch(/Test Files {2}2 passed/)
}

const DENO_TEST = ['task', '--node-modules-dir=manual', 'test']
const BUN_TEST = ['--bun', 'run', 'test']

// They wait for the registry most of the time, so they run side by side.
describe.concurrent('from the packed tarballs', { timeout: TIMEOUT_MS }, () => {
  test('a fresh project passes its tests with npm and with Deno, and npx portico calls its server', async () => {
    const project = copyOf(made.server, 'with-npm')
    await run('npm', ['install', '--prefer-offline', '--no-audit', '--no-fund', '--loglevel=error'], project)
    await expectToPass(project, 'node', 'npm', ['test'])
    await expectToPass(project, 'deno', deno, DENO_TEST)
    await run('npm', ['run', 'build'], project)
    const called = await run('npx', ['portico', 'call', 'add', 'a=2', 'b=3', '--json', '--', process.execPath, 'dist/main.js'], project)
    expect(JSON.parse(called)).toMatchObject({ structuredContent: { sum: 5 } })
  })

  test('a fresh project passes its tests with pnpm', async () => {
    const project = copyOf(made.server, 'with-pnpm')
    await run(process.execPath, [pnpm, 'install', '--prefer-offline'], project)
    await expectToPass(project, 'node', process.execPath, [pnpm, 'test'])
  })

  test('a fresh project passes its tests with Bun, without Node', async () => {
    const project = copyOf(made.server, 'with-bun')
    await run(bun, ['install'], project)
    await expectToPass(project, 'bun', bun, BUN_TEST)
    // The tests of the other templates need the same packages.
    for (const template of ['client', 'agent']) {
      const other = await createProject(template)
      symlinkSync(join(project, 'node_modules'), join(other, 'node_modules'), 'junction')
      await expectToPass(other, 'deno', deno, DENO_TEST)
      await expectToPass(other, 'bun', bun, BUN_TEST)
    }
  })

  test('npx portico runs in an empty folder', async () => {
    const folder = join(made.folder, 'empty')
    mkdirSync(folder)
    const npx = ['--yes', '--prefer-offline', `--package=${made.portico}`, 'portico']
    const server = [process.execPath, join(root, 'dist/cli/index.js'), 'serve', 'everything']
    expect(await run('npx', [...npx, 'tools', '--json', '--', ...server], folder)).toContain('"name"')
  })
})
