import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { createServer, McpError, type MiddlewareCall } from '../../src/server/index.ts'
import { connectPair, REVISIONS } from '../support/judged-pair.ts'
import { rawChannel } from '../support/raw-channel.ts'

const newServer = () => {
  const server = createServer({ name: 'x', version: '1', onError: () => {} })
  server.tool('echo', { input: z.object({ text: z.string() }) }, ({ text }) => text)
  server.resource('a:1', { name: 'a' }, () => 'x')
  server.prompt('p', {}, () => 'x')
  return server
}

describe.each(REVISIONS)('middleware in %s', (revision) => {
  test('sees every request, in the order of use, with its target and caller', async () => {
    const server = newServer()
    const seen: string[] = []
    server.use(async ({ method, target, caller }, next) => {
      seen.push(`${method} ${target ?? '-'} ${caller.revision === revision || method === 'initialize'}`)
      return next()
    })
    const order: string[] = []
    for (const name of ['outer', 'inner']) {
      server.use(async (_call, next) => {
        order.push(`${name} in`)
        const result = await next()
        order.push(`${name} out`)
        return result
      })
    }
    const { client } = await connectPair(server, { revision })
    order.length = 0
    await client.call('echo', { text: 'a' })
    expect(order).toEqual(['outer in', 'inner in', 'inner out', 'outer out'])
    await client.tools().all()
    await client.read('a:1')
    await client.prompt('p')
    expect(seen.slice(1)).toEqual(['tools/call echo true', 'tools/list - true', 'resources/read a:1 true', 'prompts/get p true'])
  })

  test('may refuse, answer by itself, change parameters or change the result', async () => {
    const server = newServer()
    server.use(async (call, next) => {
      if (call.target === 'a:1') throw new McpError('ERR_RESOURCE_NOT_FOUND', 'Resource not found', { data: { uri: 'a:1' } })
      if (call.target === 'p') return { messages: [] }
      if (call.method !== 'tools/call') return next()
      const result = await next({ params: { ...call.params, arguments: { text: 'changed' } } })
      return { ...result, content: [...(result.content as unknown[]), { type: 'text', text: 'added' }] }
    })
    const { client } = await connectPair(server, { revision })
    await expect(client.read('a:1')).rejects.toMatchObject({ message: 'Resource not found' })
    expect((await client.prompt('p')).messages).toEqual([])
    expect((await client.call('echo', { text: 'original' })).content).toEqual([
      { type: 'text', text: 'changed' },
      { type: 'text', text: 'added' },
    ])
  })

  test('sees failures as they are, and what it throws is masked like any other error', async () => {
    const server = newServer()
    const failures: string[] = []
    server.tool('bad', {}, () => {
      throw new Error('inside')
    })
    server.use(async (call, next) => {
      if (call.target === 'a:1') throw new Error('the middleware itself')
      try {
        return await next()
      } catch (error) {
        failures.push((error as Error).message)
        throw error
      }
    })
    const { client } = await connectPair(server, { revision })
    expect((await client.call('bad')).isError).toBe(true)
    expect(failures).toEqual(['inside'])
    await expect(client.read('a:1')).rejects.toMatchObject({ code: -32603, message: expect.stringMatching(/^Internal error/) })
  })
})

test('middleware decides who may do what, before anything of the tool is touched [T-TOOL-042] [T-RES-056]', async () => {
  const server = newServer()
  let runs = 0
  server.tool('admin', {}, () => String(++runs))
  server.use((call: MiddlewareCall, next) => {
    if (call.target === 'admin' && call.caller.principal !== 'alice') throw new McpError('ERR_TOOL_NOT_FOUND', 'Unknown tool: admin')
    return next()
  })
  const asked = async (principal: string) => {
    const raw = rawChannel(server, { principal })
    await raw.initialize('2025-11-25')
    return (await raw.ask('tools/call', { name: 'admin' })).error?.code
  }
  expect(await asked('mallory')).toBe(-32602)
  expect(runs).toBe(0)
  expect(await asked('alice')).toBeUndefined()
})

test('a call that ends in questions is a result that middleware sees like any other', async () => {
  const server = createServer({ name: 'x', version: '1' })
  server.tool('asks', {}, (_args, ctx) => ctx.elicit('a', 'A?', z.object({ a: z.string() })))
  const types: unknown[] = []
  server.use(async (call, next) => {
    const result = await next()
    if (call.method === 'tools/call') types.push(result.resultType)
    return result
  })
  const { client } = await connectPair(server, {
    revision: '2026-07-28',
    answer: { elicit: () => ({ action: 'accept', content: { a: 'x' } }) },
  })
  await client.call('asks')
  expect(types).toEqual(['input_required', undefined])
})
