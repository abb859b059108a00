/** The adapters of real providers, against a server that speaks their protocols. */

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { inspect } from 'node:util'
import type { LanguageModelV2, LanguageModelV3, LanguageModelV4 } from '@ai-sdk/provider'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { type AiSdkModel, fromAiSdk } from '../../../src/host/language-models/ai-sdk.ts'
import { type AnthropicPackage, anthropic, anthropicFrom } from '../../../src/host/language-models/anthropic.ts'
import type { Model, ModelPart, ModelRequest } from '../../../src/host/language-models/language-model.ts'
import {
  type OpenAiCompatibleOptions,
  type OpenAiCompatiblePackage,
  openaiCompatible,
  openaiCompatibleFrom,
} from '../../../src/host/language-models/openai-compatible.ts'
import { installCommand, optionalPackage } from '../../../src/host/language-models/optional-package.ts'
import type { McpError } from '../../../src/protocol/errors.ts'
import type { SamplingMessage } from '../../../src/protocol/model/sampling.ts'
import { proves } from '../../support/proves.ts'
import { KEY, provider, type Reply } from './fixtures/provider.ts'

type Open = (origin: string, options?: Partial<OpenAiCompatibleOptions>) => Promise<Model>

const openAi =
  (load: () => Promise<OpenAiCompatiblePackage>): Open =>
  (origin, options) =>
    openaiCompatibleFrom(load, { baseURL: `${origin}/v1`, apiKey: KEY, model: 'canned', ...options })

const anthropicBy =
  (load: () => Promise<AnthropicPackage>): Open =>
  (origin, options) =>
    anthropicFrom(load, { baseURL: `${origin}/v1`, apiKey: KEY, model: 'canned', ...options })

// Three generations of the packages, which can only be installed side by side under other names.
const PROVIDERS: ['OpenAI-compatible' | 'Anthropic', string, Open][] = [
  ['OpenAI-compatible', 'v2', openAi(() => import('ai-sdk-v2-openai-compatible'))],
  ['OpenAI-compatible', 'v3', openAi(() => import('ai-sdk-v3-openai-compatible'))],
  ['OpenAI-compatible', 'v4', openAi(() => import('ai-sdk-v4-openai-compatible'))],
  ['Anthropic', 'v2', anthropicBy(() => import('ai-sdk-v2-anthropic'))],
  ['Anthropic', 'v3', anthropicBy(() => import('ai-sdk-v3-anthropic'))],
  ['Anthropic', 'v4', anthropicBy(() => import('ai-sdk-v4-anthropic'))],
]

const hello: ModelRequest = { messages: [{ role: 'user', content: { type: 'text', text: 'hi' } }] }
const lookup = { name: 'lookup', description: 'Looks things up', inputSchema: { type: 'object', properties: { word: { type: 'string' } } } }

const conversation: ModelRequest = {
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
        { type: 'tool_use', id: 'c', name: 'lookup', input: {} },
      ],
    },
    {
      role: 'user',
      content: [
        { type: 'tool_result', toolUseId: 'a', content: [{ type: 'text', text: 'found it' }] },
        { type: 'tool_result', toolUseId: 'b', content: [{ type: 'text', text: 'no word given' }], isError: true },
        { type: 'tool_result', toolUseId: 'c', content: [{ type: 'image', data: 'cGljdHVyZQ==', mimeType: 'image/png' }] },
      ],
    },
  ],
  tools: [lookup],
}

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

