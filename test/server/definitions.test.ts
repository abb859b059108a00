import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { listen } from '../../src/http/index.ts'
import { connect } from '../../src/index.ts'
import { createServer, type Server } from '../../src/server/index.ts'
import { pair } from '../../src/testing/index.ts'

const newServer = (): Server => createServer({ name: 'test', version: '1.0.0' })

/** Calls `define` as JavaScript would: without the compiler. */
const untyped = (server: Server) =>
  server as unknown as Record<'tool' | 'prompt' | 'resource', (name: string, definition: object, handler?: unknown) => unknown>

test('an unknown member of a definition is refused, with the name that was meant', () => {
  const server = untyped(newServer())
  expect(() => server.tool('e', { inputSchema: z.object({ a: z.string() }) }, () => 'x')).toThrow(
    'Tool "e": unknown member "inputSchema"; did you mean "input"?',
  )
  expect(() => server.tool('e', { desc: 'short' }, () => 'x')).toThrow('did you mean "description"?')
  expect(() => server.prompt('p', { argsSchema: {} }, () => 'x')).toThrow(
    'Prompt "p": unknown member "argsSchema"; expected one of title, description, input, complete',
  )
  expect(() => server.resource('x://y', { name: 'y', mime: 'text/plain' }, () => 'x')).toThrow(
    'Resource x://y: unknown member "mime"; did you mean "mimeType"?',
  )
})

test('an unknown member is refused in an update too', () => {
  const server = newServer()
  const handle = server.tool('e', {}, () => 'x')
  expect(() => handle.update({ outputSchema: {} } as object)).toThrow('did you mean "output"?')
})

test('an object of schemas is refused with the advice to wrap it', () => {
  const server = untyped(newServer())
  expect(() => server.tool('e', { input: { city: z.string() } }, () => 'x')).toThrow(
    'Tool "e" input: expected a schema, got an object of schemas; wrap it in z.object({...})',
  )
})

test('a tool without a definition takes no arguments', async () => {
  const server = newServer()
  server.tool('ping', () => 'pong')
  const { client, close } = await pair(server)
  expect((await client.call('ping')).content).toEqual([{ type: 'text', text: 'pong' }])
  await close()
})

test('a definition without a handler is refused', () => {
  expect(() => untyped(newServer()).tool('e', {})).toThrow('The tool "e" needs a function that handles its requests')
})

test('a result that does not match the output schema names the field on both sides', async () => {
  const reported: unknown[] = []
  const server = createServer({ name: 'test', version: '1.0.0', onError: (error) => reported.push((error as Error).message) })
  const output = z.object({ deep: z.object({ list: z.array(z.string()) }) })
  server.tool('e', { output }, () => ({ deep: { list: [1] } }) as never)
  const { client, close } = await pair(server)
  const message = expect.stringMatching(/^Tool "e": the result does not match its output schema: deep\.list\[0\]: .*expected string/)
  await expect(client.call('e')).rejects.toMatchObject({ message })
  expect(reported).toEqual([message])
  await close()
})

test('a question without a session says that the server keeps none', async () => {
  const server = newServer()
  server.tool('forecast', {}, async (_, ctx) => {
    await ctx.elicit('city', 'Which city?', { type: 'object', properties: { city: { type: 'string' } } })
  })
  const http = await listen(server, { port: 0, handleSignals: false, sessions: false })
  const answer = { elicit: async () => ({ action: 'cancel' as const }) }
  const client = await connect(http.url, { revisions: ['2025-06-18'], answer })
  await expect(client.call('forecast')).rejects.toThrow(
    '"forecast" asks the user a question, and this server keeps no sessions, which this client needs for that',
  )
  await client.close()
  await http.close()
})

describe('calls in the form of other libraries', () => {
  const run = (): string => 'x'
  const tool = 'Expected server.tool(name, { description, input: z.object({ ... }) }, handler), got '
  const resource = 'Expected server.resource(uri, { name }, handler), got '
  const prompt = 'Expected server.prompt(name, { description, input: z.object({ ... }) }, handler), got '
  test.each<[string, unknown[], string]>([
    ['tool', ['a', 'text', run], `${tool}server.tool("a", "text", function)`],
    ['tool', ['a', { city: z.string() }, run], `${tool}a schema in the definition, as "city"`],
    ['tool', ['a', 'text', { city: z.string() }, run], `${tool}server.tool("a", "text", object, function)`],
    ['tool', ['a', {}, {}, run], `${tool}server.tool("a", object, object, function)`],
    ['tool', ['a', null, run], `${tool}server.tool("a", null, function)`],
    ['tool', [{ name: 'a', execute: run }], `${tool}server.tool(object)`],
    ['resource', ['conf', 'config://app', run], `${resource}server.resource("conf", "config://app", function)`],
    ['resource', ['conf', 'config://app', {}, run], `${resource}server.resource("conf", "config://app", object, function)`],
    ['resource', ['config://app', run], `${resource}server.resource("config://app", function)`],
    ['resource', ['conf', { uriTemplate: 'note://{id}' }, run], 'the call is server.resource(uri, { name }, handler)'],
    ['prompt', ['a', run], `${prompt}server.prompt("a", function)`],
    ['prompt', ['a', { city: z.string() }, run], `${prompt}a schema in the definition, as "city"`],
    ['prompt', ['a', 'text', {}, run], `${prompt}server.prompt("a", "text", object, function)`],
    ['registerTool', ['a', {}, run], `${tool}server.registerTool()`],
    ['addTool', [{ name: 'a' }], `${tool}server.addTool()`],
    ['registerResource', ['a', 'x://y', {}, run], `${resource}server.registerResource()`],
    ['registerPrompt', ['a', {}, run], `${prompt}server.registerPrompt()`],
    ['setRequestHandler', [{}, run], 'got server.setRequestHandler()'],
    ['connect', [{}], 'Expected serveStdio(server) of portico/stdio, or listen(server) of portico/http, got server.connect()'],
  ])('a call of server.%s with %j says the right call', (method, given, words) => {
    const server = newServer() as unknown as Record<string, (...given: unknown[]) => unknown>
    expect(() => server[method]?.(...given)).toThrow(words)
    expect(Object.keys(server)).not.toContain('registerTool')
  })

  test('a server that is created with two objects, or with none, says the right call', () => {
    const create = createServer as (...given: unknown[]) => unknown
    expect(() => create({ name: 'a', version: '1' }, { capabilities: {} })).toThrow('createServer takes one object')
    expect(() => create()).toThrow('A server needs a name and a version: createServer({ name, version })')
  })
})
