import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryFolders } from '../support/folders.ts'
import { bareServer } from './support/bare-server.ts'
import { CLI, type Ended, portico } from './support/cli.ts'
import { startTerminal } from './support/terminal.ts'

const newFolder = temporaryFolders()

const SECRET = 'tok_9f8e7d6c5b4a39281706'

/** A server that tells its key and its folder, as a careless one does. */
const TELLING = bareServer({
  name: 'telling',
  tools: "[{ name: 'tell', description: 'key ' + process.env.API_TOKEN, inputSchema: { type: 'object' } }]",
  text: "'in ' + process.cwd() + ' with ' + process.env.API_TOKEN",
})

/** A person with the server `told`, added from a folder of its own, whose key is in the vault. */
async function person(rules = 'rules:\n  - { id: launch, effect: allow, match: { action: server.launch, server: told } }\n') {
  const home = newFolder()
  const work = join(home, 'work')
  const env = { HOME: home, PORTICO_HOME: join(home, 'host') }
  const run = (args: string[], options: { cwd?: string; input?: string } = {}): Promise<Ended> =>
    portico(args, { env, cwd: home, ...options })
  mkdirSync(work)
  writeFileSync(join(work, 'server.mjs'), TELLING)
  const added = await run(['servers', 'add', 'told', '-e', `API_TOKEN=${SECRET}`, '--', process.execPath, 'server.mjs'], { cwd: work })
  expect(added.code, added.stderr).toBe(0)
  writeFileSync(join(env.PORTICO_HOME, 'policy.yaml'), rules)
  return { home, work, env, run }
}

test('the doctor takes the name of a configured server, with its secrets and its folder', async () => {
  const { run } = await person()
  const { code, stdout, stderr } = await run(['doctor', 'told'])
  expect(code, stdout + stderr).toBe(0)
  expect(stderr).toMatch(/^Examining told directly: .*server\.mjs$/m)
  expect(stdout).toContain('telling 1.0.0')
  expect((await run(['doctor', 'tald'])).stderr).toContain('Did you mean "told"?')
}, 60_000)

test('inspect, run and replay take a name, and never show a value from the vault', async () => {
  const { run, work, home } = await person()
  const inspected = await run(['inspect', 'told', '--show-secrets', '--request', 'tools/call', '--params', '{"name":"tell"}'])
  expect(inspected.code, inspected.stderr).toBe(0)
  expect(inspected.stdout).toContain(`in ${work} with [redacted]`)
  const shown = await run(['run', 'told'])
  expect(shown.stdout).toContain('key [redacted]')
  const call = { jsonrpc: '2.0', id: 2, method: 'tools/call', params: { name: 'tell' } }
  const initialize = {
    jsonrpc: '2.0',
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
  }
  const lines = [initialize, { jsonrpc: '2.0', method: 'notifications/initialized' }, call]
  const recorded = await run(['record', 'tape.jsonl', 'told'], { input: `${lines.map((each) => JSON.stringify(each)).join('\n')}\n` })
  expect(recorded.stdout, recorded.stderr).toContain(SECRET)
  const tape = readFileSync(join(home, 'tape.jsonl'), 'utf8')
  expect(tape).toContain('"target":"told"')
  expect(tape).not.toContain(SECRET)
  const compared = await run(['replay', 'tape.jsonl', '--against', 'told'])
  expect(compared.stderr).toContain('1 request sent')
  for (const { stdout, stderr } of [inspected, shown, compared]) expect(stdout + stderr).not.toContain(SECRET)
}, 60_000)

test('a configured server is not started by its name without consent, and the hint names what helps', async () => {
  const { run, env, home } = await person('rules: []\n')
  const { code, stderr } = await run(['doctor', 'told'])
  expect(code).toBe(3)
  expect(stderr).toContain('or use --inbox and answer with "portico inbox answer"')
  const login = await run(['servers', 'login', 'told'])
  expect(login.stderr).not.toContain('--inbox')
  const terminal = startTerminal([CLI, 'doctor', 'told'], { env, cwd: home })
  await terminal.until(/start/i)
  await terminal.until('server.mjs')
}, 60_000)

test('the command line cannot change the command that a person agreed to', async () => {
  const { run } = await person()
  const { code, stderr } = await run(['doctor', 'told', '-e', 'NODE_OPTIONS=--require ./x.cjs'])
  expect(code).toBe(2)
  expect(stderr).toContain('--env cannot change the configured server "told"')
}, 60_000)

test('a configured server whose program is gone fails at the step that finds it', async () => {
  const { run, env } = await person()
  await run(['servers', 'add', 'gone', '--', 'no-such-program-anywhere'])
  writeFileSync(
    join(env.PORTICO_HOME, 'policy.yaml'),
    'rules:\n  - { id: launch, effect: allow, match: { action: server.launch, server: gone } }\n',
  )
  const { code, stdout } = await run(['doctor', 'gone'])
  expect(code).toBe(5)
  expect(stdout).toMatch(/^✗ found .*no-such-program-anywhere/m)
}, 60_000)

test('a server that was added with a relative path starts from any folder', async () => {
  const { run, work } = await person(
    'rules:\n' +
      ['server.launch', 'server.approve', 'tool.call']
        .map((action) => `  - { id: ${action}, effect: allow, match: { action: ${action}, server: told, tier: untrusted } }\n`)
        .join(''),
  )
  const { code, stdout, stderr } = await run(['call', 'told/tell'], { cwd: newFolder() })
  expect(code, stderr).toBe(0)
  expect(stdout).toContain(`in ${work}`)
}, 60_000)

test('the doctor prints the line breaks of an error, and breaks long lines at words', async () => {
  const words = 'the first line of an error with many ordinary words in it that does not fit into eighty columns'
  const args = ['doctor', '--', process.execPath, '-e', `console.error("${words}\\nsecond line"); process.exit(2)`]
  const plain = await portico(args, { env: { HOME: newFolder() } })
  expect(plain.stdout).toMatch(/^ {17}second line/m)
  const terminal = startTerminal([CLI, ...args], { columns: 80, env: { HOME: newFolder() } })
  await terminal.exit
  const printed = terminal.text().split('\n')
  for (const line of printed) expect(line.length).toBeLessThanOrEqual(80)
  const shown = printed.map((line) => line.trim()).join(' ')
  expect(shown).toContain('that does not fit into eighty columns')
}, 60_000)
