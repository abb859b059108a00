/** `portico tasks` and `portico call --task`, with a server that stores its tasks and one that does not. */

import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { bundled } from '../support/bundled.ts'
import { temporaryFolders } from '../support/folders.ts'
import { CLI, type Ended, portico } from './support/cli.ts'

const newFolder = temporaryFolders()
let program: string

beforeAll(async () => {
  program = await bundled(new URL('../host/tasks/job-server.ts', import.meta.url), newFolder())
}, 120_000)

const ALLOW = `rules:
  - { id: launch, effect: allow, match: { action: server.launch, server: jobs } }
  - { id: approve, effect: allow, match: { action: server.approve, server: jobs } }
`

/** A person who has the server of jobs. */
async function person() {
  const home = newFolder()
  const env = { HOME: home, PORTICO_HOME: join(home, 'host') }
  const run = (...args: string[]): Promise<Ended> => portico(args, { env, cwd: home })
  const [log, go] = [join(newFolder(), 'log'), join(newFolder(), 'go')]
  const variables = Object.entries({ FOLDER: newFolder(), LOG: log, GO: go }).flatMap(([name, value]) => ['-e', `${name}=${value}`])
  const added = await run('servers', 'add', 'jobs', ...variables, '--trusted', '--', process.execPath, program)
  expect(added).toMatchObject({ code: 0 })
  writeFileSync(join(env.PORTICO_HOME, 'policy.yaml'), ALLOW)
  /** A command that goes on, and what it has said. */
  const start = (...args: string[]) => {
    const child = spawn(process.execPath, [CLI, ...args], {
      stdio: ['ignore', 'ignore', 'pipe'],
      env: { PATH: process.env.PATH ?? '', ...env },
      cwd: home,
    })
    let said = ''
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      said += text
    })
    const ended = new Promise((resolve) => child.once('close', resolve))
    const stop = (): Promise<unknown> => {
      child.kill('SIGTERM')
      return ended
    }
    return { said: () => said, stop }
  }
  return { run, start, finish: () => writeFileSync(go, '') }
}

test('a task is started, listed, shown and awaited by commands that follow each other', async () => {
  const { run, finish } = await person()
  expect((await run('tasks', 'list')).stderr).toContain('No tasks.')
  const started = await run('call', 'jobs/build', '--task')
  expect(started).toMatchObject({ code: 0, stderr: expect.stringContaining('jobs ends with this command') })
  const id = started.stdout.trim()
  expect(started.stderr).toContain(`tasks wait ${id}`)
  expect((await run('tasks', 'list')).stdout).toContain('jobs/build')
  expect(JSON.parse((await run('tasks', 'list', '--json')).stdout)).toMatchObject([
    { id, server: 'jobs', tool: 'build', status: 'working', isFollowed: false, chain: ['you'] },
  ])
  finish()
  expect(await run('tasks', 'wait', id.slice(0, 5))).toMatchObject({ code: 0, stdout: 'built\n' })
  const shown = await run('tasks', 'show', id)
  expect(shown.stdout).toContain('completed')
  expect(shown.stdout).toContain('built')
  // A result that was fetched stays.
  expect(JSON.parse((await run('tasks', 'wait', id, '--json')).stdout)).toMatchObject({ content: [{ text: 'built' }] })
  expect((await run('__complete', 'zsh', 'tasks', 'show', '')).stdout).toContain(id)
}, 120_000)

test('a task is cancelled by a later command', async () => {
  const { run } = await person()
  const id = (await run('call', 'jobs/build', '--task')).stdout.trim()
  expect(await run('tasks', 'cancel', id)).toMatchObject({ code: 0, stderr: expect.stringContaining(`Cancelled ${id}`) })
  expect(await run('tasks', 'wait', id)).toMatchObject({ code: 1, stderr: expect.stringContaining('cancelled') })
  expect((await run('tasks', 'cancel', id)).stderr).toContain('Cancelled')
}, 120_000)

test('--wait waits for the result, and --task needs a configured server', async () => {
  const { run, finish } = await person()
  finish()
  expect(await run('call', 'jobs/build', '--task', '--wait')).toMatchObject({ code: 0, stdout: 'built\n' })
  expect((await run('call', 'jobs/build', '--wait')).code).toBe(2)
  expect(await run('call', 'build', '--task', '-e', `FOLDER=${newFolder()}`, '--', process.execPath, program)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('--task needs a configured server'),
  })
  expect(await run('tasks', 'show', 'nothing')).toMatchObject({ code: 2 })
}, 120_000)

test('a task is written as the same JSON by every command', async () => {
  const { run } = await person()
  const started = JSON.parse((await run('call', 'jobs/build', '--task', '--json')).stdout) as { id: string }
  const shown = JSON.parse((await run('tasks', 'show', started.id, '--json')).stdout) as object
  expect(Object.keys(started)).toEqual(Object.keys(shown))
  expect(started).toMatchObject({ server: 'jobs', tool: 'build', status: 'working', isFollowed: false })
}, 120_000)

test('without a terminal a command that waits says that the task asks, and how to answer', async () => {
  const { run, start } = await person()
  const id = (await run('call', 'jobs/ask', '--task')).stdout.trim()
  const waiting = start('tasks', 'wait', id)
  await expect.poll(waiting.said, { timeout: 30_000 }).toMatch(/asks a question, and there is no terminal.*--inbox/s)
  await waiting.stop()
  // The question goes to the inbox, where a command answers it.
  const answered = run('tasks', 'wait', id, '--inbox')
  await expect.poll(async () => (await run('inbox', 'answer', 'go=true')).code, { timeout: 60_000 }).toBe(0)
  expect(await answered).toMatchObject({ code: 0, stdout: 'answer true\n' })
}, 120_000)

test('without a terminal a direct call whose task asks ends with words for a person', async () => {
  const ended = await portico(['call', 'ask', '-e', `FOLDER=${newFolder()}`, '--', process.execPath, program])
  expect(ended).toMatchObject({ code: 1, stderr: expect.stringContaining('Run the command in a terminal, where you can answer') })
  expect(ended.stderr).not.toMatch(/callTask|`answer`/)
}, 60_000)
