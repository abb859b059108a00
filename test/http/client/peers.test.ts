/** Our client over HTTP with servers of others: what only works when both sides mean the same. */

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Answers } from '../../../src/client/answer-server.ts'
import { listen } from '../../../src/http/index.ts'
import { createServer } from '../../../src/server/index.ts'
import { proves } from '../../support/proves.ts'
import { open, SESSION, STATELESS } from './scripted-http.ts'
import { everythingPeer, type Peer, v1Peer, v2Peer } from './sdk-peers.ts'

const SESSIONS = ['2025-03-26', '2025-06-18', SESSION]

const answer: Answers = {
  elicit: () => ({ action: 'accept', content: { name: 'Ada' } }),
  sample: () => ({ role: 'assistant', model: 'test-model', content: { type: 'text', text: 'Hi' } }),
  roots: ['file:///project/one'],
}

const said = (text: string): object => ({ content: [{ type: 'text', text }] })

function describePeer(name: string, start: () => Promise<Peer>, run: (at: () => string) => void): void {
  describe(name, () => {
    let peer: Peer
    beforeAll(async () => {
      peer = await start()
    })
    afterAll(() => peer.close())
    run(() => peer.url)
  })
}

describePeer('the SDK, version 1', v1Peer, (at) => {
  test('the SDK server of version 1 is found', async () => {
    const { client, warnings } = await open(at())
    expect(client.revision).toBe(SESSION)
    expect(client.server.info.name).toBe('v1')
    await client.ping()
    expect(warnings).toEqual([])
  })

  test.each(SESSIONS)('the SDK server of version 1 speaks %s: tools, resources, prompts, progress', async (revision) => {
    const { client, warnings } = await open(at(), { revisions: [revision], answer })
    expect(client.revision).toBe(revision)
    expect((await client.tools().all()).map(({ name }) => name)).toContain('echo')
    expect(await client.call('echo', { text: 'Grüße 世界' })).toMatchObject(said('Grüße 世界'))
    const heard: unknown[] = []
    expect(await client.call('steps', {}, { onProgress: ({ progress }) => heard.push(progress) })).toMatchObject(said('done'))
    expect(heard).toEqual([1, 2, 3])
    expect(await client.read('test://note')).toMatchObject({ contents: [{ text: 'Grüße' }] })
    expect(await client.prompt('hello')).toMatchObject({ messages: [{ content: { text: 'Hello' } }] })
    expect(await client.call('ask_here')).toMatchObject(said('test-model'))
    expect(warnings).toEqual([])
  })

  test('the SDK server of version 1 asks on the GET stream', async () => {
    const { client } = await open(at(), { answer })
    expect(await client.call('ask')).toMatchObject(said('Ada'))
  })

  test('the SDK server of version 1 announces a new tool', async () => {
    const { client } = await open(at())
    await client.ping()
    const changed = new Promise<void>((resolve) => void client.onChange('tools', resolve))
    await client.call('grow')
    await changed
    expect((await client.tools().all()).some(({ name }) => name.startsWith('grown_'))).toBe(true)
  })

  test('the SDK server of version 1 breaks a stream off, and its answer comes after the reconnect', async () => {
    proves('T-HTTP-021', 'T-HTTP-057')
    const { client, warnings } = await open(at(), { revisions: [SESSION] })
    expect(await client.call('break_off')).toMatchObject(said('after the break'))
    expect(warnings).toEqual([])
  })
})

describe('the SDK, version 1, after a restart', () => {
  test('the SDK server of version 1 gets a new session after a restart', async () => {
    proves('T-HTTP-067')
    const peer = await v1Peer()
    try {
      const { client, warnings } = await open(peer.url)
      await client.call('echo', { text: 'before' })
      peer.forgetAll?.()
      expect(await client.call('echo', { text: 'after' })).toMatchObject(said('after'))
      expect(warnings).toHaveLength(1)
    } finally {
      await peer.close()
    }
  })
})

