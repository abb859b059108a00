/** The commands for what the person decides once: enabling servers, accepting tools, choosing a preset. */

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryFolders } from '../support/folders.ts'
import { CLI, type Ended, portico, serve } from './support/cli.ts'
import { startTerminal } from './support/terminal.ts'

const newFolder = temporaryFolders()

function person() {
  const home = newFolder()
  const host = join(home, 'host')
  return {
    home,
    host,
    run: (...args: string[]): Promise<Ended> => portico(args, { env: { HOME: home, PORTICO_HOME: host }, cwd: home }),
  }
}

const RULES = `# mine
rules:
  - { id: launch, effect: allow, match: { action: server.launch, server: ev } }
  - { id: approve, effect: allow, match: { action: server.approve, server: ev } }
`

async function withServer() {
  const anna = person()
  await anna.run('servers', 'add', 'ev', ...serve('notes'))
  writeFileSync(join(anna.host, 'policy.yaml'), RULES)
  return anna
}

test('a preset is written into the rules of the user, which stay as they are', async () => {
  const anna = await withServer()
  const chosen = await anna.run('policy', 'use', 'cautious')
  expect(chosen).toMatchObject({ code: 0, stderr: expect.stringContaining('You are asked about every call of a model') })
  expect((await anna.run('policy', 'use')).stdout).toMatch(/^ {2}trusting: .*\n {2}balanced: .*\n\* cautious \(current\): You are asked/)
  const text = readFileSync(join(anna.host, 'policy.yaml'), 'utf8')
  expect(text).toContain('# mine')
  expect(text).toContain('preset: cautious')
  expect(text).toContain('server.launch')
  expect(await anna.run('policy', 'use', 'reckless')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('Expected trusting, balanced'),
  })
})

test('rules in a host folder that is .portico of the project are read once, as the rules of the user', async () => {
  const anna = person()
  mkdirSync(join(anna.home, '.portico'), { mode: 0o700 })
  writeFileSync(join(anna.home, '.portico', 'policy.yaml'), 'rules: [{ id: never, effect: deny, match: { action: tool.call } }]\n')
  for (const PORTICO_HOME of ['.portico', join(anna.home, '.portico')]) {
    const { stdout, stderr } = await portico(['policy', 'lint'], { env: { HOME: anna.home, PORTICO_HOME }, cwd: anna.home })
    expect(stdout).not.toContain('adds nothing')
    expect(stderr).toContain('1 rule, 0 findings')
  }
})

test('a preset can be chosen before there are rules, and a project can only name a stricter one', async () => {
  const anna = person()
  mkdirSync(join(anna.home, '.portico'))
  writeFileSync(join(anna.home, '.portico', 'policy.yaml'), 'preset: cautious\nrules: []\n')
  const { code, stderr } = await anna.run('policy', 'use', 'trusting')
  expect(code).toBe(0)
  expect(stderr).toContain('In this folder the preset is cautious')
  writeFileSync(join(anna.home, '.portico', 'policy.yaml'), 'preset: trusting\nrules: []\n')
  await anna.run('policy', 'use', 'balanced')
  expect((await anna.run('policy', 'lint')).stdout).toContain('a project can only name a stricter preset')
})

test('an invalid policy file is not overwritten', async () => {
  const anna = person()
  mkdirSync(anna.host, { recursive: true })
  writeFileSync(join(anna.host, 'policy.yaml'), 'ruels: []\n')
  expect((await anna.run('policy', 'use', 'cautious')).code).not.toBe(0)
  expect(readFileSync(join(anna.host, 'policy.yaml'), 'utf8')).toBe('ruels: []\n')
})

test('a server is enabled by name, and without a terminal the error says what to do', async () => {
  const anna = await withServer()
  expect(await anna.run('servers', 'enable', 'ev')).toMatchObject({ code: 0, stderr: expect.stringContaining('ev is enabled') })
  writeFileSync(join(anna.host, 'policy.yaml'), 'rules: []\n')
  const { code, stderr } = await anna.run('servers', 'enable', 'ev')
  expect(code).not.toBe(0)
  expect(stderr).toContain('no terminal')
  // One advice, for this command.
  expect(stderr.match(/in a terminal/g)).toHaveLength(1)
  expect(stderr).toContain('--inbox')
})

test('tools that say they only read are listed, accepted and revoked', async () => {
  const anna = await withServer()
  await anna.run('servers', 'enable', 'ev')
  const list = async (...args: string[]): Promise<{ name: string; isAccepted: boolean }[]> =>
    JSON.parse((await anna.run('servers', 'accept', 'ev', ...args, '--json')).stdout)
  const [first, ...rest] = await list()
  expect(first?.isAccepted).toBe(false)
  const name = first?.name ?? ''
  const rules = join(anna.home, 'empty.yaml')
  writeFileSync(rules, 'rules: []\n')
  const explained = async (): Promise<string> => (await anna.run('policy', 'explain', `ev/${name}`, '--with', rules)).stdout
  expect(await explained()).toContain('requested by model: ask')
  expect(await list(name)).toEqual([{ name, isAccepted: true }, ...rest])
  expect(await explained()).toMatch(/requested by model: allow\n.*You accepted this tool as read-only/)
  const unasked = await anna.run('servers', 'accept', 'ev', '--all')
  expect(unasked).toMatchObject({ code: 2, stderr: expect.stringContaining('--all needs --yes without a terminal') })
  const terminal = startTerminal([CLI, 'servers', 'accept', 'ev', '--all'], {
    cwd: anna.home,
    env: { HOME: anna.home, PORTICO_HOME: anna.host },
  })
  await terminal.until(/These \d+ tools only claim to read\. Accept all\?/)
  await terminal.press('n')
  expect(await terminal.exit, terminal.text()).toBe(4)
  expect(await list()).toEqual([{ name, isAccepted: true }, ...rest])
  expect((await list('--all', '--yes')).every(({ isAccepted }) => isAccepted)).toBe(true)
  expect((await list('--all', '--revoke')).some(({ isAccepted }) => isAccepted)).toBe(false)
  expect((await anna.run('servers', 'accept', 'ev', 'nothing')).stderr).toContain('has no approved tool "nothing"')
})
