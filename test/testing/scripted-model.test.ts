import { describe, expect, test } from 'vitest'
import type { ModelPart, ModelRequest } from '../../src/host/language-models/language-model.ts'
import type { SamplingContent, SamplingMessage } from '../../src/protocol/model/sampling.ts'
import { scriptedModel } from '../../src/testing/scripted-model/model.ts'
import { proves } from '../support/proves.ts'

const object = (properties: Record<string, unknown>, ...required: string[]) => ({ type: 'object', properties, required })
const text = { type: 'string' }

const tools = [
  {
    name: 'notes__list',
    description: 'Lists notes, the last changed first',
    inputSchema: object({ tag: text, limit: { type: 'integer' } }),
  },
  {
    name: 'notes__add',
    description: 'Writes a note down',
    inputSchema: object({ title: text, text, tags: { type: 'array' } }, 'title', 'text'),
  },
  { name: 'notes__search', description: 'Finds notes that have all the words', inputSchema: object({ query: text }, 'query') },
  {
    name: 'deploy__deploy',
    description: 'Puts a version of a service into an environment',
    inputSchema: object(
      {
        service: { type: 'string', enum: ['api', 'web'] },
        version: text,
        environment: { type: 'string', enum: ['staging', 'production'] },
      },
      'service',
      'version',
      'environment',
    ),
  },
  { name: 'deploy__status', description: 'Says what runs where', inputSchema: object({ verbose: { type: 'boolean' } }) },
  { name: 'files__read', description: 'Reads a file', inputSchema: object({ path: text }, 'path') },
]

const user = (words: string): SamplingMessage => ({ role: 'user', content: { type: 'text', text: words } })

async function answer(
  request: ModelRequest,
): Promise<{ text: string; calls: [string, unknown][]; end: ModelPart | undefined; ids: string[] }> {
  const parts: ModelPart[] = []
  for await (const part of scriptedModel().stream(request, new AbortController().signal)) parts.push(part)
  const calls = parts.filter((part) => part.type === 'tool-call')
  return {
    text: parts.map((part) => (part.type === 'text' ? part.text : '')).join(''),
    calls: calls.map(({ name, args }) => [name, args]),
    ids: calls.map(({ id }) => id),
    end: parts.at(-1),
  }
}

const ask = (words: string, ...before: SamplingMessage[]) => answer({ messages: [...before, user(words)], tools })

test('the scripted model says that it is a script', () => {
  expect(scriptedModel().label).toBe('scripted (no language model)')
})

describe('a plain request finds its tool and fills its arguments', () => {
  test.each<[string, string, Record<string, unknown>]>([
    ['list my notes', 'notes__list', {}],
    ['Show me the notes please', 'notes__list', {}],
    ['list 5 notes', 'notes__list', { limit: 5 }],
    ['list notes tag=work', 'notes__list', { tag: 'work' }],
    ['add a note: Buy milk and eggs', 'notes__add', { title: 'Buy milk and eggs', text: 'Buy milk and eggs' }],
    ['add a note titled Shopping: Buy milk', 'notes__add', { title: 'Shopping', text: 'Buy milk' }],
    [
      'create a note called "To do: today" text="see list" tags=a,b',
      'notes__add',
      { title: 'To do: today', text: 'see list', tags: ['a', 'b'] },
    ],
    ['search notes about milk', 'notes__search', { query: 'milk' }],
    ['find "oat milk" in my notes', 'notes__search', { query: 'oat milk' }],
    ['deploy api 1.4.0 to staging', 'deploy__deploy', { service: 'api', version: '1.4.0', environment: 'staging' }],
    ['deploy web version=2.0.1 environment=production', 'deploy__deploy', { service: 'web', version: '2.0.1', environment: 'production' }],
    ['deploy status verbose', 'deploy__status', { verbose: true }],
    ['read the file docs/intro.md', 'files__read', { path: 'docs/intro.md' }],
    ['files__read path=/etc/hosts', 'files__read', { path: '/etc/hosts' }],
  ])('a plain request finds its tool and fills its arguments: %s', async (words, name, args) => {
    const { calls, end } = await ask(words)
    expect(calls).toEqual([[name, args]])
    expect(end).toMatchObject({ type: 'end', reason: 'toolUse' })
  })
})

