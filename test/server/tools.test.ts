import { describe, expect, expectTypeOf, test } from 'vitest'
import { z } from 'zod'
import { audio, createServer, embed, image, link, McpError, ToolError, text } from '../../src/server/index.ts'
import { everythingServer } from '../../src/testing/index.ts'
import { connectPair, REVISIONS, SESSION_REVISIONS } from '../support/judged-pair.ts'
import { proves } from '../support/proves.ts'
import { envelope, type Message, rawChannel, settle } from '../support/raw-channel.ts'

const quiet = { onError: () => {} }
const newServer = (options = {}) => createServer({ name: 'tools', version: '1.0.0', ...quiet, ...options })

describe.each(REVISIONS)('tools in %s', (revision) => {
  test('a server with tools declares the capability and answers tools/list and tools/call', async () => {
    proves('T-TOOL-001', 'T-TOOL-007', 'T-TOOL-009', 'T-TOOL-011', 'T-ARCH-027', 'T-ARCH-029')
    const server = newServer()
    server.tool('hello', { description: 'Greets' }, () => 'Hello')
    const { client, sent } = await connectPair(server, { revision })
    expect(client.server.capabilities.tools).toEqual({ listChanged: true })
    expect((await client.tools().all()).map(({ name }) => name)).toEqual(['hello'])
    expect((await client.call('hello')).content).toEqual([{ type: 'text', text: 'Hello' }])
    expect(sent('client', 'tools/call')[0]).toMatchObject({ params: { name: 'hello', arguments: {} } })
  })

  test('a listed tool has its name, description and an object input schema', async () => {
    proves('T-TOOL-010', 'T-TOOL-018', 'T-TOOL-020', 'T-TOOL-021', 'R-TOOL-011')
    const server = newServer()
    server.tool('search', { description: 'Finds', input: z.object({ query: z.string(), limit: z.number().optional() }) }, () => 'x')
    server.tool('bare', {}, () => 'x')
    const { client } = await connectPair(server, { revision })
    const [search, bare] = await client.tools().all()
    expect(search).toMatchObject({ name: 'search', description: 'Finds', inputSchema: { type: 'object', required: ['query'] } })
    expect(search?.inputSchema.properties).toHaveProperty('limit')
    expect(bare).toEqual({ name: 'bare', inputSchema: { type: 'object', additionalProperties: false } })
  })

  test('the return value of a handler becomes content: text, numbers, blocks, lists of blocks, nothing', async () => {
    proves('T-TOOL-014')
    const server = newServer()
    const returns: Record<string, unknown> = {
      text: 'a',
      number: 4,
      block: text('b'),
      blocks: [text('c'), text('d')],
      nothing: undefined,
      whole: { content: [text('e')] },
    }
    for (const [name, value] of Object.entries(returns)) server.tool(name, {}, () => value as string)
    const { client } = await connectPair(server, { revision })
    const textsOf = async (name: string) =>
      (await client.call(name)).content.map((block) => (block.type === 'text' ? block.text : block.type))
    expect(await textsOf('text')).toEqual(['a'])
    expect(await textsOf('number')).toEqual(['4'])
    expect(await textsOf('block')).toEqual(['b'])
    expect(await textsOf('blocks')).toEqual(['c', 'd'])
    expect(await textsOf('nothing')).toEqual([])
    expect(await textsOf('whole')).toEqual(['e'])
  })

  test('an unknown or disabled tool is error -32602, even if its name is a property of objects', async () => {
    proves('T-TOOL-037', 'T-BASE-033')
    const server = newServer()
    server.tool('off', {}, () => 'x').disable()
    const { client } = await connectPair(server, { revision })
    for (const name of ['missing', 'off', 'constructor', '__proto__x', 'toString', '']) {
      await expect(client.call(name)).rejects.toMatchObject({ name: 'RemoteError', code: -32602, message: `Unknown tool: ${name}` })
    }
  })

  test('arguments are validated, and the error names the expected and the actual value', async () => {
    proves('T-TOOL-041', 'T-TOOL-012', 'T-TOOL-013', 'R-TOOL-018')
    const server = newServer()
    let calls = 0
    server.tool('forecast', { input: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] } }, () =>
      String(++calls),
    )
    const { client } = await connectPair(server, { revision })
    const expected = 'Tool "forecast" argument "city": expected string, got number (42).'
    // Up to 2025-06-18 a protocol error, since then a result that the model can learn from.
    if (revision < '2025-11-25')
      await expect(client.call('forecast', { city: 42 })).rejects.toMatchObject({ code: -32602, message: expected })
    else expect(await client.call('forecast', { city: 42 })).toMatchObject({ isError: true, content: [{ type: 'text', text: expected }] })
    expect(calls).toBe(0)
  })

  test('a ToolError is a result for the model, any other error is masked', async () => {
    proves('T-TOOL-015', 'T-TOOL-040', 'T-TOOL-044')
    const failures: unknown[] = []
    const server = newServer({ onError: (error: unknown) => failures.push(error) })
    server.tool('says', {}, () => {
      throw new ToolError('The city is unknown')
    })
    server.tool('leaks', {}, () => {
      throw new Error('password=hunter2 at /srv/app.js')
    })
    const { client } = await connectPair(server, { revision })
    expect(await client.call('says')).toMatchObject({ isError: true, content: [{ text: 'The city is unknown' }] })
    const leaked = await client.call('leaks')
    expect(leaked.isError).toBe(true)
    expect(JSON.stringify(leaked)).toMatch(/Internal error \(reference [\w-]{8}\)/)
    expect(JSON.stringify(leaked)).not.toMatch(/hunter2|srv|app\.js/)
    expect(failures).toEqual([expect.objectContaining({ message: 'password=hunter2 at /srv/app.js' })])
    expect((await client.call('says')).isError).toBe(true)
  })

  test('a McpError of a handler is a protocol error with its code', async () => {
    const server = newServer()
    server.tool('refuses', {}, () => {
      throw new McpError('ERR_INVALID_PARAMS', 'The date is in the past', { data: { field: 'date' } })
    })
    const { client } = await connectPair(server, { revision })
    await expect(client.call('refuses')).rejects.toMatchObject({
      code: -32602,
      message: 'The date is in the past',
      data: { field: 'date' },
    })
  })

  test('every content type reaches the client in the form of the revision', async () => {
    proves('T-PROM-025', 'T-PROM-026', 'T-PROM-027', 'T-TOOL-026', 'T-TOOL-030', 'T-VER-019')
    const server = newServer()
    server.resource('file:///a.txt', { name: 'a.txt' }, () => 'a')
    server.tool('all', {}, () => [
      text('t', { annotations: { audience: ['user'], priority: 0.5, lastModified: '2025-01-01T00:00:00Z' } }),
      image(new Uint8Array([1, 2, 3]), 'image/png'),
      audio(new Uint8Array([4, 5, 6]), 'audio/wav'),
      link({ uri: 'file:///a.txt', name: 'a.txt', title: 'A' }),
      embed('file:///b.bin', new Uint8Array([7]), 'application/octet-stream'),
    ])
    const { client } = await connectPair(server, { revision })
    const { content } = await client.call('all')
    const types = content.map(({ type }) => type)
    expect(types[0]).toBe('text')
    expect(content[1]).toMatchObject({ type: 'image', data: 'AQID', mimeType: 'image/png' })
    if (revision === '2024-11-05') expect(content[2]).toMatchObject({ type: 'resource', resource: { mimeType: 'audio/wav', blob: 'BAUG' } })
    else expect(content[2]).toMatchObject({ type: 'audio', data: 'BAUG', mimeType: 'audio/wav' })
    if (revision < '2025-06-18') expect(content[3]).toMatchObject({ type: 'text', text: 'A: file:///a.txt' })
    else expect(content[3]).toMatchObject({ type: 'resource_link', uri: 'file:///a.txt', name: 'a.txt' })
    expect(content[4]).toMatchObject({ type: 'resource', resource: { uri: 'file:///b.bin', blob: 'Bw==' } })
    expect(JSON.stringify(content[0])).toContain('priority')
    expect(JSON.stringify(content[0]).includes('lastModified')).toBe(revision >= '2025-06-18')
  })

  test('structured output is validated and sent with a text copy in every revision', async () => {
    proves('T-TOOL-033', 'T-TOOL-034', 'T-TOOL-035', 'T-TOOL-022')
    const server = newServer()
    const output = z.object({ celsius: z.number() })
    server.tool('weather', { output }, () => ({ celsius: 21 }))
    server.tool('broken', { output }, () => ({ celsius: 'warm' }) as never)
    const { client } = await connectPair(server, { revision })
    const [weather] = await client.tools().all()
    expect(weather?.outputSchema).toMatchObject({ type: 'object', required: ['celsius'] })
    const result = await client.call('weather')
    expect(result.content).toEqual([{ type: 'text', text: '{"celsius":21}' }])
    expect(result.structuredContent).toEqual({ celsius: 21 })
    await expect(client.call('broken')).rejects.toMatchObject({
      code: -32603,
      message: expect.stringContaining('Tool "broken": the result does not match its output schema: '),
    })
  })

  test('title, annotations and icons are listed where the revision has them', async () => {
    proves('T-TOOL-019', 'T-TOOL-023', 'T-VER-018')
    const server = newServer()
    server.tool(
      'decorated',
      {
        title: 'Decorated',
        annotations: { readOnlyHint: true },
        icons: [{ src: 'https://example.com/i.png' }],
        _meta: { 'com.example/a': 1 },
      },
      () => 'x',
    )
    const { client } = await connectPair(server, { revision })
    const [tool] = await client.tools().all()
    expect(tool?.title).toBe(revision >= '2025-06-18' ? 'Decorated' : undefined)
    expect(tool?.annotations).toEqual(revision >= '2025-03-26' ? { readOnlyHint: true } : undefined)
    expect(tool?.icons !== undefined).toBe(revision >= '2025-11-25')
    expect(tool?._meta !== undefined).toBe(revision >= '2025-06-18')
  })

  test('enabling, disabling, updating and removing a tool changes the list, announced once per turn', async () => {
    proves('T-TOOL-008', 'T-TOOL-016', 'T-TOOL-017', 'T-LIFE-024', 'R-TOOL-025')
    const server = newServer()
    const handle = server.tool('one', { description: 'First' }, () => '1')
    server.tool('two', {}, () => '2')
    const { client } = await connectPair(server, { revision, cache: false })
    let changes = 0
    await client.onChange('tools', () => changes++)
    const names = async () => (await client.tools().all()).map(({ name, description }) => description ?? name)
    handle.disable()
    handle.enable()
    handle.disable()
    await settle()
    expect(await names()).toEqual(['two'])
    expect(handle.isEnabled).toBe(false)
    expect(changes).toBe(1)
    handle.enable()
    handle.update({ description: 'Changed' }, () => 'new')
    await settle()
    expect(await names()).toEqual(['Changed', 'two'])
    expect((await client.call('one')).content).toEqual([{ type: 'text', text: 'new' }])
    handle.remove()
    handle.remove()
    await settle()
    expect(await names()).toEqual(['two'])
    expect(changes).toBe(3)
    expect(() => handle.update({})).toThrow('The tool "one" was removed')
  })

  test('a tool added while clients are connected is listed, announced and callable', async () => {
    const server = newServer()
    server.tool('first', {}, () => '1')
    const { client } = await connectPair(server, { revision, cache: false })
    let changes = 0
    await client.onChange('tools', () => changes++)
    server.tool('second', {}, () => '2')
    await settle()
    expect(changes).toBe(1)
    expect((await client.call('second')).content).toEqual([{ type: 'text', text: '2' }])
  })
})

