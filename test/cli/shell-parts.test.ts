/** Completion, history and sentences of the shell, without a terminal. */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { asTyped, bareCommand, commandName, ownWords, typedCommand, typedText } from '../../src/cli/command-name.ts'
import { explainError, unknownName } from '../../src/cli/errors.ts'
import { untrusted } from '../../src/cli/output/safe-text.ts'
import { Screen } from '../../src/cli/output/screen.ts'
import { isToolName, toolNamed } from '../../src/cli/shell/catalog-session.ts'
import { completeLine } from '../../src/cli/shell/complete.ts'
import { ShellHistory } from '../../src/cli/shell/history.ts'
import { isSentence, SENTENCE_EXAMPLES } from '../../src/cli/shell/sentences.ts'
import { notEnabledNote } from '../../src/cli/shell/servers.ts'
import { McpError, RemoteError } from '../../src/client/index.ts'
import { Conversation, type Host } from '../../src/host/index.ts'
import { temporaryFolders } from '../support/folders.ts'
import { memoryIo } from './support/memory-io.ts'

const newFolder = temporaryFolders()

/** What completion reads of a host. */
const host = {
  health: () => ({ notes: {}, '-rf': {} }),
  tools: () => [
    {
      exposed: 'notes__add',
      server: 'notes',
      definition: {
        name: 'add',
        inputSchema: {
          type: 'object',
          properties: { title: {}, '\u001b[2J': {}, level: { enum: ['low', 'high', 'a b'] }, on: { type: 'boolean' } },
        },
      },
    },
    { exposed: '\u001b]0;x', server: 'notes', definition: { name: 'x', inputSchema: { type: 'object' } } },
  ],
  prompts: () => [{ exposed: 'notes__review', definition: { name: 'review', arguments: [{ name: 'tag' }] } }],
  resources: () => [{ exposed: 'note://1' }],
} as unknown as Host

const complete = async (line: string): Promise<string[]> => (await completeLine(line, host, async (words) => [words.join('|')]))[0]

describe('completion', () => {
  test('arguments are offered once, with the values that a schema lists', async () => {
    expect(await complete('call notes__add ')).toEqual(['title=', 'level=', 'on='])
    expect(await complete('call notes__add title=x ')).toEqual(['level=', 'on='])
    expect(await complete('call notes__add level=')).toEqual(['level=low', 'level=high'])
    expect(await complete('call notes__add on=t')).toEqual(['on=true'])
    expect(await complete('get notes__review t')).toEqual(['tag='])
    expect(await complete('read n')).toEqual(['note://1'])
  })

  test('names with control characters, and names that begin with a hyphen, are not offered', async () => {
    expect(await complete('call ')).toEqual(['notes__add '])
    expect(await complete('enable ')).toEqual(['notes'])
  })

  test('commands of portico are completed with and without the word portico, and nothing inside quotes', async () => {
    expect((await completeLine('portico servers a', host, async (words) => [`a${words.join()}`]))[0]).toEqual(['aservers,a'])
    expect((await completeLine('servers a', host, async (words) => [`a${words.join()}`]))[0]).toEqual(['aservers,a'])
    expect(await complete('call notes__add title="ti')).toEqual([])
  })
})

describe('history', () => {
  const open = (file: string) => ShellHistory.open(file, () => {})

  test('lines with secrets, lines that begin with a space and very long lines are not stored', async () => {
    const file = join(newFolder(), 'history.json')
    const history = await open(file)
    const secrets = [
      'servers add x http://a.example -H "Authorization: Bearer abcdefgh12345678"',
      'call mail__login password=hunter2',
      'call mail__login apiKey:="hunter2"',
      'portico servers add x -e GITHUB_TOKEN=abc -- node x',
      'portico doctor --token abc -- node x',
      ' a secret line',
      `say ${'x'.repeat(3000)}`,
    ]
    for (const line of ['tools', ...secrets, 'help', 'tools']) history.add(line)
    await history.saved()
    expect(JSON.parse(readFileSync(file, 'utf8')).lines).toEqual(['tools', 'help'])
    expect(history.lines).toContain('call mail__login password=hunter2')
    expect((await open(file)).lines).toEqual(['tools', 'help'])
  })

  test('the newest 500 lines are kept, and two shells do not lose lines of each other', async () => {
    const file = join(newFolder(), 'history.json')
    const [one, other] = [await open(file), await open(file)]
    one.add('from one')
    other.add('from other')
    await Promise.all([one.saved(), other.saved()])
    expect([...(await open(file)).lines].sort()).toEqual(['from one', 'from other'])
    for (let i = 0; i < 510; i++) one.add(`line ${i}`)
    expect(one.lines).toHaveLength(500)
    await one.saved()
    const { lines } = await open(file)
    expect(lines).toHaveLength(500)
    expect(lines[0]).toBe('line 509')
  }, 60_000)
})

