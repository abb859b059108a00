import { expect, test } from 'vitest'
import { main } from '../../src/cli/main.ts'
import { fitted } from '../../src/cli/output/fitted.ts'
import { safe, untrustedLines } from '../../src/cli/output/safe-text.ts'
import { Screen } from '../../src/cli/output/screen.ts'
import { widthOf } from '../../src/cli/output/width.ts'
import { temporaryFolders } from '../support/folders.ts'
import { CLI, portico, serveFixture } from './support/cli.ts'
import { memoryIo } from './support/memory-io.ts'
import { startTerminal } from './support/terminal.ts'

const newFolder = temporaryFolders()

test('later lines of a text stand below its first one', () => {
  expect(untrustedLines('one\ntwo\n\nthree').hanging(2).text).toBe('one\n  two\n\n  three')
})

test('an error wraps at words in a terminal', async () => {
  const terminal = startTerminal([CLI, 'doctor', 'nothing-of-this-name', '-e', 'NAME=value'], { columns: 40, env: { HOME: newFolder() } })
  expect(await terminal.exit).toBe(2)
  expect(terminal.text()).toContain('✗ --env cannot change the configured\n  server "nothing-of-this-name"')
})

test('a question in a script says who asked it, and where it can be answered', async () => {
  const { code, stderr } = await portico(['call', 'form', ...serveFixture('asking.mjs')], { env: { HOME: newFolder() } })
  expect(code, stderr).toBe(1)
  expect(stderr).toContain('"form" asks the user a question, and this client cannot show one (elicitation.form)')
  expect(stderr).toContain('Run the command in a terminal, where you can answer')
})

test('a line of any output wraps at words, below its text', () => {
  expect(fitted('✗ one two three four five six', 20)).toBe('✗ one two three four\n  five six')
  expect(fitted('  name    what it does in a few words', 30)).toBe('  name    what it does in a\n          few words')
  expect(fitted('│ words of a server that go on', 20)).toBe('│ words of a server\n│ that go on')
  expect(fitted('one\ntwo', 20)).toBe('one\ntwo')
  expect(fitted('one two three four five', undefined)).toBe('one two three four five')
})

test('styles take no columns when a line is broken', () => {
  expect(fitted('\u001b[1mone\u001b[22m \u001b[36mtwo three\u001b[39m four', 13)).toBe(
    '\u001b[1mone\u001b[22m \u001b[36mtwo three\u001b[39m\nfour',
  )
})

test('an address and a command to copy are never broken', () => {
  const url = 'https://server.example/a/very/long/path/to/somewhere'
  expect(fitted(`Open ${url} now`, 24)).toBe(`Open\n${url}\nnow`)
  expect(fitted('To list and revoke: npx portico grants --all', 30)).toBe('To list and revoke:\nnpx portico grants --all')
  expect(fitted('It is gone. "portico pins diff notes" shows what changed', 30)).toBe(
    'It is gone.\n"portico pins diff notes"\nshows what changed',
  )
})

test('the screen breaks results and notes at words, and leaves data as it is', () => {
  const io = memoryIo({ isTTY: true, columns: 40, env: { NO_COLOR: '1' } })
  const screen = new Screen(io)
  const line = safe`Nine words of which none is cut in the middle`
  screen.print(line)
  screen.note(line)
  expect(io.out()).toBe('Nine words of which none is cut in the\nmiddle\n')
  expect(io.err()).toBe(io.out())
  screen.printWhole(line)
  expect(io.out().split('\n')).toContain(line.text)
})

test.each([[[]], [['policy', 'use']], [['servers', 'import']], [['install']], [['dev']], [['exit-codes']]])(
  'the help of %j fits 80 columns',
  async (words) => {
    const io = memoryIo({ isTTY: true, columns: 80, env: { NO_COLOR: '1' } })
    expect(await main(['help', ...words], io)).toBe(0)
    expect(io.out()).not.toBe('')
    for (const line of io.out().split('\n')) if (!/^ *portico /.test(line)) expect(widthOf(line), line).toBeLessThanOrEqual(80)
  },
)
