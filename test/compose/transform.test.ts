/** Changed definitions of a mounted server. */

import { expect, test } from 'vitest'
import { z } from 'zod'
import { type Transformation, transform } from '../../src/compose/index.ts'
import { createServer } from '../../src/server/index.ts'
import { connectPair } from '../support/judged-pair.ts'

const issues = () => {
  const server = createServer({ name: 'issues', version: '1', onError: () => {} })
  const input = z.object({
    repository: z.string().describe('owner/name'),
    title: z.string().max(20),
    labels: z.array(z.string()),
    count: z.number().default(1),
  })
  server.tool('create', { description: 'Creates an issue', input }, (args) => JSON.stringify(args))
  server.tool('delete', { description: 'Deletes' }, () => 'gone')
  server.tool('constructor', () => 'odd')
  server.prompt('triage', {}, () => 'Triage')
  server.resource('issue://{id}', { name: 'issue' }, ({ id }) => id)
  return server
}

async function mounted(changes: Transformation) {
  const server = createServer({ name: 'outer', version: '1', onError: () => {} })
  server.mount('', issues(), transform(changes))
  return (await connectPair(server, { revision: '2025-11-25' })).client
}

const read = (result: { content: unknown[] }): unknown => JSON.parse((result.content[0] as { text: string }).text)

test('a tool gets another name, description and arguments; others are left out or stay', async () => {
  const client = await mounted({
    tools: {
      create: {
        name: 'report',
        description: 'Reports a bug',
        arguments: {
          repository: { fixed: 'acme/app' },
          labels: { default: ['bug'] },
          title: { name: 'summary', description: 'One line' },
        },
      },
      delete: false,
    },
  })
  const tools = await client.tools().all()
  expect(tools.map(({ name }) => name)).toEqual(['report', 'constructor'])
  expect(tools[0]).toMatchObject({
    description: 'Reports a bug',
    inputSchema: {
      type: 'object',
      properties: { summary: { type: 'string', description: 'One line' }, labels: { default: ['bug'] }, count: {} },
      required: ['summary'],
    },
  })
  expect(read(await client.call('report', { summary: 'Broken' }))).toEqual({
    repository: 'acme/app',
    title: 'Broken',
    labels: ['bug'],
    count: 1,
  })
  expect(read(await client.call('report', { summary: 'Broken', labels: [], repository: 'evil/repo', title: 'x' }))).toMatchObject({
    repository: 'acme/app',
    title: 'Broken',
    labels: [],
  })
  expect(await client.call('report', { labels: [] })).toMatchObject({
    isError: true,
    content: [{ text: expect.stringContaining('summary') }],
  })
})

test('a renamed argument does not keep its old name', async () => {
  const inner = createServer({ name: 'inner', version: '1' })
  const input = z.object({ limit: z.number().optional(), from: z.number().optional() })
  inner.tool('show', { input }, (args) => JSON.stringify(args))
  const server = createServer({ name: 'outer', version: '1' })
  server.mount('one', inner, transform({ tools: { show: { arguments: { limit: { name: 'max' } } } } }))
  server.mount('two', inner, transform({ tools: { show: { arguments: { limit: { name: 'from' }, from: { name: 'limit' } } } } }))
  const { client } = await connectPair(server, { revision: '2025-11-25' })
  const names = (await client.tools().all()).map(({ name }) => name)
  expect(read(await client.call(names[0] as string, { limit: 5 }))).toEqual({})
  expect(read(await client.call(names[0] as string, { max: 5 }))).toEqual({ limit: 5 })
  expect(read(await client.call(names[1] as string, { limit: 5 }))).toEqual({ from: 5 })
})

test('a member that is undefined changes nothing, and an empty list removes scopes', () => {
  const defined = { name: 'a', definition: { description: 'A', scopes: ['admin'] }, handler: () => 'a' }
  const scopesWith = (scopes: string[] | undefined) => {
    const changes = { a: { scopes } } as unknown as NonNullable<Transformation['tools']>
    return transform({ tools: changes }).tool?.(defined)?.definition
  }
  expect(scopesWith(undefined)).toEqual({ description: 'A', scopes: ['admin'] })
  expect(scopesWith([])).toEqual({ description: 'A', scopes: [] })
})

