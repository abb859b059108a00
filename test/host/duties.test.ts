/** What the specification asks of a host, whatever it looks like. */

import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { Conversation, type HostOptions, readAudit } from '../../src/host/index.ts'
import type { ServerSpec } from '../../src/host/model/server-spec.ts'
import { connect } from '../../src/index.ts'
import { createServer, embed } from '../../src/server/index.ts'
import { proves } from '../support/proves.ts'
import { calling, chat, hosts, person, refusing, says, spy, textOf, until } from './hosts.ts'

const { folder, host: hostWith } = hosts()

const library = () => {
  const did: string[] = []
  const server = createServer({ name: 'library', version: '1', limits: { toolCalls: false } })
  server.tool('lend', { description: 'Lends a book' }, () => {
    did.push('lend')
    return 'lent'
  })
  server.tool('roots', {}, async (_, context) => {
    const roots = await context.roots()
    did.push(`roots ${roots.length}`)
    return JSON.stringify(roots)
  })
  server.tool('sample', {}, async (_, context) => {
    await context.sample('q', { maxTokens: 10, messages: [{ role: 'user', content: { type: 'text', text: 'hi' } }] })
    did.push('sample')
    return 'sampled'
  })
  server.prompt('review', { description: 'Reviews a book' }, () => {
    did.push('review')
    return { messages: [{ role: 'user', content: embed('book://1', 'Once upon a time', 'text/plain') }] }
  })
  server.resource('book://1', { name: 'one', mimeType: 'text/plain' }, () => {
    did.push('read')
    return 'Once upon a time'
  })
  return { server, did }
}

const all: HostOptions['policy'] = { roots: {}, layers: { user: [{ id: 'ask', effect: 'ask', match: {} }] } }

