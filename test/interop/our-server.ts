/** What a client of another SDK gets from our everything server, in one revision. */

import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { proves } from '../support/proves.ts'
import type { Feature, Matrix, PeerName } from './matrix.ts'
import { testQuestions } from './questions.ts'
import { newPerson, type Over, type TheirClient, type ToolResult } from './their-client.ts'

export interface OurServerRun {
  matrix: Matrix
  peer: PeerName
  /** The revision the two must agree on. */
  revision: string
  over?: Over
  /** Several replicas are reached by chance. Each has its own memory. */
  isReplicated?: boolean
  open(): Promise<TheirClient>
}

const STRUCTURED_SINCE = '2025-06-18'
const AUDIO_SINCE = '2025-03-26'
const PROGRESS_TEXT_SINCE = '2025-03-26'
const BAD_ARGUMENTS_FOR_MODEL_SINCE = '2025-11-25'
const STATELESS_SINCE = '2026-07-28'

const PNG = /^iVBOR/

/** The v1 client always asks for its newest revision; the v2 client asks for the one it is given. */
const provesVersion = (peer: PeerName): void => {
  if (peer === 'v2 client modern') return
  proves('T-VER-004')
  if (!peer.startsWith('v1')) proves('T-VER-009')
}

export function describeOurServer({ matrix, peer, revision, over = 'stdio', isReplicated = false, open }: OurServerRun): void {
  const hasSession = revision < STATELESS_SINCE
  /** For requirements of the revisions that have sessions. */
  const provesInSession = (...ids: string[]): void => {
    if (hasSession) proves(...ids)
  }

  const isV1 = peer.startsWith('v1')

  describe(`our server and the ${peer} at ${revision} over ${over}`, () => {
    let client: TheirClient
    beforeAll(async () => {
      client = await open()
    })
    afterAll(() => client.close())
    beforeEach(() => {
      Object.assign(client.person, newPerson())
      for (const inbox of [client.asked, client.logs, client.updates, client.refreshed, client.completed]) inbox.clear()
    })
    const testWorks = (feature: Feature, name: string, run: () => Promise<void>): void => matrix.testWorks(peer, feature, name, run)
    /** A call that only ends when it is cancelled, once our server is at it. */
    const hold = async (signal: AbortSignal): Promise<{ held: Promise<ToolResult> }> => {
      const held = client.call('hold', undefined, { signal })
      held.catch(() => {})
      await expect.poll(() => textOf('count_held')).toBe('1')
      return { held }
    }
    const textOf = async (name: string, args?: Record<string, unknown>): Promise<string | undefined> =>
      (await client.call(name, args)).content[0]?.text

    test('our server and the client agree on the revision', () => {
      provesInSession('T-LIFE-003', 'T-LIFE-007', 'T-LIFE-008', 'T-VER-005')
      provesVersion(peer)
      expect(client.revision).toBe(revision)
      expect(client.server).toMatchObject({ name: 'everything', version: '1.0.0' })
      expect(client.server?.title).toBe(revision >= STRUCTURED_SINCE ? 'Everything' : undefined)
      expect(client.instructions).toBe('Every tool, resource and prompt here exists to test a client.')
      expect(client.capabilities).toMatchObject({
        logging: {},
        prompts: { listChanged: true },
        resources: { subscribe: true, listChanged: true },
        tools: { listChanged: true },
      })
    })

    testWorks('tools', `tools are listed and called, with and without arguments`, async () => {
      provesInSession('T-TOOL-001', 'T-TOOL-013')
      const tools = await client.listTools()
      expect(tools.map(({ name }) => name)).toEqual(expect.arrayContaining(['echo', 'add', 'test_simple_text']))
      expect(tools.find(({ name }) => name === 'add')).toMatchObject({
        description: 'Adds two numbers',
        inputSchema: { type: 'object', required: ['a', 'b'] },
      })
      expect(await client.call('test_simple_text')).toMatchObject({
        content: [{ type: 'text', text: 'This is a simple text response for testing.' }],
      })
    })

    testWorks('tools', `text of any script, with line breaks, comes back unchanged`, async () => {
      provesInSession('T-BASE-010')
      if (over === 'stdio') provesInSession('T-STDIO-003')
      const text = 'Grüße, 世界 🌍\r\nzweite Zeile\u2028dritte\u0000'
      expect(await textOf('echo', { text })).toBe(text)
    })

    testWorks('tools', `a failing tool is a result, an unknown one an error`, async () => {
      provesInSession('T-TOOL-037', 'T-TOOL-040')
      expect(await client.call('test_error_handling')).toMatchObject({
        isError: true,
        content: [{ type: 'text', text: 'This tool intentionally returns an error for testing' }],
      })
      await expect(client.call('nowhere')).rejects.toMatchObject({
        code: -32602,
        message: expect.stringContaining('Unknown tool: nowhere'),
      })
    })

    if (revision >= BAD_ARGUMENTS_FOR_MODEL_SINCE) {
      testWorks('tools', 'wrong arguments are explained to the model', async () => {
        expect(await client.call('add', { a: 'one', b: 2 })).toMatchObject({
          isError: true,
          content: [{ text: expect.stringContaining('argument "a": expected number') }],
        })
      })
    } else {
      testWorks('tools', 'wrong arguments are an error of the protocol', async () => {
        proves('T-TOOL-038')
        await expect(client.call('add', { a: 'one', b: 2 })).rejects.toMatchObject({
          code: -32602,
          message: expect.stringContaining('argument "a": expected number'),
        })
      })
    }

    // Whatever was agreed: a bridge may name an old revision for a newer client.
    testWorks('structured', `structured output passes the client's own check and is also there as text`, async () => {
      provesInSession('T-TOOL-022', 'T-TOOL-034')
      const tools = await client.listTools()
      expect(tools.find(({ name }) => name === 'add')).toMatchObject({ outputSchema: { properties: { sum: { type: 'number' } } } })
      const result = await client.call('add', { a: 1, b: 2 })
      expect(result.structuredContent).toEqual({ sum: 3 })
      expect(JSON.parse(result.content[0]?.text ?? '')).toEqual({ sum: 3 })
    })

    testWorks('structured', `output that breaks its schema never reaches the client`, async () => {
      provesInSession('T-TOOL-035')
      await client.listTools()
      await expect(client.call('break_word')).rejects.toMatchObject({ code: -32603 })
    })

    testWorks('content kinds', `images, resources and mixtures arrive whole`, async () => {
      provesInSession('T-TOOL-014', 'T-TOOL-030')
      const [image] = (await client.call('test_image_content')).content
      expect(image).toEqual({ type: 'image', mimeType: 'image/png', data: expect.stringMatching(PNG) })
      const [embedded] = (await client.call('test_embedded_resource')).content
      expect(embedded).toEqual({
        type: 'resource',
        resource: { uri: 'test://embedded-resource', mimeType: 'text/plain', text: 'This is an embedded resource content.' },
      })
      const mixture = (await client.call('test_multiple_content_types')).content
      expect(mixture.map(({ type }) => type)).toEqual(['text', 'image', 'resource'])
    })

    const audioName = revision >= AUDIO_SINCE ? 'audio arrives as audio' : 'audio is lowered to an embedded resource that keeps the bytes'
    testWorks('content kinds', audioName, async () => {
      if (revision < AUDIO_SINCE) proves('T-VER-019')
      const [block] = (await client.call('test_audio_content')).content
      if (revision >= AUDIO_SINCE)
        expect(block).toMatchObject({ type: 'audio', mimeType: 'audio/wav', data: expect.stringMatching(/^UklGR/) })
      else expect(block).toMatchObject({ type: 'resource', resource: { mimeType: 'audio/wav', blob: expect.stringMatching(/^UklGR/) } })
    })

    const linkName =
      revision >= STRUCTURED_SINCE ? `a resource link can be read` : 'a resource link is lowered to text that names the resource'
    testWorks('content kinds', linkName, async () => {
      if (revision >= STRUCTURED_SINCE) provesInSession('T-TOOL-026', 'T-TOOL-027')
      else proves('T-VER-015')
      const [block] = (await client.call('test_resource_link')).content
      if (revision < STRUCTURED_SINCE) return expect(block).toEqual({ type: 'text', text: 'static-text: test://static-text' })
      expect(block).toMatchObject({ type: 'resource_link', uri: 'test://static-text', name: 'static-text' })
      expect(await client.read(String(block?.uri))).toHaveLength(1)
    })

    testWorks('resources', `resources are listed and read, as text and as bytes`, async () => {
      provesInSession('T-RES-001', 'T-RES-036', 'T-RES-038')
      const resources = await client.listResources()
      expect(resources.map(({ uri }) => uri)).toEqual(expect.arrayContaining(['test://static-text', 'test://static-binary']))
      expect(await client.read('test://static-text')).toEqual([
        { uri: 'test://static-text', mimeType: 'text/plain', text: 'This is the content of the static text resource.' },
      ])
      expect(await client.read('test://static-binary')).toEqual([
        { uri: 'test://static-binary', mimeType: 'image/png', blob: expect.stringMatching(PNG) },
      ])
    })

    testWorks('resources', `a template is listed and one of its resources read`, async () => {
      provesInSession('T-RES-014')
      const templates = await client.listResourceTemplates()
      expect(templates).toContainEqual(expect.objectContaining({ uriTemplate: 'test://template/{id}/data', mimeType: 'application/json' }))
      const [contents] = await client.read('test://template/123/data')
      expect(JSON.parse(String(contents?.text))).toEqual({ id: '123', templateTest: true, data: 'Data for ID: 123' })
    })

    testWorks('resources', `an unknown resource and a failing one have different errors`, async () => {
      provesInSession('T-RES-053', 'T-RES-054')
      if (isV1) provesInSession('T-RES-052')
      // The v2 client raises the code of older revisions to the newest one's.
      const notFound = isV1 ? -32002 : -32602
      await expect(client.read('test://nowhere')).rejects.toMatchObject({ code: notFound, data: { uri: 'test://nowhere' } })
      const failure = client.read('test://failing')
      await expect(failure).rejects.toMatchObject({ code: -32603 })
      await expect(failure).rejects.not.toThrow('something internal')
    })

    testWorks('subscribe', `changes of a resource are reported from subscription to its end`, async () => {
      provesInSession('T-RES-023', 'T-RES-024', 'T-RES-025', 'T-RES-026')
      // A replica may still be telling of this change when another one accepts the subscription.
      if (!isReplicated) await client.call('test_trigger_resource_update')
      const told = client.updates.next()
      const unsubscribe = await client.subscribe('test://watched-resource')
      await client.call('test_trigger_resource_update')
      expect(await told).toMatchObject({ uri: 'test://watched-resource' })
      await unsubscribe()
      await client.call('test_trigger_resource_update')
      await client.ping()
      expect(client.updates.items).toHaveLength(1)
    })

    testWorks('prompts', `prompts are listed and got, with and without arguments`, async () => {
      provesInSession('T-PROM-001')
      const prompts = await client.listPrompts()
      expect(prompts.find(({ name }) => name === 'test_prompt_with_arguments')).toMatchObject({
        arguments: [
          { name: 'arg1', description: 'First argument', required: true },
          { name: 'arg2', description: 'Second argument', required: true },
        ],
      })
      expect(await client.prompt('test_simple_prompt')).toEqual([
        { role: 'user', content: { type: 'text', text: 'This is a simple prompt for testing.' } },
      ])
      expect(await client.prompt('test_prompt_with_arguments', { arg1: 'x', arg2: 'y' })).toMatchObject([
        { content: { text: "Prompt with arguments: arg1='x', arg2='y'" } },
      ])
    })

    testWorks('prompts', `prompts carry images and resources`, async () => {
      const withImage = await client.prompt('test_prompt_with_image')
      expect(withImage.map(({ content }) => content.type)).toEqual(['image', 'text'])
      const [embedded] = await client.prompt('test_prompt_with_embedded_resource', { resourceUri: 'test://static-text' })
      expect(embedded?.content).toMatchObject({ type: 'resource', resource: { uri: 'test://static-text' } })
    })

    testWorks('prompts', `an unknown prompt and a missing argument are refused`, async () => {
      provesInSession('T-PROM-035', 'T-PROM-036')
      await expect(client.prompt('nowhere')).rejects.toMatchObject({ code: -32602 })
      await expect(client.prompt('test_prompt_with_arguments', { arg1: 'x' })).rejects.toMatchObject({ code: -32602 })
    })

    testWorks('completion', `arguments of prompts and of templates are completed`, async () => {
      provesInSession('T-COMP-001')
      const ofPrompt = await client.complete({ type: 'ref/prompt', name: 'test_prompt_with_arguments' }, { name: 'arg1', value: 'test' })
      expect(ofPrompt.slice(0, 2)).toEqual(['test', 'testing'])
      const ofTemplate = await client.complete({ type: 'ref/resource', uri: 'test://template/{id}/data' }, { name: 'id', value: '12' })
      expect(ofTemplate).toEqual(['123', '124'])
    })

    testWorks('progress', `progress reaches the call that asked for it`, async () => {
      provesInSession('T-PROG-006')
      const heard: unknown[] = []
      // Both SDKs lose progress that arrives together with the result, so the result waits until the last has arrived.
      const result = await client.call('test_steps', undefined, {
        onprogress: (progress) => {
          heard.push(progress)
          if (progress.progress === 3) void client.call('go_on')
        },
      })
      const said = (step: number): object => (revision >= PROGRESS_TEXT_SINCE ? { message: `Step ${step}` } : {})
      expect(heard).toEqual([1, 2, 3].map((progress) => ({ progress, total: 3, ...said(progress) })))
      expect(result.content[0]?.text).toBe('All steps done')
    })

    testWorks('progress', `a call that did not ask hears of no progress`, async () => {
      expect(await textOf('test_tool_with_progress')).toBe('Progress complete')
      expect(client.errors).toEqual([])
    })

    testWorks('cancel', `a call the client gives up is stopped and not answered`, async () => {
      provesInSession('T-CANC-008', 'T-CANC-010')
      const before = Number(await textOf('count_cancelled'))
      const controller = new AbortController()
      const { held } = await hold(controller.signal)
      controller.abort('Enough')
      await expect(held).rejects.toThrow('Enough')
      await expect.poll(() => textOf('count_cancelled')).toBe(String(before + 1))
      // An answer to a call that was given up would be reported here.
      expect(client.errors).toEqual([])
    })

    testWorks('cancel', "a call that times out on the client's side is stopped", async () => {
      const before = Number(await textOf('count_cancelled'))
      await expect(client.call('hold', undefined, { timeout: 150 })).rejects.toThrow(/timed out/)
      await expect.poll(() => textOf('count_cancelled')).toBe(String(before + 1))
    })

    testWorks('logging', `log messages come from the wanted level on`, async () => {
      provesInSession('T-LOG-001', 'T-LOG-006')
      await client.callLogged('error', 'log_at_every_level')
      await client.ping()
      expect(client.logs.items.map(({ level }) => level)).toEqual(['error', 'critical', 'alert', 'emergency'])
      expect(client.logs.items[0]).toMatchObject({ logger: 'everything', data: 'A error message' })
      await client.callLogged('debug', 'log_at_every_level')
      await client.ping()
      expect(client.logs.items).toHaveLength(4 + 8)
    })

    if (!hasSession) {
      testWorks('logging', 'a request that names no level hears no log messages', async () => {
        await client.call('log_at_every_level')
        await client.ping()
        expect(client.logs.items).toEqual([])
      })
    }

    testQuestions({ testWorks, provesInSession, revision, hasSession, isReplicated, client: () => client })

    testWorks('list_changed', 'lists that change are read again at once', async () => {
      provesInSession('T-TOOL-008', 'T-TOOL-016', 'T-TOOL-017', 'T-PROM-004', 'T-PROM-013', 'T-PROM-014')
      provesInSession('T-RES-007', 'T-RES-021', 'T-RES-022')
      for (const [kind, tool, known] of [
        ['tools', 'test_trigger_tool_change', 'echo'],
        ['prompts', 'test_trigger_prompt_change', 'test_simple_prompt'],
        ['resources', 'test_trigger_resource_change', 'static-binary'],
      ] as const) {
        const refreshed = client.refreshed.next((list) => list.kind === kind)
        await client.call(tool)
        expect((await refreshed).names).toContain(known)
      }
    })

    test('a ping is answered while a long call runs', async () => {
      provesInSession('T-BASE-004', 'T-PING-001', 'T-PING-003')
      const controller = new AbortController()
      const { held } = await hold(controller.signal)
      const answer = await client.ping()
      if (hasSession) expect(answer).toEqual({})
      else expect(answer).toMatchObject({ supportedVersions: expect.arrayContaining([revision]) })
      controller.abort('Over')
      await expect(held).rejects.toThrow()
    })

    test('the client reports no error about our server, and nothing is left at the end', async () => {
      expect(client.errors).toEqual([])
      await client.leave()
    })
  })
}
