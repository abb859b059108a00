/** What a client of another SDK can do, in one shape for all of them: the tests of our server are written against it once. */

import { fileURLToPath } from 'node:url'
import { expect } from 'vitest'
import { type ListeningProcess, startListening } from '../support/listening-process.ts'
import type { Inbox } from './inbox.ts'

export interface ToolResult {
  content: { type: string; text?: string; [member: string]: unknown }[]
  structuredContent?: unknown
  isError?: boolean
}

interface TheirCallOptions {
  onprogress?(progress: { progress: number; total?: number; message?: string }): void
  signal?: AbortSignal
  timeout?: number
}

export interface ListedItem {
  name: string
  title?: string
  [member: string]: unknown
}

/** A question of our server as it reached the other SDK's handler. */
interface Asked {
  method: string
  params: Record<string, unknown>
}

/** How the other SDK's handlers answer; a test puts in what it needs. */
export interface Person {
  elicit(params: Record<string, unknown>): ElicitAnswer
  sample(params: Record<string, unknown>): { model: string; role: 'assistant'; content: { type: 'text'; text: string } }
  roots: { uri: string; name?: string }[]
}

// An alias, not an interface: the SDKs want results that may be indexed.
export type ElicitAnswer = { action: 'accept' | 'decline' | 'cancel'; content?: Record<string, string | number | boolean | string[]> }

export interface TheirClient {
  readonly revision: string | undefined
  readonly instructions: string | undefined
  readonly server: { name: string; version: string; title?: string } | undefined
  readonly capabilities: Record<string, unknown> | undefined
  readonly person: Person
  readonly asked: Inbox<Asked>
  readonly logs: Inbox<{ level: string; logger?: string; data?: unknown }>
  readonly updates: Inbox<{ uri: string }>
  /** Lists that were read again because our server said they changed. */
  readonly refreshed: Inbox<{ kind: 'tools' | 'prompts' | 'resources'; names: string[] }>
  /** Ids of pages our server said are done. */
  readonly completed: Inbox<string>
  /** What the SDK found wrong with what our server sent. */
  readonly errors: Error[]
  listTools(): Promise<ListedItem[]>
  listResources(): Promise<ListedItem[]>
  listResourceTemplates(): Promise<ListedItem[]>
  listPrompts(): Promise<ListedItem[]>
  /** One page, as our server sent it. */
  page(method: PagedMethod, cursor?: string): Promise<{ items: ListedItem[]; nextCursor?: string }>
  call(name: string, args?: Record<string, unknown>, options?: TheirCallOptions): Promise<ToolResult>
  read(uri: string): Promise<Record<string, unknown>[]>
  prompt(name: string, args?: Record<string, string>): Promise<{ role: string; content: { type: string; [member: string]: unknown } }[]>
  complete(
    ref: { type: 'ref/prompt'; name: string } | { type: 'ref/resource'; uri: string },
    argument: { name: string; value: string },
  ): Promise<string[]>
  /** Resolves with what ends the subscription. */
  subscribe(uri: string): Promise<() => Promise<void>>
  /** Calls a tool while log messages from `level` on are wanted. */
  callLogged(level: string, name: string): Promise<ToolResult>
  /** A sign of life: ping, or what has taken its place. */
  ping(): Promise<unknown>
  setRoots(roots: Person['roots']): Promise<void>
  /** Ends the connection as this client does, and fails if something of it is left on our side. */
  leave(): Promise<void>
  /** Lets go of everything, also after a failure. */
  close(): Promise<void>
}

/** `sse` is the transport of 2024-11-05, which has an endpoint to listen and another to write to. */
export type Over = 'stdio' | 'http' | 'sse'

export const PAGED = {
  'tools/list': 'tools',
  'resources/list': 'resources',
  'resources/templates/list': 'resourceTemplates',
  'prompts/list': 'prompts',
} as const
export type PagedMethod = keyof typeof PAGED

/** What our fixture server is told. */
export interface OurServerOptions {
  revisions?: string[]
  pageSize?: number
}

const fixture = fileURLToPath(new URL('fixtures/everything.mjs', import.meta.url))

export const ourServer = (options: OurServerOptions = {}): { command: string; args: string[] } => ({
  command: process.execPath,
  args: [fixture, JSON.stringify(options)],
})

/** Starts our server, or several replicas of it. */
export type StartOurServer = (options?: OurServerOptions) => Promise<{ url: string; stop(): Promise<unknown> }>

/** Our server as a process that listens; the two endpoints of the oldest transport are beside the one it names. */
export const startOurServer = (options: OurServerOptions = {}): Promise<ListeningProcess> =>
  startListening([fixture, JSON.stringify({ ...options, http: true })])

export const endpointOf = ({ url }: { url: string }, over: 'http' | 'sse'): URL => new URL(over === 'sse' ? 'sse' : 'mcp', url)

/** Fails if the process is still there. */
export function expectNoProcess(pid: number | null): void {
  expect(pid).toBeGreaterThan(0)
  expect(() => process.kill(pid as number, 0)).toThrow('ESRCH')
}

/** Fails if our server still takes messages at the endpoint: of the session, if it is given. */
export async function expectNoSession(endpoint: URL, sessionId?: string): Promise<void> {
  const headers = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    ...(sessionId === undefined ? {} : { 'mcp-session-id': sessionId }),
  }
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' })
  await expect.poll(async () => (await fetch(endpoint, { method: 'POST', headers, body })).status).toBe(404)
}

export const CLIENT_INFO = { name: 'interop', version: '1.0.0' }

export const newPerson = (): Person => ({
  elicit: () => ({ action: 'decline' }),
  sample: () => ({ model: 'test-model', role: 'assistant', content: { type: 'text', text: 'The model answers' } }),
  roots: [],
})
