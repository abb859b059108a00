/** Chats from the command line: what is shown, and how conversations are stored and continued. */

import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { openVault } from '../../src/host/index.ts'
import { StoredModels } from '../../src/host/language-models/stored-models.ts'
import { KEY as KEY_OF_PROVIDER, provider } from '../host/language-models/fixtures/provider.ts'
import { temporaryFolders } from '../support/folders.ts'
import { CLI, type Ended, portico, serve } from './support/cli.ts'
import { answerQuestion, leave, startTerminal, type TerminalProcess, typeLine } from './support/terminal.ts'

const newFolder = temporaryFolders()

const ALLOW = `rules:
  - { id: all, effect: allow, match: { action: [server.launch, server.approve, tool.call], server: notes, tier: untrusted } }
`

/** A person with the notes server, which needs no question. */
async function withNotes() {
  const home = newFolder()
  const env = { HOME: home, PORTICO_HOME: join(home, 'host') }
  const run = (...args: string[]): Promise<Ended> => portico(args, { env, cwd: home })
  await run('servers', 'add', 'notes', ...serve('notes', join(home, 'notes')))
  writeFileSync(join(env.PORTICO_HOME, 'policy.yaml'), ALLOW)
  const sit = (...args: string[]): TerminalProcess => startTerminal([CLI, ...args], { env, cwd: home, columns: 80 })
  return { home, host: env.PORTICO_HOME, run, sit }
}

const listed = async (run: (...args: string[]) => Promise<Ended>): Promise<{ id: string; turns: number; title: string }[]> =>
  JSON.parse((await run('chat', '--list', '--json')).stdout)

describe('a model that was added in the console', () => {
  test('is used without --model, by its name with --model, and not where the script is named', async () => {
    const { run, host } = await withNotes()
    const { origin, received } = await provider({ kind: 'message', text: ['from the model'] }, { kind: 'message', text: ['once more'] })
    const vault = await openVault({ folder: join(host, 'secrets'), keychain: false, onWarning: () => {} })
    const stored = new StoredModels({ folder: host, vault: async () => vault, onKey: () => {} })
    await stored.add({ provider: 'compatible', model: 'canned', baseURL: `${origin}/v1`, apiKey: KEY_OF_PROVIDER })
    expect((await run('chat', 'hello')).stdout).toContain('from the model')
    expect((await run('chat', '--model', 'compatible:canned', 'hello')).stdout).toContain('once more')
    expect((await run('chat', '--model', 'scripted', 'list notes')).code).toBe(0)
    expect(received).toHaveLength(2)
    expect((await run('chat', '--model', 'compatible:other', 'hello')).stderr).toContain('needs --base-url')
  }, 60_000)
})

describe('a turn', () => {
  test('a result is shown once, although the script repeats it as its answer', async () => {
    const { run, sit } = await withNotes()
    const piped = await run('chat', 'add a note title="Milk" text="Two litres"')
    expect(piped.code, piped.stderr).toBe(0)
    expect(piped.stdout.match(/Two litres/g)).toHaveLength(2)
    const terminal = sit('chat', 'list notes')
    expect(await terminal.exit).toBe(0)
    const text = terminal.text()
    expect(text).toMatch(/^→ notes__list/m)
    expect(text).toMatch(/^ +ID +TITLE/m)
    expect(text.match(/Two litres/g)).toHaveLength(1)
    expect(text).toMatch(/Continue: portico chat --resume \w{10}/)
  }, 60_000)
})

