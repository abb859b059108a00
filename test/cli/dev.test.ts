import { spawn } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { watchSources } from '../../src/files/watch-sources.ts'
import { temporaryFolders } from '../support/folders.ts'
import { CLI } from './support/cli.ts'
import { GREETER, project, words } from './support/project.ts'
import { leave, startTerminal, typeLine } from './support/terminal.ts'

const newFolder = temporaryFolders()

test('a change starts the server again, and the last call can be repeated', async () => {
  const folder = project(newFolder(), { 'server.ts': GREETER, 'words.ts': words('Hello') })
  const terminal = startTerminal([CLI, 'dev', './server.ts'], { cwd: folder, env: { HOME: folder } })
  await terminal.until('✓ greeter 1.0.0: 1 tool')
  await typeLine(terminal, 'call greet name=Ada')
  await terminal.until('Hello Ada')
  writeFileSync(join(folder, 'words.ts'), words('Good day'))
  await terminal.until(/words\.ts changed[\s\S]*✓ greeter/)
  await typeLine(terminal, 'again')
  await terminal.until('Good day Ada')
  await typeLine(terminal, 'q')
  expect(await terminal.exit, terminal.text()).toBe(0)
}, 90_000)

test('an error is shown once, and the next change starts the server again', async () => {
  const folder = project(newFolder(), { 'server.ts': GREETER, 'words.ts': 'export const greeting: string = (\n' })
  const terminal = startTerminal([CLI, 'dev', './server.ts'], { cwd: folder, env: { HOME: folder } })
  await terminal.until('Waiting for the next change ...')
  expect(terminal.text().match(/Unexpected end of file/g)).toHaveLength(1)
  await typeLine(terminal, 'tools')
  await terminal.until('./server.ts is not running')
  writeFileSync(join(folder, 'words.ts'), words('Hello'))
  await terminal.until('✓ greeter 1.0.0: 1 tool')
  await typeLine(terminal, 'again')
  await terminal.until('There is no call to repeat')
  expect(await leave(terminal), terminal.text()).toBe(0)
}, 90_000)

test('it runs without a terminal until it is stopped', async () => {
  const folder = project(newFolder(), { 'server.ts': GREETER, 'words.ts': words('Hello') })
  const child = spawn(process.execPath, [CLI, 'dev', './server.ts'], { cwd: folder, env: { PATH: process.env.PATH, HOME: folder } })
  const exit = new Promise((resolve) => child.once('exit', (code) => resolve(code)))
  let said = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text
  })
  await expect.poll(() => said, { timeout: 20_000 }).toContain('✓ greeter 1.0.0')
  child.kill('SIGTERM')
  expect(await exit).toBe(0)
}, 60_000)

test('files that are in a new folder before it is watched are noticed, also where another folder was', async () => {
  const folder = newFolder()
  mkdirSync(join(folder, 'old.tools', 'deep'), { recursive: true })
  const seen: string[] = []
  const watching = await watchSources(folder, { onChange: (file) => seen.push(file), onWarning: () => {} })
  const last = () => seen.at(-1)
  try {
    mkdirSync(join(folder, 'new.tools', 'deep'), { recursive: true })
    writeFileSync(join(folder, 'new.tools', 'deep', 'a.ts'), '')
    await expect.poll(last, { timeout: 20_000 }).toBe(join(folder, 'new.tools', 'deep', 'a.ts'))
    rmSync(join(folder, 'old.tools'), { recursive: true })
    mkdirSync(join(folder, 'old.tools', 'deep'), { recursive: true })
    writeFileSync(join(folder, 'old.tools', 'deep', 'b.ts'), '')
    await expect.poll(last, { timeout: 20_000 }).toBe(join(folder, 'old.tools', 'deep', 'b.ts'))
    writeFileSync(join(folder, 'old.tools', 'deep', 'c.ts'), '')
    await expect.poll(last, { timeout: 20_000 }).toBe(join(folder, 'old.tools', 'deep', 'c.ts'))
  } finally {
    watching.close()
  }
})

test('changes in new folders are noticed, and those of installed packages are not', async () => {
  const folder = newFolder()
  mkdirSync(join(folder, 'node_modules'))
  const seen: string[] = []
  const watching = await watchSources(folder, { onChange: (file) => seen.push(file), onWarning: () => {} })
  try {
    mkdirSync(join(folder, 'tools'))
    // The new folder is watched a moment later.
    const change = (): string[] => {
      writeFileSync(join(folder, 'node_modules', 'x.ts'), '')
      writeFileSync(join(folder, 'tools', 'a.ts'), '')
      return [...new Set(seen)]
    }
    // Longer than changes must follow each other to be reported together.
    await expect.poll(change, { interval: 500, timeout: 20_000 }).toEqual([join(folder, 'tools', 'a.ts')])
  } finally {
    watching.close()
  }
})
