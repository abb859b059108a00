/** Our client and the reference server with everything in it. */

import { fileURLToPath } from 'node:url'
import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Client } from '../../src/client/client.ts'
import { type ListeningProcess, startListeningAt } from '../support/listening-process.ts'
import { proves } from '../support/proves.ts'
import type { Feature, Matrix } from './matrix.ts'
import { type Connected, changeOf, connectOurClient, contentOf, newPerson, type ServerProcess, textOf } from './our-client.ts'
import type { Over } from './their-client.ts'

const program = fileURLToPath(new URL('../../node_modules/@modelcontextprotocol/server-everything/dist/index.js', import.meta.url))

export const everythingServer: ServerProcess = {
  args: [program, 'stdio'],
  // It may wait for an answer of ours when it should end.
  shutdownMs: 300,
}

export const startEverything = (over: 'http' | 'sse'): Promise<ListeningProcess> =>
  over === 'http'
    ? startListeningAt([program, 'streamableHttp'], /listening on port/, '/mcp')
    : startListeningAt([program, 'sse'], /running on port/, '/sse')

const TOOLS = [
  'echo',
  'get-annotated-message',
  'get-env',
  'get-resource-links',
  'get-resource-reference',
  'get-roots-list',
  'get-structured-content',
  'get-sum',
  'get-tiny-image',
  'gzip-file-as-resource',
  'simulate-research-query',
  'toggle-simulated-logging',
  'toggle-subscriber-updates',
  'trigger-elicitation-request',
  'trigger-elicitation-request-async',
  'trigger-long-running-operation',
  'trigger-sampling-request',
  'trigger-sampling-request-async',
  'trigger-url-elicitation',
]

