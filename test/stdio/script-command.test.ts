import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'
import { endChild, startChild } from '../../src/stdio/child.ts'

const ARGUMENTS = [
  '',
  'two words',
  'a&echo b',
  '"&echo b&"',
  '%PATH%',
  '$PATH',
  '^&|<>',
  'ends with \\',
  '{"a":"b\\"c"}',
  '*',
  '!PATH!',
  "'",
]

/** A command such as `npx`: a script in PATH that starts a program of Node and passes its arguments on. */
function scriptCommand(): { command: string; env: Record<string, string> } {
  const folder = mkdtempSync(join(tmpdir(), 'portico script-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  writeFileSync(join(folder, 'show.mjs'), 'process.stdout.write(JSON.stringify(process.argv.slice(2)))')
  writeFileSync(join(folder, 'show.cmd'), `@echo off\r\n"${process.execPath}" "%~dp0show.mjs" %*\r\n`)
  writeFileSync(join(folder, 'show'), `#!/bin/sh\nexec "${process.execPath}" "\${0%/*}/show.mjs" "$@"\n`)
  chmodSync(join(folder, 'show'), 0o755)
  return { command: 'show', env: { PATH: `${folder}${delimiter}${process.env.PATH}` } }
}

test('a script in PATH starts by its name and gets hostile arguments as they are', async () => {
  const child = await startChild({ ...scriptCommand(), args: ARGUMENTS })
  onTestFinished(() => endChild(child))
  expect(JSON.parse(await text(child.stdout))).toEqual(ARGUMENTS)
})

test('a command that does not exist is refused with its name', async () => {
  await expect(startChild({ ...scriptCommand(), command: 'portico-no-such-command' })).rejects.toMatchObject({
    code: 'ERR_SPAWN',
    message: expect.stringContaining('Cannot start "portico-no-such-command": there is no such command (ENOENT)'),
  })
})