test('the script gets the sentences that the shell lists, and answers to its own question', () => {
  const conversation = new Conversation()
  for (const example of SENTENCE_EXAMPLES) expect(isSentence(example, conversation)).toBe(true)
  for (const line of ['demo', 'add', 'list', 'hello', 'environment=staging']) expect(isSentence(line, conversation)).toBe(false)
  conversation.begin('deploy api 1.4.0')
  conversation.add({
    role: 'assistant',
    content: [{ type: 'text', text: 'deploy__deploy also needs to know: environment. Say it as name=value.' }],
  })
  expect(isSentence('environment=staging', conversation)).toBe(true)
})

test('hints name npx when the command was started through npm', () => {
  const npm = { env: { npm_command: 'exec' } }
  expect([commandName({ env: {} }), commandName(npm)]).toEqual(['portico', 'npx portico'])
  expect(asTyped(npm, untrusted('"portico policy explain" shows it; install portico first')).text).toBe(
    '"npx portico policy explain" shows it; install portico first',
  )
  const start = { env: { npm_command: 'start', npm_lifecycle_event: 'start', npm_package_name: 'portico' } }
  expect([commandName(start), bareCommand(start), bareCommand(npm)]).toEqual(['npm start --', 'npm start', 'npx portico'])
  // The script of another package starts the command from its folder.
  expect(commandName({ env: { ...start.env, npm_package_name: 'mine' } })).toBe('npx portico')
  expect(typedText(npm, 'Usage: portico servers [options]\n  portico dev ./server.ts\nPut portico here')).toBe(
    'Usage: npx portico servers [options]\n  npx portico dev ./server.ts\nPut portico here',
  )
  const foreign = new RemoteError({ code: -32000, message: 'Run: portico grants revoke --all' })
  expect(ownWords(npm, foreign, untrusted(foreign.message)).text).toBe(foreign.message)
})

test('a tool can be typed as server__tool, server/tool, or by its own name if one server has it', async () => {
  const entry = (server: string, name: string) => ({ exposed: `${server}__${name}`, server, definition: { name } })
  const tools = [entry('notes', 'add'), entry('notes', 'list'), entry('files', 'list')]
  const some = { health: () => ({ notes: { state: 'ready' }, files: { state: 'ready' } }), tools: () => tools } as unknown as Host
  for (const typed of ['notes__add', 'notes/add', 'add']) expect(await toolNamed(some, typed)).toBe('notes__add')
  await expect(toolNamed(some, 'list')).rejects.toMatchObject({ hint: 'Write one of: notes__list, files__list' })
  expect(['notes/add', 'notes__add', 'add'].map((word) => isToolName(some, word))).toEqual([true, true, false])
})

test('advice in the shell names commands of the shell', () => {
  const shell = { env: { npm_command: 'exec' }, isShell: true }
  expect(typedCommand(shell, 'grants')).toBe('grants')
  expect(typedText(shell, 'Log in: portico servers login NAME\nRun: portico run -- npx x')).toBe(
    'Log in: servers login NAME\nRun: portico run -- npx x',
  )
  const changed = new McpError('ERR_QUARANTINED', 'It changed', { data: { server: 'rogue' } })
  const hint = (isShell: boolean): string | undefined => explainError(changed, { hasInbox: false, isParking: false, isShell }).hint?.text
  expect(hint(true)).toBe('Review the change and decide: approve rogue')
  expect(hint(false)).toContain('portico pins diff')
})

test('an error about the connection of a configured server names it in the advice', () => {
  const failed = (data?: unknown) => explainError(new McpError('ERR_NETWORK', 'No such host', { data })).hint?.text
  expect(failed({ server: 'weather' })).toBe('"portico doctor weather" shows which step fails')
  expect(failed()).toBe('"portico doctor URL" shows which step fails')
})

test('names that begin as typed are suggested before one that is spelled alike', () => {
  const names = ['claude-desktop', 'claude-code', 'cline', 'cursor']
  expect(unknownName('client', 'claude', names).hint).toBe('Did you mean "claude-desktop" or "claude-code"?')
  expect(unknownName('client', 'cursr', names).hint).toBe('Did you mean "cursor"?')
})

test('servers that are not enabled yet are named in one line, with the command that enables one', () => {
  const io = memoryIo({ isTTY: true, env: { NO_COLOR: '1' } })
  const waiting = { health: () => ({ a: { state: 'not-enabled' }, b: { state: 'ready' }, c: { state: 'not-enabled' } }) }
  notEnabledNote(new Screen(io), waiting as unknown as Host, 'Enable: portico servers enable')
  expect(io.err()).toBe('Not enabled yet: a, c. Enable: portico servers enable a\n')
})
