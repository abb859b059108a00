/** The adapter to the AI SDK, with the real packages and a provider on a local port. */

import { createOpenAICompatible as providerOfV6 } from 'ai-sdk-v3-openai-compatible'
import { createOpenAICompatible as providerOfV7 } from 'ai-sdk-v4-openai-compatible'
import * as v6 from 'ai-sdk-v6'
import * as v7 from 'ai-sdk-v7'
import { beforeAll, describe, expect, test, vi } from 'vitest'
import { aiTools as aiToolsOfV6, uiMessageStream } from '../../src/adapters/ai-sdk/index.ts'
import type { HostToolsOptions } from '../../src/adapters/tool-list.ts'
import { Conversation } from '../../src/host/index.ts'
import { openaiCompatible } from '../../src/host/language-models/openai-compatible.ts'
import { calling, person, refusing, says, spy } from '../host/hosts.ts'
import { provider } from './provider.ts'
import { connected, hosted, PICTURE, weather } from './servers.ts'

const VERSIONS = [
  {
    version: 'version 6',
    sdk: v6,
    picture: { type: 'image-data', data: PICTURE, mediaType: 'image/png' },
    modelAt: (baseURL: string) => providerOfV6({ name: 'local', baseURL })('stand-in'),
  },
  {
    version: 'version 7',
    // The functions that this file uses take the same parameters in both versions.
    sdk: v7 as unknown as typeof v6,
    picture: { type: 'file', data: { type: 'data', data: PICTURE }, mediaType: 'image/png' },
    modelAt: (baseURL: string) =>
      providerOfV7({ name: 'local', baseURL })('stand-in') as unknown as ReturnType<ReturnType<typeof providerOfV6>>,
  },
]

describe.each(VERSIONS)('the tools of a client in $version', ({ sdk, modelAt, picture }) => {
  let aiTools: typeof aiToolsOfV6
  beforeAll(async () => {
    vi.doMock('ai', () => sdk)
    vi.resetModules()
    ;({ aiTools } = await import('../../src/adapters/ai-sdk/index.ts'))
    vi.doUnmock('ai')
  })

  test('generateText calls a tool of the server and gets its answer', async () => {
    const { server, cities } = weather()
    const { url, requests, lastResult } = await provider(
      { calls: [{ name: 'forecast', args: { city: 'Oslo' } }] },
      { text: 'Take an umbrella' },
    )
    const tools = await aiTools(await connected(server))
    const { text } = await sdk.generateText({ model: modelAt(url), prompt: 'Weather?', tools, stopWhen: sdk.stepCountIs(3) })
    expect(text).toBe('Take an umbrella')
    expect(cities).toEqual(['Oslo'])
    expect(lastResult()).toBe('Rain in Oslo')
    const offered = requests[0]?.tools?.find(({ function: { name } }) => name === 'forecast')?.function
    expect(offered).toMatchObject({ description: 'Forecast for a city', parameters: { required: ['city'] } })
  })

  test('the program gets structured content, and the model its text', async () => {
    const { url, lastResult } = await provider({ calls: [{ name: 'measure', args: {} }] }, { text: 'Warm' })
    const tools = await aiTools(await connected(weather().server))
    const { steps } = await sdk.generateText({ model: modelAt(url), prompt: 'Warm?', tools, stopWhen: sdk.stepCountIs(3) })
    expect(steps[0]?.toolResults[0]?.output).toMatchObject({ structuredContent: { degrees: 21 } })
    expect(JSON.parse(String(lastResult()))).toEqual({ degrees: 21 })
  })

  test.each([
    ['a tool that fails', 'fail', {}, 'The station is closed'],
    ['arguments that the server refuses', 'forecast', { town: 'Oslo' }, /city/],
    ['arguments that are not an object', 'forecast', 'Oslo', /Expected an object/],
  ])('%s is an error for the model and does not end the run', async (_what, name, args, expected) => {
    const { url, lastResult } = await provider({ calls: [{ name, args }] }, { text: 'It failed' })
    const tools = await aiTools(await connected(weather().server))
    const { text, steps } = await sdk.generateText({ model: modelAt(url), prompt: 'Try', tools, stopWhen: sdk.stepCountIs(3) })
    expect(text).toBe('It failed')
    expect(steps[0]?.toolResults[0]?.output).toMatchObject({ isError: true })
    expect(lastResult()).toMatch(expected)
  })

  test('a failed result reaches the model marked as an error, and a picture as a picture', async () => {
    const tools = await aiTools(await connected(weather().server))
    const messages = await sdk.convertToModelMessages(
      [
        {
          role: 'assistant',
          parts: [
            part('fail', { content: [{ type: 'text', text: 'The station is closed' }], isError: true }),
            part('map', {
              content: [
                { type: 'text', text: 'The map:' },
                { type: 'image', data: PICTURE, mimeType: 'image/png' },
              ],
            }),
            part('map', { content: [{ type: 'audio', data: 'AAAA', mimeType: 'audio/wav' }] }),
          ],
        },
      ],
      { tools },
    )
    const results = messages.flatMap(({ role, content }) => (role === 'tool' ? content : []))
    expect(results).toMatchObject([
      { output: { type: 'error-text', value: 'The station is closed' } },
      {
        output: {
          type: 'content',
          value: [{ type: 'text', text: 'The map:' }, picture],
        },
      },
      { output: { type: 'text', value: '(audio/wav, not shown)' } },
    ])
  })

  test('a picture survives the way to the provider', async () => {
    const { url, lastResult, requests } = await provider({ calls: [{ name: 'map', args: {} }] }, { text: 'A red dot' })
    const tools = await aiTools(await connected(weather().server))
    const { text } = await sdk.generateText({ model: modelAt(url), prompt: 'Map?', tools, stopWhen: sdk.stepCountIs(3) })
    expect(text).toBe('A red dot')
    expect(requests).toHaveLength(2)
    expect(JSON.stringify(lastResult())).toContain(PICTURE)
  })

  test('streamText streams progress as preliminary results, and the last result is the final one', async () => {
    const { url } = await provider({ calls: [{ name: 'scan', args: {} }] }, { text: 'Done' })
    const told: unknown[] = []
    const tools = await aiTools(await connected(weather().server), {
      onProgress: ({ message }, { tool, id }) => told.push([message, tool, id]),
    })
    const { fullStream } = sdk.streamText({ model: modelAt(url), prompt: 'Scan', tools, stopWhen: sdk.stepCountIs(3) })
    const outputs = []
    for await (const each of fullStream)
      if (each.type === 'tool-result') outputs.push({ isFirst: each.preliminary ?? false, output: each.output })
    expect(outputs.at(-1)).toEqual({ isFirst: false, output: { content: [{ type: 'text', text: 'scanned' }] } })
    expect(outputs[0]).toEqual({ isFirst: true, output: { content: [], progress: { progress: 1, total: 2, message: 'half' } } })
    expect(told).toEqual([
      ['half', 'scan', expect.stringMatching(/^call_/)],
      ['all', 'scan', expect.stringMatching(/^call_/)],
    ])
  })

  test('an aborted run cancels the call at the server', async () => {
    const { server, aborted, waiting } = weather()
    const { url } = await provider({ calls: [{ name: 'wait', args: {} }] })
    const stop = new AbortController()
    const tools = await aiTools(await connected(server))
    const running = sdk.generateText({ model: modelAt(url), prompt: 'Wait', tools, abortSignal: stop.signal, stopWhen: sdk.stepCountIs(3) })
    void expect
      .poll(() => waiting)
      .toEqual(['wait'])
      .then(() => stop.abort())
    await expect(running).rejects.toThrow(/abort/i)
    await expect.poll(() => aborted).toEqual(['wait'])
  })
})

