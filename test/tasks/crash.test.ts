import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { bundled } from '../support/bundled.ts'
import { temporaryFolders } from '../support/folders.ts'
import { gate } from '../support/http-service.ts'
import { counted, proofRuns } from '../support/proof.ts'
import { proves } from '../support/proves.ts'
import { envelope, type Message } from '../support/raw-channel.ts'
import { type StdioProcess, startServer } from '../support/stdio-process.ts'
import { ABLE } from './task-server.ts'

const temporaryFolder = temporaryFolders()
let program: string

beforeAll(async () => {
  program = await bundled(new URL('crash-server.ts', import.meta.url), temporaryFolder())
}, 60_000)

const newPlace = (): { folder: string; log: string } => {
  const log = join(temporaryFolder(), 'log')
  writeFileSync(log, '')
  return { folder: temporaryFolder(), log }
}

const start = ({ folder, log }: { folder: string; log: string }): StdioProcess => startServer(program, [folder, log])

const ask = (server: StdioProcess, method: string, params: Message): Promise<Message> =>
  server.ask(method, { ...params, _meta: envelope(ABLE) }) as Promise<Message>

const call = async (server: StdioProcess, name: string): Promise<string> =>
  (await ask(server, 'tools/call', { name, arguments: {} })).result.taskId

async function reach(server: StdioProcess, taskId: string, fits: (task: Message) => boolean): Promise<Message> {
  for (let attempt = 0; attempt < 400; attempt++) {
    const { result } = await ask(server, 'tasks/get', { taskId })
    if (result && fits(result)) return result
    await new Promise((resolve) => setTimeout(resolve, 25))
  }
  throw new Error(`The task did not get there: ${JSON.stringify(await ask(server, 'tasks/get', { taskId }))}`)
}

async function kill(server: StdioProcess): Promise<void> {
  server.child.kill('SIGKILL')
  await server.exit
}

test('after a crash a running task has failed with a reason, and a finished one has its result', async () => {
  proves('R-TASK-090')
  const place = newPlace()
  const first = start(place)
  const [lost, kept] = [await call(first, 'forever'), await call(first, 'quick')]
  await reach(first, kept, ({ status }) => status === 'completed')
  await kill(first)
  const second = start(place)
  const failed = await reach(second, lost, ({ status }) => status !== 'working')
  const message = 'The server stopped while the task was running'
  expect(failed).toMatchObject({ status: 'failed', statusMessage: message, error: { code: -32603, message } })
  expect((await reach(second, kept, () => true)).result.content[0].text).toBe('quick')
}, 60_000)

test('a restartable task goes on after a crash without repeating steps and answered questions', async () => {
  const place = newPlace()
  const first = start(place)
  const taskId = await call(first, 'steps')
  const asks =
    (name: string) =>
    ({ inputRequests }: Message): boolean =>
      inputRequests?.[name] !== undefined
  await reach(first, taskId, asks('name'))
  await kill(first)
  const second = start(place)
  await reach(second, taskId, asks('name'))
  await ask(second, 'tasks/update', { taskId, inputResponses: { name: { action: 'accept', content: { name: 'Ann' } } } })
  await reach(second, taskId, asks('go'))
  await kill(second)
  const third = start(place)
  await reach(third, taskId, asks('go'))
  await ask(third, 'tasks/update', { taskId, inputResponses: { go: { action: 'accept', content: { go: true } } } })
  const { result } = await reach(third, taskId, ({ status }) => status === 'completed')
  expect(result.content[0].text).toMatch(/^Ann true [\w-]{22}$/)
  expect(readFileSync(place.log, 'utf8')).toBe('first\nsecond\n')
}, 60_000)

test('a task that ends its process each time is run three times, and then the server goes on', async () => {
  const place = newPlace()
  const first = start(place)
  const taskId = await call(first, 'fatal')
  await first.exit
  for (let again = 0; again < 2; again++) {
    const next = start(place)
    void ask(next, 'tasks/get', { taskId }).catch(() => {})
    await next.exit
  }
  const last = start(place)
  const { error } = await reach(last, taskId, ({ status }) => status === 'failed')
  expect(error).toMatchObject({ data: { reason: 'replica_lost', retryable: false } })
  expect(readFileSync(place.log, 'utf8')).toBe('run\n'.repeat(3))
}, 60_000)

test('another process can read, answer and cancel a task that runs elsewhere', async () => {
  const place = newPlace()
  const [runner, other] = [start(place), start(place)]
  const taskId = await call(runner, 'steps')
  await reach(other, taskId, ({ inputRequests }) => inputRequests?.name !== undefined)
  await ask(other, 'tasks/update', { taskId, inputResponses: { name: { action: 'accept', content: { name: 'Bob' } } } })
  await reach(other, taskId, ({ inputRequests }) => inputRequests?.go !== undefined)
  const endless = await call(runner, 'forever')
  await ask(other, 'tasks/cancel', { taskId: endless })
  await reach(runner, endless, ({ status }) => status === 'cancelled')
  await reach(runner, taskId, ({ status }) => status === 'input_required')
}, 60_000)

test(
  'no task that a client knows is lost or doubled, however often the server is killed',
  async () => {
    const place = newPlace()
    const known: string[] = []
    const kills = proofRuns(5)
    for (let round = 0; round < kills; round++) {
      const server = start(place)
      await server.initialize('2025-11-25')
      const first = gate()
      const creating = (async () => {
        for (let i = 0; i < 20; i++) {
          const taskId = await call(server, i % 2 === 0 ? 'quick' : 'forever').catch(() => undefined)
          if (taskId === undefined) return
          known.push(taskId)
          first.open()
        }
      })()
      // Sometimes before it has created a task, whatever the speed of the machine.
      if (round % 5 > 0) await first.opened
      await new Promise((resolve) => setTimeout(resolve, (round * 37) % 180))
      await kill(server)
      await creating.catch(() => {})
    }
    counted({ kills, tasks: known.length })
    expect(known.length).toBeGreaterThanOrEqual(Math.floor(kills * 0.8))
    const last = start(place)
    for (const taskId of known) {
      const { status } = await reach(last, taskId, (task) => task.status === 'completed' || task.status === 'failed')
      expect(['completed', 'failed']).toContain(status)
    }
    expect(new Set(known).size).toBe(known.length)
    const files = readdirSync(place.folder).flatMap((name) => (/^[0-9a-f]{32}$/.test(name) ? readdirSync(join(place.folder, name)) : []))
    // A task may be on the disk although the answer did not reach the client.
    expect(files.filter((name) => name.endsWith('.json')).length).toBeGreaterThanOrEqual(known.length)
  },
  60_000 + proofRuns(5) * 2000,
)
