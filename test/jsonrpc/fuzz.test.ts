import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isId } from '../../src/jsonrpc/message.ts'
import { createServer } from '../../src/server/index.ts'
import { counted, proofRuns } from '../support/proof.ts'
import { proves } from '../support/proves.ts'
import { type Message, rawChannel } from '../support/raw-channel.ts'

const BUDGET = { numRuns: proofRuns(1500), interruptAfterTimeLimit: proofRuns(3000), markInterruptAsFailure: false }

const server = createServer({ name: 'victim', version: '1', limits: { toolCalls: false }, onError: () => {} })
server.tool('echo', { input: { type: 'object' } }, (args) => JSON.stringify(args))
server.tool('later', { input: { type: 'object' } }, async () => 'later')
server.tool('broken', { input: { type: 'object' } }, () => {
  throw new Error('boom')
})
server.resource('file:///a', { name: 'a' }, () => 'text')

const METHODS = ['ping', 'tools/list', 'tools/call', 'resources/list', 'resources/read', 'prompts/list', 'logging/setLevel', 'initialize']
const NOTICES = ['notifications/cancelled', 'notifications/progress', 'notifications/initialized', 'notifications/roots/list_changed']

const anyJson = fc.jsonValue({ maxDepth: 3 })
const mostly = <T>(usual: fc.Arbitrary<T>): fc.Arbitrary<unknown> =>
  fc.oneof({ weight: 5, arbitrary: usual }, { weight: 1, arbitrary: anyJson })
const method = mostly(fc.oneof(fc.constantFrom(...METHODS, ...NOTICES), fc.string()))
const id = mostly(fc.oneof(fc.integer(), fc.string({ unit: 'binary' })))
const params = mostly(
  fc.record(
    {
      name: mostly(fc.constantFrom('echo', 'later', 'broken')),
      arguments: mostly(fc.dictionary(fc.string(), anyJson)),
      uri: mostly(fc.constant('file:///a')),
      level: mostly(fc.constant('info')),
      _meta: anyJson,
      requestId: anyJson,
      progressToken: anyJson,
    },
    { requiredKeys: [] },
  ),
)
const message = fc.record(
  { jsonrpc: mostly(fc.constant('2.0')), id, method, params, result: anyJson, error: anyJson, extra: anyJson },
  { requiredKeys: ['jsonrpc'] },
)

/** Sends one text on a new session and returns what it gave rise to; the session must survive it. */
async function provoke(text: string): Promise<Message[]> {
  const raw = rawChannel(server)
  await raw.initialize('2025-06-18')
  raw.out.length = 0
  raw.send(text)
  await new Promise((resolve) => setImmediate(resolve))
  const out = [...raw.out]
  expect(await raw.ask('ping', undefined, 'still there?')).toMatchObject({ result: {} })
  raw.channel.close('the run is over')
  counted({ 'messages after which the session goes on': 1 })
  return out.filter(({ id: answered }) => answered !== 'still there?')
}

test('any message with a usable id gets one answer, and a notification gets none', async () => {
  proves('T-BASE-028')
  await fc.assert(
    fc.asyncProperty(message, async (made) => {
      const text = JSON.stringify(made)
      const sent = JSON.parse(text) as Message
      const out = await provoke(text)
      const answers = out.filter((each) => each.method === undefined)
      if ('method' in sent) {
        if ('id' in sent) expect(answers.map((each) => each.id)).toEqual([isId(sent.id) ? sent.id : null])
        else expect(answers.length).toBeLessThanOrEqual(typeof sent.method === 'string' ? 0 : 1)
      } else expect(answers).toHaveLength('result' in sent || 'error' in sent ? 0 : 1)
    }),
    BUDGET,
  )
})

test('a message with parts removed, repeated or inserted never throws and gets at most one answer', async () => {
  const mutation = fc.record({
    at: fc.nat(),
    length: fc.nat(20),
    act: fc.constantFrom('cut', 'double', 'insert'),
    text: fc.oneof(
      fc.string({ unit: 'binary', maxLength: 5 }),
      fc.constantFrom('"', '\\', '{', '}', '[', ']', ',', '\\u005f', '"id":1,', '"__proto__":'),
    ),
  })
  const mutate = (text: string, { at, length, act, text: added }: { at: number; length: number; act: string; text: string }): string => {
    const from = at % (text.length + 1)
    const part = text.slice(from, from + length)
    const middle = act === 'cut' ? '' : act === 'double' ? part + part : added + part
    return text.slice(0, from) + middle + text.slice(from + length)
  }
  await fc.assert(
    fc.asyncProperty(message, fc.array(mutation, { minLength: 1, maxLength: 4 }), async (sent, mutations) => {
      const out = await provoke(mutations.reduce(mutate, JSON.stringify(sent)))
      expect(out.filter((each) => each.method === undefined).length).toBeLessThanOrEqual(1)
    }),
    BUDGET,
  )
})
