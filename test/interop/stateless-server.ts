/** Our client and servers of the official SDKs that keep no sessions: each request meets a server that has just been made. */

import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Client } from '../../src/client/client.ts'
import type { ListeningProcess } from '../support/listening-process.ts'
import type { Feature, Matrix, PeerName } from './matrix.ts'
import { type Connected, connectOurClient, contentOf, textOf } from './our-client.ts'
import { startSdkServer, type Version } from './sdk-server.ts'

interface StatelessServerRun {
  matrix: Matrix
  peer: PeerName & `${Version} server stateless`
  revision: string
}

const SOON_MS = 300

export function describeStatelessServer({ matrix, peer, revision }: StatelessServerRun): void {
  const version = peer.slice(0, 2) as Version

  describe(`our client and the ${peer} at ${revision}`, () => {
    let listening: ListeningProcess
    let connected: Connected
    let client: Client
    beforeAll(async () => {
      listening = await startSdkServer(version, 'stateless')
      connected = await connectOurClient(listening, { revision })
      client = connected.client
    })
    afterAll(async () => {
      await client?.close()
      await listening?.stop()
    })
    beforeEach(() => {
      connected.asked.clear()
      connected.logs.clear()
    })
    const testWorks = (feature: Feature, name: string, run: () => Promise<void>): void => matrix.testWorks(peer, feature, name, run)
    const testLacks = (feature: Feature, name: string, run: () => Promise<void>): void => matrix.testLacks(peer, feature, name, run)
    const text = (name: string, args?: Record<string, unknown>): Promise<string> => textOf(client, name, args)

    test('our client and the server agree on the revision', async () => {
      expect(client.revision).toBe(revision)
      expect(client.server.info).toMatchObject({ name: `${version}-server` })
      await client.ping()
    })

    testWorks('tools', 'tools are listed and called, and failures are results', async () => {
      expect((await client.tools().all()).map(({ name }) => name)).toContain('echo')
      expect(await text('echo', { text: 'Grüße, 世界 🌍' })).toBe('Grüße, 世界 🌍')
      expect(await client.call('fail')).toMatchObject({ isError: true, content: [{ text: 'This tool always fails' }] })
    })

    testWorks('structured', 'structured output is returned in every revision', async () => {
      const { structuredContent } = await client.call('add', { a: 1, b: 2 })
      expect(structuredContent).toEqual({ sum: 3 })
    })

    testWorks('content kinds', 'every kind of content arrives', async () => {
      expect(await contentOf(client, 'kinds')).toHaveLength(6)
    })

    testWorks('resources', 'resources are listed through all pages and read', async () => {
      expect(await client.resources().all()).toHaveLength(7)
      expect(await client.read('test://city/Bern')).toMatchObject({ contents: [{ text: 'The city of Bern' }] })
    })

    testWorks('prompts', 'prompts are listed and got', async () => {
      expect((await client.prompts().all()).map(({ name }) => name)).toEqual(['hello', 'greet'])
      expect(await client.prompt('hello')).toMatchObject({ messages: [{ content: { text: 'Hello' } }] })
    })

    testWorks('completion', 'arguments are completed', async () => {
      const ref = { type: 'ref/prompt', name: 'greet' } as const
      expect((await client.complete({ ref, argument: { name: 'tone', value: 'wa' } })).values).toEqual(['warm', 'wary'])
    })

    testWorks('progress', 'progress comes on the stream of the call', async () => {
      const heard: number[] = []
      const onProgress = ({ progress }: { progress: number }): void => {
        heard.push(progress)
        if (progress === 3) void client.call('go_on')
      }
      await client.call('steps', {}, { onProgress })
      expect(heard).toEqual([1, 2, 3])
    })

    testWorks('cancel', 'a call we give up is stopped: no session could carry the message, so the connection says it', async () => {
      const controller = new AbortController()
      const held = client.call('hold', {}, { signal: controller.signal })
      const failed = expect(held).rejects.toMatchObject({ name: 'AbortError' })
      await expect.poll(() => text('count_held')).toBe('1')
      controller.abort()
      await failed
      await expect.poll(() => text('count_cancelled')).toBe('1')
    })

    // Which level is wanted was told to a server that is gone. The v1 server logs to the stream that there is none of.
    testLacks('logging', 'the wanted level is accepted and forgotten', async () => {
      await client.setLogLevel('emergency')
      await client.call('log_at_every_level')
      expect(connected.logs.items.length).toBe(version === 'v1' ? 0 : 8)
    })

    // A server that knows no capabilities of ours refuses to ask. The v1 server refuses forms and pages alone: its other
    // questions come to us or not, and our answers reach a server that never asked.
    const refuses: Feature[] = version === 'v1' ? ['elicit', 'url'] : ['elicit', 'url', 'sample', 'roots']
    const TOOLS = { elicit: 'ask_form', url: 'ask_page', sample: 'ask_model', roots: 'ask_roots' } as const
    for (const [feature, tool] of Object.entries(TOOLS) as [keyof typeof TOOLS, string][]) {
      testLacks(feature, `its question of ${tool} cannot be answered`, async () => {
        const args = { prompt: 'Hello?', url: 'https://example.com/' }
        if (refuses.includes(feature)) expect(await client.call(tool, args)).toMatchObject({ isError: true })
        else await expect(client.call(tool, args, { timeoutMs: SOON_MS })).rejects.toMatchObject({ code: 'ERR_TIMEOUT' })
      })
    }

    testLacks('list_changed', 'there is no stream for change notifications', async () => {
      const heard: unknown[] = []
      const stop = await client.onChange('tools', () => heard.push('tools'))
      expect(await text('change_tools')).toBe('Changed')
      await client.ping()
      stop()
      expect(heard).toEqual([])
    })

    testLacks('subscribe', 'a subscription is accepted and leads to nothing', async () => {
      await client.request('resources/subscribe', { uri: 'test://text' })
      const heard: unknown[] = []
      const watching = client.watch('test://text')
      void watching.next().then(({ value }) => heard.push(value))
      await client.ping()
      await text('change_text')
      await client.ping()
      expect(heard).toEqual([])
      await client.request('resources/unsubscribe', { uri: 'test://text' })
    })

    test('the server sent nothing unexpected', () => {
      expect(connected.warnings).toEqual([])
      expect(client.isClosed).toBe(false)
    })
  })
}
