/** The shell as a person meets it. Its screens are in test/cli/screens; UPDATE_SCREENS=1 writes them again. */

import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { stripVTControlCharacters } from 'node:util'
import { describe, expect, test } from 'vitest'
import { temporaryFolders } from '../support/folders.ts'
import { CLI } from './support/cli.ts'
import { isAtPrompt, KEY, leave, openQuestion, startTerminal, type TerminalProcess, typeLine, untilPrompt } from './support/terminal.ts'

const newFolder = temporaryFolders()

const SIZES = [
  { columns: 120, rows: 40 },
  { columns: 80, rows: 24 },
]

interface Sitting extends TerminalProcess {
  home: string
}

function sit({ columns = 100, rows = 40, home = newFolder(), args = [] as string[], env = {} } = {}): Sitting {
  const terminal = startTerminal([CLI, ...args], {
    cwd: home,
    columns,
    rows,
    env: { HOME: home, PORTICO_HOME: join(home, 'host'), ...env },
  })
  return { ...terminal, home }
}

async function clear(terminal: TerminalProcess): Promise<void> {
  await typeLine(terminal, 'clear')
  await expect.poll(() => terminal.visible().join('\n').trimEnd(), { timeout: 20_000 }).toBe('>')
}

async function quit(terminal: TerminalProcess): Promise<void> {
  await typeLine(terminal, 'q')
  expect(await terminal.exit).toBe(0)
}