describe.each(PROVIDERS)('a model of %s with interface %s', (name, _version, open) => {
  test('a model streams its text in pieces, and reports its stop reason and usage', async () => {
    const { origin } = await provider({ kind: 'message', text: ['Hel', 'lo'], usage: { input: 21, output: 9 } })
    const model = await open(origin)
    expect(model).toMatchObject({ id: 'canned', label: expect.stringContaining('canned') })
    expect(await all(model)).toEqual([
      { type: 'text', text: 'Hel' },
      { type: 'text', text: 'lo' },
      { type: 'end', reason: 'endTurn', usage: { inputTokens: 21, outputTokens: 9 } },
    ])
  })

  test('a model gets the system prompt, limits and tools, and returns its tool calls', async () => {
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

  test('a model gets images, its own calls and their results', async () => {
    const { origin, received } = await provider({ kind: 'message', text: ['A cat.'] })
    await all(await open(origin), conversation)
    const sent = JSON.stringify(received[0]?.body)
    for (const said of ['What is this?', 'aGVsbG8=', 'image/png', 'One moment', 'found it', 'no word given']) expect(sent).toContain(said)
  })

  test('a model gets the images in tool results that it supports, and a note about others', async () => {
    const { origin, received } = await provider(...Array.from({ length: 2 }, (): Reply => ({ kind: 'message', text: ['I see.'] })))
    const media = [
      { type: 'image' as const, data: 'cGljdHVyZQ==', mimeType: 'image/png' },
      { type: 'audio' as const, data: 'c291bmQ=', mimeType: 'audio/wav' },
      { type: 'image' as const, data: 'PHN2Zy8+', mimeType: 'image/svg+xml' },
    ]
    const request: ModelRequest = {
      messages: [
        hello.messages[0] as SamplingMessage,
        { role: 'assistant', content: { type: 'tool_use', id: 'a', name: 'lookup', input: {} } },
        { role: 'user', content: { type: 'tool_result', toolUseId: 'a', content: [{ type: 'text', text: 'Look:' }, ...media] } },
      ],
      tools: [lookup],
    }
    await all(await open(origin), request)
    // Models of Anthropic always see pictures, and have no such option.
    await all(await open(origin, name === 'Anthropic' ? {} : { seesPictures: true }), request)
    const [plain, seeing] = received.map(({ body }) => (body.messages as unknown[]).slice(2))
    for (const data of ['c291bmQ=', 'PHN2Zy8+']) expect(JSON.stringify([plain, seeing])).not.toContain(data)
    if (name === 'Anthropic') {
      const source = { type: 'base64', media_type: 'image/png', data: 'cGljdHVyZQ==' }
      const content = [
        { type: 'text', text: 'Look:' },
        { type: 'image', source },
        { type: 'text', text: '(audio/wav, not shown)' },
        { type: 'text', text: '(image/svg+xml, not shown)' },
      ]
      expect(plain).toMatchObject([{ role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content }] }])
    } else {
      const result = (picture: string) => ({
        role: 'tool',
        tool_call_id: 'a',
        content: `Look:\n${picture}\n(audio/wav, not shown)\n(image/svg+xml, not shown)`,
      })
      const content = [
        { type: 'text', text: 'From the result of the tool lookup, not from the user:' },
        { type: 'image_url', image_url: { url: 'data:image/png;base64,cGljdHVyZQ==' } },
      ]
      expect(plain).toEqual([result('(image/png, not shown)')])
      expect(seeing).toEqual([result('(image/png, shown below)'), { role: 'user', content }])
    }
  })

  test('tools with names that a provider refuses are called by other names', async () => {
    const { origin, received } = await provider({ kind: 'message', calls: [{ id: 'a', name: 'files_read_file_0', json: ['{}'] }] })
    const parts = await all(await open(origin), { ...hello, tools: [{ ...lookup, name: 'files.read/file' }] })
    expect(JSON.stringify(received[0]?.body)).toContain('files_read_file_0')
    expect(parts[0]).toMatchObject({ type: 'tool-call', name: 'files.read/file' })
  })

  test('arguments that are not JSON are a faulty call, not a failure of the model', async () => {
    const { origin } = await provider({ kind: 'message', calls: [{ id: 'a', name: 'lookup', json: ['{"word": oops'] }] })
    const parts = await all(await open(origin), { ...hello, tools: [lookup] })
    expect(parts[0]).toEqual({ type: 'tool-call', id: 'a', name: 'lookup', args: {}, fault: 'The arguments are not JSON' })
  })

  test.each([
    ['length', 'maxTokens'],
    ['refusal', 'refused'],
  ] as const)('the stop reason %s becomes %s', async (end, reason) => {
    const { origin } = await provider({ kind: 'message', text: ['x'], end })
    expect((await all(await open(origin))).at(-1)).toMatchObject({ type: 'end', reason })
  })

  test.each([
    [401, 'refused the credentials (HTTP 401)'],
    [404, 'is not known to its provider (HTTP 404)'],
    [429, 'refused the request because of too many requests (HTTP 429)'],
    [500, 'failed at its provider (HTTP 500)'],
    [400, 'did not accept the request (HTTP 400)'],
  ])('an HTTP status %i is ERR_MODEL, without the key and the text of the provider', async (status, words) => {
    proves('T-SAMP-044')
    const { origin } = await provider({ kind: 'status', status, message: `Account org-77: key ${KEY} is unwanted` })
    const error = await failure(await open(origin))
    expect(error).toMatchObject({ code: 'ERR_MODEL', message: `The model canned ${words}`, data: { status } })
    expect((error.cause as Error).message).toContain('org-77')
    expect(inspect(error, { depth: 20, showHidden: true })).not.toContain(KEY)
    expect(inspect(error, { depth: 20, showHidden: true })).not.toContain('Bearer')
  })

  test.each(['reset', 'end', 'garbage', 'error'] as const)(
    'a stream that is broken off by %s is ERR_MODEL after the text so far',
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

  test('a model that stops sending is given up', async () => {
    const { origin, hungUp } = await provider({ kind: 'broken', text: ['so'], how: 'silence' })
    const error = await failure(await open(origin, { limits: { silenceMs: 100 } }))
    expect(error).toMatchObject({ code: 'ERR_MODEL', message: 'The model canned sent nothing for 100 ms (silenceMs)' })
    await hungUp()
  })

  test('aborting the signal stops the model and closes the connection', async () => {
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

  test('leaving the stream closes the connection', async () => {
    const { origin, hungUp } = await provider({ kind: 'broken', text: ['so'], how: 'silence' })
    const model = await open(origin)
    for await (const _ of model.stream(hello, new AbortController().signal)) break
    await hungUp()
  })

  test('a model that writes too much is stopped at the limit', async () => {
    const reply = (rest: string): Reply => ({ kind: 'message', text: ['x'.repeat(3_999_999), rest] })
    const { origin } = await provider(reply('1'), reply('12'))
    expect(await all(await open(origin))).toHaveLength(3)
    expect(await failure(await open(origin))).toMatchObject({
      code: 'ERR_MODEL',
      message: expect.stringContaining('more than 4000000 characters'),
    })
  })

  test('that calls too many tools at once is stopped at the bound', async () => {
    const reply = (calls: number): Reply => ({
      kind: 'message',
      calls: Array.from({ length: calls }, (_, i) => ({ id: `c${i}`, name: 'lookup', json: ['{}'] })),
    })
    const { origin } = await provider(reply(128), reply(129))
    const model = await open(origin)
    expect(await all(model, { ...hello, tools: [lookup] })).toHaveLength(129)
    expect(await failure(model, { ...hello, tools: [lookup] })).toMatchObject({
      message: expect.stringContaining('more than 128 calls'),
    })
  })

  test('an unreachable provider is ERR_MODEL', async () => {
    const error = await failure(await open('http://127.0.0.1:1'))
    expect(error).toMatchObject({ code: 'ERR_MODEL', message: 'The model canned could not be reached, or the connection broke' })
  })

  test('a key is not sent unencrypted to another machine', async () => {
    await expect(open('http://models.example')).rejects.toMatchObject({ code: 'ERR_INSECURE' })
    await expect(open('ftp://models.example')).rejects.toMatchObject({ code: 'ERR_CONFIG' })
    await expect(open(`https://me:${KEY}@models.example`)).rejects.toMatchObject({ message: expect.not.stringContaining(KEY) })
  })
})

describe('every generation of the packages', () => {
  test('the package implements the version in the list', async () => {
    const versionOf = ({ specificationVersion }: AiSdkModel): string => specificationVersion
    const settings = { name: 'x', baseURL: 'http://127.0.0.1:1/v1', apiKey: KEY, includeUsage: true } as const
    const openAis: OpenAiCompatiblePackage[] = [
      await import('ai-sdk-v2-openai-compatible'),
      await import('ai-sdk-v3-openai-compatible'),
      await import('ai-sdk-v4-openai-compatible'),
    ]
    const anthropics: AnthropicPackage[] = [
      await import('ai-sdk-v2-anthropic'),
      await import('ai-sdk-v3-anthropic'),
      await import('ai-sdk-v4-anthropic'),
    ]
    expect(openAis.map((each) => versionOf(each.createOpenAICompatible(settings).chatModel('m')))).toEqual(['v2', 'v3', 'v4'])
    expect(anthropics.map((each) => versionOf(each.createAnthropic(settings)('m')))).toEqual(['v2', 'v3', 'v4'])
  })

  test.each(['OpenAI-compatible', 'Anthropic'])('the same conversation is sent to %s', async (wanted) => {
    const bodies: unknown[] = []
    for (const [name, , open] of PROVIDERS) {
      if (name !== wanted) continue
      const { origin, received } = await provider({ kind: 'message', text: ['Yes.'] })
      await all(await open(origin), { ...conversation, system: 'Be brief', maxTokens: 77, temperature: 0.5, stopSequences: ['END'] })
      // How tools are streamed is the package's own choice.
      const { tools: _, ...body } = received[0]?.body ?? {}
      bodies.push(body)
    }
    expect(bodies).toHaveLength(3)
    expect(bodies[1]).toEqual(bodies[0])
    expect(bodies[2]).toEqual(bodies[0])
  })
})

test('a key is required, except for a model on this machine', async () => {
  await expect(anthropic({ model: 'x' })).rejects.toMatchObject({ code: 'ERR_MODEL', message: expect.stringContaining('apiKey') })
  expect((await openaiCompatible({ baseURL: 'http://127.0.0.1:11434/v1', model: 'qwen3', provider: 'ollama' })).label).toBe('ollama qwen3')
})

test('the address of a provider comes only from the options, not from the environment', async () => {
  vi.stubEnv('ANTHROPIC_BASE_URL', 'http://gateway.example/v1')
  onTestFinished(() => void vi.unstubAllEnvs())
  for (const load of [() => import('ai-sdk-v2-anthropic'), () => import('ai-sdk-v3-anthropic'), () => import('ai-sdk-v4-anthropic')]) {
    const asked: string[] = []
    const fetch: typeof globalThis.fetch = async (input) => {
      asked.push(String(input))
      return new Response('no', { status: 403 })
    }
    await failure(await anthropicFrom(load, { model: 'm', apiKey: KEY, fetch }))
    expect(asked).toEqual(['https://api.anthropic.com/v1/messages'])
  }
})

test('if a package is not installed, the error says what to install', async () => {
  const missing = 'portico-no-such-package'
  await expect(optionalPackage(missing, () => import(missing))).rejects.toMatchObject({
    code: 'ERR_MODEL',
    message: `The package ${missing} is not installed; run: npm install --no-save --save-dev ${missing}`,
  })
  expect(installCommand('ai', 'file:///project/node_modules/portico/dist/host/index.js')).toBe('npm install ai')
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

  test('our types describe the interface as the AI SDK does', () => {
    const takes = (_model: AiSdkModel): void => {}
    takes({} as LanguageModelV2)
    takes({} as LanguageModelV3)
    takes({} as LanguageModelV4)
  })

  const finishOf = (version: string, reason = 'stop', raw: string | undefined = reason) =>
    version === 'v2'
      ? { type: 'finish', finishReason: reason, usage: { inputTokens: 3, outputTokens: 4, totalTokens: 7 } }
      : { type: 'finish', finishReason: { unified: reason, raw }, usage: { inputTokens: { total: 3 }, outputTokens: { total: 4 } } }

  test.each(['v2', 'v3', 'v4'])('the stop reason and usage of version %s are understood', async (version) => {
    const said = [
      { type: 'stream-start', warnings: [] },
      { type: 'text-delta', id: '1', delta: 'ok' },
    ]
    for (const [reason, ours] of [
      ['stop', 'endTurn'],
      ['length', 'maxTokens'],
      ['tool-calls', 'toolUse'],
      ['content-filter', 'refused'],
      ['other', 'other'],
    ])
      expect(await all(fromAiSdk(modelOf(version, ...said, finishOf(version, reason))))).toEqual([
        { type: 'text', text: 'ok' },
        { type: 'end', reason: ours, usage: { inputTokens: 3, outputTokens: 4 } },
      ])
    await expect(all(fromAiSdk(modelOf(version, finishOf(version, 'error'))))).rejects.toMatchObject({ code: 'ERR_MODEL' })
  })

  test('missing or impossible token counts are ignored', async () => {
    for (const usage of [undefined, null, {}, { inputTokens: 'many', outputTokens: -1 }, { inputTokens: { total: undefined } }])
      for (const version of ['v2', 'v3', 'v4'])
        expect(await all(fromAiSdk(modelOf(version, { ...finishOf(version), usage })))).toEqual([
          { type: 'end', reason: 'endTurn', usage: { inputTokens: 0, outputTokens: 0 } },
        ])
  })

  test.each([
    ['v2', { finishReason: 'unknown' }],
    ['v3', { finishReason: { unified: 'other', raw: undefined } }],
    ['v4', { finishReason: { unified: 'other', raw: undefined } }],
    ['v4', { finishReason: { unified: 'interrupted', raw: undefined } }],
    ['v4', { finishReason: 'stop' }],
    ['v4', {}],
  ])('a stream of version %s that ends with %j counts as broken off', async (version, end) => {
    const usage = finishOf(version).usage
    const broken = modelOf(version, finishOf(version), { type: 'text-delta', id: '1', delta: 'and' }, { type: 'finish', usage, ...end })
    await expect(all(fromAiSdk(broken))).rejects.toMatchObject({
      code: 'ERR_MODEL',
      message: expect.stringContaining('stopped in the middle'),
    })
  })

  const tagged = (data: string) => ({ type: 'data', data })

  test.each([
    ['v2', 'media', 'media', 'AAAA', 'BBBB'],
    ['v3', 'image-data', 'file-data', 'AAAA', 'BBBB'],
    ['v4', 'file', 'file', tagged('AAAA'), tagged('BBBB')],
  ])('images and sound are sent in the form of version %s', async (version, picture, sound, pictureData, soundData) => {
    const model = modelOf(version, finishOf(version))
    await all(fromAiSdk(model), {
      messages: [
        { role: 'user', content: { type: 'audio', data: 'BBBB', mimeType: 'audio/wav' } },
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
        { role: 'user', content: [{ type: 'file', data: soundData, mediaType: 'audio/wav' }] },
        { role: 'assistant' },
        {
          role: 'tool',
          content: [
            {
              toolName: 'draw',
              output: {
                type: 'content',
                value: [
                  { type: picture, data: pictureData, mediaType: 'image/png' },
                  { type: sound, data: soundData, mediaType: 'audio/wav' },
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

  test('tools that the provider runs itself are left to the provider', async () => {
    const call = { type: 'tool-call', toolCallId: 'a', toolName: 'search', input: '{}', providerExecuted: true }
    const model = modelOf('v3', call, { type: 'finish', finishReason: { unified: 'stop', raw: 'stop' }, usage: {} })
    expect(await all(fromAiSdk(model))).toEqual([{ type: 'end', reason: 'endTurn', usage: { inputTokens: 0, outputTokens: 0 } }])
  })

  test('an unknown version of the interface is refused', () => {
    expect(() => fromAiSdk(modelOf('v9'))).toThrow(
      expect.objectContaining({ code: 'ERR_CONFIG', message: expect.stringContaining('v2, v3, v4') }),
    )
  })

  test('a model that ignores its signal is abandoned', async () => {
    const deaf: AiSdkModel = { specificationVersion: 'v3', provider: 'p', modelId: 'deaf', doStream: () => new Promise(() => {}) }
    const controller = new AbortController()
    setTimeout(() => controller.abort(new Error('enough')), 10)
    await expect(all(fromAiSdk(deaf), hello, controller.signal)).rejects.toThrow('enough')
  })
})

test.each(PROVIDERS)('%s %s follows no redirect, which would take the key to another address', async (_name, _generation, open) => {
  const got: string[] = []
  const other = createServer((request, response) => {
    got.push(JSON.stringify(request.headers))
    response.end('{}')
  })
  const first = createServer((request, response) => {
    request.resume()
    response.writeHead(307, { location: `http://localhost:${(other.address() as AddressInfo).port}/x` }).end()
  })
  for (const server of [first, other]) {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void server.close())
  }
  const model = await open(`http://127.0.0.1:${(first.address() as AddressInfo).port}`, {})
  const stream = async (): Promise<void> => {
    for await (const _ of model.stream(hello, AbortSignal.timeout(5_000))) void _
  }
  await expect(stream()).rejects.toThrow()
  expect(got).toEqual([])
})

test('a key in the query of an address is refused', async () => {
  const open = openAi(() => import('ai-sdk-v4-openai-compatible'))
  for (const query of ['?api_key=sk-secret', '#sk-secret'])
    await expect(open('https://api.example.com', { baseURL: `https://api.example.com/v1${query}` })).rejects.toThrow('without a query')
})
