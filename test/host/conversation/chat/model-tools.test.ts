/** The tools of a host for a model that another program runs. */

import { describe, expect, test } from 'vitest'
import { Conversation, type HostOptions } from '../../../../src/host/index.ts'
import { McpError } from '../../../../src/protocol/errors.ts'
import { createServer } from '../../../../src/server/index.ts'
import { hosts, person, refusing, textOf, until } from '../../hosts.ts'

const { host: hostWith } = hosts()

function mail() {
  const server = createServer({ name: 'mail', version: '1' })
  const running = { now: 0, most: 0, aborted: 0 }
  server.tool('list', { description: 'Lists letters' }, () => 'A letter from Ann')
  server.tool('long', {}, () => 'x'.repeat(50_000))
  server.tool('broken', {}, () => {
    throw new McpError('ERR_INVALID_REQUEST', 'The mailbox is locked')
  })
  server.tool('slow', { input: { type: 'object' } }, async (_args, ctx) => {
    running.most = Math.max(running.most, ++running.now)
    await ctx.progress(1, 2, 'half')
    await new Promise((resolve) => setTimeout(resolve, 30))
    running.now--
    return 'slow'
  })
  server.tool('hang', {}, async (_args, ctx) => {
    await new Promise((resolve) => ctx.signal.addEventListener('abort', resolve, { once: true }))
    running.aborted++
  })
  return { server, running }
}

async function toolsOf(options: HostOptions = {}) {
  const { server, running } = mail()
  const ask = person()
  const spec = {
    tier: 'trusted' as const,
    provenance: [],
    labels: ['private:mail'],
    transport: { type: 'memory' as const, service: server },
  }
  const host = await hostWith({ servers: { mail: spec }, ask, ...options })
  const conversation = new Conversation()
  const tools = await host.modelTools({ conversation, model: 'mine' })
  return { ...tools, host, conversation, running, ask }
}

describe('the tools for a model of another program', () => {
  test('they are the approved ones, and a result has its labels in the conversation', async () => {
    const { tools, call, conversation, ask } = await toolsOf()
    expect(tools.map(({ name }) => name)).toContain('mail__list')
    const outcome = await call('mail__list', {})
    expect(outcome.kind === 'result' && textOf(outcome.result)).toBe('A letter from Ann')
    expect(conversation.flow().labels).toContain('private:mail')
    expect(ask.asked.at(-1)?.chain).toEqual(['you', 'model mine', 'server mail'])
  })

  test.each<[string, string, unknown, RegExp]>([
    ['an unknown tool', 'mail__nothing', {}, /^Unknown tool "mail__nothing"\. Available: mail__/],
    [
      'arguments that are not an object',
      'mail__list',
      [1],
      /^The tool was not called\. Expected an object with the arguments, got \[1\]\.$/,
    ],
    ['an error of the server', 'mail__broken', {}, /^The call failed: .*The mailbox is locked/],
  ])('%s is a failed result for the model', async (_what, name, args, expected) => {
    const { call } = await toolsOf()
    const outcome = await call(name, args)
    expect(outcome).toMatchObject({ kind: 'result', result: { isError: true } })
    expect(outcome.kind === 'result' && textOf(outcome.result)).toMatch(expected)
  })

  test('a refusal is an outcome, and nothing is called', async () => {
    const { call, running } = await toolsOf({ ask: refusing('call') })
    expect(await call('mail__slow', {})).toMatchObject({ kind: 'refused', reason: expect.stringContaining('you said no') })
    expect(running.most).toBe(0)
  })

  test('a result is cut to what the model may read', async () => {
    const { call } = await toolsOf({ limits: { chat: { maxResultTokens: 100 } } })
    const outcome = await call('mail__long', {})
    expect(outcome.kind === 'result' && textOf(outcome.result)).toMatch(/^x{400}.*maxResultTokens/s)
  })

  test('progress arrives, and only some calls run at the same time', async () => {
    const { call, running } = await toolsOf({ limits: { chat: { maxParallelCalls: 2 } } })
    const messages: unknown[] = []
    const calls = [1, 2, 3, 4, 5].map((n) => call('mail__slow', { n }, { onProgress: ({ message }) => messages.push(message) }))
    expect((await Promise.all(calls)).every(({ kind }) => kind === 'result')).toBe(true)
    expect(messages).toEqual(Array(5).fill('half'))
    expect(running.most).toBe(2)
  })

  test('an aborted call rejects and is cancelled at the server, and a waiting one rejects at once', async () => {
    const { call, running } = await toolsOf({ limits: { chat: { maxParallelCalls: 1 } } })
    const stop = new AbortController()
    const both = [call('mail__hang', {}, { signal: stop.signal }), call('mail__list', {}, { signal: stop.signal })]
    setTimeout(() => stop.abort(new Error('enough')), 50)
    for (const each of await Promise.allSettled(both)) expect(each).toMatchObject({ status: 'rejected', reason: { message: 'enough' } })
    await until(() => running.aborted === 1)
  })

  test('too many definitions are offered as a search, and a call through it is decided like any other', async () => {
    const ask = refusing('call')
    const { tools, call } = await toolsOf({ limits: { maxDefinitionTokens: 1 }, ask })
    expect(tools.map(({ name }) => name)).toEqual(['search_tools', 'describe_tool', 'call_tool'])
    const found = await call('search_tools', { query: 'letters' })
    expect(found.kind === 'result' && textOf(found.result)).toContain('mail__list')
    expect(await call('call_tool', { name: 'mail__list' })).toMatchObject({ kind: 'refused' })
    expect(ask.saw('call').map(({ tool }) => tool.name)).toEqual(['list'])
  })
})