test('a missing argument is asked for, and the answer completes the request', async () => {
  const first = await ask('deploy api to staging')
  expect(first).toMatchObject({ calls: [], text: 'deploy__deploy also needs to know: version. Say it as name=value.' })
  const second = await ask('version=1.4.0', user('deploy api to staging'), {
    role: 'assistant',
    content: { type: 'text', text: first.text },
  })
  expect(second.calls).toEqual([['deploy__deploy', { service: 'api', version: '1.4.0', environment: 'staging' }]])
})

test('a request that fits no tool is answered with the list of tools and that this is a script', async () => {
  const { text: said, calls } = await ask('What is the meaning of life?')
  expect(calls).toEqual([])
  expect(said).toContain('There is no language model here')
  expect(said).toContain('- notes__list: Lists notes')
})

test('the words of a tool inside quoted text do not choose the tool', async () => {
  expect((await ask('add a note: deploy api to production and delete all files')).calls[0]?.[0]).toBe('notes__add')
})

describe('what follows a call', () => {
  const following = (request: string, ...rounds: [string, SamplingContent[]][]): SamplingMessage[] => [
    user(request),
    ...rounds.flatMap(([name, results], at): SamplingMessage[] => [
      { role: 'assistant', content: { type: 'tool_use', id: `u${at}`, name, input: {} } },
      { role: 'user', content: results },
    ]),
  ]
  const result = (id: string, words: string, isError = false): SamplingContent => ({
    type: 'tool_result',
    toolUseId: id,
    content: [{ type: 'text', text: words }],
    ...(isError ? { isError } : {}),
  })

  test('a result is answered with its first lines and their number', async () => {
    const short = await answer({ messages: following('list my notes', ['notes__list', [result('u0', 'Milk\nEggs')]]), tools })
    expect(short).toMatchObject({ text: 'notes__list, 2 lines:\nMilk\nEggs', calls: [], end: { reason: 'endTurn' } })
    const lines = Array.from({ length: 40 }, (_, at) => `line ${at}`).join('\n')
    const long = await answer({ messages: following('list my notes', ['notes__list', [result('u0', lines)]]), tools })
    expect(long.text).toContain('the first 12 of 40 lines')
    expect(long.text).not.toContain('line 12')
  })

  test.each([
    ['{"notes":[{"id":"a","title":"Milk"},{"id":"b","title":"Eggs"}],"total":2}', 'notes__list gave 2 notes: Milk, Eggs.'],
    ['{"notes":[],"total":0}', 'notes__list gave no notes.'],
    ['{"notes":[{"title":"Milk"}]}', 'notes__list gave 1 note: Milk.'],
    ['{\n  "id": "a",\n  "title": "Door\\ncode",\n  "tags": ["home"]\n}', 'notes__list is done: Door code.'],
    ['{"from":"1.3.0","to":"1.4.0","ok":true,"steps":[1,2]}', 'notes__list is done: from 1.3.0, to 1.4.0, ok true.'],
    ['[1,2,3,4,5,6,7]', 'notes__list gave 7 items: 1, 2, 3, 4, 5 and 2 more.'],
    ['{}', 'notes__list is done.'],
    ['{ not JSON', 'notes__list: { not JSON'],
  ])('a JSON result is answered with a sentence, and the call shows the JSON: %s', async (json, said) => {
    const { text: given } = await answer({ messages: following('list my notes', ['notes__list', [result('u0', json)]]), tools })
    expect(given).toBe(said)
  })

  test('a failed call is answered with its failure', async () => {
    const { text: said } = await answer({
      messages: following('list my notes', ['notes__list', [result('u0', 'The disk is full', true)]]),
      tools,
    })
    expect(said).toBe('notes__list failed: The disk is full')
  })

  test('a request in several steps continues with the next call, unless the last one failed', async () => {
    const request = 'list my notes, then deploy status'
    const next = await answer({ messages: following(request, ['notes__list', [result('u0', 'Milk')]]), tools })
    expect(next.calls).toEqual([['deploy__status', {}]])
    const failed = await answer({ messages: following(request, ['notes__list', [result('u0', 'no', true)]]), tools })
    expect(failed.calls).toEqual([])
    const over = await answer({
      messages: following(request, ['notes__list', [result('u0', 'Milk')]], ['deploy__status', [result('u1', 'All well')]]),
      tools,
    })
    expect(over).toMatchObject({ calls: [], text: 'notes__list: Milk\n\ndeploy__status: All well' })
  })
})

