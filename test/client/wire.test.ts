/**
 * Transcripts of the client, one file a revision and feature. A line with ! is what the program does. A line with < is what the server
 * says: "$tasks/get" is the id of the newest request with that method, which the server waits for. A line with > is what the client
 * sends, and one with = is what the program gets. `UPDATE_WIRE=1 npx vitest run test/client/wire.test.ts` writes > and = anew.
 */

import { fileURLToPath } from 'node:url'
import { expect } from 'vitest'
import { Client } from '../../src/client/index.ts'
// Loaded before the clock runs: a client loads it with its first task.
import '../../src/client/tasks/task-calls.ts'
import { type FakeClock, fakeClock } from '../../src/testing/index.ts'
import { Judge } from '../support/published-schemas.ts'
import type { Message } from '../support/raw-channel.ts'
import { type Script, scriptedServer } from '../support/scripted-server.ts'
import { testTranscripts } from '../support/transcripts.ts'

testTranscripts(fileURLToPath(new URL('./wire/', import.meta.url)), play)

async function play(lines: readonly string[], revision: string): Promise<string[]> {
  const written = lines.filter((line) => line.startsWith('#'))
  const clock = fakeClock()
  const answered = new Set<unknown>()
  const judge = new Judge(revision)
  // The published schemas do not know extensions.
  const isJudged = !lines.some((line) => line.startsWith('# extension'))
  const script = scriptedServer((message) => {
    const json = JSON.stringify(message)
    if (isJudged) judge.judge({ from: 'client', json })
    written.push(`> ${json}`)
  })
  const program = new Program(script, clock, revision, (got) => written.push(`= ${JSON.stringify(got)}`))
  for (const line of lines) {
    if (line.startsWith('! ')) {
      written.push(line)
      program.act(JSON.parse(line.slice(2)))
      await turns(clock, 0)
    } else if (line.startsWith('< ')) {
      const method = /"(?:id|io.modelcontextprotocol\/subscriptionId)":"\$([\w/]+)"/.exec(line)?.[1]
      const request = method === undefined ? undefined : await requestIn(script, clock, method, answered)
      // A notification of a subscription leaves its request open.
      if (line.includes('"id":"$')) answered.add(request?.id)
      written.push(line)
      const json = method === undefined ? line.slice(2) : line.slice(2).replace(`"$${method}"`, JSON.stringify(request?.id))
      judge.follow({ from: 'server', json })
      script.send(json)
      await turns(clock, 0)
    }
  }
  await program.close()
  expect(judge.faults.join('\n')).toBe('')
  return written
}

/** Waits for a request that has no answer yet. Time passes until the client sends it. */
async function requestIn(script: Script, clock: FakeClock, method: string, answered: ReadonlySet<unknown>): Promise<Message> {
  for (let attempt = 0; attempt < 1000; attempt++) {
    const open = script.received.findLast((message) => message.method === method && !answered.has(message.id))
    if (open) return open
    await turns(clock, 50)
  }
  throw new Error(`The client did not send ${method}; it sent ${script.received.map((message) => message.method).join(', ')}`)
}

/** Several turns of the real event loop, for all that follows from a message. */
async function turns(clock: FakeClock, ms: number): Promise<void> {
  await clock.advance(ms)
  for (let i = 0; i < 5; i++) await new Promise((resolve) => setTimeout(resolve, 1))
}

/** A program with one client. Tasks are known by the order in which they were begun. */
class Program {
  readonly #tell: (got: unknown) => void
  readonly #connected: Promise<Client>
  readonly #stop = new AbortController()
  #task: Awaited<ReturnType<Client['callTask']>> | undefined

  constructor(script: Script, clock: FakeClock, revision: string, tell: (got: unknown) => void) {
    this.#tell = tell
    this.#connected = Client.connect(script.target, {
      clock,
      pingIntervalMs: 0,
      info: { name: 'transcript', version: '1' },
      revisions: [revision],
      answer: { elicit: () => ({ action: 'accept', content: { sure: true } }) },
    })
    this.#connected.catch(() => {})
  }

  act({ does, tool = '', task = '' }: { does: string; tool?: string; task?: string }): void {
    this.#run(does, tool, task).then(
      (got) => got !== undefined && this.#tell(got),
      (error: { name: string; code?: unknown; message: string }) =>
        this.#tell({ error: error instanceof DOMException ? error.name : error.code, message: error.message }),
    )
  }

  async #run(does: string, tool: string, task: string): Promise<unknown> {
    const client = await this.#connected
    const { signal } = this.#stop
    switch (does) {
      case 'call':
        return (await client.call(tool, {}, { signal })).content
      case 'start':
        this.#task = await client.callTask(tool)
        return this.#task.id
      case 'resume':
        this.#task = await client.resumeTask(task)
        return (await this.#task.result()).content
      case 'result':
        return (await this.#task?.result())?.content
      case 'cancel':
        return this.#task?.cancel()
      case 'abort':
        return this.#stop.abort()
      case 'list':
        return (await client.tasks().all()).map(({ id, status }) => [id, status])
      default:
        throw new Error(`The program cannot ${does}`)
    }
  }

  async close(): Promise<void> {
    await (await this.#connected).close()
  }
}
