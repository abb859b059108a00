/** Tasks of a host whose process is killed, with servers in processes of their own. */

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import type { Host } from '../../../src/host/index.ts'
import { verifyAudit } from '../../../src/host/index.ts'
import { STORAGE_PATHS } from '../../../src/host/setup/open-storage.ts'
import { bundled } from '../../support/bundled.ts'
import { temporaryFolders } from '../../support/folders.ts'
import { hosts, type Person, person, textOf, until } from '../hosts.ts'

const { host: newHost } = hosts()
const temporaryFolder = temporaryFolders()
let hostProgram: string
let serverProgram: string

beforeAll(async () => {
  hostProgram = await bundled(new URL('host-process.ts', import.meta.url), temporaryFolder())
  serverProgram = await bundled(new URL('job-server.ts', import.meta.url), temporaryFolder())
}, 120_000)

interface Place {
  folder: string
  log: string
  go: string
  /** Not arguments: the host would look at their contents. */
  env: Record<string, string>
}

function newPlace(): Place {
  const [folder, store, others] = [temporaryFolder(), temporaryFolder(), temporaryFolder()]
  const [log, go] = [join(others, 'log'), join(others, 'go')]
  writeFileSync(log, '')
  return { folder, log, go, env: { FOLDER: store, LOG: log, GO: go } }
}

async function startHost({ folder, env }: Place, tool: string): Promise<{ child: ChildProcess; id: string }> {
  const child = spawn(process.execPath, [hostProgram, folder, serverProgram, JSON.stringify(env), tool], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let said = ''
  child.stdout?.on('data', (data: Buffer) => {
    said += String(data)
  })
  await until(() => said.includes('\n'), 30_000)
  return { child, id: (JSON.parse(said) as { id: string }).id }
}

async function kill(child: ChildProcess): Promise<void> {
  const ended = once(child, 'close')
  child.kill('SIGKILL')
  await ended
}

const nextHost = ({ folder, env }: Place, ask: Person): Promise<Host> =>
  newHost({
    folder,
    project: folder,
    servers: {
      jobs: {
        tier: 'trusted',
        provenance: [],
        transport: { type: 'stdio', command: process.execPath, args: [serverProgram], env },
      },
    },
    ask,
  })

test('after a kill the next host goes on with the task of a server that stores it', async () => {
  const place = newPlace()
  const { child, id } = await startHost(place, 'build')
  await until(() => existsSync(`${place.log}.stored`))
  await kill(child)
  const asker = person()
  const host = await nextHost(place, asker)
  const task = await host.task(id)
  expect(task.state).toMatchObject({ tool: 'build', status: 'working' })
  await until(() => task.state.followed === 'here')
  writeFileSync(place.go, '')
  expect(textOf(await task.result())).toBe('built')
  // The step of the first process is not repeated, and the person is not asked again.
  expect(readFileSync(place.log, 'utf8')).toBe('begun\nbuilt\n')
  expect(asker.asked).toEqual([])
  await host.close()
  expect(await verifyAudit(join(place.folder, STORAGE_PATHS.audit))).toMatchObject({ ok: true })
}, 120_000)

test('after a kill the question of a task is asked again, and names the task', async () => {
  const place = newPlace()
  const { child, id } = await startHost(place, 'ask')
  await kill(child)
  const asker = person(() => ({ kind: 'allow', scope: 'once', edited: { go: true } }))
  const host = await nextHost(place, asker)
  expect(textOf(await (await host.task(id)).result())).toBe('answer true')
  expect(asker.asked.map(({ task }) => task)).toEqual([{ id, tool: 'ask' }])
}, 120_000)

test('a task that the server could not go on with has failed with the reason of the server', async () => {
  const place = newPlace()
  const { child, id } = await startHost(place, 'fragile')
  await kill(child)
  const host = await nextHost(place, person())
  await expect((await host.task(id)).result()).rejects.toThrow('The server stopped while the task was running')
}, 120_000)

test('a restart of the server alone does not end a task that it stores', async () => {
  const place = newPlace()
  const host = await nextHost(place, person())
  const task = await host.callTask({ server: 'jobs', name: 'build' }, {}, { as: 'person' })
  await until(() => existsSync(`${place.log}.stored`))
  const { pid } = host.connection('jobs') ?? {}
  process.kill(pid as number, 'SIGKILL')
  await until(() => host.connection('jobs')?.pid !== pid)
  await host.retry('jobs')
  writeFileSync(place.go, '')
  expect(textOf(await task.result())).toBe('built')
  expect(readFileSync(place.log, 'utf8')).toBe('begun\nbuilt\n')
}, 120_000)
