import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { Client as ClientV2, InMemoryTransport as MemoryV2 } from '@modelcontextprotocol/client'
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js'
import { InMemoryTransport as MemoryV1 } from '@modelcontextprotocol/sdk/inMemory.js'
import type { Server } from 'portico/server'
import { pair } from 'portico/testing'
import ts from 'typescript-v6'
import { describe, expect, test } from 'vitest'
import { migrateText } from '../../../src/cli/migrate/migrate.ts'
import type { TypeScript } from '../../../src/cli/migrate/syntax.ts'

const folder = fileURLToPath(new URL('corpus/', import.meta.url))
const programs = readdirSync(folder).flatMap((file) => (file.endsWith('.before.ts') ? [file.replace('.before.ts', '')] : []))
const parser = ts as unknown as TypeScript

describe('the codemod', () => {
  test.each(programs)('moves %s, and finds nothing more to move', (name) => {
    const moved = migrateText(parser, `${name}.ts`, readFileSync(`${folder}${name}.before.ts`, 'utf8'))
    const isWhole = existsSync(`${folder}${name}.after.ts`)
    expect(moved?.text).toBe(readFileSync(`${folder}${name}.after.${isWhole ? 'ts' : 'txt'}`, 'utf8'))
    expect(moved?.leftovers.length === 0).toBe(isWhole)
    expect(moved?.text.match(/TODO\(portico\)/g)?.length ?? 0).toBe(moved?.leftovers.length)
    if (isWhole) expect(migrateText(parser, `${name}.ts`, moved?.text ?? '')).toBeUndefined()
  })
})

/** The calls to compare. */
interface Calls {
  tools: [name: string, args: Record<string, unknown>][]
  reads?: string[]
  prompts?: [name: string, args: Record<string, string>][]
}

const SERVERS: Record<string, Calls> = {
  'v1-tools': {
    tools: [
      ['add', { a: 1, b: 2 }],
      ['divide', { a: 6, b: 3 }],
      ['divide', { a: 1, b: 0 }],
    ],
  },
  'v1-old-forms': {
    tools: [
      ['ping', {}],
      ['weather', { city: 'Paris' }],
      ['clear', { all: true }],
    ],
    reads: ['motd://today'],
    prompts: [['greet', { name: 'Anna' }]],
  },
  'v1-resources': { tools: [['count', {}]], reads: ['library://catalog', 'book://1'], prompts: [['review', { title: 'Emma' }]] },
  'v1-structured': { tools: [['weather', { city: 'Rome' }]] },
  'v1-context': {
    tools: [
      ['work', { steps: 2 }],
      ['state', {}],
      ['note', { text: 'a' }],
    ],
  },
  'v2-tools': {
    tools: [
      ['note', { name: 'milk' }],
      ['note', { name: 'none' }],
    ],
    reads: ['note://milk'],
    prompts: [['summary', { name: 'milk' }]],
  },
  'v2-context': {
    tools: [
      ['work', { steps: 3 }],
      ['state', {}],
    ],
  },
  'fastmcp-tools': {
    tools: [
      ['add', { a: 1, b: 2 }],
      ['download', { url: 'https://a' }],
      ['download', { url: 'a' }],
      ['ping', {}],
    ],
  },
  'fastmcp-data': {
    tools: [['size', { id: 'abc' }]],
    reads: ['file:///logs/app.log', 'user://7'],
    prompts: [['commit', { changes: 'a' }]],
  },
}

test('every server of the corpus that moves as a whole is compared', () => {
  const whole = programs.filter((name) => existsSync(`${folder}${name}.after.ts`) && !name.endsWith('client'))
  expect(Object.keys(SERVERS).sort()).toEqual(whole.sort())
})

/** What a client sees. Members that a library adds to results are left out. */
interface Seen {
  list(): Promise<{ name: string; description?: string | undefined }[]>
  call(name: string, args: Record<string, unknown>): Promise<object>
  read(uri: string): Promise<{ contents: object[] }>
  prompt(name: string, args: Record<string, string>): Promise<{ messages: object[] }>
}

async function answers(seen: Seen, { tools, reads = [], prompts = [] }: Calls): Promise<unknown> {
  const results: unknown[] = [(await seen.list()).map(({ name, description }) => ({ name, description }))]
  for (const [name, args] of tools) {
    const { content, structuredContent, isError = false } = (await seen.call(name, args)) as Record<string, unknown>
    results.push({ content, structuredContent, isError })
  }
  for (const uri of reads) results.push((await seen.read(uri)).contents.map((each) => ({ ...each, mimeType: undefined })))
  for (const [name, args] of prompts) results.push((await seen.prompt(name, args)).messages)
  return results
}

interface Connectable {
  connect(transport: never): Promise<unknown>
}

/** The answers of the server before, through a client of its own library. */
async function before(server: Connectable, calls: Calls, isV2: boolean): Promise<unknown> {
  const [near, far] = isV2 ? MemoryV2.createLinkedPair() : MemoryV1.createLinkedPair()
  const client = (isV2 ? new ClientV2({ name: 'test', version: '1' }) : new ClientV1({ name: 'test', version: '1' })) as ClientV1
  await Promise.all([server.connect(far as never), client.connect(near as never)])
  try {
    return await answers(
      {
        list: async () => (await client.listTools()).tools,
        call: (name, args) => client.callTool({ name, arguments: args }),
        read: (uri) => client.readResource({ uri }),
        prompt: (name, args) => client.getPrompt({ name, arguments: args }),
      },
      calls,
    )
  } finally {
    await client.close()
  }
}

async function after(server: Server, calls: Calls): Promise<unknown> {
  const { client, close } = await pair(server)
  const seen: Seen = {
    list: () => client.tools().all(),
    call: (name, args) => client.call(name, args),
    read: (uri) => client.read(uri),
    prompt: (name, args) => client.prompt(name, args),
  }
  const all = await answers(seen, calls)
  await close()
  return all
}

describe('a server answers the same after the move', () => {
  test.each(Object.entries(SERVERS))('%s', async (name, calls) => {
    const old = (await import(`./corpus/${name}.before.ts`)) as { server: Connectable }
    const moved = (await import(`./corpus/${name}.after.ts`)) as { server: Server }
    expect(await after(moved.server, calls)).toEqual(await before(old.server, calls, name.startsWith('v2')))
  })
})

test.each(['v1-client', 'v2-client'])('%s sees the same after the move', async (name) => {
  const file = fileURLToPath(new URL('../fixtures/sums.mjs', import.meta.url))
  const run = async (state: string): Promise<unknown> =>
    ((await import(`./corpus/${name}.${state}.ts`)) as { run(file: string): Promise<unknown> }).run(file)
  const [old, moved] = await Promise.all([run('before'), run('after')])
  expect(moved).toEqual(old)
})