test('only the tools that a function accepts are offered', async () => {
  const client = await mounted({ onlyTools: (name) => name === 'delete' })
  expect((await client.tools().all()).map(({ name }) => name)).toEqual(['delete'])
})

test('prompts and resources are renamed, described anew or left out', async () => {
  const client = await mounted({
    prompts: { triage: { name: 'sort', description: 'Sorts' } },
    resources: { 'issue://{id}': { title: 'An issue' } },
  })
  expect(await client.prompts().all()).toMatchObject([{ name: 'sort', description: 'Sorts' }])
  expect(await client.resourceTemplates().all()).toMatchObject([{ uriTemplate: 'issue://{id}', title: 'An issue' }])
  const fewer = await mounted({ resources: { 'issue://{id}': false } })
  await expect(fewer.read('issue://1')).rejects.toThrow()
})

test.each<[string, Transformation, string]>([
  ['an unknown tool', { tools: { creat: false } }, 'The server "issues" has no tool "creat" to change'],
  ['an unknown prompt', { prompts: { x: false } }, 'has no prompt "x" to change'],
  ['an unknown resource', { resources: { 'x:y': false } }, 'has no resource "x:y" to change'],
  [
    'an unknown argument',
    { tools: { create: { arguments: { titel: {} } } } },
    'there is no argument "titel" to change; it has repository, title',
  ],
  [
    'two arguments of one name',
    { tools: { create: { arguments: { title: { name: 'labels' } } } } },
    'two arguments would be named "labels"',
  ],
  ['a fixed value of another type', { tools: { create: { arguments: { title: { fixed: 7 } } } } }, 'argument "title": expected string'],
  ['a default of another type', { tools: { create: { arguments: { labels: { default: 'bug' } } } } }, 'argument "labels": expected array'],
  [
    'an unknown member of a change',
    { tools: { create: { arguments: { title: { fixd: 'a' } as object } } } },
    'Tool "create": the change of "title": unknown member "fixd"; did you mean "fixed"?',
  ],
  ['an unknown member of a tool', { tools: { create: { titel: 'a' } as object } }, 'unknown member "titel"; did you mean "title"?'],
  ['an unknown kind', { tool: { delete: false } } as Transformation, 'transform: unknown member "tool"; did you mean "tools"?'],
  [
    'a fixed value that is undefined',
    { tools: { create: { arguments: { title: { fixed: undefined } } } } },
    'the fixed value of the argument "title" is undefined; is its variable set?',
  ],
  [
    'a default that is undefined',
    { tools: { create: { arguments: { title: { default: undefined } } } } },
    'default of the argument "title"',
  ],
  ['a fixed value and a default', { tools: { create: { arguments: { title: { fixed: 'a', default: 'b' } } } } }, 'not both'],
])('%s is an error when the server is mounted', async (_what, changes, message) => {
  await expect(mounted(changes)).rejects.toThrow(message)
})

test('a rule that the schema does not show is an error for the model', async () => {
  const inner = createServer({ name: 'inner', version: '1' })
  const even = z.object({ n: z.number().refine((n) => n % 2 === 0, 'must be even'), other: z.string() })
  inner.tool('half', { input: even }, ({ n }) => String(n / 2))
  const server = createServer({ name: 'outer', version: '1' })
  server.mount('', inner, transform({ tools: { half: { arguments: { other: { fixed: 'x' } } } } }))
  const { client } = await connectPair(server, { revision: '2025-11-25' })
  expect(await client.call('half', { n: 3 })).toMatchObject({ isError: true, content: [{ text: expect.stringContaining('must be even') }] })
  expect(await client.call('half', { n: 4 })).toMatchObject({ content: [{ text: '2' }] })
})
