import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { createServer, McpError } from '../../src/server/index.ts'
import { everythingServer } from '../../src/testing/index.ts'
import { connectPair, REVISIONS } from '../support/judged-pair.ts'
import { proves } from '../support/proves.ts'
import { envelope, rawChannel } from '../support/raw-channel.ts'

const BAD = [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
const numberSchema = { type: 'object', properties: { sum: { type: 'number' } }, required: ['sum'] } as const

describe.each(REVISIONS)('numbers that JSON cannot represent, in %s', (revision) => {
  const connect = (server: ReturnType<typeof createServer>) => connectPair(server, { revision, clientIsWrong: true })
  const newServer = () => createServer({ name: 'numbers', version: '1', onError: () => {} })

  test('numbers that JSON cannot represent are an error of the tool that returns them', async () => {
    proves('T-TOOL-035')
    for (const bad of BAD) {
      const server = newServer()
      server.tool('typed', { output: numberSchema }, () => ({ sum: bad }))
      server.tool('any', { output: z.object({ sum: z.any() }) }, () => ({ sum: bad }))
      server.tool('plain', {}, () => ({ sum: bad }))
      server.tool('list', { output: z.any() }, () => [bad])
      server.tool('whole', {}, () => ({ content: [], structuredContent: { sum: bad } }))
      const { client, sent } = await connect(server)
      await expect(client.call('typed')).rejects.toMatchObject({ code: -32603 })
      for (const tool of ['any', 'plain', 'list', 'whole']) expect(await client.call(tool)).toMatchObject({ isError: true })
      for (const message of sent('server')) expect(JSON.stringify(message)).not.toContain('null')
    }
  })

  test('numbers that JSON cannot represent are an error of the resource or prompt that returns them', async () => {
    const server = newServer()
    server.resource('a:json', { name: 'json' }, () => ({ sum: Number.NaN }))
    server.resource('a:meta', { name: 'meta' }, () => ({ contents: [], _meta: { sum: Number.NaN } }))
    server.prompt('p', {}, () => ({ messages: [], _meta: { sum: Number.NaN } }))
    const { client } = await connect(server)
    await expect(client.read('a:json')).rejects.toMatchObject({ code: -32603 })
    await expect(client.read('a:meta')).rejects.toMatchObject({ code: -32603 })
    await expect(client.prompt('p')).rejects.toMatchObject({ code: -32603 })
  })

  test('numbers that JSON cannot represent are an error of the handler that reports them as progress', async () => {
    const server = newServer()
    const thrown: unknown[] = []
    server.tool('work', {}, async (_args, ctx) => {
      for (const args of [[Number.NaN], [Number.POSITIVE_INFINITY], [1, Number.POSITIVE_INFINITY], ['1']]) {
        try {
          await ctx.progress(...(args as [number, number?]))
        } catch (error) {
          thrown.push((error as Error).message)
        }
      }
      await ctx.progress(1, 2)
      return 'done'
    })
    const { client, sent } = await connect(server)
    const expected = ['progress', 'progress', 'total', 'progress'].map((name) => expect.stringMatching(`^${name} must be a finite number`))
    await client.call('work', {}, { onProgress: () => {} })
    await client.call('work')
    expect(thrown).toEqual([...expected, ...expected])
    expect(sent('server', 'notifications/progress')).toHaveLength(1)
  })

  test('numbers that JSON cannot represent are an error of the client that sends them', async () => {
    const server = newServer()
    server.tool('echo', { input: { type: 'object' } }, (args) => JSON.stringify(args))
    const { client, sent } = await connect(server)
    for (const bad of BAD) {
      await expect(client.call('echo', { n: bad })).rejects.toThrow(`JSON cannot represent the number ${bad} at arguments.n`)
      await expect(client.call('echo', {}, { meta: { 'com.example/n': bad } })).rejects.toThrow(`JSON cannot represent the number ${bad}`)
    }
    expect(sent('client', 'tools/call')).toEqual([])
  })

  test('numbers that JSON cannot represent are text in a log message', async () => {
    const server = newServer()
    server.tool('log', {}, (_args, ctx) => {
      ctx.log.error({ ratio: Number.NaN, none: null, list: [Number.POSITIVE_INFINITY] })
      return 'x'
    })
    const { client, sent } = await connectPair(server, { revision, logLevel: 'debug' })
    await client.call('log')
    expect(sent('server', 'notifications/message')[0]?.params.data).toEqual({ ratio: 'NaN', none: null, list: ['Infinity'] })
  })
})

test('a sum that is too large for a number is an error of the tool, not null', async () => {
  const { client } = await connectPair(everythingServer(), { revision: '2025-11-25' })
  await expect(client.call('add', { a: 1e308, b: 1e308 })).rejects.toMatchObject({ code: -32603 })
})

test('an argument too large for a number is refused', async () => {
  const server = createServer({ name: 'numbers', version: '1' })
  server.tool('half', { input: { type: 'object', properties: { n: { type: 'number' } } } }, ({ n }) => String(n))
  const raw = rawChannel(server)
  await raw.initialize('2025-11-25')
  raw.send('{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"half","arguments":{"n":1e400}}}')
  const { result } = await raw.until(({ id }) => id === 1)
  expect(result).toMatchObject({ isError: true, content: [{ text: expect.stringContaining('expected number, got number (Infinity)') }] })
})

test('a step that returns a number that JSON cannot represent fails in its own round', async () => {
  const errors: unknown[] = []
  const server = createServer({ name: 'numbers', version: '1', onError: (error) => errors.push(error) })
  server.tool('t', {}, async (_args, ctx) => String(await ctx.once('n', () => Number.NaN)))
  const answer = await rawChannel(server).ask('tools/call', { name: 't', _meta: envelope() })
  expect(answer.result.isError).toBe(true)
  expect(String(errors)).toBe('TypeError: The step "n" returned a value that is not JSON')
})

test('a definition that cannot be written as JSON is refused when it is registered', () => {
  const server = createServer({ name: 'numbers', version: '1' })
  const _meta = { 'com.example/n': Number.NaN }
  const refused = 'cannot be written as JSON: JSON cannot represent the number NaN at _meta.com.example/n'
  expect(() => server.tool('t', { _meta }, () => 'x')).toThrow(`Tool "t" ${refused}`)
  expect(() => server.prompt('p', { _meta }, () => 'x')).toThrow(`Prompt "p" ${refused}`)
  expect(() => server.resource('a:1', { name: 'a', _meta }, () => 'x')).toThrow(`Resource a:1 ${refused}`)
  expect(() => server.resource('a:{id}', { name: 'a', size: 1n as unknown as number }, () => 'x')).toThrow('cannot be written as JSON')
  expect(() => createServer({ name: 'x', version: '1', experimental: { x: { n: Number.NaN } } })).toThrow('The server cannot be written')
})

test('error data that cannot be written as JSON does not hide the error', async () => {
  const server = createServer({ name: 'numbers', version: '1' })
  server.resource('a:1', { name: 'a' }, () => {
    throw new McpError('ERR_INVALID_PARAMS', 'no', { data: { n: 1n } })
  })
  const answer = await rawChannel(server).ask('resources/read', { uri: 'a:1', _meta: envelope() })
  expect(answer.error).toEqual({ code: -32602, message: 'no' })
})
