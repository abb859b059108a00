import { describe, expect, test } from 'vitest'
import { windowsCommand } from '../../src/stdio/windows-command.ts'

const NODE = 'C:\\Program Files\\nodejs'
const FILES = [
  `${NODE}\\node.exe`,
  `${NODE}\\npx`,
  `${NODE}\\npx.cmd`,
  'D:\\tools\\run.bat',
  'D:\\tools\\both.exe',
  'D:\\tools\\both.cmd',
  'D:\\tools\\100% sure.cmd',
  'D:\\tools\\py3.11.exe',
  'D:\\work\\npx.cmd',
  'D:\\work\\bin\\serve.cmd',
]
const there = new Set(FILES.map((file) => file.toLowerCase()))

interface Setting {
  env?: Record<string, string>
}

const start = (command: string, args: string[] = [], { env }: Setting = {}) =>
  windowsCommand(command, args, {
    cwd: 'D:\\work',
    env: env ?? { PATH: `.;;"${NODE}";D:\\tools`, PATHEXT: '.COM;.EXE;.BAT;.CMD;.JS' },
    systemRoot: 'C:\\Windows',
    isFile: (path) => there.has(path.replace(/[. ]+$/, '').toLowerCase()),
  })

/** What cmd.exe gets after its options. */
function lineOf(command: string, args: string[]): string {
  const { args: all, windowsVerbatimArguments } = start(command, args)
  expect(windowsVerbatimArguments).toBe(true)
  expect(all.slice(0, -1)).toEqual(['/d', '/e:on', '/v:off', '/s', '/c'])
  return all.at(-1) as string
}

/**
 * Reads a line as cmd.exe does: expands variables, then looks for operators outside of quotes. Returns the line for the script.
 * The second reading is that of a script which passes its arguments on (`node cli.js %*`), where variables were expanded before.
 */
function readByShell(line: string): string {
  const inner = line.slice(1, -1)
  const variables: Record<string, string> = { PATH: 'EXPANDED', 'cd:~,': '' }
  let expanded = ''
  for (let at = 0; at < inner.length; at++) {
    const end = inner[at] === '%' ? inner.indexOf('%', at + 1) : -1
    const value = end === -1 ? undefined : variables[inner.slice(at + 1, end)]
    if (value === undefined) expanded += inner[at]
    else {
      expanded += value
      at = end
    }
  }
  let isQuoted = false
  for (const char of expanded) {
    if (char === '"') isQuoted = !isQuoted
    else if (!isQuoted) expect('&|<>^()\r\n'.includes(char), `${char} outside of quotes in ${expanded}`).toBe(false)
  }
  expect(isQuoted).toBe(false)
  return expanded
}

/** Splits a line into arguments as programs of Windows do (the rules of the C runtime). */
function readByProgram(line: string): string[] {
  const found: string[] = []
  let text: string | undefined
  let isQuoted = false
  for (let at = 0; at < line.length; at++) {
    const slashes = /^\\*/.exec(line.slice(at))?.[0].length ?? 0
    if (slashes > 0 && line[at + slashes] === '"') {
      text = (text ?? '') + '\\'.repeat(slashes >> 1)
      at += slashes
      if (slashes % 2 === 1) {
        text += '"'
        continue
      }
    }
    const char = line[at]
    if (char === '"' && isQuoted && line[at + 1] === '"') {
      text += '"'
      at++
    } else if (char === '"') {
      isQuoted = !isQuoted
      text ??= ''
    } else if (char === ' ' && !isQuoted) {
      if (text !== undefined) found.push(text)
      text = undefined
    } else text = (text ?? '') + char
  }
  return text === undefined ? found : [...found, text]
}