describe('a host', () => {
  test('a host does nothing with a server that a person denied: no start, call, read, sampling or root', async () => {
    proves('T-HOST-003', 'T-HOST-007', 'T-HOST-013', 'T-HOST-015', 'T-HOST-022', 'T-TOOL-003')
    const { server, did } = library()
    const model = spy([calling('library__lend')])
    const ask = refusing('call', 'read', 'prompt', 'sample', 'roots')
    const host = await hostWith({ servers: { library: server }, ask, model, policy: all })
    const denied = { code: 'ERR_DENIED' }
    await expect(host.call('library__lend')).rejects.toMatchObject(denied)
    await expect(host.read('book://1')).rejects.toMatchObject(denied)
    await expect(host.watch('book://1', () => {})).rejects.toMatchObject(denied)
    await expect(host.prompt('library__review')).rejects.toMatchObject(denied)
    await expect(host.giveRoot('library', folder())).rejects.toMatchObject(denied)
    expect((await chat(host, 'lend me a book')).some(({ type }) => type === 'refused')).toBe(true)
    expect(did).toEqual([])
    expect(new Set(ask.asked.map(({ action }) => action))).toEqual(
      new Set(['server.approve', 'tool.call', 'resource.read', 'resource.subscribe', 'prompt.get', 'roots.expose']),
    )
  })

  test('a host logs the approval of an action before it performs the action', async () => {
    proves('T-HOST-007')
    const home = folder()
    const { server, did } = library()
    const host = await hostWith({ folder: home, servers: { library: server }, ask: person(), policy: all, principal: 'ada' })
    await host.call('library__lend')
    await host.read('book://1')
    await host.prompt('library__review')
    await host.close()
    const agreed: string[] = []
    for await (const record of readAudit(join(home, 'audit'), { kinds: ['intent'] }))
      if (record.kind === 'intent') agreed.push(`${record.entry.action} ${record.entry.answer?.kind} ${record.entry.answer?.by}`)
    expect(agreed).toEqual(
      ['server.approve', 'tool.call', 'tool.result', 'resource.read', 'resource.result', 'prompt.get', 'prompt.result'].map(
        (action) => `${action} allow ada`,
      ),
    )
    expect(did).toEqual(['lend', 'read', 'review'])
  })

  test('the answer of the person decides, and the requester gets it', async () => {
    proves('T-HOST-004')
    const { server, did } = library()
    const ask = person(({ subject }) => (subject.kind === 'call' ? { kind: 'deny', feedback: 'not today' } : undefined))
    const model = spy([calling('library__lend')], [says('well')])
    const host = await hostWith({ servers: { library: server }, ask, model })
    await chat(host, 'go')
    expect(JSON.stringify(model.asked[1]?.messages)).toContain('not today')
    expect(did).toEqual([])
  })

  test('a host shows directories and conversations to no server without consent', async () => {
    proves('T-HOST-010')
    const { server, did } = library()
    const given = folder()
    const ask = refusing('roots', 'sample')
    const host = await hostWith({ servers: { library: server }, ask, model: spy([says('x')]), roots: [given] })
    expect(textOf(await host.call('library__roots'))).toBe('[]')
    expect(ask.saw('roots')).toHaveLength(1)
    await host.call('library__sample').catch(() => {})
    expect(did).toEqual(['roots 0'])
    const agreeing = await hostWith({ servers: { library: library().server }, ask: person(), roots: [given] })
    expect(textOf(await agreeing.call('library__roots'))).toContain(given)
  })

  test('the application gets all resources of every server, and a model gets none', async () => {
    proves('T-RES-002', 'T-ARCH-034')
    const { server, did } = library()
    const other = createServer({ name: 'other', version: '1' })
    other.resource('other://1', { name: 'another' }, () => 'x')
    const model = spy([calling('library__lend')], [])
    const host = await hostWith({ servers: { library: server, other }, ask: person(), model })
    expect(host.resources().map(({ server: owner, definition }) => [owner, definition.uri])).toEqual([
      ['library', 'book://1'],
      ['other', 'other://1'],
    ])
    await chat(host, 'Is there a book?')
    expect(JSON.stringify(model.asked)).not.toContain('book://1')
    expect(did).toEqual(['lend'])
    // What the application reads goes into a conversation when the application puts it there.
    const conversation = new Conversation()
    const { contents } = await host.read('book://1', { conversation })
    expect(contents).toMatchObject([{ text: 'Once upon a time' }])
    await chat(host, 'And now?', { conversation })
    expect(JSON.stringify(model.asked)).not.toContain('Once upon a time')
  })

  test('only the person can choose a prompt, not a model', async () => {
    proves('T-PROM-002', 'T-ARCH-033')
    const { server, did } = library()
    const model = spy([calling('library__review'), calling('review'), calling('call_tool', { name: 'library__review', arguments: {} })], [])
    const host = await hostWith({ servers: { library: server }, ask: person(), model })
    const parts = await chat(host, 'Review it')
    expect(did).toEqual([])
    expect(parts.flatMap((part) => (part.type === 'tool-result' ? [part.result.isError] : []))).toEqual([true, true, true])
    expect(JSON.stringify(model.asked)).not.toContain('Reviews a book')
    expect(host.prompts().map(({ exposed }) => exposed)).toEqual(['library__review'])
    await host.prompt('library__review')
    expect(did).toEqual(['review'])
  })

  test('the application decides how embedded content of a prompt is shown', async () => {
    proves('T-PROM-034')
    const { server } = library()
    const host = await hostWith({ servers: { library: server }, ask: person() })
    const { messages } = await host.prompt('library__review')
    expect(messages).toMatchObject([
      { role: 'user', content: { type: 'resource', resource: { uri: 'book://1', text: 'Once upon a time' } } },
    ])
  })

  test('a host lists exactly the tools that a model gets, with the server of each', async () => {
    proves('T-TOOL-004')
    const { server } = library()
    const model = spy([])
    const some = person(({ action }) =>
      action === 'server.approve' ? { kind: 'allow', scope: 'once', edited: { approved: ['tool lend', 'tool roots'] } } : undefined,
    )
    const host = await hostWith({ servers: { library: server }, ask: some, model })
    await chat(host, 'go')
    expect(host.tools().map(({ exposed, server: owner }) => [exposed, owner])).toEqual([
      ['library__lend', 'library'],
      ['library__roots', 'library'],
    ])
    expect(model.asked[0]?.tools?.map(({ name }) => name)).toEqual(host.tools().map(({ exposed }) => exposed))
  })

  test('a host has one client per server, and client and server work without a host', async () => {
    proves('T-ARCH-002')
    const { server } = library()
    const client = await connect(server)
    expect(textOf(await client.call('lend', {}))).toBe('lent')
    await client.close()
    const host = await hostWith({ servers: { one: library().server, two: library().server }, ask: person() })
    expect(Object.keys(host.health())).toEqual(['one', 'two'])
    expect(textOf(await host.call('one__lend'))).toBe('lent')
  })
})

test('a rule can forbid that results of one server go to another, for every initiator', async () => {
  proves('T-ARCH-020', 'T-HOST-011')
  const sent: unknown[] = []
  const mail = createServer({ name: 'mail', version: '1' })
  mail.tool('inbox', {}, () => 'a private letter, and a long one at that')
  const out = createServer({ name: 'out', version: '1' })
  out.tool('post', { input: { type: 'object', properties: { text: { type: 'string' } } } }, (args) => {
    sent.push(args)
    return 'posted'
  })
  const memory = (service: typeof mail, labels: string[]): Omit<ServerSpec, 'id'> => ({
    tier: 'trusted',
    provenance: [],
    labels,
    transport: { type: 'memory', service },
  })
  const ask = person()
  const host = await hostWith({
    servers: { mail: memory(mail, ['private:mail']), out: memory(out, ['egress']) },
    ask,
    policy: {
      roots: {},
      layers: { user: [{ id: 'mail-stays', effect: 'deny', match: { action: 'tool.call', server: 'out', labels: ['private:mail'] } }] },
    },
    model: spy([calling('mail__inbox')], [calling('out__post', { text: 'a private letter, and a long one at that' })]),
  })
  const parts = await chat(host, 'go')
  expect(parts.some((part) => part.type === 'refused' && part.reason.includes('out/post was denied'))).toBe(true)
  expect(sent).toEqual([])
  await until(() => ask.asked.length > 0)
  expect(ask.saw('call').every(({ tool }) => tool.name !== 'post')).toBe(true)
})
