import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { temporaryFolders } from '../support/folders.ts'
import { CLI, portico } from './support/cli.ts'

const newFolder = temporaryFolders()

const isInstalled = (shell: string): boolean => spawnSync('sh', ['-c', `command -v ${shell}`]).status === 0

/** A folder with `portico` in it, for PATH. */
function installed(): string {
  const folder = newFolder()
  mkdirSync(folder, { recursive: true })
  const path = join(folder, 'portico')
  writeFileSync(path, `#!/bin/sh\nexec '${process.execPath}' '${CLI}' "$@"\n`)
  chmodSync(path, 0o755)
  return folder
}

/** What a real bash offers when Tab is pressed at the end of the line. */
function inBash(line: string): string[] {
  const script = `
    source <(portico completion bash)
    COMP_LINE=${JSON.stringify(line)}; COMP_POINT=\${#COMP_LINE}
    compopt() { :; }
    _portico
    printf '%s\\n' "\${COMPREPLY[@]}"`
  const { stdout, stderr } = spawnSync('bash', ['--norc', '-c', script], {
    encoding: 'utf8',
    env: { PATH: `${installed()}${delimiter}${process.env.PATH}`, HOME: newFolder() },
  })
  expect(stderr).toBe('')
  return stdout.split('\n').filter((each) => each !== '')
}

describe('in a real bash', () => {
  test.each([
    ['a command', 'portico ca', ['call']],
    ['every command', 'portico ', expect.arrayContaining(['tools', 'call', 'doctor', 'record', 'serve'])],
    ['an option', 'portico tools --hea', ['--header']],
    ['the value of an option', 'portico tools --log warn', ['warning']],
    ['the servers that come along', 'portico serve n', ['notes']],
    ['nothing after --, which is for the shell', 'portico run -- no', []],
    ['nothing within a quote', 'portico call "x', []],
  ] as [string, string, string[]][])('%s', (_, line, expected) => {
    expect(inBash(line)).toEqual(expected)
  })
})

// A machine without these shells proves less: that the script is there, and what it is given.
for (const [shell, flags] of [
  ['zsh', ['-n']],
  ['fish', ['--no-execute']],
] as const) {
  test(`the script for ${shell} is ${isInstalled(shell) ? 'read by it without complaint' : `written (${shell} IS NOT INSTALLED HERE, so nobody has read it)`}`, async () => {
    const { code, stdout } = await portico(['completion', shell])
    expect(code).toBe(0)
    expect(stdout).toContain(`portico __complete ${shell}`)
    if (isInstalled(shell)) {
      const path = join(newFolder(), 'script')
      writeFileSync(path, stdout)
      expect(spawnSync(shell, [...flags, path], { encoding: 'utf8' })).toMatchObject({ status: 0, stderr: '' })
    }
    const offered = await portico(['__complete', shell, 'serve', 'r'])
    expect(offered.stdout).toBe('rogue\n')
  })
}

test('a shell that is none is told which there are', async () => {
  const { code, stderr } = await portico(['completion', 'powershell'])
  expect(code).toBe(2)
  expect(stderr).toContain('bash, zsh, fish')
})
