import { join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryFolders } from '../support/folders.ts'
import { CLI, portico } from './support/cli.ts'
import { KEY, startTerminal } from './support/terminal.ts'

const newFolder = temporaryFolders()

test('without a terminal bare portico runs the demo, with an empty home, and its exit code says whether all is well', async () => {
  const { code, stdout, stderr } = await portico([], { env: { HOME: newFolder() } })
  expect(code, stdout + stderr).toBe(0)
  expect(stdout).toContain('Portico')
}, 60_000)

test('in a terminal it starts the host with the embedded servers, asks about them, and takes commands [T-TOOL-004]', async () => {
  const home = newFolder()
  const terminal = startTerminal([CLI], { env: { HOME: home, PORTICO_HOME: join(home, 'host') }, cwd: home })
  // Each server is asked about, and what it offers; a yes for each.
  while (!isAtPrompt(terminal.text())) {
    await expect.poll(() => isAsking(terminal.text()) || isAtPrompt(terminal.text()), { timeout: 20_000 }).toBe(true)
    if (!isAsking(terminal.text())) continue
    while (!/● Yes, (?!for longer)/.test(current(terminal.text()))) {
      const before = terminal.raw().length
      terminal.type(KEY.up)
      await expect.poll(() => terminal.raw().length, { timeout: 10_000 }).toBeGreaterThan(before)
    }
    terminal.type(KEY.enter)
    await expect.poll(() => /● Yes/.test(current(terminal.text())), { timeout: 10_000 }).toBe(false)
  }
  terminal.type(`tools${KEY.enter}`)
  await terminal.until('notes__add')
  terminal.type(`servers${KEY.enter}`)
  await terminal.until(/notes +ready/)
  terminal.type(`quit${KEY.enter}`)
  expect(await terminal.exit).toBe(0)
}, 90_000)

/** From the last question on. */
const current = (text: string): string => text.slice(Math.max(text.lastIndexOf('◆  Your answer'), text.lastIndexOf('◇  Your answer')))

const isAsking = (text: string): boolean => current(text).startsWith('◆')

const isAtPrompt = (text: string): boolean => /\n>$/.test(text)