test('tools are always listed in the order of registration', async () => {
  proves('R-TOOL-024')
  const server = newServer()
  const names = ['zebra', 'apple', 'mango', '10', '9']
  for (const name of names) server.tool(name, {}, () => 'x')
  const { client } = await connectPair(server, { revision: '2026-07-28', cache: false })
  for (let i = 0; i < 3; i++) expect((await client.tools().all()).map(({ name }) => name)).toEqual(names)
})

test('an invalid definition is refused with the reason when it is registered', () => {
  const server = newServer()
  server.tool('taken', {}, () => 'x')
  expect(() => server.tool('taken', {}, () => 'x')).toThrow('The tool "taken" is already defined')
  expect(() => server.tool('has space', {}, () => 'x')).toThrow(
    'A tool name must have 1 to 128 characters from `A-Z a-z 0-9 _ . -`; got "has space"',
  )
  expect(() => server.tool('x'.repeat(129), {}, () => 'x')).toThrow('1 to 128')
  server.tool('x'.repeat(128), {}, () => 'x')
  expect(() => server.tool('list', { input: z.array(z.string()) as never }, () => 'x')).toThrow(
    'the input schema must describe an object, not "array"',
  )
  expect(() => server.tool('none', { input: 5 as never }, () => 'x')).toThrow(
    'expected a Standard Schema or a JSON Schema object, got number',
  )
  expect(() => server.tool('odd', { input: { type: 'object', properties: { a: { minLength: -1 } } } }, () => 'x')).toThrow(
    'Tool "odd" input: the schema is not valid: properties.a.minLength must be an integer of 0 or more, not number (-1)',
  )
  expect(() => createServer({ name: '', version: '1' })).toThrow('A server needs a name and a version')
  expect(() => server.tool('meta', { _meta: { '-bad': 1 } }, () => 'x')).toThrow('Tool "meta": "-bad" is not a valid key of _meta')
  expect(() => newServer({ extensions: { noPrefix: {} } })).toThrow(
    'The name of an extension must look like "com.example/feature", not "noPrefix"',
  )
})

