/** Our client, connected to a server of somebody else, with everything it heard. */

import type { Answers, FormRequest, UrlRequest } from '../../src/client/answer-server.ts'
import type { Client } from '../../src/client/client.ts'
import { verdictMemory } from '../../src/client/dialect-memory.ts'
import { connect } from '../../src/index.ts'
import type { ContentBlock } from '../../src/protocol/model/content.ts'
import type { LogMessage } from '../../src/protocol/model/logging.ts'
import { Inbox } from './inbox.ts'

type Question =
  | { kind: 'form'; request: FormRequest }
  | { kind: 'page'; request: UrlRequest }
  | { kind: 'model'; request: object }
  | { kind: 'root' }

/** How questions of the server are answered; a test puts in what it needs. */
export interface Person {
  elicit: NonNullable<Answers['elicit']>
  elicitUrl: NonNullable<Answers['elicitUrl']>
}

export interface Connected {
  client: Client
  person: Person
  asked: Inbox<Question>
  logs: Inbox<LogMessage>
  warnings: string[]
  stderr: Inbox<string>
}

export interface ServerProcess {
  args: readonly string[]
  env?: Record<string, string>
  shutdownMs?: number
}

export interface OurClientOptions {
  /** The one revision to speak; all unless given. */
  revision?: string
  roots?: readonly string[]
  /** What not to offer to the server. */
  without?: readonly (keyof Answers)[]
}

/** @param server a process to start, or where one listens */
export async function connectOurClient(server: ServerProcess | { url: string }, options: OurClientOptions = {}): Promise<Connected> {
  const person = newPerson()
  const asked: Connected['asked'] = new Inbox()
  const logs: Connected['logs'] = new Inbox()
  const warnings: string[] = []
  const stderr: Connected['stderr'] = new Inbox()
  const answer: Answers = {
    elicit: (request, asking) => {
      asked.push({ kind: 'form', request })
      return person.elicit(request, asking)
    },
    elicitUrl: (request, asking) => {
      asked.push({ kind: 'page', request })
      return person.elicitUrl(request, asking)
    },
    sample: (request) => {
      asked.push({ kind: 'model', request })
      return { role: 'assistant', model: 'test-model', content: { type: 'text', text: 'The model answers' } }
    },
    roots: () => {
      asked.push({ kind: 'root' })
      return options.roots ?? ['file:///project/one']
    },
  }
  for (const kind of options.without ?? []) delete answer[kind]
  const client = await connect('url' in server ? server.url : { command: process.execPath, ...server, onStderr: stderr.push }, {
    info: { name: 'interop', version: '1.0.0', title: 'Interoperation tests' },
    answer,
    ...(options.revision === undefined ? {} : { revisions: [options.revision] }),
    // What an earlier test found out about the same command must not spare this one the finding out.
    memory: verdictMemory(),
    onLog: logs.push,
    onWarning: (message) => warnings.push(message),
  })
  return { client, person, asked, logs, warnings, stderr }
}

export const newPerson = (): Person => ({ elicit: () => ({ action: 'decline' }), elicitUrl: () => ({ action: 'decline' }) })

/** What a tool returned. */
export async function contentOf(client: Client, name: string, args: Record<string, unknown> = {}): Promise<ContentBlock[]> {
  return (await client.call(name, args)).content as ContentBlock[]
}

/** The text of a tool's first block. */
export async function textOf(client: Client, name: string, args: Record<string, unknown> = {}): Promise<string> {
  const [block] = await contentOf(client, name, args)
  return block?.type === 'text' ? block.text : JSON.stringify(block)
}

/** Does what changes a list, and waits until our client has heard of the change. */
export async function changeOf<T>(client: Client, kind: 'tools' | 'prompts' | 'resources', cause: () => Promise<T>): Promise<T> {
  const heard = new Inbox<void>()
  const stop = await client.onChange(kind, heard.push)
  const told = heard.next()
  const result = await cause()
  await told
  stop()
  return result
}
