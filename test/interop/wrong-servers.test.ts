/**
 * Servers with one mistake each, over standard streams and over HTTP: what can be understood works, and what cannot fails
 * at once. The limits are those of a user, far beyond what a test may take: a call that waits for them fails its test.
 */

import { fileURLToPath } from 'node:url'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { Client } from '../../src/client/client.ts'
import { verdictMemory } from '../../src/client/dialect-memory.ts'
import { connect } from '../../src/index.ts'
import { startListening } from '../support/listening-process.ts'
import { proves } from '../support/proves.ts'
import { sdkServer } from './sdk-server.ts'

const FIXTURE = fileURLToPath(new URL('fixtures/wrong-server.mjs', import.meta.url))

type Over = 'stdio' | 'json' | 'sse'
const EVERYWHERE: readonly Over[] = ['stdio', 'json', 'sse']

interface Expected {
  /** The revision agreed on, or the code of the error. */
  connects?: string
  /** The names listed, or the code of the error. */
  lists?: string[] | string
  /** Part of the result of a call, or the code of the error. */
  calls?: object | string
  warns?: string
  over?: readonly Over[]
}

const SAID = { content: [{ type: 'text', text: 'said' }] }
const INVALID = 'ERR_ANSWER_INVALID'
const stdio: readonly Over[] = ['stdio']

/** What is not said here is right: a session of the newest revision that has one, one tool, and its result. */
const ROWS: [mistake: string, expected: Expected][] = [
  ['none', {}],
  ['probe: the code of the error is text', {}],
  ['probe: an error without a message', {}],
  ['probe: an error that is text', {}],
  ['probe: an error beside a result of null', {}],
  ['probe: an error and a result', {}],
  ['probe: a version error without versions', {}],
  ['probe: a version error with versions that are none', {}],
  ['probe: a result that is text', {}],
  ['probe: an empty result', {}],
  ['probe: a result of an unknown type', {}],
  ['probe: an answer in an array', {}],
  ['probe: an answer without jsonrpc', {}],
  ['probe: an answer without anything', {}],
  ['probe: no JSON', {}],
  ['probe: an unknown type, and no handshake', { connects: INVALID }],
  ['probe: the server exits', { over: stdio }],
  ['probe: the server counts it as the handshake', { over: stdio }],
  ['probe: the server is slow and speaks both ways', { over: stdio }],
  ['the version of a draft', { connects: '2024-11-05' }],
  ['a version of the future', { connects: 'ERR_VERSION_UNSUPPORTED' }],
  ['no capability, but tools', { calls: 'ERR_CAPABILITY_MISSING' }],
  ['ids as text', {}],
  ['null for the member that is not there', {}],
  ['answers in arrays', { connects: INVALID }],
  ['answers without jsonrpc', { connects: INVALID }],
  ['answers with two ids', { connects: INVALID }],
  ['members that do not belong there', {}],
  ['list: in an array', { lists: INVALID }],
  ['list: the id twice', { lists: INVALID }],
  ['list: nothing but the id', { lists: INVALID }],
  ['list: null', { lists: INVALID }],
  ['list: an error of null', { lists: INVALID }],
  ['list: not a number', { lists: INVALID }],
  ['list: a key that reaches a prototype', { lists: INVALID }],
  ['list: an empty cursor', { warns: 'returned the cursor "" that it was called with' }],
  ['list: a cursor of null', {}],
  ['list: a schema 40 levels deep', {}],
  ['list: 12,000 tools', { lists: 'ERR_LIMIT' }],
  ['list: a result of an unknown type', { connects: '2026-07-28', lists: INVALID }],
  ['list: a question', { connects: '2026-07-28', lists: INVALID }],
  ['call: no content', { calls: { content: [] } }],
  ['call: structured content only', { calls: { content: [], structuredContent: { n: 1 } } }],
  ['call: the member of a draft', { calls: { content: [], toolResult: 5 } }],
  ['call: content that is text', { calls: INVALID }],
  [
    'call: bytes that are not UTF-8',
    { over: stdio, calls: { content: [{ type: 'text', text: 'caf\ufffd' }] }, warns: 'bytes that are not UTF-8' },
  ],
  ['call: bytes that are not UTF-8', { over: ['json'], calls: INVALID }],
  ['call: an output schema of draft 4', { calls: { structuredContent: { other: 1 } }, warns: 'are not checked: the dialect' }],
  ['call: a result of an unknown type', { connects: '2026-07-28', calls: INVALID }],
  [
    'call: newer members than the version named',
    { connects: '2025-03-26', calls: { ...SAID, structuredContent: { n: 1 }, _meta: { ui: 'ui://page' } } },
  ],
]

