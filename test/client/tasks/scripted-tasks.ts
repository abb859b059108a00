/** A server that says about its task what a test wants it to say, in both forms, and a client of it in fake time. */

import { onTestFinished } from 'vitest'
import { Client, type ConnectOptions } from '../../../src/client/index.ts'
import { type FakeClock, fakeClock } from '../../../src/testing/index.ts'
import type { Message } from '../../support/raw-channel.ts'
import { type Behaviour, cannedServer, type Script } from '../../support/scripted-server.ts'

export type Form = '2025-11-25' | '2026-07-28'
export const FORMS: readonly Form[] = ['2025-11-25', '2026-07-28']

export const DONE = { content: [{ type: 'text', text: 'done' }] }

/** A task in a form: the two differ in the names of two members. */
export function taskIn(form: Form, more: Message = {}): Message {
  const { ttlMs = 60_000, pollIntervalMs = 1000, ...rest } = more
  const times = { createdAt: '2026-01-01T00:00:00.000Z', lastUpdatedAt: '2026-01-01T00:00:00.000Z' }
  const named = form === '2025-11-25' ? { ttl: ttlMs, pollInterval: pollIntervalMs } : { ttlMs, pollIntervalMs }
  return { taskId: 't1', status: 'working', ...times, ...named, ...rest }
}

/** The answer to a call that creates a task. */
export const created = (form: Form, more: Message = {}): Message =>
  form === '2025-11-25' ? { task: taskIn(form, more) } : { resultType: 'task', ...taskIn(form, more) }

export interface Scripted {
  script: Script
  client: Client
  clock: FakeClock
  /** The params of all requests with this method. */
  sent(method: string): Message[]
}

/** A server whose tool `x` runs as a task. By default the task works and never ends. */
export async function scripted(form: Form, results: Behaviour['results'] = {}, options: ConnectOptions = {}): Promise<Scripted> {
  const isRequested = form === '2025-11-25'
  const script = cannedServer({
    revision: form,
    capabilities: {
      tools: {},
      ...(isRequested
        ? { tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } } }
        : { extensions: { 'io.modelcontextprotocol/tasks': {} } }),
    },
    results: {
      'tools/list': { tools: [{ name: 'x', inputSchema: { type: 'object' }, execution: { taskSupport: 'required' } }] },
      'tools/call': created(form),
      'tasks/get': taskIn(form),
      'tasks/cancel': isRequested ? taskIn(form, { status: 'cancelled' }) : {},
      'tasks/result': () => undefined,
      'tasks/update': {},
      ...results,
    },
  })
  const clock = fakeClock()
  const client = await Client.connect(script.target, { clock, pingIntervalMs: 0, ...options })
  onTestFinished(() => client.close())
  const sent = (method: string): Message[] => script.received.filter((message) => message.method === method).map(({ params }) => params)
  return { script, client, clock, sent }
}

/** Lets the fake time pass, with turns of the real event loop in between, in which code may be loaded. */
export async function pass({ clock }: Pick<Scripted, 'clock'>, ms: number, step = ms / 10): Promise<void> {
  for (let passed = 0; passed < ms; passed += step) {
    await new Promise((resolve) => setTimeout(resolve, 0))
    await clock.advance(Math.min(step, ms - passed))
  }
  await new Promise((resolve) => setTimeout(resolve, 0))
}
