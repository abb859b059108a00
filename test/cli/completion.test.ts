import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { temporaryFolders } from '../support/folders.ts'
import { INSTALL_MS } from '../support/packages.ts'
import { installShells, SHELLS } from '../support/shells.ts'
import { CLI, portico } from './support/cli.ts'
import { KEY, startTerminal, type TerminalProcess } from './support/terminal.ts'

const newFolder = temporaryFolders()

beforeAll(installShells, INSTALL_MS)

/** Somebody with `portico` on their path, and a server that they have added under the name `ev`. */
async function somebody() {
  const home = newFolder()
  const folder = join(home, 'bin')
  mkdirSync(folder)
  writeFileSync(join(folder, 'portico'), `#!/bin/sh\nexec '${process.execPath}' '${CLI}' "$@"\n`)
  chmodSync(join(folder, 'portico'), 0o755)
  const env = { PATH: `${folder}${delimiter}${process.env.PATH}`, HOME: home, PORTICO_HOME: join(home, 'host') }
  await portico(['servers', 'add', 'ev', '--', 'node', 'ev.mjs'], { env, cwd: home })
  return { home, env }
}

const START = {
  bash: { args: ['--norc', '--noprofile', '-i'], script: 'source <(portico completion bash)' },
  zsh: { args: ['-f', '-i'], script: 'autoload -Uz compinit && compinit -u -D && source <(portico completion zsh)' },
  fish: { args: ['--no-config', '-i'], script: 'portico completion fish | source' },
} as const

/** A shell at a terminal that has read our script. */
async function sitAt(shell: (typeof SHELLS)[number]): Promise<TerminalProcess> {
  const { home, env } = await somebody()
  const terminal = startTerminal(START[shell].args, { program: shell, env: { ...env, PS1: '$ ' }, cwd: home })
  // The word is written in two parts, so that the line that is typed does not have it.
  terminal.type(`${START[shell].script}; echo rea''dy${KEY.enter}`)
  await terminal.until(/^ready/m)
  return terminal
}

/** What is typed before Tab, and the line after it with a letter behind that shows whether a space was put in. */
const CASES: [what: string, typed: string, becomes: string][] = [
  ['a command', 'portico doc', 'portico doctor x'],
  ['a command of a command', 'portico policy repl', 'portico policy replay x'],
  ['an option', 'portico tools --hea', 'portico tools --header x'],
  ['the value of an option', 'portico tools --log warn', 'portico tools --log warning x'],
  ['a server that comes along', 'portico serve no', 'portico serve notes x'],
  ['a server that was added', 'portico tools e', 'portico tools ev x'],
  ['a server before its tool, without a space after it', 'portico call e', 'portico call ev/x'],
]

describe.each(SHELLS)('Tab in a real %s', (shell) => {
  test('Tab completes a single candidate and lists several', async () => {
    const terminal = await sitAt(shell)
    for (const [what, typed, becomes] of CASES) {
      terminal.type(`${typed}${KEY.tab}`)
      await expect.poll(terminal.text, { timeout: 10_000, message: what }).toContain(becomes.replace(/ ?x$/, ''))
      terminal.type('x')
      await expect.poll(terminal.text, { timeout: 10_000, message: what }).toContain(becomes)
      terminal.type(KEY.wipe)
    }
    terminal.type(`portico pins ${KEY.tab}${KEY.tab}`)
    for (const name of ['accept', 'diff', 'list']) await terminal.until(new RegExp(`\\b${name}\\b`))
  }, 60_000)
})

/** What a real bash offers when Tab is pressed at the end of the line. */
async function inBash(line: string): Promise<string[]> {
  const { env, home } = await somebody()
  const script = `
    source <(portico completion bash)
    COMP_LINE=${JSON.stringify(line)}; COMP_POINT=\${#COMP_LINE}
    compopt() { :; }
    _portico
    printf '%s\\n' "\${COMPREPLY[@]}"`
  const { stdout, stderr } = spawnSync('bash', ['--norc', '-c', script], { encoding: 'utf8', env, cwd: home })
  expect(stderr).toBe('')
  return stdout.split('\n').filter((each) => each !== '')
}

/** The same in a real fish, which can be asked. */
async function inFish(line: string): Promise<string[]> {
  const { env, home } = await somebody()
  const { stdout, stderr } = spawnSync(
    'fish',
    ['--no-config', '-c', 'portico completion fish | source; complete -C $argv[1]', '--', line],
    {
      encoding: 'utf8',
      env,
      cwd: home,
    },
  )
  expect(stderr).toBe('')
  return stdout.split('\n').flatMap((each) => (each === '' ? [] : [each.split('\t', 1)[0] as string]))
}

describe.each([
  ['bash', inBash],
  ['fish', inFish],
] as const)('what %s is given', (shell, offered) => {
  test.each([
    ['a command', 'portico ca', ['call']],
    ['every command', 'portico ', expect.arrayContaining(['tools', 'call', 'doctor', 'record', 'serve'])],
    ['an option', 'portico tools --hea', ['--header']],
    ['the value of an option', 'portico tools --log warn', ['warning']],
    ['the servers that come along', 'portico serve n', ['notes']],
    ['a server that was added', 'portico tools e', ['ev']],
  ] as [string, string, string[]][])('the shell gets the candidates as they are: %s', async (_, line, expected) => {
    expect(await offered(line)).toEqual(expected)
  })

  if (shell === 'bash')
    test.each([
      ['nothing after --, which is for the shell', 'portico run -- no'],
      ['nothing within a quote', 'portico call "x'],
    ])('the shell gets no dangerous candidate: %s', async (_, line) => {
      expect(await offered(line)).toEqual([])
    })
})

test.each([
  ['bash', ['-n']],
  ['zsh', ['-n']],
  ['fish', ['--no-execute']],
] as const)('the script is read by %s without complaint', async (shell, flags) => {
  const { code, stdout } = await portico(['completion', shell])
  expect(code).toBe(0)
  const path = join(newFolder(), 'script')
  writeFileSync(path, stdout)
  expect(spawnSync(shell, [...flags, path], { encoding: 'utf8' })).toMatchObject({ status: 0, stderr: '' })
})

test('an unknown shell is refused with the list of shells', async () => {
  const { code, stderr } = await portico(['completion', 'powershell'])
  expect(code).toBe(2)
  expect(stderr).toContain('bash, zsh, fish')
})
