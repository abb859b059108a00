/** What tests of whole hosts share: hosts that end with their test, people who are functions, models that only listen. */

import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { onTestFinished } from 'vitest'
import { createHost, describeQuestion, type Host, type HostEvent, type HostOptions, questionText } from '../../src/host/index.ts'
import type { Model, ModelPart, ModelRequest } from '../../src/host/language-models/language-model.ts'
import type { Answer, Asker, Question, Subject } from '../../src/host/model/question.ts'
import type { ServerSpec } from '../../src/host/model/server-spec.ts'
import { isService } from '../../src/protocol/interfaces/service.ts'
import type { CallToolResult } from '../../src/protocol/model/tools.ts'
import { temporaryFolders } from '../support/folders.ts'

export const YES: Answer = { kind: 'allow', scope: 'once' }
export const NO: Answer = { kind: 'deny' }

export interface Person extends Asker {
  asked: Question[]
  /** The subjects of one kind, as they were asked about. */
  saw<K extends Subject['kind']>(kind: K): Extract<Subject, { kind: K }>[]
  /** Everything that was asked, as people read it. */
  read(): string
}

type Said = Answer | undefined | Promise<Answer | undefined>

/** Says yes once to everything, unless told otherwise. */
export function person(answer: (question: Question, signal: AbortSignal) => Said = () => undefined): Person {
  const asked: Question[] = []
  return {
    asked,
    ask: async (question, signal) => {
      asked.push(question)
      return (await answer(question, signal)) ?? YES
    },
    saw: (kind) => asked.flatMap(({ subject }) => (subject.kind === kind ? [subject as never] : [])),
    read: () => asked.map((question) => questionText(describeQuestion(question))).join('\n\n'),
  }
}

/** Says no to questions about these, and yes once to the others. */
export const refusing = (...kinds: Subject['kind'][]): Person => person(({ subject }) => (kinds.includes(subject.kind) ? NO : undefined))

export const textOf = (result: CallToolResult): string => result.content.map((block) => (block.type === 'text' ? block.text : '')).join('')

export interface TestHosts {
  folder(): string
  /** Has settled, with all servers in use that the person agrees to, and is closed after the test. */
  host(options: HostOptions): Promise<Host & { events: HostEvent[] }>
}

export function hosts(): TestHosts {
  const folder = temporaryFolders()
  return {
    folder,
    host: async (options) => {
      const events: HostEvent[] = []
      const host = await createHost({
        folder: folder(),
        keychain: false,
        onEvent: (event) => events.push(event),
        ...options,
        ...(options.servers && { servers: strangers(options.servers) }),
      })
      onTestFinished(() => host.close())
      await host.settled()
      await useAll(host)
      return Object.assign(host, { events })
    },
  }
}

/** The first use of each server, which asks about its start. */
export async function useAll(host: Host): Promise<void> {
  const waiting = Object.entries(host.health()).filter(([, { state }]) => state === 'not-enabled')
  await Promise.allSettled(waiting.map(([id]) => host.enable(id)))
  await host.settled()
}

/** Servers in this process stand for servers of others here, so they are not trusted unless a test says so. */
const strangers = (servers: NonNullable<HostOptions['servers']>): NonNullable<HostOptions['servers']> =>
  Object.fromEntries(
    Object.entries(servers).map(([id, given]) => [
      id,
      typeof given === 'object' && isService(given)
        ? { tier: 'untrusted', provenance: [], transport: { type: 'memory', service: given } }
        : given,
    ]),
  )

/** A model that says these parts, one list an answer, and keeps what it was asked. */
export interface Spy extends Model {
  asked: ModelRequest[]
}

export function spy(...answers: ModelPart[][]): Spy {
  const asked: ModelRequest[] = []
  return {
    id: 'spy',
    label: 'a spy',
    asked,
    async *stream(request) {
      asked.push(structuredClone(request))
      const parts = answers.shift() ?? []
      yield* parts
      const isCalling = parts.some(({ type }) => type === 'tool-call')
      yield { type: 'end', reason: isCalling ? 'toolUse' : 'endTurn', usage: { inputTokens: 1, outputTokens: 1 } }
    },
  }
}

let calls = 0
export const says = (text: string): ModelPart => ({ type: 'text', text })
export const calling = (name: string, args: Record<string, unknown> = {}): ModelPart => ({
  type: 'tool-call',
  id: `call-${++calls}`,
  name,
  args,
})

/** All that comes of one message to the model. */
export async function chat(host: Host, said: Parameters<Host['chat']>[0], options: Parameters<Host['chat']>[1] = {}) {
  const parts = []
  for await (const part of host.chat(said, options)) parts.push(part)
  return parts
}

export { until } from '../support/until.ts'

/** A server of a few lines of the built package, as a process. */
export function script(folder: string, lines: string, name = 'server.mjs'): string {
  const file = join(folder, name)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, scriptText(lines))
  return file
}

const PACKAGE = new URL('../../dist/', import.meta.url)

export const scriptText = (lines: string): string => `
import { createServer, McpError } from ${JSON.stringify(new URL('server/index.js', PACKAGE).href)}
import { serveStdio } from ${JSON.stringify(new URL('stdio/index.js', PACKAGE).href)}
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
const object = { type: 'object' }
${lines}
`

/** As a process of this node, with the tier and all that a configuration may say. */
export const started = (file: string, spec: Partial<ServerSpec> = {}, args: readonly string[] = []): Omit<ServerSpec, 'id'> => ({
  tier: 'untrusted',
  provenance: [],
  transport: { type: 'stdio', command: process.execPath, args: [file, ...args], env: {} },
  ...spec,
})
