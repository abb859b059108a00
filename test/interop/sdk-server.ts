/** What our client gets from a server on one version of the official SDK, in one revision. */

import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Client } from '../../src/client/client.ts'
import { type ListeningProcess, startListening } from '../support/listening-process.ts'
import { proves } from '../support/proves.ts'
import type { Feature, Matrix, PeerName } from './matrix.ts'
import { type Connected, changeOf, connectOurClient, contentOf, newPerson, type ServerProcess, textOf } from './our-client.ts'
import type { Over } from './their-client.ts'

export interface SdkServerRun {
  matrix: Matrix
  peer: PeerName & `${Version} server${string}`
  /** The one revision our client speaks. */
  revision: string
  over?: Over
}

export type Version = 'v1' | 'v2'

const FORM_SINCE = '2025-06-18'
const STRUCTURED_SINCE = '2025-06-18'
const PAGES_SINCE = '2025-11-25'
const STATELESS_SINCE = '2026-07-28'

export const sdkServer = (version: Version, options: object = {}): ServerProcess => ({
  args: [fileURLToPath(new URL(`fixtures/${version}-server.mjs`, import.meta.url)), JSON.stringify(options)],
})

/** The same over HTTP: `sse` has the two endpoints of 2024, `modern` nothing of before 2026; else beside that, if v2. */
export const startSdkServer = (version: Version, http: 'sessions' | 'stateless' | 'sse' | 'modern'): Promise<ListeningProcess> =>
  startListening(sdkServer(version, { http }).args)