/** The screen without what differs from run to run. */
function lasting(terminal: Sitting): string {
  const ids = [...terminal.text().matchAll(/^ *id +(\w{10})$/gm)].map(([, id = '']) => id)
  return ids
    .reduce((text, id) => text.replaceAll(id, 'abcdefghij'), terminal.visible().join('\n'))
    .replaceAll(terminal.home, 'HOME')
    .replaceAll(/http:\/\/127\.0\.0\.1:\d+\/#code=\S+/g, 'http://127.0.0.1:4711/#code=ABC')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '2026-01-31T12:00:00.000Z')
    .trimEnd()
}

function expectScreen(name: string, { columns, rows }: (typeof SIZES)[number], screen: string): void {
  const file = fileURLToPath(new URL(`screens/shell-${name}-${columns}x${rows}.txt`, import.meta.url))
  if (process.env.UPDATE_SCREENS) writeFileSync(file, `${screen}\n`)
  expect(`${screen}\n`).toBe(readFileSync(file, 'utf8'))
}

describe.each(SIZES)('$columns x $rows', (size) => {
  test('the prompt comes first, below a welcome of five lines; help and a call fit the screen', async () => {
    const terminal = sit({ ...size, env: { NO_COLOR: '1' } })
    await untilPrompt(terminal)
    expect(lasting(terminal).split('\n')).toHaveLength(6)
    expectScreen('first', size, lasting(terminal))
    await clear(terminal)
    await typeLine(terminal, 'help')
    await terminal.until('Tab completes')
    await untilPrompt(terminal)
    expectScreen('help', size, lasting(terminal))
    await clear(terminal)
    await typeLine(terminal, 'call notes__add title=Milk text="Two litres"')
    await terminal.until(/excerpt +Two litres/)
    await typeLine(terminal, 'notes__list')
    await terminal.until(/^total +1$/m)
    await typeLine(terminal, 'hello there')
    await terminal.until('deploy api 1.4.0 to staging')
    await untilPrompt(terminal)
    expectScreen('call', size, lasting(terminal))
    await quit(terminal)
  }, 90_000)

  test('the tour explains each step, waits for Enter, and ends with q', async () => {
    const terminal = sit({ ...size, env: { NO_COLOR: '1' } })
    await typeLine(terminal, 'tour')
    await terminal.until('[1/8] Enter: next step, q: end the tour')
    const first = terminal.text()
    expect(first).toContain('1. Three servers, one process and two over HTTP')
    expect(first).not.toContain('2. A model adds a note')
    terminal.type('x')
    terminal.type(KEY.enter)
    await terminal.until('[2/8] Enter')
    expectScreen('tour', size, afterLast(lasting(terminal), '2. A model'))
    terminal.type('q')
    await terminal.until('The tour ended after step 2')
    expect(terminal.visible().join('\n')).not.toContain('[2/8]')
    await typeLine(terminal, 'servers')
    await terminal.until(/notes +ready/)
    expect(terminal.text()).not.toMatch(/^rogue +/m)
    await quit(terminal)
  }, 90_000)
})

/** The tour's first step shows paths of this machine, so the screen is compared from the second step on. */
const afterLast = (text: string, title: string): string => text.slice(text.lastIndexOf(title))

test('the whole tour can be walked with Enter, and leaves nothing in the folder of the host', async () => {
  const terminal = sit({ columns: 100, rows: 50 })
  await typeLine(terminal, 'tour')
  for (let step = 1; step < 8; step++) {
    await terminal.until(`[${step}/8]`)
    terminal.type(KEY.enter)
  }
  await terminal.until('That was the tour.')
  const text = terminal.text()
  expect(text).toMatch(/- The weather of a city\n +\+ The weather of a city. <IMPORTANT>/)
  expect(text).toMatch(/prompt: .*\n[\s\S]*answer: /)
  expect(text).toContain('the rogue received nothing')
  await typeLine(terminal, 'call notes__list')
  await terminal.until(/^total +0$/m)
  await quit(terminal)
}, 120_000)

describe('typing', () => {
  test('Tab completes commands, tools, arguments, their values, servers and commands of portico', async () => {
    const terminal = sit()
    await typeLine(terminal, 'tools')
    await terminal.until('notes__add')
    await untilPrompt(terminal)
    const completed = async (typed: string, expected: string): Promise<void> => {
      terminal.type(`${typed}${KEY.tab}`)
      await terminal.until(`> ${expected}`)
      terminal.type(KEY.wipe)
    }
    await completed('sea', 'search')
    await completed('call deploy__pl', 'call deploy__plan')
    await completed('call deploy__plan serv', 'call deploy__plan service=')
    await completed('call deploy__plan service=api environment=st', 'call deploy__plan service=api environment=staging')
    await completed('enable no', 'enable notes')
    await completed('servers imp', 'servers import')
    await completed('portico policy exp', 'portico policy explain')
    terminal.type(`call notes__re${KEY.tab}${KEY.tab}`)
    await terminal.until(/notes__read +notes__remove/)
    terminal.type(KEY.wipe)
  }, 60_000)

  test('history is kept for the next run, without secrets, and only its owner can read it', async () => {
    const first = sit()
    await typeLine(first, 'search "previous version"')
    await first.until('deploy__rollback')
    await typeLine(first, 'search password=hunter2')
    await quit(first)
    const file = join(first.home, 'host', 'shell-history.json')
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({ version: 1, lines: ['search "previous version"'] })
    const second = sit({ home: first.home })
    await untilPrompt(second)
    second.type(KEY.up)
    await second.until('> search "previous version"')
  }, 60_000)

  test('a history of a newer version is reported, not used and not changed', async () => {
    const home = newFolder()
    const first = sit({ home })
    await typeLine(first, 'help')
    await quit(first)
    const file = join(home, 'host', 'shell-history.json')
    const text = '{"version":2,"lines":["tools"]}'
    writeFileSync(file, text)
    const terminal = sit({ home })
    await terminal.until(/The history is not used:[\s\S]*it\s+has\s+version\s+2/)
    await typeLine(terminal, 'help')
    await quit(terminal)
    expect(readFileSync(file, 'utf8')).toBe(text)
  }, 60_000)
})

describe('commands', () => {
  test('commands of portico work in the shell, and an added server is known at once', async () => {
    const terminal = sit({ columns: 120 })
    await typeLine(terminal, 'servers add mine http://127.0.0.1:9/mcp')
    await terminal.until('Added mine')
    await expect.poll(() => openQuestion(terminal) !== '' || isAtPrompt(terminal), { timeout: 20_000 }).toBe(true)
    if (openQuestion(terminal) !== '') await terminal.press('n')
    await typeLine(terminal, 'servers')
    await terminal.until(/^mine +/m)
    await typeLine(terminal, 'portico servers remove mine')
    await terminal.until(/Removed mine/)
    await typeLine(terminal, 'grants')
    await terminal.until('No grants.')
    await typeLine(terminal, 'portico')
    await terminal.until('This is the shell already')
    await typeLine(terminal, 'portico serverz')
    await terminal.until("✗ Unknown command 'serverz'")
    await quit(terminal)
  }, 60_000)

  test('again repeats the last call', async () => {
    const terminal = sit()
    await typeLine(terminal, 'again')
    await terminal.until('There is no call to repeat')
    await typeLine(terminal, 'call notes/add title=Milk text=x')
    await terminal.until(/^revision +1$/m)
    await typeLine(terminal, 'again')
    await terminal.until('> call notes/add title=Milk text=x')
    await typeLine(terminal, 'call notes__list')
    await terminal.until(/^total +2$/m)
  }, 60_000)

  test('a mistyped command is not sent to the model, and the nearest command is named', async () => {
    const terminal = sit()
    await typeLine(terminal, 'toools')
    await terminal.until('Not a command. Did you mean tools?')
    expect(terminal.text()).not.toContain('add a note title="Milk"')
    await typeLine(terminal, 'good morning')
    await terminal.until('Not a command, and no sentence that the script knows')
    await terminal.until('add a note title="Milk" text="2 l"')
    await typeLine(terminal, 'good evening')
    await terminal.until(/Try help\.$/m)
    expect(terminal.text().match(/add a note title="Milk"/g)).toHaveLength(1)
    await typeLine(terminal, 'doctor notes')
    await terminal.until(/notes is a sample of the shell; it is not configured\n {2}Add your own: servers add$/m)
  }, 60_000)

  test('started through npm, hints name the command that works', async () => {
    const terminal = sit({ columns: 120, env: { npm_command: 'start' } })
    await typeLine(terminal, 'hello there')
    await terminal.until('npx portico up --model')
  }, 60_000)
})

test('a preset chosen in the shell holds at once; explain knows its servers and the preset', async () => {
  const terminal = sit()
  await typeLine(terminal, 'policy use cautious')
  await terminal.until('The preset is cautious')
  await typeLine(terminal, 'policy explain notes/add title=x text=y')
  await terminal.until(/tool\.call of notes\/add, requested by model: ask[\s\S]*Preset: cautious\./)
  await typeLine(terminal, 'policy use trusting')
  await terminal.until('The preset is trusting')
  await clear(terminal)
  await typeLine(terminal, 'policy explain add title=x text=y')
  await terminal.until('Preset: trusting.')
  await quit(terminal)
}, 60_000)

test('pins diff and pins accept know the samples, in the shell and as commands', async () => {
  const terminal = sit()
  await typeLine(terminal, 'pins diff notes')
  await terminal.until('No changes since your approval.')
  await typeLine(terminal, 'pins accept notes')
  await terminal.until('Nothing of notes awaits approval.')
  await typeLine(terminal, 'pins diff nothing')
  await terminal.until('Unknown server "nothing"')
  await quit(terminal)
  const command = sit({ home: terminal.home, args: ['pins', 'diff', 'notes'] })
  expect(await command.exit, command.text()).toBe(0)
  expect(command.text()).toContain('No changes since your approval.')
}, 60_000)

test('Ctrl-D ends the shell on a line of its own', async () => {
  const terminal = sit()
  expect(await leave(terminal)).toBe(0)
  expect(stripVTControlCharacters(terminal.raw())).toMatch(/> \r?\n$/)
}, 60_000)
