import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer as createHttpServer } from 'node:http'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { EXIT_CODES, type ExitName } from '../../src/cli/exit-codes.ts'
import { temporaryFolders } from '../support/folders.ts'
import { CLI, type Ended, portico, serve, serveFixture } from './support/cli.ts'
import { KEY, startTerminal } from './support/terminal.ts'

const newFolder = temporaryFolders()

/** Somebody with a server `ev` that the rules let in. */
async function person() {
  const home = newFolder()
  const env = { HOME: home, PORTICO_HOME: join(home, 'host') }
  const run = (...args: string[]): Promise<Ended> => portico(args, { env, cwd: home })
  await run('servers', 'add', 'ev', ...serve('everything'))
  const allow = (...actions: string[]): void =>
    writeFileSync(
      join(env.PORTICO_HOME, 'policy.yaml'),
      `rules:\n${actions.map((action) => `  - { id: ${action}, effect: allow, match: { action: ${action}, server: ev, tier: untrusted } }\n`).join('')}`,
    )
  allow('server.launch', 'server.approve', 'tool.call')
  return { home, env, run, allow }
}

const PROOFS: Record<ExitName, () => Promise<number | null>> = {
  ok: async () => (await (await person()).run('call', 'ev/test_simple_text')).code,
  failed: async () => (await (await person()).run('call', 'ev/test_error_handling')).code,
  usage: async () => (await (await person()).run('call', 'ev/test_simple_txet')).code,
  consent: async () => {
    const anna = await person()
    anna.allow('server.launch', 'server.approve')
    return (await anna.run('call', 'ev/test_simple_text')).code
  },
  denied: async () => {
    const anna = await person()
    writeFileSync(
      join(anna.env.PORTICO_HOME, 'policy.yaml'),
      `${readFileSync(join(anna.env.PORTICO_HOME, 'policy.yaml'), 'utf8')}  - { id: no, effect: deny, match: { action: tool.call } }\n`,
    )
    return (await anna.run('call', 'ev/test_simple_text')).code
  },
  unreachable: async () => (await portico(['tools', '--', process.execPath, '-e', 'process.exit(1)'])).code,
  auth: async () => {
    const http = createHttpServer((_, response) => response.writeHead(401, { 'www-authenticate': 'Bearer' }).end()).listen(0, '127.0.0.1')
    await new Promise((resolve) => http.once('listening', resolve))
    const { port } = http.address() as { port: number }
    try {
      return (await portico(['tools', `http://127.0.0.1:${port}/mcp`], { env: { HOME: newFolder() } })).code
    } finally {
      http.close()
    }
  },
  audit: async () => {
    const anna = await person()
    await anna.run('call', 'ev/test_simple_text')
    const folder = join(anna.env.PORTICO_HOME, 'audit')
    for (const name of readdirSync(folder).filter((each) => each.endsWith('.jsonl')))
      writeFileSync(join(folder, name), readFileSync(join(folder, name), 'utf8').replace('test_simple_text', 'test_simple_texx'))
    return (await anna.run('audit', 'verify')).code
  },
  config: async () => {
    const anna = await person()
    writeFileSync(join(anna.env.PORTICO_HOME, 'policy.yaml'), 'rules: nonsense\n')
    return (await anna.run('call', 'ev/test_simple_text')).code
  },
  different: async () => {
    const anna = await person()
    await anna.run('call', 'ev/test_simple_text')
    writeFileSync(join(anna.home, 'strict.yaml'), 'rules:\n  - { id: no, effect: deny, match: { action: tool.call } }\n')
    return (await anna.run('policy', 'replay', '--with', 'strict.yaml')).code
  },
  interrupted: async () => {
    const terminal = startTerminal([CLI, 'call', 'slow', ...serveFixture('asking.mjs')])
    await expect.poll(() => terminal.raw(), { timeout: 15_000 }).toContain('%')
    terminal.type(KEY.interrupt)
    return terminal.exit
  },
}

test.each(Object.keys(EXIT_CODES) as ExitName[])(
  'the exit code of an error: %s',
  async (name) => {
    expect(await PROOFS[name]()).toBe(EXIT_CODES[name].code)
  },
  60_000,
)

test('the table of exit codes in the documentation and in the help equals the one in the code', async () => {
  const docs = readFileSync(new URL('../../docs/cli.md', import.meta.url), 'utf8')
  const rows = [...docs.matchAll(/^\| (\d+) \| (.+) \|$/gm)].map(([, code, when]) => ({ code: Number(code), when }))
  expect(rows).toEqual(Object.values(EXIT_CODES))
  const { stdout } = await portico(['help', 'exit-codes'])
  for (const { code, when } of Object.values(EXIT_CODES)) expect(stdout.replaceAll(/\s+/g, ' ')).toContain(`${code} ${when}`)
})

test('every command is documented', async () => {
  const { stdout } = await portico(['help', 'servers', 'import'])
  expect(stdout).toContain('Usage: portico servers import')
})

test('every command is in the documentation', async () => {
  const docs = readFileSync(new URL('../../docs/cli.md', import.meta.url), 'utf8')
  const { stdout } = await portico(['--help'])
  const commands = [...stdout.slice(stdout.indexOf('Try:'), stdout.indexOf('Examples:')).matchAll(/^ {2}([a-z]+) /gm)].map(
    ([, name]) => name as string,
  )
  expect(commands.length).toBeGreaterThan(15)
  for (const name of commands.filter((each) => each !== 'help')) expect(docs, name).toContain(`portico ${name}`)
})