describe('the samples of the shell', () => {
  test('a chat has them, a resumed one shows its last turns, and --server leaves them out', async () => {
    const home = newFolder()
    const env = { HOME: home, PORTICO_HOME: join(home, 'host') }
    const sit = (...args: string[]): TerminalProcess => startTerminal([CLI, ...args], { env, cwd: home, columns: 80 })
    const terminal = sit('chat')
    await terminal.until(/Model: scripted \(no language model\)\.[\s\S]*\n>/)
    await typeLine(terminal, 'add a note title="Milk" text="Two litres"')
    await answerQuestion(terminal, /The model wants to call notes\/add/, 'y')
    await terminal.until(/excerpt +Two litres/)
    expect(await leave(terminal)).toBe(0)
    const [, id = ''] = /--resume (\w{10})/.exec(terminal.text()) ?? []
    const again = sit('chat', '--resume', id)
    await again.until(/Continuing a conversation of 1 turn:\n> add a note title="Milk" text="Two litres"\n {2}→ notes__add\n/)
    expect(await leave(again)).toBe(0)
    const only = await portico(['chat', '--server', 'deploy', 'list notes'], { env, cwd: home })
    expect(only.stdout).not.toContain('Two litres')
    const unknown = await portico(['chat', '--server', 'nothing', 'list notes'], { env, cwd: home })
    expect(unknown).toMatchObject({ code: 2, stderr: expect.stringContaining('Unknown server "nothing"') })
  }, 90_000)
})

describe('servers of another terminal', () => {
  test('a chat uses a server that is added while it waits for a line, and its sample again after a removal', async () => {
    const { run, sit, home } = await withNotes()
    await run('chat', '--no-save', 'add a note title="Milk" text="Two litres"')
    await run('servers', 'remove', 'notes')
    const terminal = sit('chat', '--no-save')
    await terminal.until(/Ctrl-D ends the chat\.\n>/)
    expect(await run('servers', 'add', 'notes', ...serve('notes', join(home, 'notes')))).toMatchObject({ code: 0 })
    await typeLine(terminal, 'list notes')
    await terminal.until(/Two litres/)
    expect(await run('servers', 'remove', 'notes')).toMatchObject({ code: 0 })
    await typeLine(terminal, 'search notes with query="Milk"')
    // The rule that allows everything is about the other server, so the sample asks.
    await answerQuestion(terminal, /The model wants to call notes\/search/, 'y')
    await terminal.until(/→ notes__search[\s\S]*← notes[\s\S]*\n>/)
    expect(terminal.text().match(/Two litres/g)).toHaveLength(1)
    expect(await leave(terminal)).toBe(0)
  }, 90_000)
})

describe('stored conversations', () => {
  test('a conversation is stored, listed, continued under its id, and not stored with --no-save', async () => {
    const { run } = await withNotes()
    expect(await run('chat', '--list')).toMatchObject({ code: 0, stderr: expect.stringContaining('No stored conversations.') })
    await run('chat', 'list notes')
    const [first] = await listed(run)
    expect(first).toMatchObject({ turns: 1, title: 'list notes' })
    const again = await run('chat', '--resume', first?.id.slice(0, 5) ?? '', 'list notes')
    expect(again.code, again.stderr).toBe(0)
    await run('chat', '--no-save', 'list notes')
    expect(await listed(run)).toMatchObject([{ id: first?.id, turns: 2 }])
    expect(await run('chat', '--resume', 'nothing', 'x')).toMatchObject({ stderr: expect.stringContaining('No stored conversation') })
  }, 60_000)

  test('a continued conversation still has the labels of the text that is in it', async () => {
    const { run, host } = await withNotes()
    await run('chat', 'list notes')
    const [{ id = '' } = {}] = await listed(run)
    const file = JSON.parse(readFileSync(join(host, 'conversations', `${id}.json`), 'utf8'))
    expect(file).toMatchObject({ version: 1, record: { turn: 1 } })
    expect(file.record.flow.labels.map(([label]: [string]) => label)).toContain('untrusted')
  }, 60_000)

  test('an interactive chat shows its prompt first and says at its end how to continue it', async () => {
    const { sit, host } = await withNotes()
    const terminal = sit('chat')
    await terminal.until(/Ctrl-D ends the chat\.\n>/)
    await typeLine(terminal, 'list notes')
    await terminal.until(/^→ notes__list/m)
    expect(await leave(terminal)).toBe(0)
    const [, id = ''] = /--resume (\w{10})/.exec(terminal.text()) ?? []
    expect(existsSync(join(host, 'conversations', `${id}.json`))).toBe(true)
  }, 60_000)
})
