/** A server with tools that run as tasks, and raw requests about them in both forms. */

import { z } from 'zod'
import { createServer, type Server, type ServerOptions } from '../../src/server/index.ts'
import { type TaskOptions, tasks } from '../../src/tasks/index.ts'
import { type Gate, gate } from '../support/http-service.ts'
import { envelope, type Message, type RawChannel, rawChannel } from '../support/raw-channel.ts'

export const EXTENSION = 'io.modelcontextprotocol/tasks'

/** The capabilities of a client with the extension. */
export const ABLE = { extensions: { [EXTENSION]: {} }, elicitation: {}, sampling: {} }

export interface TaskServer {
  server: Server
  /** The tool `work` returns what this is opened with, or throws it if it is an error. */
  go: Gate<unknown>
  /** The signal of the last call of `work`. */
  signal: () => AbortSignal
  /** Errors that were hidden from clients. */
  errors: unknown[]
}

export function taskServer(options: TaskOptions = {}, serverOptions: Partial<ServerOptions> = {}): TaskServer {
  const errors: unknown[] = []
  const server = createServer({ name: 'tasks', version: '1', onError: (error) => errors.push(error), ...serverOptions })
  server.extend(tasks({ afterMs: 20, ...options }))
  const go = gate<unknown>()
  let signal: AbortSignal | undefined
  const work = async (_args: unknown, ctx: { signal: AbortSignal }): Promise<string> => {
    signal = ctx.signal
    const value = await go.opened
    if (value instanceof Error) throw value
    return value as string
  }
  server.tool('work', { task: 'optional', taskAfterMs: 0 }, work)
  server.tool('slow', { task: 'optional' }, work)
  server.tool('only', { task: 'required' }, work)
  server.tool('plain', {}, () => 'plain')
  server.tool('quick', { task: 'optional' }, () => 'quick')
  server.tool('ask', { task: 'required' }, async (_args, ctx) => {
    const { name } = await ctx.elicit('name', 'Your name?', z.object({ name: z.string() }))
    return `Hello, ${name}`
  })
  return { server, go, signal: () => signal as AbortSignal, errors }
}

/** Requests of a client with the extension. */
export interface ExtensionClient extends RawChannel {
  request(method: string, params?: Message, capabilities?: unknown): Promise<Message>
  call(tool: string, args?: Message, capabilities?: unknown): Promise<Message>
  get(taskId: string): Promise<Message>
  /** Polls until the task has this status. */
  reach(taskId: string, status: string): Promise<Message>
}

export function extensionClient(server: Server, options: { principal?: string } = {}): ExtensionClient {
  const raw = rawChannel(server, options)
  const request = (method: string, params: Message = {}, capabilities: unknown = ABLE): Promise<Message> =>
    raw.ask(method, { ...params, _meta: { ...envelope(capabilities), ...params._meta } })
  const get = async (taskId: string): Promise<Message> => (await request('tasks/get', { taskId })).result
  return Object.assign(raw, {
    request,
    get,
    call: (name: string, args: Message = {}, capabilities: unknown = ABLE) =>
      request('tools/call', { name, arguments: args }, capabilities),
    reach: (taskId: string, status: string) => poll(() => get(taskId), status),
  })
}

/** A session of the revision where clients ask for tasks. */
export interface SessionClient extends RawChannel {
  call(tool: string, task?: Message, more?: Message): Promise<Message>
  get(taskId: string): Promise<Message>
  reach(taskId: string, status: string): Promise<Message>
}

export async function sessionClient(
  server: Server,
  { capabilities = { elicitation: {}, sampling: {} }, revision = '2025-11-25', ...options }: Message = {},
): Promise<SessionClient> {
  const raw = rawChannel(server, { isPrivate: true, ...options })
  await raw.initialize(revision, capabilities)
  const get = async (taskId: string): Promise<Message> => (await raw.ask('tasks/get', { taskId })).result
  return Object.assign(raw, {
    get,
    call: (name: string, task?: Message, more: Message = {}) => raw.ask('tools/call', { name, ...(task && { task }), ...more }),
    reach: (taskId: string, status: string) => poll(() => get(taskId), status),
  })
}

async function poll(get: () => Promise<Message>, status: string): Promise<Message> {
  for (let attempt = 0; attempt < 500; attempt++) {
    const task = await get()
    if (task?.status === status) return task
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  throw new Error(`The task did not become ${status}: ${JSON.stringify(await get())}`)
}