describePeer('the SDK, version 2', v2Peer, (at) => {
  test('the SDK server of version 2 is found to be stateless', async () => {
    const { client } = await open(at())
    expect(client.revision).toBe(STATELESS)
    expect(client.server.info.name).toBe('v2')
  })

  test('the SDK server of version 2 works: tools, headers, questions, progress, resources, prompts', async () => {
    const { client, warnings } = await open(at(), { answer })
    expect(await client.call('echo', { text: 'Grüße 世界' })).toMatchObject(said('Grüße 世界'))
    const heard: unknown[] = []
    expect(await client.call('steps', {}, { onProgress: ({ progress }) => heard.push(progress) })).toMatchObject(said('done'))
    expect(heard).toEqual([1, 2, 3])
    expect(await client.call('ask')).toMatchObject(said('Ada'))
    // The server compares what is in the headers with what is in the body.
    expect(await client.call('regional', { region: ' Größe ', depth: -3 })).toMatchObject(said(' Größe  -3'))
    expect(await client.read('test://note')).toMatchObject({ contents: [{ text: 'Grüße' }] })
    expect(await client.prompt('hello')).toMatchObject({ messages: [{ content: { text: 'Hello' } }] })
    expect(warnings).toEqual([])
  })

  test.each(SESSIONS)('the SDK server of version 2 speaks %s as well', async (revision) => {
    const { client } = await open(at(), { revisions: [revision] })
    expect(client.revision).toBe(revision)
    expect(await client.call('echo', { text: 'hello' })).toMatchObject(said('hello'))
  })
})

for (const transport of ['streamableHttp', 'sse'] as const) {
  describePeer(
    `the reference server with everything, over ${transport}`,
    () => everythingPeer(transport),
    (at) => {
      test('the reference server is found, and all kinds of messages go both ways', async () => {
        proves('T-SSE1-010', 'T-SSE1-013')
        const { client, warnings } = await open(at(), { answer, onLog: () => {} })
        expect(client.revision).toBe(SESSION)
        expect((await client.tools().all()).length).toBeGreaterThanOrEqual(13)
        expect(await client.call('echo', { message: 'Grüße' })).toMatchObject(said('Echo: Grüße'))
        const heard: unknown[] = []
        await client.call(
          'trigger-long-running-operation',
          { duration: 0.15, steps: 3 },
          { onProgress: ({ progress }) => heard.push(progress) },
        )
        expect(heard).toEqual([1, 2, 3])
        expect(JSON.stringify(await client.call('trigger-sampling-request', { prompt: 'Hi', maxTokens: 5 }))).toContain('test-model')
        expect(JSON.stringify(await client.call('get-roots-list'))).toContain('file:///project/one')
        expect((await client.resources().all()).length).toBeGreaterThanOrEqual(7)
        expect((await client.prompts().all()).length).toBe(4)
        const watching = client.watch('demo://resource/dynamic/text/1')
        const first = watching.next()
        await client.ping()
        await client.call('toggle-subscriber-updates')
        expect((await first).value).toEqual({ uri: 'demo://resource/dynamic/text/1' })
        await watching.return(undefined)
        expect(warnings).toEqual([])
      })

      test('the reference server hears of a cancellation', async () => {
        const { client } = await open(at())
        await client.tools().all()
        const call = client.call('trigger-long-running-operation', { duration: 5, steps: 1 }, { signal: AbortSignal.timeout(100) })
        await expect(call).rejects.toMatchObject({ name: 'TimeoutError' })
        await client.ping()
      })
    },
  )
}

function ownServer(): Promise<Peer> {
  const server = createServer({ name: 'own', version: '1' })
  server.tool('echo', { input: { type: 'object', properties: { text: { type: 'string', 'x-mcp-header': 'Text' } } } }, ({ text }) =>
    String(text),
  )
  server.tool('steps', {}, async (_, ctx) => {
    for (const step of [1, 2, 3]) await ctx.progress(step, 3)
    return 'done'
  })
  server.tool('ask', {}, async (_, ctx) => {
    const { name } = (await ctx.elicit('who', 'Who?', { type: 'object', properties: { name: { type: 'string' } } })) as { name: string }
    return name
  })
  return listen(server, { handleSignals: false })
}

describePeer('our own server', ownServer, (at) => {
  test.each([...SESSIONS, STATELESS])('our own server speaks %s', async (revision) => {
    const { client, warnings } = await open(at(), { revisions: [revision], answer })
    expect(client.revision).toBe(revision)
    expect(await client.call('echo', { text: 'Grüße 世界' })).toMatchObject(said('Grüße 世界'))
    const heard: unknown[] = []
    expect(await client.call('steps', {}, { onProgress: ({ progress }) => heard.push(progress) })).toMatchObject(said('done'))
    expect(heard).toEqual([1, 2, 3])
    if (revision >= '2025-06-18') expect(await client.call('ask')).toMatchObject(said('Ada'))
    await client.close()
    expect(warnings).toEqual([])
  })
})