const part = (toolName: string, output: unknown) =>
  ({ type: 'dynamic-tool', toolName, toolCallId: 'call_1', state: 'output-available', input: {}, output }) as const

describe('the tools of a host', () => {
  const run = async (tools: v6.ToolSet, url: string) =>
    v6.generateText({ model: providerOfV6({ name: 'local', baseURL: url })('stand-in'), prompt: 'Go', tools, stopWhen: v6.stepCountIs(3) })

  test('a call of the model is asked about, as the model, in its conversation', async () => {
    const { server, cities } = weather()
    const ask = person()
    const host = await hosted(server, { ask })
    const conversation = new Conversation()
    const { url } = await provider({ calls: [{ name: 'weather__forecast', args: { city: 'Oslo' } }] }, { text: 'Rain' })
    const { text } = await run(await aiToolsOfV6(host, { conversation, model: 'stand-in' }), url)
    expect(text).toBe('Rain')
    expect(cities).toEqual(['Oslo'])
    const [question] = ask.asked.filter(({ action }) => action === 'tool.call')
    expect(question).toMatchObject({ chain: ['you', 'model stand-in', 'server weather'], run: conversation.id })
  })

  test('a refused call is a denied execution for the model, with the words of the person', async () => {
    const { server, cities } = weather()
    const ask = person(({ subject }) => (subject.kind === 'call' ? { kind: 'deny', feedback: 'Ask about Bergen' } : undefined))
    const host = await hosted(server, { ask })
    const { url, lastResult } = await provider({ calls: [{ name: 'weather__forecast', args: { city: 'Oslo' } }] }, { text: 'Bergen then?' })
    const { text, steps } = await run(await aiToolsOfV6(host, { conversation: new Conversation() }), url)
    expect(text).toBe('Bergen then?')
    expect(cities).toEqual([])
    expect(lastResult()).toContain('Ask about Bergen')
    expect(steps[0]?.toolResults[0]?.output).toMatchObject({ isError: true, refused: { feedback: 'Ask about Bergen' } })
  })

  test('the tools of the next message begin a turn, so that grants for a message end', async () => {
    const { server } = weather()
    const ask = person(({ subject }) => (subject.kind === 'call' ? { kind: 'allow', scope: 'turn', width: 'any' } : undefined))
    const host = await hosted(server, { ask })
    const conversation = new Conversation()
    const asked = () => ask.saw('call').length
    for (const [turn, city] of [
      [1, 'Oslo'],
      [1, 'Bergen'],
      [2, 'Oslo'],
    ] as const) {
      if (conversation.turn < turn) await host.modelTools({ conversation })
      await host.call('weather__forecast', { city }, { conversation })
      expect(asked()).toBe(turn)
    }
  })

  test('a host without a conversation is refused with the expected option', async () => {
    const host = await hosted(weather().server, { ask: refusing('call') })
    await expect(aiToolsOfV6(host, {} as HostToolsOptions)).rejects.toThrow('{ conversation: new Conversation() }')
    await expect(aiToolsOfV6(undefined as never)).rejects.toThrow('Expected a client (from connect) or a host (from createHost)')
  })
})