describe('finding a command on Windows', () => {
  test('a name is found through PATH and PATHEXT, and the file without an ending is not taken', () => {
    expect(start('node', ['a b'])).toEqual({ command: `${NODE}\\node.exe`, args: ['a b'], windowsVerbatimArguments: false })
    expect(lineOf('npx', ['-y', 'some-server'])).toBe(`""${NODE}\\npx.cmd" -y some-server"`)
    expect(lineOf('NPX.CMD', [])).toContain(`${NODE}\\NPX.CMD`)
    expect(start('both').command).toBe('D:\\tools\\both.exe')
    expect(start('py3.11').command).toBe('D:\\tools\\py3.11.exe')
  })

  test('PATHEXT decides the order, and PATH may be written in any case', () => {
    expect(start('both', [], { env: { Path: 'D:\\tools', PathExt: '.CMD;.EXE' } }).args.at(-1)).toContain('both.cmd')
    expect(start('both', [], { env: { PATH: NODE, Path: 'D:\\tools' } }).command).toBe('D:\\tools\\both.exe')
    expect(start('both', [], { env: { PATH: 'D:\\tools' } }).command).toBe('D:\\tools\\both.exe')
  })

  test('a script in the working directory does not replace a command of PATH', () => {
    expect(lineOf('npx', [])).not.toContain('D:\\work')
    expect(() => start('npx', [], { env: { PATH: '.;work;D:\\tools' } })).toThrow(expect.objectContaining({ code: 'ENOENT' }))
  })

  test('a path is relative to the working directory and may lack its ending', () => {
    expect(lineOf('./bin/serve', [])).toBe('""D:\\work\\bin\\serve.cmd""')
    expect(lineOf('D:\\tools\\run.bat', [])).toBe('""D:\\tools\\run.bat""')
  })

  test('a command that does not exist and a name with a quote are refused as not found', () => {
    for (const command of ['nothing', './nothing', 'npx" & calc "', 'npx\0.cmd'])
      expect(() => start(command)).toThrow(expect.objectContaining({ code: 'ENOENT' }))
  })

  test('dots and spaces at the end of a name do not hide a script', () => {
    for (const command of ['npx.cmd.', 'npx.cmd ', 'D:\\tools\\run.bat . .'])
      expect(start(command).command).toBe('C:\\Windows\\System32\\cmd.exe')
  })
})

describe('arguments of a script', () => {
  const HOSTILE = [
    '',
    'plain',
    'two words',
    'a&calc',
    '"&calc&"',
    'a" & calc & "b',
    '\\"&calc',
    '\\\\"|calc',
    '%PATH%',
    '"%PATH%"&calc',
    '%%PATH%%',
    '%',
    '100%',
    '%cd:~,%',
    '^&calc',
    '^"&calc',
    '!PATH!',
    '(a) < b > c | d',
    'ends with \\',
    'C:\\folder\\',
    '\\\\server\\share',
    '{"json":"a\\"b"}',
    ';,=*?',
    '\ttab',
    'ünïcödé',
    '""',
    '"',
  ]

  test.each(HOSTILE)('the argument %j arrives as it is, and nothing else runs', (argument) => {
    const forScript = readByShell(lineOf('npx', ['first', argument, 'last']))
    expect(readByProgram(forScript)).toEqual([`${NODE}\\npx.cmd`, 'first', argument, 'last'])
  })

  test('all of them together arrive as they are', () => {
    expect(readByProgram(readByShell(lineOf('run', HOSTILE)))).toEqual(['D:\\tools\\run.bat', ...HOSTILE])
  })

  test('a percent sign in the path of a script is not a variable', () => {
    expect(readByProgram(readByShell(lineOf('100% sure.cmd', ['x'])))).toEqual(['D:\\tools\\100% sure.cmd', 'x'])
  })

  test('line breaks and NUL are refused, and the error shows the argument', () => {
    for (const argument of ['a\nb', 'a\r\ncalc', '\r', 'a\0b'])
      expect(() => start('npx', [argument])).toThrow(
        expect.objectContaining({
          code: 'EINVAL',
          message: `An argument for a script must not contain a line break or NUL; got ${JSON.stringify(argument)}`,
        }),
      )
    // A program gets its arguments without cmd.exe.
    expect(start('node', ['a\nb']).args).toEqual(['a\nb'])
  })

  test('a line that cmd.exe would cut off is refused', () => {
    expect(() => start('npx', ['x'.repeat(8000)])).not.toThrow()
    expect(() => start('npx', ['x'.repeat(8192)])).toThrow(/has 8\d+ characters, and at most 8191/)
  })

  test('the working directory and PATH of a server do not choose cmd.exe', () => {
    const { command } = start('npx', [], { env: { PATH: NODE, COMSPEC: 'D:\\work\\cmd.exe', SystemRoot: 'D:\\work' } })
    expect(command).toBe('C:\\Windows\\System32\\cmd.exe')
  })
})