export function describeSdkServer({ matrix, peer, revision, over = 'stdio' }: SdkServerRun): void {
  const hasSession = revision < STATELESS_SINCE
  /** For requirements of the revisions that have sessions. */
  const provesInSession = (...ids: string[]): void => {
    if (hasSession) proves(...ids)
  }

  const version = peer.slice(0, 2) as Version

  describe(`our client and the ${peer} at ${revision} over ${over}`, () => {
    let connected: Connected
    let client: Client
    let listening: ListeningProcess | undefined
    beforeAll(async () => {
      if (over !== 'stdio') listening = await startSdkServer(version, over === 'sse' ? 'sse' : 'sessions')
      connected = await connectOurClient(listening ?? sdkServer(version), { revision })
      client = connected.client
    })
    afterAll(async () => {
      await client?.close()
      await listening?.stop()
    })
    beforeEach(() => {
      Object.assign(connected.person, newPerson())
      connected.asked.clear()
      connected.logs.clear()
    })
    const testWorks = (feature: Feature, name: string, run: () => Promise<void>): void => matrix.testWorks(peer, feature, name, run)
    const text = (name: string, args?: Record<string, unknown>): Promise<string> => textOf(client, name, args)

    test('our client and the server agree on the revision', () => {
      provesInSession('T-LIFE-003', 'T-LIFE-009')
      if (over === 'stdio') provesInSession('T-STDIO-001', 'T-STDIO-002')
      expect(client.revision).toBe(revision)
      expect(client.server.info).toMatchObject({ name: `${version}-server` })
      expect(client.server.info.title).toBe(`Version ${version[1]}`)
      expect(client.server.instructions).toBe('Made to be tested.')
      expect(client.server.capabilities).toMatchObject({
        logging: {},
        tools: { listChanged: true },
        resources: { subscribe: true, listChanged: true },
        prompts: { listChanged: true },
      })
    })

    if (over === 'stdio') {
      test('the standard error of the server is delivered and does no harm', () => {
        provesInSession('T-STDIO-006', 'T-STDIO-007', 'T-STDIO-008')
        expect(connected.stderr.items).toEqual([`The ${version} server is up`])
      })
    }

    testWorks('tools', `tools are listed and called`, async () => {
      provesInSession('T-TOOL-001')
      const tools = await client.tools().all()
      expect(tools.find(({ name }) => name === 'echo')).toMatchObject({
        description: 'Returns what it is given',
        inputSchema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
      })
      const words = 'Grüße, 世界 🌍\r\nzweite Zeile\u2028dritte'
      expect(await text('echo', { text: words })).toBe(words)
    })

    testWorks('tools', `failures of tools and wrong arguments are results, and the SDK decides about an unknown tool`, async () => {
      expect(await client.call('fail')).toMatchObject({ isError: true, content: [{ text: 'This tool always fails' }] })
      expect(await client.call('add', { a: 'one', b: 2 })).toMatchObject({ isError: true })
      expect((await client.call('echo', { text: 'x' })).isError).toBeUndefined()
      // The v1 server reports the protocol's error as a failure of a tool.
      if (version === 'v1') expect(await client.call('nowhere')).toMatchObject({ isError: true })
      else await expect(client.call('nowhere')).rejects.toMatchObject({ name: 'RemoteError', code: -32602 })
    })

    // The SDK sends it whatever was agreed, and what it sends is of use.
    testWorks('structured', 'structured output is checked against its schema and given out', async () => {
      const add = (await client.tools().all()).find(({ name }) => name === 'add')
      const result = await client.call<{ sum: number }>('add', { a: 1, b: 2 })
      expect(result.content).toEqual([{ type: 'text', text: '{"sum":3}' }])
      expect(add?.outputSchema).toMatchObject({ type: 'object', properties: { sum: { type: 'number' } } })
      expect(result.structuredContent?.sum).toBe(3)
    })

    testWorks('content kinds', `every kind of content arrives whole`, async () => {
      provesInSession('T-TOOL-014')
      const content = await contentOf(client, 'kinds')
      expect(content[0]).toEqual({ type: 'text', text: 'Words', annotations: { audience: ['user'], priority: 0.5 } })
      expect(content[1]).toMatchObject({ type: 'image', mimeType: 'image/gif', data: expect.stringMatching(/^R0lGOD/) })
      expect(content[2]).toMatchObject({ type: 'audio', mimeType: 'audio/wav' })
      expect(content[3]).toEqual({ type: 'resource', resource: { uri: 'test://text', mimeType: 'text/plain', text: 'Inside' } })
      expect(content[4]).toMatchObject({ type: 'resource', resource: { blob: expect.stringMatching(/^R0lGOD/) } })
      expect(content[5]).toMatchObject({ type: 'resource_link', uri: 'test://text', name: 'text' })
    })

    testWorks('resources', `resources are listed through all pages and read, as text and as bytes`, async () => {
      provesInSession('T-RES-001', 'T-PAGE-006', 'T-PAGE-014', 'T-PAGE-015')
      const resources = await client.resources().all()
      expect(resources).toHaveLength(7)
      expect(new Set(resources.map(({ uri }) => uri)).size).toBe(7)
      expect(await client.read('test://text')).toMatchObject({
        contents: [{ uri: 'test://text', mimeType: 'text/plain', text: 'Grüße, 世界' }],
      })
      expect(await client.read('test://blob')).toMatchObject({ contents: [{ blob: expect.stringMatching(/^R0lGOD/) }] })
    })

    testWorks('resources', `a template is listed, one of its resources read, and an unknown one refused`, async () => {
      expect(await client.resourceTemplates().all()).toMatchObject([{ name: 'city', uriTemplate: 'test://city/{name}' }])
      expect(await client.read('test://city/Bern')).toMatchObject({ contents: [{ text: 'The city of Bern' }] })
      await expect(client.read('test://nowhere')).rejects.toMatchObject({ name: 'RemoteError', code: -32602 })
    })

    testWorks('subscribe', `changes of a watched resource are reported until the loop ends`, async () => {
      provesInSession('T-RES-023', 'T-RES-024')
      const watching = client.watch('test://text')
      const heard: unknown[] = []
      const first = watching.next().then(({ value }) => heard.push(value))
      // Whether the subscription has begun, nobody is told; a change before that is not heard of.
      const change = async (): Promise<unknown[]> => {
        await text('change_text')
        return heard
      }
      await expect.poll(change).toEqual([{ uri: 'test://text' }])
      await first
      await watching.return(undefined)
      // Without a session the SDK keeps to itself whether somebody listens.
      await expect.poll(() => text('change_text')).toBe(hasSession ? 'Nobody listens' : 'Told')
    })

    testWorks('prompts', `prompts are listed and got, and wrong ones refused`, async () => {
      provesInSession('T-PROM-001')
      const prompts = await client.prompts().all()
      expect(prompts.find(({ name }) => name === 'greet')).toMatchObject({
        arguments: [{ name: 'tone', required: true }, { name: 'name' }],
      })
      expect(await client.prompt('hello')).toMatchObject({ messages: [{ role: 'user', content: { type: 'text', text: 'Hello' } }] })
      expect(await client.prompt('greet', { tone: 'warm', name: 'Bob' })).toMatchObject({
        messages: [{ role: 'assistant', content: { text: 'A warm hello, Bob' } }],
      })
      await expect(client.prompt('nowhere')).rejects.toMatchObject({ code: -32602 })
      await expect(client.prompt('greet', { tone: 'warm' })).rejects.toMatchObject({ code: -32602 })
    })

    testWorks('completion', `arguments of prompts and of templates are completed`, async () => {
      provesInSession('T-COMP-006', 'T-COMP-007')
      const greet = { type: 'ref/prompt', name: 'greet' } as const
      expect(await client.complete({ ref: greet, argument: { name: 'tone', value: 'wa' } })).toEqual({
        values: ['warm', 'wary'],
        total: 2,
        hasMore: false,
      })
      const city = { type: 'ref/resource', uri: 'test://city/{name}' } as const
      expect((await client.complete({ ref: city, argument: { name: 'name', value: 'Ber' } })).values).toEqual(['Berlin', 'Bern'])
    })

    const contextName =
      revision >= STRUCTURED_SINCE
        ? `what is already chosen narrows the next argument`
        : 'what is already chosen is not sent where the revision has no place for it'
    testWorks('completion', contextName, async () => {
      if (revision >= STRUCTURED_SINCE) provesInSession('T-COMP-010')
      else proves('T-VER-017')
      const { values } = await client.complete({
        ref: { type: 'ref/prompt', name: 'greet' },
        argument: { name: 'name', value: 'Bob' },
        context: { arguments: { tone: 'warm' } },
      })
      expect(values).toEqual([revision >= STRUCTURED_SINCE ? 'Bob-dear' : 'Bob-sir'])
    })

    testWorks('progress', `progress reaches the call that asked for it, in order`, async () => {
      provesInSession('T-PROG-006', 'T-PROG-009')
      const heard: unknown[] = []
      const result = await client.call(
        'steps',
        {},
        {
          onProgress: (progress) => {
            heard.push(progress)
            if (progress.progress === 3) void client.call('go_on')
          },
        },
      )
      expect(heard).toEqual([1, 2, 3].map((progress) => ({ progress, total: 3, message: `Step ${progress}` })))
      expect(result.content).toEqual([{ type: 'text', text: 'All steps done' }])
    })

    testWorks('cancel', `a call we give up, or that takes too long, is stopped`, async () => {
      provesInSession('T-CANC-002', 'T-LIFE-032', 'T-LIFE-033')
      const controller = new AbortController()
      const held = client.call('hold', {}, { signal: controller.signal })
      const failed = expect(held).rejects.toMatchObject({ name: 'AbortError' })
      await expect.poll(() => text('count_held')).toBe('1')
      controller.abort()
      await failed
      await expect.poll(() => text('count_cancelled')).toBe('1')
      await expect(client.call('hold', {}, { timeoutMs: 150 })).rejects.toMatchObject({ name: 'McpError', code: 'ERR_TIMEOUT' })
      await expect.poll(() => text('count_cancelled')).toBe('2')
      expect(connected.warnings).toEqual([])
    })

    testWorks('logging', `log messages come from the wanted level on`, async () => {
      provesInSession('T-LOG-004', 'T-LOG-018')
      await client.setLogLevel('critical')
      await client.call('log_at_every_level')
      await expect.poll(() => connected.logs.items.length).toBe(3)
      expect(connected.logs.items).toMatchObject(
        ['critical', 'alert', 'emergency'].map((level) => ({ level, logger: 'fixture', data: `A ${level} message` })),
      )
    })

    if (revision >= FORM_SINCE) {
      testWorks('elicit', `a form is answered, with defaults for blank fields`, async () => {
        provesInSession('T-ELIC-001', 'T-ELIC-054')
        connected.person.elicit = (form) => ({ action: 'accept', content: { ...(form.defaults as object), name: 'Ada', colour: 'red' } })
        // 2025-06-18 knows defaults for booleans alone; what a server sends beyond that is used.
        const defaults = { age: 30, isMember: true }
        expect(JSON.parse(await text('ask_form'))).toEqual({
          action: 'accept',
          content: { name: 'Ada', colour: 'red', ...defaults },
        })
        expect(connected.asked.items).toMatchObject([
          { kind: 'form', request: { message: 'Who are you?', defaults, schema: { required: ['name'] } } },
        ])
      })

      testWorks('elicit', `declining and cancelling are different, and a wrong answer is not sent`, async () => {
        provesInSession('T-ELIC-056', 'T-ELIC-057')
        for (const action of ['decline', 'cancel'] as const) {
          connected.person.elicit = () => ({ action })
          expect(JSON.parse(await text('ask_form'))).toEqual({ action })
        }
        connected.person.elicit = () => ({ action: 'accept', content: { name: 'Ada', colour: 'mauve' } })
        const outcome = await client.call('ask_form').catch((error: unknown) => error)
        expect(JSON.stringify(outcome)).not.toContain('accept')
        // What was typed and does not fit stays on this side.
        if (hasSession) expect(JSON.stringify(outcome)).not.toContain('mauve')
        expect(connected.warnings.splice(0).join()).toContain(hasSession ? 'mauve' : '')
      })
    } else {
      testWorks('elicit', 'a client that speaks a revision without forms does not offer them', async () => {
        proves('T-LIFE-027', 'T-VER-016')
        expect(await client.call('ask_form')).toMatchObject({ isError: true })
        expect(connected.asked.items).toEqual([])
      })
    }

    const url = 'https://example.com/connect?id=1'
    if (revision >= PAGES_SINCE) {
      testWorks('url', `a page is described before it is opened, and the answer reaches the tool`, async () => {
        provesInSession('T-ELIC-003', 'T-ELIC-055')
        connected.person.elicitUrl = () => ({ action: 'accept' })
        expect(JSON.parse(await text('ask_page', { url }))).toEqual({ action: 'accept' })
        expect(connected.asked.items).toMatchObject([{ kind: 'page', request: { href: url, host: 'example.com' } }])
        connected.person.elicitUrl = () => ({ action: 'decline' })
        expect(JSON.parse(await text('ask_page', { url }))).toEqual({ action: 'decline' })
      })

      testWorks('url', `a call that needs a page first is tried again once the page is done`, async () => {
        provesInSession('T-ELIC-046')
        connected.person.elicitUrl = async () => {
          if (hasSession) await client.call('finish_page')
          return { action: 'accept' }
        }
        expect(await text('need_page', { url })).toBe('The page was visited')
        expect(connected.asked.items).toMatchObject([{ kind: 'page', request: { href: url, message: 'Please visit this page first' } }])
      })
    } else {
      testWorks('url', 'a client that speaks a revision without pages does not offer them', async () => {
        proves('T-LIFE-027')
        expect(await client.call('ask_page', { url })).toMatchObject({ isError: true })
        expect(connected.asked.items).toEqual([])
      })
    }

    testWorks('sample', `a tool has our model answer`, async () => {
      provesInSession('T-SAMP-001', 'T-SAMP-022')
      expect(JSON.parse(await text('ask_model', { prompt: 'Say hello' }))).toMatchObject({
        role: 'assistant',
        model: 'test-model',
        content: { type: 'text', text: 'The model answers' },
      })
      expect(connected.asked.items).toMatchObject([
        {
          kind: 'model',
          request: {
            messages: [{ role: 'user', content: { type: 'text', text: 'Say hello' } }],
            systemPrompt: 'Be brief.',
            maxTokens: 50,
            modelPreferences: { hints: [{ name: 'small' }], speedPriority: 0.9 },
          },
        },
      ])
    })

    const rootsName = hasSession
      ? 'a tool sees our roots, and the server hears that they changed'
      : 'a tool sees our roots as they are at each call'
    testWorks('roots', rootsName, async () => {
      provesInSession('T-ROOT-001', 'T-ROOT-007', 'T-ROOT-013')
      expect(JSON.parse(await text('ask_roots'))).toEqual([{ uri: 'file:///project/one' }])
      const told = connected.logs.next(({ logger }) => logger === 'roots')
      client.setRoots([{ uri: 'file:///project/two', name: 'Two' }, 'file:///project/three'])
      const changed = [{ uri: 'file:///project/two', name: 'Two' }, { uri: 'file:///project/three' }]
      expect(JSON.parse(await text('ask_roots'))).toEqual(changed)
      if (!hasSession) return
      expect(await told).toMatchObject({ data: 2 })
      expect(JSON.parse(await text('told_roots'))).toEqual(changed)
    })

    testWorks('list_changed', `changes of the three lists are heard`, async () => {
      for (const kind of ['tools', 'prompts', 'resources'] as const) {
        expect(await changeOf(client, kind, () => text(`change_${kind}`))).toBe('Changed')
      }
    })

    test('both sides answer a ping', async () => {
      provesInSession('T-BASE-004', 'T-BASE-012', 'T-PING-001')
      await client.ping()
      if (hasSession) expect(await text('ping_client')).toBe('{}')
    })

    test('the server sent nothing unexpected', () => {
      expect(connected.warnings).toEqual([])
      expect(client.isClosed).toBe(false)
    })
  })
}