describe('a chat as a UI message stream', () => {
  const messageOf = async (stream: ReadableStream<v6.UIMessageChunk>) => {
    let last: v6.UIMessage | undefined
    for await (const message of v6.readUIMessageStream({ stream })) last = message
    return last
  }

  test('text, calls and results arrive in a response that the AI SDK reads', async () => {
    const { server } = weather()
    const model = spy([says('Let me '), says('see.'), calling('weather__measure')], [calling('weather__fail')], [says('21 degrees')])
    const host = await hosted(server, { ask: person(), model })
    const response = v6.createUIMessageStreamResponse({
      stream: uiMessageStream((signal) => host.chat('Warm?', { signal }), { messageId: 'm1' }),
    })
    expect(response.headers.get('content-type')).toContain('text/event-stream')
    const stream = v6.parseJsonEventStream({ stream: response.body as ReadableStream<Uint8Array>, schema: v6.uiMessageChunkSchema })
    const chunks: v6.UIMessageChunk[] = []
    for await (const each of stream) {
      if (!each.success) throw each.error
      chunks.push(each.value)
    }
    expect(chunks.at(-1)).toEqual({ type: 'finish', finishReason: 'stop' })
    const message = await messageOf(ReadableStream.from(chunks) as ReadableStream<v6.UIMessageChunk>)
    expect(message).toMatchObject({
      id: 'm1',
      parts: [
        { type: 'step-start' },
        { type: 'text', text: 'Let me see.', state: 'done' },
        { type: 'dynamic-tool', toolName: 'weather__measure', state: 'output-available', output: { structuredContent: { degrees: 21 } } },
        { type: 'step-start' },
        { type: 'dynamic-tool', toolName: 'weather__fail', state: 'output-error', errorText: 'The station is closed' },
        { type: 'step-start' },
        { type: 'text', text: '21 degrees', state: 'done' },
      ],
    })
  })

  test('a refused call shows its reason, and an error only what the program wants to show', async () => {
    const host = await hosted(weather().server, { ask: refusing('call'), model: spy([calling('weather__measure')], [says('No')]) })
    const refused = await messageOf(uiMessageStream((signal) => host.chat('Warm?', { signal })))
    expect(refused?.parts[1]).toMatchObject({ state: 'output-error', errorText: expect.stringContaining('The call was refused') })
    const broken = await openaiCompatible({ model: 'stand-in', baseURL: 'http://127.0.0.1:9/v1', apiKey: 'none' })
    const textsOf = async (stream: ReadableStream<v6.UIMessageChunk>) => {
      const texts = []
      for await (const each of stream) if (each.type === 'error') texts.push(each.errorText)
      return texts
    }
    expect(await textsOf(uiMessageStream((signal) => host.chat('Warm?', { model: broken, signal })))).toEqual([
      'The answer could not be completed.',
    ])
    expect(
      await textsOf(uiMessageStream((signal) => host.chat('Warm?', { model: broken, signal }), { onError: ({ code }) => code })),
    ).toEqual(['ERR_MODEL'])
  })

  test('a reader that cancels the stream stops the chat and its calls', async () => {
    const { server, aborted, waiting } = weather()
    const host = await hosted(server, { ask: person(), model: spy([calling('weather__wait')]) })
    const reader = uiMessageStream((signal) => host.chat('Wait', { signal })).getReader()
    for (let chunk = await reader.read(); chunk.value?.type !== 'tool-input-available'; ) chunk = await reader.read()
    void reader.read().catch(() => {})
    await expect.poll(() => waiting).toEqual(['wait'])
    void reader.cancel()
    await expect.poll(() => aborted).toEqual(['wait'])
  })
})
