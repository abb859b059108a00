import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryFolders } from '../support/folders.ts'
import { proves } from '../support/proves.ts'
import { CLI, portico, serveFixture } from './support/cli.ts'
import { KEY, OPEN_QUESTION as OPEN, startTerminal, typeLine } from './support/terminal.ts'

const newFolder = temporaryFolders()
const asking = serveFixture('asking.mjs')

test('a server called from a terminal may ask for a form, and gets the answers of the person', async () => {
  const terminal = startTerminal([CLI, 'call', 'form', ...asking])
  await terminal.until(/Who are you\?[\s\S]*◆\s+Your name/)
  terminal.type(KEY.escape)
  await terminal.until('[e] go on filling in')
  await terminal.press('d')
  await terminal.until('asking.mjs')
  await terminal.press('e')
  await terminal.until(/asking\.mjs[\s\S]*◆\s+Your name/)
  terminal.type(`Anna${KEY.enter}`)
  await terminal.until(/◆\s+age/)
  terminal.type(`30${KEY.enter}`)
  await terminal.until(/◆\s+colour/)
  terminal.type(KEY.enter)
  await terminal.until(/◆\s+news/)
  terminal.type(KEY.enter)
  await terminal.until('[y] send')
  await terminal.press('y')
  expect(await terminal.exit).toBe(0)
  expect(terminal.text()).toContain('got {"name":"Anna","age":30,"colour":"red","news":false}')
}, 40_000)

test('a page is opened in the system browser, which gets the address as one argument', async () => {
  proves('T-ELIC-092')
  const folder = newFolder()
  const seen = join(folder, 'seen')
  const opener = join(folder, 'xdg-open')
  writeFileSync(opener, `#!/bin/sh\nprintf '%s\\n' "$#" "$@" > '${seen}'\n`)
  chmodSync(opener, 0o755)
  const terminal = startTerminal([CLI, 'call', 'page', ...asking], { env: { PATH: `${folder}${delimiter}${process.env.PATH}` } })
  await terminal.until(OPEN)
  expect(terminal.text()).toContain('open a page on xn--pypal-4ve.example')
  expect(existsSync(seen)).toBe(false)
  await terminal.press('y')
  expect(await terminal.exit).toBe(0)
  await expect.poll(() => existsSync(seen) && readFileSync(seen, 'utf8')).toBe('1\nhttps://xn--pypal-4ve.example/confirm?id=1\n')
})

test('without a model the person at the terminal writes the answer', async () => {
  const terminal = startTerminal([CLI, 'call', 'sample', ...asking])
  await terminal.until(OPEN)
  expect(terminal.text()).toContain('You are brief.')
  await terminal.press('y')
  await terminal.until('The answer')
  terminal.type(`Knock knock${KEY.tab}${KEY.enter}`)
  expect(await terminal.exit).toBe(0)
  expect(terminal.text()).toContain('the model said: Knock knock')
})

test('without a person to ask, the client declares no questions', async () => {
  const { code, stdout } = await portico(['call', 'form', ...asking])
  expect(code).toBe(1)
  expect(stdout).not.toContain('got')
})

test('an interactive session shows the server, takes commands, and survives a mistake', async () => {
  const terminal = startTerminal([CLI, 'run', ...asking])
  await terminal.until('quit')
  expect(terminal.text()).toContain('✓ Asking 1.0.0')
  expect(terminal.text()).toContain('slow')
  await typeLine(terminal, 'call solw')
  await terminal.until('Did you mean "slow"?')
  await typeLine(terminal, 'call slow')
  await terminal.until('all three done')
  await typeLine(terminal, 'tools page')
  await terminal.until('usage page')
  await typeLine(terminal, `tools form${KEY.enter}tools sample`)
  await terminal.until('usage sample')
  await typeLine(terminal, 'quit')
  expect(await terminal.exit).toBe(0)
})