test('tool names have no slash by default, and clients accept any name', async () => {
  proves('R-TOOL-012', 'R-TOOL-014', 'R-TOOL-015')
  const strict = newServer()
  expect(() => strict.tool('files/read', {}, () => 'x')).toThrow(
    'A tool name must have 1 to 128 characters from `A-Z a-z 0-9 _ . -`; got "files/read" (the option slashesInToolNames allows slashes)',
  )
  for (const name of ['a b', 'a,b', 'ä', '', 'x'.repeat(129)]) {
    expect(() => strict.tool(name, {}, () => 'x')).toThrow('A tool name must have 1 to 128 characters from')
    expect(() => newServer({ slashesInToolNames: true }).tool(name, {}, () => 'x')).toThrow(
      'A tool name must have 1 to 128 characters from',
    )
  }
  for (const name of ['a', 'A-1_b.c', 'x'.repeat(128)]) strict.tool(name, {}, () => 'x')
  const lax = newServer({ slashesInToolNames: true })
  lax.tool('files/read', {}, () => 'read')
  for (const revision of REVISIONS) {
    const { client } = await connectPair(lax, { revision })
    expect((await client.tools().all()).map(({ name }) => name)).toEqual(['files/read'])
    expect((await client.call('files/read')).content).toEqual([text('read')])
  }
})