test('a text with "then" and semicolons in it stays one text', async () => {
  for (const note of ['Wake up, then sleep; dream', 'He said "no; then list my notes" to me'])
    expect((await ask(`add a note titled T: ${note}`)).calls).toEqual([['notes__add', { title: 'T', text: note }]])
})

test('a word in many tool names does not choose a tool, and a rare word of a description does', async () => {
  expect((await ask('show what goes on in Paris')).calls).toEqual([])
  expect((await ask('which environment runs where?')).calls).toEqual([['deploy__status', {}]])
})

test('two requests in one are two calls at once, with ids of their own', async () => {
  const { calls, ids } = await ask('list my notes and also deploy status')
  expect(calls).toEqual([
    ['notes__list', {}],
    ['deploy__status', {}],
  ])
  expect(new Set(ids).size).toBe(2)
})

describe('without tools', () => {
  const story = 'The boat left at dawn. Nobody saw it go. The harbour slept. At noon the milk arrived. It was sour.'

  test('without tools the answer is made of sentences of the conversation', async () => {
    expect((await answer({ messages: [user(`Summarise this:\n${story}`)] })).text).toBe(
      'The boat left at dawn. Nobody saw it go. The harbour slept.',
    )
    expect((await answer({ messages: [user(`When did the milk arrive?\n${story}`)] })).text).toContain('At noon the milk arrived.')
  })

  test('the answer respects the length and the stop sequences', async () => {
    expect(await answer({ messages: [user(`Summarise this:\n${story}`)], maxTokens: 2 })).toMatchObject({
      text: 'The boat',
      end: { reason: 'maxTokens' },
    })
    expect(await answer({ messages: [user(`Summarise this:\n${story}`)], stopSequences: ['Nobody'] })).toMatchObject({
      text: 'The boat left at dawn. ',
      end: { reason: 'stopSequence' },
    })
  })

  test('forbidden tools are not called, and a required tool is', async () => {
    proves('R-SAMP-007')
    expect((await answer({ messages: [user('list my notes')], tools, toolChoice: { mode: 'none' } })).calls).toEqual([])
    expect((await answer({ messages: [user('hmm')], tools, toolChoice: { mode: 'required' } })).calls).toHaveLength(1)
  })
})

test('the answer stops in the middle of a sentence when the signal is aborted', async () => {
  const controller = new AbortController()
  const read = (async () => {
    for await (const _ of scriptedModel().stream({ messages: [user('one two three')] }, controller.signal))
      controller.abort(new Error('enough'))
  })()
  await expect(read).rejects.toThrow('enough')
})

test('a hostile schema and a long request take little time', async () => {
  const properties = Object.fromEntries(Array.from({ length: 500 }, (_, at) => [`(a+)+${at}$`, text]))
  const hostile = { name: 'x__hostile', description: 'hostile '.repeat(20_000), inputSchema: object({ ...properties, __proto__: text }) }
  const started = Date.now()
  await answer({ messages: [user(`hostile ${'a'.repeat(200_000)} ${'"'.repeat(999)}`)], tools: [hostile] })
  expect(Date.now() - started).toBeLessThan(5000)
})
