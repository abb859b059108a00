/** `portico skills` with a server as a process of its own. */

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { skillText, writeFiles } from '../skills/skill-files.ts'
import { temporaryFolders } from '../support/folders.ts'
import { proves } from '../support/proves.ts'
import { until } from '../support/until.ts'
import { CLI, type Ended, portico, serveFixture } from './support/cli.ts'
import { startTerminal } from './support/terminal.ts'

const newFolder = temporaryFolders()

const FILES = {
  'refunds/SKILL.md': skillText('refunds', 'license: MIT\n', 'Pay with care. \u001b[31mRed\n'),
  'refunds/templates/mail.md': 'Dear customer\n',
}

/** Rules that start a server and approve what it offers, except for skills. */
const RULES = `rules:
  - { id: launch, effect: allow, match: { action: server.launch, server: docs } }
  - { id: approve, effect: allow, match: { action: server.approve, server: docs } }
`

async function person() {
  const home = newFolder()
  const folder = writeFiles(newFolder(), FILES)
  const env = { HOME: home, PORTICO_HOME: join(home, 'host') }
  const run = (args: string[]): Promise<Ended> => portico(args, { env, cwd: home })
  await run(['servers', 'add', 'docs', ...serveFixture('skills.mjs', folder)])
  writeFileSync(join(env.PORTICO_HOME, 'policy.yaml'), RULES)
  const sit = (...args: string[]) => startTerminal([CLI, ...args], { env, cwd: home })
  return { run, folder, sit }
}

test('skills of a server that is not configured are listed, shown and read', async () => {
  const folder = writeFiles(newFolder(), FILES)
  const run = (...args: string[]): Promise<Ended> => portico(['skills', ...args, ...serveFixture('skills.mjs', folder)])
  const list = await run('list')
  expect(list, list.stderr).toMatchObject({ code: 0 })
  expect(list.stdout).toMatch(/refunds +2 +Does refunds well/)
  const shown = await run('show', 'refunds')
  expect(shown.stdout).toContain('skill://refunds/SKILL.md')
  expect(shown.stdout).toMatch(/templates\/mail\.md +14 bytes +sha256:[0-9a-f]{64}/)
  const read = await run('read', 'refunds', 'templates/mail.md')
  expect(read.stdout).toContain('Dear customer')
  // Control characters of the server do not reach the terminal.
  const main = await run('read', 'refunds')
  expect(main.stdout).toContain('Pay with care')
  expect(main.stdout).not.toContain('\u001b[31m')
  expect(JSON.parse((await run('list', '--json')).stdout)).toMatchObject([{ name: 'refunds', uri: 'skill://refunds/SKILL.md' }])
  expect(await run('show', 'refund')).toMatchObject({ code: 2, stderr: expect.stringContaining('Did you mean "refunds"?') })
  expect((await run('read', 'refunds', '../x')).code).toBe(1)
}, 60_000)

test('a server that does not wait for its skills has them at the first request, or ends with the reason', async () => {
  const run = (folder: string): Promise<Ended> => portico(['skills', 'list', ...serveFixture('skills-not-awaited.mjs', folder)])
  const list = await run(writeFiles(newFolder(), FILES))
  expect(list, list.stderr).toMatchObject({ code: 0, stdout: expect.stringMatching(/refunds +2 +Does refunds well/) })
  expect(await run('no-such-folder')).toMatchObject({
    code: 5,
    stderr: expect.stringMatching(/no-such-folder cannot be read \(ENOENT\); a relative path begins at the working folder/),
  })
}, 60_000)

test('servers that are not enabled are named, because their skills are not listed', async () => {
  const home = newFolder()
  const env = { HOME: home, PORTICO_HOME: join(home, 'host') }
  const run = (args: string[]): Promise<Ended> => portico(args, { env, cwd: home })
  await run(['servers', 'add', 'docs', ...serveFixture('skills.mjs', writeFiles(newFolder(), FILES))])
  const { code, stdout, stderr } = await run(['skills', 'list'])
  expect([code, stdout]).toEqual([0, ''])
  expect(stderr).toContain('docs is not enabled, so its skills are not listed: portico servers enable docs')
  expect(JSON.parse((await run(['skills', 'list', '--json'])).stdout)).toEqual([])
}, 60_000)

test('skills of a configured server are new until you approve them, and changed after a change', async () => {
  proves('R-SKILL-051', 'R-SKILL-053')
  const { run, folder } = await person()
  const before = await run(['skills', 'list', 'docs'])
  expect(before, before.stderr).toMatchObject({ code: 0 })
  expect(before.stdout).toMatch(/docs\/refunds +new +2/)
  // No rule approves a skill, and there is no terminal to ask at.
  expect((await run(['skills', 'approve', 'docs'])).code).toBe(3)
  const approving = run(['skills', 'approve', 'docs', '--inbox'])
  await until(async () => (await run(['inbox', 'list', '--json'])).stdout.includes('skill://refunds/SKILL.md'), 30_000)
  expect((await run(['inbox', 'answer', '--allow'])).code).toBe(0)
  const approved = await approving
  expect(approved, approved.stderr).toMatchObject({ code: 0, stderr: expect.stringContaining('Nothing of docs awaits approval') })
  expect((await run(['skills', 'list'])).stdout).toMatch(/docs\/refunds +approved +2/)
  expect((await run(['skills', 'show', 'docs/refunds'])).stdout).toContain('approved: models can load it')
  expect((await run(['skills', 'read', 'docs/refunds', 'templates/mail.md'])).stdout).toContain('Dear customer')
  expect((await run(['pins', 'list'])).stdout).toMatch(/docs +skill +skill:\/\/refunds\/SKILL\.md/)
  writeFiles(folder, { 'refunds/templates/mail.md': 'Dear victim\n' })
  expect((await run(['skills', 'list', 'docs'])).stdout).toMatch(/docs\/refunds +changed +2/)
  const diff = await run(['pins', 'diff', 'docs'])
  expect(diff).toMatchObject({ code: 9, stdout: expect.stringContaining('templates/mail.md: content changed') })
}, 120_000)

test('reading a skill in a terminal does not ask for its approval first', async () => {
  const { sit, run } = await person()
  const terminal = sit('skills', 'read', 'docs/refunds', 'templates/mail.md')
  expect(await terminal.exit).toBe(0)
  expect(terminal.text()).toContain('Dear customer')
  expect(terminal.text()).toContain('1 item awaits approval')
  expect(terminal.text()).not.toMatch(/Approve|Enable|does not ask/)
  expect((await run(['skills', 'list'])).stdout).toMatch(/docs\/refunds +new/)
}, 60_000)

test('a server that cannot start is named, because its skills are not listed', async () => {
  const { run, folder } = await person()
  expect((await run(['skills', 'list', 'docs'])).code).toBe(0)
  writeFiles(folder, { 'refunds/SKILL.md': '---\nname: refunds\n---\n' })
  const { code, stdout, stderr } = await run(['skills', 'list'])
  expect([code, stdout]).toEqual([0, ''])
  expect(stderr).toMatch(/docs did not start, so its skills are not listed: .*needs a description/s)
}, 60_000)
