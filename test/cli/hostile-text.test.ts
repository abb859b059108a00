import { describe, expect, test } from 'vitest'
import { CLI, portico, serveFixture } from './support/cli.ts'
import { startTerminal } from './support/terminal.ts'

/** Everything that acts on a terminal or hides what is written, but line ends and tabs. */
const ACTING = /(?![\n\t])[\p{Cc}\p{Bidi_Control}\u{e0000}-\u{e007f}]/u

const hostile = serveFixture('hostile.mjs')

const COMMANDS: [string, string[], number][] = [
  ['tools', ['tools'], 0],
  ['one tool', ['tools', 'result'], 0],
  ['resources', ['resources'], 0],
  ['prompts', ['prompts'], 0],
  ['read', ['read', 'evil://x'], 0],
  ['get', ['get', 'prompt'], 0],
  ['call', ['call', 'result', '--log', 'debug'], 0],
  ['a call that fails', ['call', 'fail'], 1],
  ['a call that is an error', ['call', 'error'], 1],
  ['a tool that there is not', ['call', 'nothing'], 2],
  ['an argument that does not fit', ['call', 'choose', 'level=hgih'], 2],
  ['a missing argument', ['call', 'choose'], 2],
  ['run', ['run'], 0],
  ['inspect', ['inspect'], 0],
  ['doctor', ['doctor'], 5],
]

describe.each([
  ['for people', []],
  ['as JSON', ['--json']],
  ['with the standard error of the server', ['--verbose']],
] as [string, string[]][])('text of a server does not act on the terminal, %s', (_, extra) => {
  test.each(COMMANDS)('text of a server does not act on the terminal: %s', async (_name, args, expected) => {
    const [command = '', ...rest] = args
    const { code, stdout, stderr } = await portico([command, ...extra, ...rest, ...hostile])
    expect(code, stdout + stderr).toBe(expected)
    expect(stdout + stderr).toMatch(/\\x1b|\\u001b/)
    expect(ACTING.exec(stdout)?.index).toBeUndefined()
    expect(ACTING.exec(stderr)?.index).toBeUndefined()
  })
})

test('hidden characters are written out, so that a person sees them', async () => {
  const { stdout, stderr } = await portico(['call', 'result', '--verbose', ...hostile])
  expect(stdout).toContain('text\\x1b[31mred')
  expect(stdout).toContain('<U+202E>')
  expect(stdout).toContain('<U+E0041>')
  expect(stderr).toContain('stderr \\x1b[31mred')
})

test('a line break in a name stays on its line, so that no row of a table can be forged', async () => {
  const { stdout } = await portico(['tools', ...hostile])
  expect(stdout.split('\n').filter((line) => line !== '').length).toBe(6)
})

test('JSON for scripts contains the text of the server unchanged, in escapes', async () => {
  const { stdout } = await portico(['call', '--json', 'result', ...hostile])
  const result = JSON.parse(stdout) as { content: { text: string }[] }
  expect(result.content[0]?.text).toContain('\u001b[31mred\u001b[0m\u001b]8;;')
  expect(stdout).toContain('\\u202e')
})

test('in a real terminal a server changes neither title, clipboard, colour nor cursor', async () => {
  const terminal = startTerminal([CLI, 'call', 'result', '--log', 'debug', ...hostile])
  expect(await terminal.exit).toBe(0)
  expect(terminal.raw()).not.toContain('\u001b]')
  expect(terminal.raw()).not.toContain('\u001b[31mred')
  expect(terminal.raw()).not.toContain('\u009b')
  expect(terminal.text()).toContain('text\\x1b[31mred')
})