export function describeEverything(matrix: Matrix, over: Over = 'stdio'): void {
  const peer = over === 'sse' ? 'everything sse' : 'everything'

  describe(`our client and the reference server everything over ${over}`, () => {
    let connected: Connected
    let client: Client
    let listening: ListeningProcess | undefined
    beforeAll(async () => {
      if (over !== 'stdio') listening = await startEverything(over)
      connected = await connectOurClient(listening ?? { ...everythingServer, env: { INTEROP: 'yes' } })
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

    test('our client and the server agree on the newest revision with a handshake', () => {
      expect(client.revision).toBe('2025-11-25')
      expect(client.server.info).toMatchObject({ name: 'mcp-servers/everything', title: 'Everything Reference Server' })
      expect(client.server.instructions).toContain('Everything Server')
      expect(client.server.capabilities).toMatchObject({ completions: {}, tasks: { requests: { tools: { call: {} } } } })
    })

    testWorks('tools', 'all its tools are there, since all it may ask is offered', async () => {
      const tools = await client.tools().all()
      expect(tools.map(({ name }) => name).sort()).toEqual(TOOLS)
      expect(tools.every(({ annotations }) => annotations?.readOnlyHint !== undefined)).toBe(true)
    })

    testWorks('tools', 'plain tools work, and a server process sees only the environment that it was given', async () => {
      expect(await text('echo', { message: 'Grüße, 世界' })).toBe('Echo: Grüße, 世界')
      expect(await text('get-sum', { a: 2, b: 3.5 })).toBe('The sum of 2 and 3.5 is 5.5.')
      expect(await client.call('get-sum', { a: 'two' })).toMatchObject({ isError: true })
      if (over !== 'stdio') return
      const environment = JSON.parse(await text('get-env')) as Record<string, string>
      expect(environment.INTEROP).toBe('yes')
      expect(environment.VITEST).toBeUndefined()
    })

    testWorks('tools', 'a tool that runs only as a task gives its result, and can be run as a task by plain requests', async () => {
      const args = { topic: 'interoperation' }
      const called = client.call('simulate-research-query', args)
      const { task } = await client.request('tools/call', { name: 'simulate-research-query', arguments: args, task: { ttl: 60_000 } })
      expect(task.status).toBe('working')
      expect(await client.request('tasks/get', { taskId: task.taskId })).toMatchObject({ taskId: task.taskId, status: 'working' })
      // Answered once the task is done, which takes four seconds.
      const result = await client.request('tasks/result', { taskId: task.taskId })
      expect(result).toMatchObject({ content: [{ type: 'text', text: expect.stringContaining('# Research Report: interoperation') }] })
      expect((await called).content).toEqual(result.content)
    })

    testWorks('structured', 'structured output is checked against its schema and given out', async () => {
      const weather = { temperature: 36, conditions: 'Light rain / drizzle', humidity: 82 }
      const result = await client.call('get-structured-content', { location: 'Chicago' })
      expect(result.structuredContent).toEqual(weather)
      expect(result.content).toEqual([{ type: 'text', text: JSON.stringify(weather) }])
    })

    testWorks('content kinds', 'annotations, images, links and embedded resources arrive whole', async () => {
      proves('T-TOOL-025')
      expect(await contentOf(client, 'get-annotated-message', { messageType: 'error', includeImage: true })).toMatchObject([
        { type: 'text', text: 'Error: Operation failed', annotations: { priority: 1, audience: ['user', 'assistant'] } },
        { type: 'image', mimeType: 'image/png', annotations: { priority: 0.5, audience: ['user'] } },
      ])
      const [, image] = await contentOf(client, 'get-tiny-image')
      expect(image).toMatchObject({ type: 'image', mimeType: 'image/png', data: expect.stringMatching(/^iVBOR/) })
      const [, embedded] = await contentOf(client, 'get-resource-reference', { resourceType: 'Blob', resourceId: 7 })
      expect(embedded).toMatchObject({ type: 'resource', resource: { uri: 'demo://resource/dynamic/blob/7', blob: expect.any(String) } })
    })

    testWorks('content kinds', 'a link can be read though it is in no list', async () => {
      proves('T-TOOL-027', 'T-TOOL-029')
      const links = (await contentOf(client, 'get-resource-links', { count: 4 })).filter((block) => block.type === 'resource_link')
      expect(links).toHaveLength(4)
      const listed = (await client.resources().all()).map(({ uri }) => uri)
      for (const { uri } of links) {
        expect(listed).not.toContain(uri)
        expect(await client.read(uri)).toMatchObject({ contents: [{ uri }] })
      }
    })

    testWorks('resources', 'its documents and templates are listed and read', async () => {
      const resources = await client.resources().all()
      expect(resources.map(({ name }) => name)).toEqual(expect.arrayContaining(['architecture.md', 'features.md']))
      const { contents } = await client.read('demo://resource/static/document/features.md')
      expect(contents).toMatchObject([{ mimeType: 'text/markdown', text: expect.stringContaining('#') }])
      const templates = await client.resourceTemplates().all()
      expect(templates.map(({ uriTemplate }) => uriTemplate)).toEqual([
        'demo://resource/dynamic/text/{resourceId}',
        'demo://resource/dynamic/blob/{resourceId}',
      ])
      expect(await client.read('demo://resource/dynamic/text/3')).toMatchObject({
        contents: [{ text: expect.stringContaining('Resource 3') }],
      })
      await expect(client.read('demo://resource/dynamic/text/zero')).rejects.toMatchObject({ name: 'RemoteError' })
    })

    testWorks('subscribe', 'changes of a watched resource are reported', async () => {
      const uri = 'demo://resource/dynamic/text/1'
      const watching = client.watch(uri)
      const first = watching.next()
      await client.ping()
      expect(await text('toggle-subscriber-updates')).toContain('Started')
      // It tells at once, and then every five seconds: by then the subscription has begun at the latest.
      expect((await first).value).toEqual({ uri })
      expect(await text('toggle-subscriber-updates')).toContain('Stopped')
      await watching.return(undefined)
    })

    testWorks('prompts', 'its four prompts are listed and got', async () => {
      expect((await client.prompts().all()).map(({ name }) => name)).toEqual([
        'simple-prompt',
        'args-prompt',
        'completable-prompt',
        'resource-prompt',
      ])
      expect(await client.prompt('simple-prompt')).toMatchObject({
        messages: [{ role: 'user', content: { text: 'This is a simple prompt without arguments.' } }],
      })
      expect(await client.prompt('args-prompt', { city: 'Bern' })).toMatchObject({
        messages: [{ content: { text: "What's weather in Bern?" } }],
      })
      expect(await client.prompt('completable-prompt', { department: 'Sales', name: 'Eve' })).toMatchObject({
        messages: [{ content: { text: 'Please promote Eve to the head of the Sales team.' } }],
      })
      const { messages } = await client.prompt('resource-prompt', { resourceType: 'Text', resourceId: '5' })
      expect(messages[1]?.content).toMatchObject({ type: 'resource', resource: { uri: 'demo://resource/dynamic/text/5' } })
      await expect(client.prompt('args-prompt', {})).rejects.toMatchObject({ code: -32602 })
    })

    testWorks('completion', 'one choice narrows the next, and templates are completed', async () => {
      proves('T-COMP-010')
      const ref = { type: 'ref/prompt', name: 'completable-prompt' } as const
      expect((await client.complete({ ref, argument: { name: 'department', value: 'S' } })).values).toEqual(['Sales', 'Support'])
      const context = { arguments: { department: 'Sales' } }
      expect((await client.complete({ ref, argument: { name: 'name', value: 'E' }, context })).values).toEqual(['Eve'])
      const template = { type: 'ref/resource', uri: 'demo://resource/dynamic/text/{resourceId}' } as const
      expect((await client.complete({ ref: template, argument: { name: 'resourceId', value: '12' } })).values).toEqual(['12'])
    })

    testWorks('progress', 'progress of a long call is reported step by step', async () => {
      const heard: unknown[] = []
      const options = { onProgress: (progress: unknown) => heard.push(progress) }
      const { content } = await client.call('trigger-long-running-operation', { duration: 0.15, steps: 3 }, options)
      expect(heard).toEqual([1, 2, 3].map((progress) => ({ progress, total: 3 })))
      expect(content).toMatchObject([{ text: expect.stringContaining('completed') }])
    })

    testWorks('cancel', 'a call we give up is never answered', async () => {
      const controller = new AbortController()
      // Long enough for a busy machine to abort it before its end.
      const given = client.call('trigger-long-running-operation', { duration: 2, steps: 1 }, { signal: controller.signal })
      const failed = expect(given).rejects.toMatchObject({ name: 'AbortError' })
      await client.ping()
      controller.abort()
      await failed
      // By the end of this one the other would have been answered.
      await client.call('trigger-long-running-operation', { duration: 2.2, steps: 1 })
      expect(connected.warnings).toEqual([])
    })

    testWorks('logging', 'simulated log messages come once they are switched on', async () => {
      await client.setLogLevel('debug')
      const told = connected.logs.next(({ data }) => /-level message|level-message/.test(String(data)))
      expect(await text('toggle-simulated-logging')).toContain('Started')
      expect(await told).toMatchObject({ level: expect.any(String) })
      expect(await text('toggle-simulated-logging')).toContain('Stopped')
    })

    testWorks('elicit', 'a form with every kind of field is answered, with its defaults', async () => {
      proves('T-ELIC-035')
      connected.person.elicit = ({ defaults }) => ({
        action: 'accept',
        content: { ...(defaults as object), name: 'Ada', check: true, email: 'ada@example.org', birthdate: '1815-12-10' },
      })
      const content = await contentOf(client, 'trigger-elicitation-request')
      const raw = content.at(-1)
      expect(JSON.parse((raw?.type === 'text' ? raw.text : '').replace(/^\s*Raw result: /, ''))).toEqual({
        action: 'accept',
        content: {
          name: 'Ada',
          check: true,
          email: 'ada@example.org',
          birthdate: '1815-12-10',
          firstLine: 'It was a dark and stormy night.',
          integer: 42,
          number: 3.14,
          untitledSingleSelectEnum: 'Monica',
          untitledMultipleSelectEnum: ['Guitar'],
          titledSingleSelectEnum: 'hero-1',
          titledMultipleSelectEnum: ['fish-1'],
          legacyTitledEnum: 'pet-1',
        },
      })
      for (const [action, said] of [
        ['decline', 'declined'],
        ['cancel', 'cancelled'],
      ] as const) {
        connected.person.elicit = () => ({ action })
        expect(await text('trigger-elicitation-request')).toContain(said)
      }
    })

    testWorks('url', 'a page is offered, by request and by error', async () => {
      proves('T-ELIC-046')
      const url = 'https://example.com/flow'
      connected.person.elicitUrl = () => ({ action: 'accept' })
      expect(await text('trigger-url-elicitation', { url, elicitationId: 'one' })).toContain('User completed the URL elicitation flow')
      expect(connected.asked.items).toMatchObject([{ kind: 'page', request: { href: url, elicitationId: 'one' } }])
      connected.asked.clear()
      // This server never says that a page is done, so the person does.
      connected.person.elicitUrl = ({ elicitationId }) => {
        client.completeElicitation(elicitationId ?? '')
        return { action: 'accept' }
      }
      expect(await text('trigger-url-elicitation', { url, errorPath: true })).toContain('User completed the URL elicitation flow')
      expect(connected.asked.items).toMatchObject([
        { kind: 'page', request: { host: 'modelcontextprotocol.io' } },
        { kind: 'page', request: { href: url } },
      ])
    })

    testWorks('sample', 'the server has our model answer', async () => {
      expect(await text('trigger-sampling-request', { prompt: 'Say hello', maxTokens: 20 })).toContain('The model answers')
      expect(connected.asked.items).toMatchObject([
        { kind: 'model', request: { maxTokens: 20, temperature: 0.7, systemPrompt: 'You are a helpful test server.' } },
      ])
    })

    testWorks('roots', 'the server sees our roots, and new ones after the notification', async () => {
      proves('T-ROOT-007')
      expect(await text('get-roots-list')).toContain('file:///project/one')
      await client.setLogLevel('info')
      const told = connected.logs.next(({ data }) => String(data).startsWith('Roots updated: 2'))
      client.setRoots([{ uri: 'file:///project/two', name: 'Two' }, 'file:///project/three'])
      await told
      expect(await text('get-roots-list')).toContain('1. Two\n   URI: file:///project/two')
    })

    testWorks('list_changed', 'a resource made by a tool is announced, listed and read', async () => {
      const content = await changeOf(client, 'resources', () =>
        contentOf(client, 'gzip-file-as-resource', { name: 'hello.gz', data: 'data:text/plain,hello' }),
      )
      expect(content).toMatchObject([{ type: 'resource_link', uri: 'demo://resource/session/hello.gz', mimeType: 'application/gzip' }])
      expect((await client.resources().all()).map(({ name }) => name)).toContain('hello.gz')
      const { contents } = await client.read('demo://resource/session/hello.gz')
      const blob = contents[0] && 'blob' in contents[0] ? contents[0].blob : ''
      expect(gunzipSync(Buffer.from(String(blob), 'base64')).toString()).toBe('hello')
    })

    test('the server sent nothing unexpected', () => {
      expect(connected.warnings).toEqual([])
    })
  })
}