test('tools whose names differ only in letter case are different tools', async () => {
  proves('R-TOOL-013', 'R-TOOL-016')
  const server = newServer()
  server.tool('getUser', {}, () => 'one')
  server.tool('getuser', {}, () => 'two')
  expect(() => server.tool('getUser', {}, () => 'three')).toThrow('The tool "getUser" is already defined')
  for (const revision of REVISIONS) {
    const { client } = await connectPair(server, { revision })
    expect((await client.tools().all()).map(({ name }) => name)).toEqual(['getUser', 'getuser'])
    expect((await client.call('getUser')).content).toEqual([text('one')])
    expect((await client.call('getuser')).content).toEqual([text('two')])
    await expect(client.call('GETUSER')).rejects.toMatchObject({ code: -32602 })
  }
})

test('malformed tools/call params are a protocol error', async () => {
  proves('T-TOOL-038', 'T-TOOL-039')
  const server = newServer()
  server.tool('a', {}, () => 'x')
  const raw = rawChannel(server)
  await raw.initialize('2025-06-18')
  for (const params of [undefined, {}, { name: 5 }, { name: null }, { name: 'a', arguments: [] }, { name: 'a', arguments: 'x' }]) {
    expect((await raw.ask('tools/call', params)).error).toMatchObject({ code: -32602 })
  }
  const without = rawChannel(newServer())
  await without.initialize('2025-06-18')
  expect((await without.ask('tools/list')).error).toMatchObject({ code: -32601 })
})

test('structured content that is not an object is sent only where the revision allows it', async () => {
  proves('R-TOOL-009', 'R-TOOL-028', 'R-TOOL-029')
  const server = newServer()
  server.tool('list', { output: z.array(z.string()) }, () => ['a', 'b'])
  for (const revision of REVISIONS) {
    const { client } = await connectPair(server, { revision })
    const isAllowed = revision === '2026-07-28'
    expect((await client.tools().all())[0]?.outputSchema !== undefined).toBe(isAllowed)
    expect((await client.call('list')).structuredContent).toEqual(isAllowed ? ['a', 'b'] : undefined)
  }
})

