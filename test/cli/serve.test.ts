import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { temporaryFolders } from '../support/folders.ts'
import { envelope } from '../support/raw-channel.ts'
import { CLI, portico, serve } from './support/cli.ts'
import { project } from './support/project.ts'

const newFolder = temporaryFolders()
const running: ChildProcess[] = []
afterEach(() => {
  for (const child of running.splice(0)) child.kill('SIGKILL')
})

/** Each with a tool of its own. */
const SERVERS: [name: string, args: (folder: string) => string[], tool: string][] = [
  ['files', (folder) => [folder], 'stat'],
  ['notes', (folder) => [join(folder, 'notes')], 'summarise'],
  ['deploy', () => [], 'rollback'],
  ['rogue', () => [], 'forecast'],
  ['everything', () => [], 'test_simple_text'],
]

function folderWithFile(): string {
  const folder = join(newFolder(), 'shared')
  mkdirSync(folder)
  writeFileSync(join(folder, 'hello.txt'), 'hello\n')
  return folder
}

const toolsIn = (stdout: string): string[] => (JSON.parse(stdout) as { name: string }[]).map(({ name }) => name)

describe.each(SERVERS)('serve %s', (name, args, tool) => {
  test('serve works on standard streams', async () => {
    const { code, stdout, stderr } = await portico(['tools', '--json', ...serve(name, ...args(folderWithFile()))])
    expect(code, stderr).toBe(0)
    expect(toolsIn(stdout)).toContain(tool)
  })

  test('serve listens at a local port until it is stopped', async () => {
    const child = spawn(process.execPath, [CLI, 'serve', name, ...args(folderWithFile()), '--http', '0'], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { PATH: process.env.PATH ?? '', HOME: newFolder() },
    })
    running.push(child)
    let said = ''
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      said += text
    })
    await expect.poll(() => said, { timeout: 10_000 }).toMatch(/http:\/\/127\.0\.0\.1:\d+\S* \(/)
    const url = /http:\/\/[^\s;]+/.exec(said)?.[0] as string
    const { code, stdout, stderr } = await portico(['tools', url, '--json'], { env: { HOME: newFolder() } })
    expect(code, stderr).toBe(0)
    expect(toolsIn(stdout)).toContain(tool)
    child.kill('SIGINT')
    const [exit] = await once(child, 'exit')
    expect(exit).toBe(0)
  })
})

test.each(['SIGTERM', 'SIGINT'] as const)('serve answers the calls in progress on standard streams after %s', async (signal) => {
  const folder = project(newFolder(), {
    'server.mjs': `import { createServer } from 'portico/server'
export const server = createServer({ name: 'slow', version: '1' })
server.tool('slow', {}, () => {
  console.error('begun')
  return new Promise((resolve) => setTimeout(() => resolve('done'), 150))
})
`,
  })
  const child = spawn(process.execPath, [CLI, 'serve', join(folder, 'server.mjs')], { env: { PATH: process.env.PATH ?? '', HOME: folder } })
  running.push(child)
  let [written, said] = ['', '']
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    written += text
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text
  })
  const _meta = envelope({})
  child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'slow', _meta } })}\n`)
  await expect.poll(() => said, { timeout: 10_000 }).toContain('begun')
  child.kill(signal)
  expect(await once(child, 'close')).toEqual([0, null])
  expect(written).toContain('done')
})

test('serve reports missing, extra and unknown arguments', async () => {
  expect(await portico(['serve', 'files'])).toMatchObject({ code: 2, stderr: expect.stringContaining('at least one folder') })
  expect(await portico(['serve', 'rogue', 'more'])).toMatchObject({ code: 2, stderr: expect.stringContaining('takes no arguments') })
  expect(await portico(['serve', 'noets'])).toMatchObject({ code: 2, stderr: expect.stringContaining('Did you mean "notes"?') })
  expect(await portico(['serve', 'notes', '--http', '70000'])).toMatchObject({ code: 2, stderr: expect.stringContaining('65535') })
})
