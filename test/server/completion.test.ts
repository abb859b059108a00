import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { rank } from '../../src/server/features/completion.ts'
import { createServer } from '../../src/server/index.ts'
import { connectPair, REVISIONS } from '../support/judged-pair.ts'
import { proves } from '../support/proves.ts'
import { envelope, rawChannel } from '../support/raw-channel.ts'

const languages = ['python', 'javascript', 'java', 'typescript', 'objective-java']

const newServer = (options = {}) => {
  const server = createServer({ name: 'completion', version: '1.0.0', onError: () => {}, ...options })
  server.prompt(
    'code',
    {
      input: z.object({ language: z.string(), framework: z.string().optional() }),
      complete: {
        language: () => languages,
        framework: (_value, { arguments: settled }) => (settled.language === 'python' ? ['flask', 'fastapi'] : ['react']),
      },
    },
    () => 'x',
  )
  server.resource('repo://{owner}/{name}', { name: 'repo', complete: { owner: async () => ['alice', 'bob'] } }, () => 'x')
  return server
}
const language = (value: string) => ({ ref: { type: 'ref/prompt' as const, name: 'code' }, argument: { name: 'language', value } })

describe.each(REVISIONS)('completion in %s', (revision) => {
  test('arguments of prompts and templates are completed, best first', async () => {
    proves('T-PROM-010', 'T-RES-020', 'T-COMP-001', 'T-COMP-004', 'T-COMP-005', 'T-COMP-006', 'T-COMP-007', 'T-COMP-008')
    proves('T-COMP-009', 'T-COMP-011', 'T-COMP-013', 'T-COMP-014', 'T-COMP-019', 'T-COMP-020')
    proves('R-COMP-001')
    const { client } = await connectPair(newServer(), { revision })
    expect(await client.complete(language('java'))).toEqual({ values: ['java', 'javascript', 'objective-java'], total: 3, hasMore: false })
    expect(
      await client.complete({ ref: { type: 'ref/resource', uri: 'repo://{owner}/{name}' }, argument: { name: 'owner', value: 'b' } }),
    ).toMatchObject({ values: ['bob'] })
    expect(
      await client.complete({ ref: { type: 'ref/resource', uri: 'repo://{owner}/{name}' }, argument: { name: 'name', value: '' } }),
    ).toEqual({ values: [] })
  })

  test('suggestions get fewer with every typed letter', async () => {
    proves('T-COMP-002')
    const { client } = await connectPair(newServer(), { revision })
    const shown: string[][] = []
    for (const typed of ['', 'j', 'ja', 'java', 'javas']) shown.push((await client.complete(language(typed))).values)
    expect(shown).toEqual([
      languages,
      ['javascript', 'java', 'objective-java'],
      ['javascript', 'java', 'objective-java'],
      ['java', 'javascript', 'objective-java'],
      ['javascript'],
    ])
  })

  test('the capability is declared if the revision has it, and completion works without it too', async () => {
    proves('T-COMP-003', 'T-LIFE-022')
    const { client } = await connectPair(newServer(), { revision })
    expect(client.server.capabilities.completions).toEqual(revision === '2024-11-05' ? undefined : {})
    await expect(client.complete(language('p'))).resolves.toMatchObject({ values: expect.arrayContaining(['python']) })
  })

  test('arguments that are already filled in reach the completer if the revision has a context', async () => {
    proves('T-COMP-010', 'T-VER-017')
    const { client } = await connectPair(newServer(), { revision })
    const params = {
      ref: { type: 'ref/prompt' as const, name: 'code' },
      argument: { name: 'framework', value: '' },
      context: { arguments: { language: 'python' } },
    }
    expect((await client.complete(params)).values).toEqual(revision < '2025-06-18' ? ['react'] : ['flask', 'fastapi'])
  })

  test('wrong names and wrong inputs are -32602, failures -32603', async () => {
    proves('T-COMP-016', 'T-COMP-017', 'T-COMP-018', 'T-COMP-022', 'T-COMP-026')
    const server = newServer()
    server.prompt('fails', { input: z.object({ a: z.string() }), complete: { a: () => Promise.reject(new Error('secret')) } }, () => 'x')
    const { client } = await connectPair(server, { revision, clientIsWrong: true })
    const ask = (ref: unknown, argument: unknown, context?: unknown) =>
      client.request('completion/complete', { ref, argument, ...(context === undefined ? {} : { context }) })
    const prompt = { type: 'ref/prompt', name: 'code' }
    const argument = { name: 'language', value: 'x' }
    await expect(ask({ type: 'ref/prompt', name: 'nope' }, argument)).rejects.toMatchObject({ code: -32602 })
    await expect(ask(prompt, { name: 'nope', value: '' })).rejects.toMatchObject({ code: -32602 })
    await expect(ask({ type: 'ref/resource', uri: 'repo://{owner}/{name}' }, { name: 'nope', value: '' })).rejects.toMatchObject({
      code: -32602,
    })
    await expect(ask({ type: 'ref/resource', uri: 'none:{x}' }, { name: 'x', value: '' })).rejects.toMatchObject({
      message: 'Resource not found',
    })
    await expect(ask({ type: 'ref/prompt', name: 'fails' }, { name: 'a', value: '' })).rejects.toMatchObject({
      code: -32603,
      message: expect.not.stringContaining('secret'),
    })
    if (revision >= '2025-06-18')
      await expect(ask(prompt, argument, { arguments: { language: 5 } })).rejects.toMatchObject({ code: -32602 })
  })
})

