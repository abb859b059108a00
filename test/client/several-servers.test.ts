import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { Client, memoryTarget, ResponseCache } from '../../src/client/index.ts'
import { createServer } from '../../src/server/index.ts'
import { connectPair, REVISIONS, SESSION_REVISIONS } from '../support/judged-pair.ts'
import { proves } from '../support/proves.ts'
import { settle } from '../support/raw-channel.ts'

/** Servers that differ in nothing but what they say: same tools, same URIs. */
const serverOf = (name: string) => {
  const server = createServer({ name, version: '1.0.0', instructions: `Instructions of ${name}` })
  server.tool('who', { description: `Tool of ${name}`, input: z.object({ secret: z.string().optional() }) }, () => name)
  server.resource('a:shared', { name: 'shared' }, () => `content of ${name}`)
  return server
}
const textOf = async (called: ReturnType<Client['call']>) => {
  const [first] = (await called).content
  return first?.type === 'text' ? first.text : undefined
}

describe.each(REVISIONS)('an application with several servers in %s', (revision) => {
  const names = ['files', 'mail', 'weather']
  const connectAll = () => Promise.all(names.map((name) => connectPair(serverOf(name), { revision })))

  test('an application has a client for each server, and each works as if it were the only one', async () => {
    proves('T-ARCH-001', 'T-ARCH-010', 'T-ARCH-015')
    const pairs = await connectAll()
    const rounds = await Promise.all(Array.from({ length: 20 }, () => Promise.all(pairs.map(({ client }) => textOf(client.call('who'))))))
    for (const round of rounds) expect(round).toEqual(names)
    expect(pairs.map(({ client }) => client.server.instructions)).toEqual(names.map((name) => `Instructions of ${name}`))
    // The same ids are in use on each connection; only the connection tells them apart.
    const ids = pairs.map(({ sent }) => sent('client', 'tools/call').map(({ id }) => id))
    expect(ids[1]).toEqual(ids[0])
    await pairs[0]?.client.close()
    await expect(pairs[0]?.client.call('who')).rejects.toMatchObject({ code: 'ERR_CLOSED' })
    expect(await Promise.all(pairs.slice(1).map(({ client }) => textOf(client.call('who'))))).toEqual(['mail', 'weather'])
  })

  test('no server sees the messages of another server', async () => {
    proves('T-ARCH-018')
    const cache = new ResponseCache()
    const pairs = await Promise.all(names.map((name) => connectPair(serverOf(name), { revision, cache })))
    for (const [i, { client }] of pairs.entries()) {
      expect((await client.tools().all()).map(({ description }) => description)).toEqual([`Tool of ${names[i]}`])
      expect((await client.read('a:shared')).contents[0]).toMatchObject({ text: `content of ${names[i]}` })
      await client.call('who', { secret: `told to ${names[i]}` })
    }
    for (const [i, { sent }] of pairs.entries()) {
      const told = JSON.stringify(sent('client'))
      for (const other of names) expect(told.includes(`told to ${other}`), `${names[i]} and ${other}`).toBe(other === names[i])
      for (const other of names) expect(told).not.toContain(`of ${other}`)
    }
  })

  test('answers given to one server are kept from the others', async () => {
    proves('T-ARCH-008')
    const asker = (name: string) => {
      const server = createServer({ name, version: '1.0.0' })
      server.tool('ask', {}, async (_args, ctx) => (await ctx.roots()).map(({ uri }) => uri).join())
      return server
    }
    let told = 0
    const trusted = await connectPair(asker('trusted'), {
      revision,
      answer: {
        roots: () => {
          told++
          return ['file:///private']
        },
      },
    })
    const other = await connectPair(asker('other'), { revision, answer: { elicit: () => ({ action: 'cancel' }) } })
    await expect(other.client.call('ask')).rejects.toMatchObject({ message: expect.stringContaining('this client names none (roots)') })
    expect(told).toBe(0)
    expect(await textOf(trusted.client.call('ask'))).toBe('file:///private')
    expect(told).toBe(1)
    expect(JSON.stringify(other.sent('client'))).not.toContain('private')
  })
})

describe.each(REVISIONS)('two clients of one server in %s', (revision) => {
  test('each client hears only of the resources that it watches', async () => {
    proves('T-ARCH-004', 'T-ARCH-007')
    const server = createServer({ name: 'shared', version: '1.0.0' })
    const uris = ['a:1', 'a:2', 'a:3']
    for (const uri of uris) server.resource(uri, { name: uri }, () => 'x')
    const watching = async (...watched: string[]) => {
      const pair = await connectPair(server, { revision })
      const heard: Record<string, string[]> = {}
      for (const uri of watched) {
        const changes: string[] = []
        heard[uri] = changes
        void (async () => {
          for await (const change of pair.client.watch(uri)) changes.push(change.uri)
        })()
      }
      return { ...pair, heard }
    }
    const [first, second] = [await watching('a:1', 'a:2'), await watching('a:3')]
    await settle()
    for (const uri of uris) server.resourceChanged(uri)
    await settle()
    expect(first.heard).toEqual({ 'a:1': ['a:1'], 'a:2': ['a:2'] })
    expect(second.heard).toEqual({ 'a:3': ['a:3'] })
    const updates = ({ sent }: typeof first) => sent('server', 'notifications/resources/updated').map(({ params }) => params.uri)
    expect([updates(first), updates(second)]).toEqual([['a:1', 'a:2'], ['a:3']])
    await first.client.close()
    server.resourceChanged('a:3')
    await settle()
    expect(second.heard).toEqual({ 'a:3': ['a:3', 'a:3'] })
  })

  test('each client is known by the capabilities that it declared', async () => {
    proves('T-ARCH-004')
    const server = createServer({ name: 'shared', version: '1.0.0' })
    server.tool('caps', {}, (_args, ctx) => ['roots', 'sampling'].filter((name) => name in ctx.caller.capabilities).join())
    const roots = await connectPair(server, { revision, answer: { roots: ['file:///a'] } })
    const sampling = await connectPair(server, {
      revision,
      answer: { sample: () => ({ role: 'assistant', content: { type: 'text', text: 'x' }, model: 'm' }) },
    })
    expect(await Promise.all([roots, sampling].map(({ client }) => textOf(client.call('caps'))))).toEqual(['roots', 'sampling'])
  })
})

test.each(SESSION_REVISIONS)('connecting again makes another client with its own session, in %s', async (revision) => {
  proves('T-ARCH-003')
  let opened = 0
  const counting = (name: string) => {
    const target = memoryTarget(serverOf(name))
    return {
      ...target,
      open: () => {
        opened++
        return target.open()
      },
    }
  }
  const [files, mail] = [counting('files'), counting('mail')]
  const options = { revisions: [revision] }
  const first = await Client.connect(files, options)
  const second = await Client.connect(mail, options)
  const third = await Client.connect(files, options)
  expect(opened).toBe(3)
  expect(new Set([first, second, third]).size).toBe(3)
  const said = () => Promise.all([first, second, third].map((client) => textOf(client.call('who'))))
  expect(await said()).toEqual(['files', 'mail', 'files'])
  await third.close()
  expect([first.isClosed, second.isClosed, third.isClosed]).toEqual([false, false, true])
  expect(await textOf(first.call('who'))).toBe('files')
  for (const client of [first, second]) await client.close()
})
