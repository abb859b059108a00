/** The adapters of real providers, against a server that speaks their protocols. */

import { inspect } from 'node:util'
import type { LanguageModelV2, LanguageModelV3 } from '@ai-sdk/provider'
import { describe, expect, test } from 'vitest'
import { type AiSdkModel, fromAiSdk } from '../../../src/host/models/ai-sdk.ts'
import { anthropic } from '../../../src/host/models/anthropic.ts'
import type { Model, ModelPart, ModelRequest } from '../../../src/host/models/model.ts'
import { openaiCompatible } from '../../../src/host/models/openai-compatible.ts'
import { optionalPackage } from '../../../src/host/models/optional-package.ts'
import type { ProviderOptions } from '../../../src/host/models/provider-options.ts'
import type { McpError } from '../../../src/protocol/errors.ts'
import { KEY, provider, type Reply } from './fixtures/provider.ts'

const PROVIDERS: [string, (origin: string, options?: Partial<ProviderOptions>) => Promise<Model>][] = [
  ['OpenAI-compatible', (origin, options) => openaiCompatible({ baseURL: `${origin}/v1`, apiKey: KEY, model: 'canned', ...options })],
  ['Anthropic', (origin, options) => anthropic({ baseURL: `${origin}/v1`, apiKey: KEY, model: 'canned', ...options })],
]

const hello: ModelRequest = { messages: [{ role: 'user', content: { type: 'text', text: 'hi' } }] }
const lookup = { name: 'lookup', description: 'Looks things up', inputSchema: { type: 'object', properties: { word: { type: 'string' } } } }

async function all(model: Model, request: ModelRequest = hello, signal = new AbortController().signal): Promise<ModelPart[]> {
  const parts: ModelPart[] = []
  for await (const part of model.stream(request, signal)) parts.push(part)
  return parts
}

const failure = (model: Model, request?: ModelRequest, signal?: AbortSignal): Promise<McpError> =>
  all(model, request, signal).then(
    () => expect.unreachable('it should have failed'),
    (error: McpError) => error,
  )