test('malformed completion requests are -32602', async () => {
  const raw = rawChannel(newServer())
  await raw.initialize('2025-11-25')
  const prompt = { type: 'ref/prompt', name: 'code' }
  const cases = [
    {},
    { ref: prompt },
    { ref: 5, argument: { name: 'a', value: '' } },
    { ref: { type: 'ref/tool', name: 'x' }, argument: { name: 'a', value: '' } },
    { ref: prompt, argument: { name: 'language' } },
    { ref: prompt, argument: { name: 'language', value: 'x'.repeat(4097) } },
  ]
  for (const params of cases) expect((await raw.ask('completion/complete', params)).error).toMatchObject({ code: -32602 })
})

test('without completers the method does not exist', async () => {
  proves('T-COMP-015')
  const server = createServer({ name: 'x', version: '1' })
  server.prompt('plain', {}, () => 'x')
  const raw = rawChannel(server)
  expect((await raw.initialize('2025-06-18')).result.capabilities).not.toHaveProperty('completions')
  expect((await raw.ask('completion/complete', language('a'))).error.code).toBe(-32601)
})

test('at most 100 values are sent, with the total and a flag that there are more', async () => {
  proves('T-COMP-012')
  const many = Array.from({ length: 250 }, (_, i) => `item-${i}`)
  expect(rank(many.slice(0, 100), 'item')).toMatchObject({ total: 100, hasMore: false })
  expect(rank(many.slice(0, 101), 'item')).toMatchObject({ total: 101, hasMore: true })
  const server = createServer({ name: 'x', version: '1' })
  server.prompt(
    'p',
    { input: z.object({ a: z.string(), b: z.string() }), complete: { a: () => many, b: () => ({ values: many, total: 1000 }) } },
    () => 'x',
  )
  const { client } = await connectPair(server, { revision: '2025-11-25' })
  const complete = (name: string) => client.complete({ ref: { type: 'ref/prompt', name: 'p' }, argument: { name, value: 'item' } })
  expect(await complete('a')).toMatchObject({ total: 250, hasMore: true, values: { length: 100 } })
  expect(await complete('b')).toMatchObject({ total: 1000, hasMore: true, values: { length: 100 } })
})

test.each([
  [99, false],
  [100, false],
  [101, true],
])('a function that returns %i values has at most 100 of them sent', async (count, hasMore) => {
  const values = Array.from({ length: count }, (_, i) => `item-${i}`)
  const server = createServer({ name: 'x', version: '1' })
  server.prompt('p', { input: z.object({ a: z.string() }), complete: { a: () => ({ values }) } }, () => 'x')
  const { client } = await connectPair(server, { revision: '2025-11-25' })
  const found = await client.complete({ ref: { type: 'ref/prompt', name: 'p' }, argument: { name: 'a', value: 'item' } })
  expect(found.values).toEqual(values.slice(0, 100))
  expect(found.hasMore ?? false).toBe(hasMore)
})

test('matches are ranked: equal, prefix, start of a word, inside, letters in order', () => {
  expect(rank(['xbar', 'b-a-r', 'foo bar', 'barn', 'bar', 'zzz', 'bar'], 'bar').values).toEqual(['bar', 'barn', 'foo bar', 'xbar', 'b-a-r'])
  expect(rank(['B', 'a'], '').values).toEqual(['B', 'a'])
  expect(rank(['ABC'], 'abc').values).toEqual(['ABC'])
})

test('completion requests of one caller are limited by default, and the limit is exact', async () => {
  proves('T-COMP-021', 'T-COMP-027')
  const raw = rawChannel(newServer({ limits: { completions: { perSecond: 1, burst: 3 } } }))
  await raw.initialize('2025-11-25')
  const answers = []
  for (let i = 0; i < 4; i++) answers.push(await raw.ask('completion/complete', language('a')))
  expect(answers.map((answer) => answer.error?.code)).toEqual([undefined, undefined, undefined, -32603])
  expect(answers[3]?.error.data).toMatchObject({ reason: 'rate-limited', limit: 'completions', retryAfterMs: expect.any(Number) })
})

test('a completer gets the caller, so that it can hide suggestions from other callers', async () => {
  proves('T-COMP-028', 'T-COMP-029')
  const server = createServer({ name: 'x', version: '1' })
  server.prompt(
    'p',
    {
      input: z.object({ a: z.string() }),
      complete: { a: (_value, { caller }) => (caller.principal === 'alice' ? ['secret project'] : []) },
    },
    () => 'x',
  )
  const valuesFor = async (principal: string) => {
    const raw = rawChannel(server, { principal })
    await raw.initialize('2025-11-25')
    return (await raw.ask('completion/complete', { ref: { type: 'ref/prompt', name: 'p' }, argument: { name: 'a', value: '' } })).result
      .completion.values
  }
  expect(await valuesFor('alice')).toEqual(['secret project'])
  expect(await valuesFor('mallory')).toEqual([])
})

test('a resource reference can be a template or a URI', async () => {
  proves('R-COMP-001', 'R-COMP-002')
  const server = createServer({ name: 'x', version: '1' })
  server.resource('book://{id}', { name: 'book', complete: { id: () => ['moby', 'dracula'] } }, () => 'x')
  server.resource('book://catalog', { name: 'catalog' }, () => 'x')
  const raw = rawChannel(server)
  const ask = (uri: string) => {
    const ref = { type: 'ref/resource', uri }
    return raw.ask('completion/complete', { ref, argument: { name: 'id', value: 'm' }, _meta: envelope() })
  }
  expect((await ask('book://{id}')).result.completion.values).toEqual(['moby'])
  // A URI without variables is known, and has nothing by that name to complete.
  expect((await ask('book://catalog')).error).toMatchObject({ code: -32602, message: '"book://catalog" has no variable "id"' })
  expect((await ask('book://{other}')).error.message).toBe('Resource not found')
})