/** A probe that goes wrong does so in the same way whatever the body of the answer. */
const waysOf = (mistake: string): readonly Over[] => (mistake.startsWith('probe: ') ? ['stdio', 'json'] : EVERYWHERE)

const cases = ROWS.flatMap(([mistake, expected]) => (expected.over ?? waysOf(mistake)).map((over) => ({ mistake, over, expected })))

async function reach(mistake: string, over: Over): Promise<Parameters<typeof connect>[0]> {
  if (over === 'stdio') return { command: process.execPath, args: [FIXTURE, mistake], shutdownMs: 500 }
  const listening = await startListening([FIXTURE, mistake, over])
  onTestFinished(async () => void (await listening.stop()))
  return listening.url
}

/** What came of it: the value, or the code of the error. */
const outcome = (promise: Promise<unknown>): Promise<unknown> =>
  promise.catch((error: Error & { code?: unknown }) => error.code ?? `${error.name}: ${error.message}`)

describe('a server whose mistake is', () => {
  test.each(cases)('$mistake, over $over', async ({ mistake, over, expected }) => {
    const warnings: string[] = []
    // It takes much longer to start than this, so that both questions wait in its input.
    const limits = mistake.includes('slow') ? { probeTimeoutMs: 300 } : {}
    const opened = await outcome(
      connect(await reach(mistake, over), { memory: verdictMemory(), limits, onWarning: (message) => warnings.push(message) }),
    )
    const { connects = '2025-11-25', lists = ['echo'], calls = SAID, warns } = expected
    if (typeof opened === 'string') return expect(opened).toBe(connects)
    const client = opened as Client
    onTestFinished(() => client.close())
    expect(client.revision).toBe(connects)
    const listed = await outcome(
      client
        .tools()
        .all()
        .then((tools) => tools.map(({ name }) => name)),
    )
    expect(listed).toEqual(lists)
    if (typeof lists !== 'string')
      expect(await outcome(client.call('echo'))).toEqual(typeof calls === 'string' ? calls : expect.objectContaining(calls))
    await client.ping()
    if (warns === undefined) expect(warnings.filter((warning) => !warning.startsWith('Ignored'))).toEqual([])
    else
      expect(
        warnings.some((warning) => warning.includes(warns)),
        warnings.join('\n'),
      ).toBe(true)
    expect(client.isClosed).toBe(false)
  })
})

describe('the official server of both eras, when it is slow to start', () => {
  const server = { command: process.execPath, args: [...sdkServer('v2').args] }

  // It cannot have started by then, so that it finds both the probe and the handshake in its input.
  test.each([1, 20, 50])(
    'the official server, when slow to start, is spoken to in its own dialect, with a probe of %i ms',
    async (probeTimeoutMs) => {
      proves('R-DISC-021')
      const asked: string[] = []
      const client = await connect(server, {
        memory: verdictMemory(),
        limits: { probeTimeoutMs },
        answer: {
          elicit: ({ message }) => {
            asked.push(message)
            return { action: 'decline' }
          },
        },
      })
      onTestFinished(() => client.close())
      await client.ping()
      const stop = await client.onChange('tools', () => {})
      stop()
      await client.call('ask_form')
      expect(asked).toHaveLength(1)
    },
  )

  test('the official server, when slow to start, is spoken to in its newest revision when that is known', async () => {
    const memory = verdictMemory()
    const first = await connect(server, { memory, limits: { probeTimeoutMs: 30_000 } })
    expect(first.revision).toBe('2026-07-28')
    await first.close()
    const second = await connect(server, { memory, limits: { probeTimeoutMs: 1 } })
    onTestFinished(() => second.close())
    expect(second.revision).toBe('2026-07-28')
    await second.ping()
  })
})
