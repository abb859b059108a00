import { expect, test } from 'vitest'
import { wrapped } from '../../src/cli/output/wrap.ts'
import { temporaryFolders } from '../support/folders.ts'
import { CLI, portico, serveFixture } from './support/cli.ts'
import { startTerminal } from './support/terminal.ts'

const newFolder = temporaryFolders()

test('text wraps at words, and later lines are indented', () => {
  expect(wrapped('one two three four five six seven', { columns: 24, indent: 4 }).text).toBe('one two three four\n    five six seven')
  expect(wrapped('one two\nthree', { columns: undefined, indent: 2 }).text).toBe('one two\n  three')
})

test('an address stays whole, and any other long word is broken', () => {
  const url = 'https://server.example/a/very/long/path/to/somewhere'
  expect(wrapped(`Open ${url} now`, { columns: 24 }).text).toBe(`Open\n${url}\nnow`)
  expect(wrapped('x'.repeat(50), { columns: 24 }).text.split('\n')).toEqual(['x'.repeat(24), 'x'.repeat(24), 'xx'])
})

test('control characters are escaped before the text is measured', () => {
  for (const line of wrapped('\u001b[31m red '.repeat(5), { columns: 20 }).text.split('\n')) {
    expect(line.length).toBeLessThanOrEqual(20)
    expect(line).not.toContain('\u001b')
  }
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