describe.each(PROVIDERS)('a model of %s', (name, open) => {
  test('says its text in pieces, how it ended and what it used', async () => {
    const { origin } = await provider({ kind: 'message', text: ['Hel', 'lo'], usage: { input: 21, output: 9 } })
    const model = await open(origin)
    expect(model).toMatchObject({ id: 'canned', label: expect.stringContaining('canned') })
    expect(await all(model)).toEqual([
      { type: 'text', text: 'Hel' },
      { type: 'text', text: 'lo' },
      { type: 'end', reason: 'endTurn', usage: { inputTokens: 21, outputTokens: 9 } },
    ])
  })

  test('is told the system prompt, the bounds and the tools, and tells which it wants to call with what', async () => {
    const calls = [
      { id: 'a', name: 'lookup', json: ['{"wo', 'rd":"x"}'] },
      { id: 'b', name: 'lookup', json: ['{"word":"y"}'] },
    ]
    const { origin, received } = await provider({ kind: 'message', text: ['Let me see.'], calls })
    const parts = await all(await open(origin), {
      ...hello,
      system: 'Be brief',
      maxTokens: 77,
      temperature: 0.5,
      stopSequences: ['END'],
      tools: [lookup],
      toolChoice: { mode: 'required' },
    })
    expect(parts).toEqual([
      { type: 'text', text: 'Let me see.' },
      { type: 'tool-call', id: 'a', name: 'lookup', args: { word: 'x' } },
      { type: 'tool-call', id: 'b', name: 'lookup', args: { word: 'y' } },
      { type: 'end', reason: 'toolUse', usage: { inputTokens: 11, outputTokens: 7 } },
    ])
    const body = received[0]?.body ?? {}
    expect(body).toMatchObject({ model: 'canned', max_tokens: 77, temperature: 0.5 })
    expect(JSON.stringify(body)).toContain('Be brief')
    expect(body.stop ?? body.stop_sequences).toEqual(['END'])
    expect(body.tool_choice).toEqual(name === 'Anthropic' ? { type: 'any' } : 'required')
  })

  test('is given pictures, its own calls and their results', async () => {
    const { origin, received } = await provider({ kind: 'message', text: ['A cat.'] })
    await all(await open(origin), {
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'What is this?' },
            { type: 'image', data: 'aGVsbG8=', mimeType: 'image/png' },
          ],
        },
        {
          role: 'assistant',
          content: [
            { type: 'text', text: 'One moment' },
            { type: 'tool_use', id: 'a', name: 'lookup', input: { word: 'x' } },
            { type: 'tool_use', id: 'b', name: 'lookup', input: {} },
          ],
        },
        {
          role: 'user',
          content: [
            { type: 'tool_result', toolUseId: 'a', content: [{ type: 'text', text: 'found it' }] },
            { type: 'tool_result', toolUseId: 'b', content: [{ type: 'text', text: 'no word given' }], isError: true },
          ],
        },
      ],
      tools: [lookup],
    })
    const sent = JSON.stringify(received[0]?.body)
    for (const said of ['What is this?', 'aGVsbG8=', 'image/png', 'One moment', 'found it', 'no word given']) expect(sent).toContain(said)
  })

  test('calls tools whose names no provider takes by names that it does', async () => {
    const { origin, received } = await provider({ kind: 'message', calls: [{ id: 'a', name: 'files_read_file_0', json: ['{}'] }] })
    const parts = await all(await open(origin), { ...hello, tools: [{ ...lookup, name: 'files.read/file' }] })
    expect(JSON.stringify(received[0]?.body)).toContain('files_read_file_0')
    expect(parts[0]).toMatchObject({ type: 'tool-call', name: 'files.read/file' })
  })

  test('that writes arguments which are no JSON has made a call with a fault, not failed', async () => {
    const { origin } = await provider({ kind: 'message', calls: [{ id: 'a', name: 'lookup', json: ['{"word": oops'] }] })
    const parts = await all(await open(origin), { ...hello, tools: [lookup] })
    expect(parts[0]).toEqual({ type: 'tool-call', id: 'a', name: 'lookup', args: {}, fault: 'The arguments are not JSON' })
  })

  test.each([
    ['length', 'maxTokens'],
    ['refusal', 'refused'],
  ] as const)('that ends by %s says %s', async (end, reason) => {
    const { origin } = await provider({ kind: 'message', text: ['x'], end })
    expect((await all(await open(origin))).at(-1)).toMatchObject({ type: 'end', reason })
  })

  test.each([
    [401, 'does not accept the credentials it was given (HTTP 401)'],
    [404, 'is not known to its provider (HTTP 404)'],
    [429, 'takes no more requests for now (HTTP 429)'],
    [500, 'failed at its provider (HTTP 500)'],
    [400, 'did not accept the request (HTTP 400)'],
  ])('that answers %i is ERR_MODEL in words that hold neither the key nor what the provider said [T-SAMP-044]', async (status, words) => {
    const { origin } = await provider({ kind: 'status', status, message: `Account org-77: key ${KEY} is unwanted` })
    const error = await failure(await open(origin))
    expect(error).toMatchObject({ code: 'ERR_MODEL', message: `The model canned ${words}`, data: { status } })
    expect((error.cause as Error).message).toContain('org-77')
    expect(inspect(error, { depth: 20, showHidden: true })).not.toContain(KEY)
    expect(inspect(error, { depth: 20, showHidden: true })).not.toContain('Bearer')
  })

  test.each(['reset', 'end', 'garbage', 'error'] as const)(
    'whose stream is broken off by %s is ERR_MODEL after what it had said',
    async (how) => {
      const { origin } = await provider({ kind: 'broken', text: ['half an '], how })
      const said: ModelPart[] = []
      const model = await open(origin)
      await expect(
        (async () => {
          for await (const part of model.stream(hello, new AbortController().signal)) said.push(part)
        })(),
      ).rejects.toMatchObject({ code: 'ERR_MODEL' })
      expect(said).toEqual([{ type: 'text', text: 'half an ' }])
    },
  )

  test('that says nothing more is given up', async () => {
    const { origin, hungUp } = await provider({ kind: 'broken', text: ['so'], how: 'silence' })
    const error = await failure(await open(origin, { limits: { silenceMs: 100 } }))
    expect(error).toMatchObject({ code: 'ERR_MODEL', message: 'The model canned said nothing for 100 ms (silenceMs)' })
    await hungUp()
  })

  test('stops when the signal does, and the provider is hung up on', async () => {
    const { origin, hungUp } = await provider({ kind: 'broken', text: ['so'], how: 'silence' })
    const controller = new AbortController()
    const model = await open(origin)
    const reason = new Error('enough')
    const read = (async () => {
      for await (const _ of model.stream(hello, controller.signal)) controller.abort(reason)
    })()
    await expect(read).rejects.toBe(reason)
    await hungUp()
  })

  test('whose reader goes away is hung up on', async () => {
    const { origin, hungUp } = await provider({ kind: 'broken', text: ['so'], how: 'silence' })
    const model = await open(origin)
    for await (const _ of model.stream(hello, new AbortController().signal)) break
    await hungUp()
  })

  test('that says too much is stopped at the bound', async () => {
    const reply: Reply = { kind: 'message', text: ['12345', '67890'] }
    const { origin } = await provider(reply, reply)
    expect(await all(await open(origin, { limits: { maxAnswerChars: 10 } }))).toHaveLength(3)
    expect(await failure(await open(origin, { limits: { maxAnswerChars: 9 } }))).toMatchObject({
      code: 'ERR_MODEL',
      message: expect.stringContaining('maxAnswerChars'),
    })
  })

  test('that calls too many tools at once is stopped at the bound', async () => {
    const calls = ['a', 'b'].map((id) => ({ id, name: 'lookup', json: ['{}'] }))
    const { origin } = await provider({ kind: 'message', calls }, { kind: 'message', calls })
    expect(await all(await open(origin, { limits: { maxCalls: 2 } }), { ...hello, tools: [lookup] })).toHaveLength(3)
    expect(await failure(await open(origin, { limits: { maxCalls: 1 } }), { ...hello, tools: [lookup] })).toMatchObject({
      message: expect.stringContaining('maxCalls'),
    })
  })

  test('that nobody listens for is ERR_MODEL', async () => {
    const error = await failure(await open('http://127.0.0.1:1'))
    expect(error).toMatchObject({ code: 'ERR_MODEL', message: 'The model canned could not be asked, or broke off' })
  })

  test('is not sent a key in the clear beyond this machine', async () => {
    await expect(open('http://models.example')).rejects.toMatchObject({ code: 'ERR_INSECURE' })
    await expect(open('ftp://models.example')).rejects.toMatchObject({ code: 'ERR_CONFIG' })
    await expect(open(`https://me:${KEY}@models.example`)).rejects.toMatchObject({ message: expect.not.stringContaining(KEY) })
  })
})