test('a handler that takes too long is aborted and answered with an error', async () => {
  proves('T-LIFE-033')
  const server = newServer()
  let isAborted = false
  server.tool('slow', { timeoutMs: 30 }, (_args, ctx) => {
    ctx.signal.addEventListener('abort', () => {
      isAborted = true
    })
    return new Promise<string>(() => {})
  })
  const { client } = await connectPair(server, { revision: '2025-11-25' })
  await expect(client.call('slow')).rejects.toMatchObject({ code: -32603, message: 'tools/call took longer than 30 ms (timeoutMs)' })
  expect(isAborted).toBe(true)
})

test('a result that cannot be written as JSON is an internal error, and the server continues', async () => {
  const server = newServer()
  const circle: Record<string, unknown> = {}
  circle.self = circle
  server.tool('circle', {}, () => ({ content: [], structuredContent: circle }))
  server.tool('big', {}, () => ({ content: [], structuredContent: { big: 10n } }) as never)
  server.tool('fine', {}, () => 'ok')
  const raw = rawChannel(server)
  await raw.initialize('2025-11-25')
  for (const name of ['circle', 'big']) {
    const answer = await raw.ask('tools/call', { name })
    expect(JSON.stringify(answer)).toMatch(/Internal error \(reference/)
  }
  expect((await raw.ask('tools/call', { name: 'fine' })).result).toBeDefined()
})

test.each(SESSION_REVISIONS)('two calls at the same time do not wait for each other in %s', async (revision) => {
  const server = newServer()
  const started: string[] = []
  server.tool('wait', { input: z.object({ name: z.string() }) }, async ({ name }) => {
    started.push(name)
    while (started.length < 2) await settle()
    return name
  })
  const { client } = await connectPair(server, { revision })
  const results = await Promise.all([client.call('wait', { name: 'a' }), client.call('wait', { name: 'b' })])
  expect(results.map(({ content }) => content[0])).toEqual([
    { type: 'text', text: 'a' },
    { type: 'text', text: 'b' },
  ])
})

test('argument and result types flow from the schemas to the handler', () => {
  const server = newServer()
  server.tool(
    'typed',
    { input: z.object({ a: z.string(), n: z.coerce.number().default(3) }), output: z.object({ ok: z.boolean() }) },
    (args, ctx) => {
      expectTypeOf(args).toEqualTypeOf<{ a: string; n: number }>()
      expectTypeOf(ctx.signal).toEqualTypeOf<AbortSignal>()
      return { ok: true }
    },
  )
  server.tool(
    'plain',
    { input: { type: 'object', properties: { a: { type: 'string' }, b: { type: 'number' } }, required: ['a'] } as const },
    (args) => {
      expectTypeOf(args.a).toEqualTypeOf<string>()
      expectTypeOf(args.b).toEqualTypeOf<number | undefined>()
      return 'x'
    },
  )
  // @ts-expect-error the output schema asks for a boolean
  server.tool('wrong', { output: z.object({ ok: z.boolean() }) }, () => ({ ok: 'yes' }))
})

test('a tool without arguments can be called without them, and a notification calls no tool', async () => {
  const server = newServer()
  let calls = 0
  server.tool('count', {}, () => String(++calls))
  const raw = rawChannel(server)
  await raw.initialize('2025-11-25')
  expect((await raw.ask('tools/call', { name: 'count' })).result.content).toEqual([{ type: 'text', text: '1' }])
  raw.send({ jsonrpc: '2.0', method: 'tools/call', params: { name: 'count' } })
  await settle()
  expect(calls).toBe(1)
})

test('the context has the caller, the arguments and the metadata', async () => {
  const server = newServer()
  server.tool('who', { input: z.object({ n: z.coerce.number() }) }, (args, ctx) =>
    JSON.stringify({ args, sent: ctx.arguments, caller: ctx.caller, meta: ctx.meta.traceparent }),
  )
  const raw = rawChannel(server, { principal: 'https://as.example|alice|app' })
  const _meta = envelope({ roots: {} }, { traceparent: '00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01' })
  const answer = await raw.ask('tools/call', { name: 'who', arguments: { n: '5' }, _meta })
  expect(JSON.parse(answer.result.content[0].text)).toEqual({
    args: { n: 5 },
    sent: { n: '5' },
    caller: {
      principal: 'https://as.example|alice|app',
      client: { name: 'raw', version: '1' },
      capabilities: { roots: {} },
      revision: '2026-07-28',
    },
    meta: '00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01',
  })
})

test.each(REVISIONS)('the everything server, whose tools and prompts embed resources, offers resources too, in %s', async (revision) => {
  proves('T-TOOL-031', 'R-TOOL-007')
  const { client } = await connectPair(everythingServer(), { revision })
  const tool = await client.call('test_embedded_resource')
  const prompt = await client.prompt('test_prompt_with_embedded_resource', { resourceUri: 'test://static-text' })
  for (const block of [tool.content[0], prompt.messages[0]?.content]) expect(block).toMatchObject({ type: 'resource' })
  expect(client.server.capabilities.resources).toEqual({ subscribe: true, listChanged: true })
  const [message] = prompt.messages
  const uri = message?.content.type === 'resource' ? message.content.resource.uri : ''
  expect((await client.read(uri)).contents[0]).toMatchObject({ uri })
})

test('structured content may be any JSON value in 2026-07-28, described by any schema', async () => {
  proves('R-TOOL-028', 'R-TOOL-029')
  const values: [string, unknown, object][] = [
    ['list', ['a', 1], { type: 'array' }],
    ['word', 'a', { type: 'string' }],
    ['number', 0.5, { type: 'number' }],
    ['flag', false, { type: 'boolean' }],
    ['nothing', null, { type: 'null' }],
    ['either', 'a', { anyOf: [{ type: 'string' }, { type: 'object' }] }],
  ]
  const server = newServer()
  for (const [name, value, output] of values) server.tool(name, { output: output as never }, () => value as never)
  const { client } = await connectPair(server, { revision: '2026-07-28' })
  const listed = await client.tools().all()
  for (const [name, value, output] of values) {
    expect(listed.find((tool) => tool.name === name)?.outputSchema).toEqual(output)
    expect(await client.call(name)).toMatchObject({ structuredContent: value, content: [text(JSON.stringify(value))] })
  }
})

test('an input schema is an object, and may use any keyword inside', async () => {
  proves('R-TOOL-010', 'R-TOOL-030', 'R-TOOL-031')
  const server = newServer()
  for (const wrong of [null, 'object', 5, { type: 'string' }, { oneOf: [{ type: 'object' }] }])
    expect(() => server.tool('wrong', { input: wrong as never }, () => 'x')).toThrow('Tool "wrong"')
  const input = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    $defs: { place: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] } },
    properties: { from: { $ref: '#/$defs/place' }, kind: { type: 'string', enum: ['a', 'b'], 'x-mcp-header': 'Kind' } },
    oneOf: [{ required: ['from'] }, { required: ['kind'] }],
    if: { properties: { kind: { const: 'a' } }, required: ['kind'] },
    then: { required: ['note'] },
  } as const
  server.tool('rich', { input: input as never }, () => 'x')
  for (const revision of ['2025-11-25', '2026-07-28']) {
    const { client } = await connectPair(server, { revision })
    expect((await client.tools().all())[0]?.inputSchema).toEqual(input)
    const isError = async (args: Record<string, unknown>) => (await client.call('rich', args)).isError === true
    expect(await isError({ from: { city: 'Bern' } })).toBe(false)
    expect(await isError({ kind: 'b' })).toBe(false)
    expect(await isError({ kind: 'a', note: 1 })).toBe(false)
    for (const wrong of [{}, { from: {} }, { kind: 'a' }, { kind: 'b', from: { city: 'Bern' } }]) expect(await isError(wrong)).toBe(true)
  }
})

test('malformed requests and unknown tools are protocol errors, bad arguments are a tool result', async () => {
  proves('R-TOOL-017', 'R-TOOL-018')
  const server = newServer()
  server.tool('a', { input: z.object({ n: z.number() }) }, () => 'x')
  for (const revision of ['2025-11-25', '2026-07-28']) {
    const raw = rawChannel(server)
    if (revision === '2025-11-25') await raw.initialize(revision)
    const ask = (params: Message) => raw.ask('tools/call', revision === '2025-11-25' ? params : { ...params, _meta: envelope() })
    for (const params of [{}, { name: 5 }, { name: 'a', arguments: [] }, { name: 'unknown' }])
      expect((await ask(params)).error.code).toBe(-32602)
    for (const params of [{ name: 'a' }, { name: 'a', arguments: { n: 'one' } }]) {
      const { result, error } = await ask(params)
      expect(error).toBeUndefined()
      expect(result.isError).toBe(true)
    }
  }
})