test('a key is needed where it always is, and not for a model on this machine', async () => {
  await expect(anthropic({ model: 'x' })).rejects.toMatchObject({ code: 'ERR_MODEL', message: expect.stringContaining('apiKey') })
  expect((await openaiCompatible({ baseURL: 'http://127.0.0.1:11434/v1', model: 'qwen3', provider: 'ollama' })).label).toBe('ollama qwen3')
})

test('a package that is not installed is an error that says what to install', async () => {
  const missing = 'portico-no-such-package'
  await expect(optionalPackage(missing, () => import(missing))).rejects.toMatchObject({
    code: 'ERR_MODEL',
    message: `The package ${missing} is not installed; run: npm install ${missing}`,
  })
})

describe('the interface of the AI SDK', () => {
  const streamOf = (...parts: unknown[]) => ({
    stream: new ReadableStream<never>({
      start: (controller) => {
        for (const part of parts) controller.enqueue(part as never)
        controller.close()
      },
    }),
  })

  const modelOf = (specificationVersion: string, ...parts: unknown[]): AiSdkModel & { asked: unknown[] } => {
    const asked: unknown[] = []
    return {
      specificationVersion,
      provider: 'canned',
      modelId: 'm',
      asked,
      doStream: async (options) => {
        asked.push(options)
        return streamOf(...parts)
      },
    }
  }

  test('is described by our types as the SDK describes it', () => {
    const takes = (_model: AiSdkModel): void => {}
    takes({} as LanguageModelV2)
    takes({} as LanguageModelV3)
  })

  test('of the second version has plain reasons and numbers', async () => {
    const finish = { type: 'finish', finishReason: 'stop', usage: { inputTokens: 3, outputTokens: 4, totalTokens: 7 } }
    const model = modelOf('v2', { type: 'stream-start', warnings: [] }, { type: 'text-delta', id: '1', delta: 'ok' }, finish)
    expect(await all(fromAiSdk(model))).toEqual([
      { type: 'text', text: 'ok' },
      { type: 'end', reason: 'endTurn', usage: { inputTokens: 3, outputTokens: 4 } },
    ])
    const broken = modelOf('v2', { ...finish, finishReason: 'unknown' })
    await expect(all(fromAiSdk(broken))).rejects.toMatchObject({ code: 'ERR_MODEL', message: expect.stringContaining('broke off') })
  })

  test.each([
    ['v2', 'media', 'media'],
    ['v3', 'image-data', 'file-data'],
  ])('of version %s has a name of its own for pictures and sound in results', async (version, picture, sound) => {
    const model = modelOf(version, { type: 'finish', finishReason: { unified: 'stop', raw: 'stop' }, usage: {} })
    await all(fromAiSdk(model), {
      messages: [
        { role: 'assistant', content: { type: 'tool_use', id: 'a', name: 'draw', input: {} } },
        {
          role: 'user',
          content: {
            type: 'tool_result',
            toolUseId: 'a',
            content: [
              { type: 'image', data: 'AAAA', mimeType: 'image/png' },
              { type: 'audio', data: 'BBBB', mimeType: 'audio/wav' },
              { type: 'resource_link', name: 'More', uri: 'https://example.com/more' },
              { type: 'resource', resource: { uri: 'file:///a', text: 'inside' } },
            ],
          },
        },
      ],
    })
    expect(model.asked[0]).toMatchObject({
      prompt: [
        { role: 'assistant' },
        {
          role: 'tool',
          content: [
            {
              toolName: 'draw',
              output: {
                type: 'content',
                value: [
                  { type: picture, data: 'AAAA', mediaType: 'image/png' },
                  { type: sound, data: 'BBBB', mediaType: 'audio/wav' },
                  { type: 'text', text: 'More: https://example.com/more' },
                  { type: 'text', text: 'inside' },
                ],
              },
            },
          ],
        },
      ],
    })
  })

  test('leaves what the provider has run itself to the provider', async () => {
    const call = { type: 'tool-call', toolCallId: 'a', toolName: 'search', input: '{}', providerExecuted: true }
    const model = modelOf('v3', call, { type: 'finish', finishReason: { unified: 'stop', raw: 'stop' }, usage: {} })
    expect(await all(fromAiSdk(model))).toEqual([{ type: 'end', reason: 'endTurn', usage: { inputTokens: 0, outputTokens: 0 } }])
  })

  test('of a version that is not known is refused', () => {
    expect(() => fromAiSdk(modelOf('v9'))).toThrow(
      expect.objectContaining({ code: 'ERR_CONFIG', message: expect.stringContaining('v2 and v3') }),
    )
  })

  test('that does not listen to its signal is left behind', async () => {
    const deaf: AiSdkModel = { specificationVersion: 'v3', provider: 'p', modelId: 'deaf', doStream: () => new Promise(() => {}) }
    const controller = new AbortController()
    setTimeout(() => controller.abort(new Error('enough')), 10)
    await expect(all(fromAiSdk(deaf), hello, controller.signal)).rejects.toThrow('enough')
  })
})
