import { describe, expect, test } from 'vitest'
import { type ChatPart, type ChatRunOptions, runChat } from '../../../../src/host/conversation/chat/chat.ts'
import { Conversation } from '../../../../src/host/conversation/chat/conversation.ts'
import type { CallTool } from '../../../../src/host/conversation/chat/tool-call.ts'
import type { Model, ModelPart } from '../../../../src/host/language-models/language-model.ts'
import { RemoteError } from '../../../../src/jsonrpc/remote-error.ts'
import { Declined, McpError } from '../../../../src/protocol/errors.ts'
import { checkToolUse, type SamplingMessage } from '../../../../src/protocol/model/sampling.ts'
import { createServer } from '../../../../src/server/index.ts'
import { fakeClock, pair } from '../../../../src/testing/index.ts'
import { scriptedModel } from '../../../../src/testing/scripted-model/model.ts'
import { connectPair } from '../../../support/judged-pair.ts'
import { proves } from '../../../support/proves.ts'
import { settle } from '../../../support/raw-channel.ts'
import { type CannedModel, call, cannedModel, end, text } from './models.ts'

const echo = { name: 'echo', description: 'Says it again', inputSchema: { type: 'object', properties: { n: { type: 'number' } } } }
const result = (words: string) => ({ kind: 'result' as const, result: { content: [{ type: 'text' as const, text: words }] } })
const echoing: CallTool = async (_name, args) => result(`echo ${String(args.n)}`)

async function chat(options: Partial<ChatRunOptions> & { model: Model }): Promise<{ parts: ChatPart[]; conversation: Conversation }> {
  const conversation = options.conversation ?? new Conversation()
  const parts: ChatPart[] = []
  for await (const part of runChat({ said: 'go', tools: [echo], callTool: echoing, ...options, conversation })) parts.push(part)
  // However a turn ends, a model can be given what is left of it.
  expect(checkToolUse(conversation.messages as SamplingMessage[])).toBeUndefined()
  return { parts, conversation }
}

/** What the model was told about its calls, in the last request. */
const told = ({ asked }: CannedModel): string[] => {
  const content = asked.at(-1)?.messages.at(-1)?.content
  return (Array.isArray(content) ? content : []).flatMap((block) =>
    block.type === 'tool_result' ? [block.content.map((each) => (each.type === 'text' ? each.text : each.type)).join(' ')] : [],
  )
}

describe('a turn', () => {
  test('a turn streams the text of the model, makes its calls, and returns the results until it is done', async () => {
    const model = cannedModel([text('Let '), text('me see. '), call('a', 'echo', { n: 1 })], [text('It said echo 1.')])
    const { parts, conversation } = await chat({ model, system: 'Be kind' })
    expect(parts).toEqual([
      { type: 'text', text: 'Let ' },
      { type: 'text', text: 'me see. ' },
      { type: 'tool-call', id: 'a', name: 'echo', args: { n: 1 } },
      { type: 'tool-result', id: 'a', name: 'echo', result: { content: [{ type: 'text', text: 'echo 1' }] } },
      { type: 'text', text: 'It said echo 1.' },
      { type: 'end', reason: 'done', usage: { inputTokens: 20, outputTokens: 10 }, steps: 2 },
    ])
    expect(conversation.messages).toEqual([
      { role: 'user', content: { type: 'text', text: 'go' } },
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 'Let me see. ' },
          { type: 'tool_use', id: 'a', name: 'echo', input: { n: 1 } },
        ],
      },
      { role: 'user', content: [{ type: 'tool_result', toolUseId: 'a', content: [{ type: 'text', text: 'echo 1' }] }] },
      { role: 'assistant', content: [{ type: 'text', text: 'It said echo 1.' }] },
    ])
    expect(model.asked).toHaveLength(2)
    expect(model.asked[0]).toMatchObject({ system: 'Be kind', tools: [echo], maxTokens: 8192 })
  })

  test('the model gets the tools that the host offers, and nothing else', async () => {
    const model = cannedModel([call('a', 'echo')], [text('done')])
    const lists = [[echo], []]
    await chat({ model, tools: () => lists.shift() ?? [] })
    expect(model.asked.map(({ tools }) => tools)).toEqual([[echo], undefined])
    expect(Object.keys(model.asked[0] ?? {}).sort()).toEqual(['maxTokens', 'messages', 'tools'])
  })

  test('turns can follow each other, and are counted', async () => {
    const model = cannedModel([text('one')], [text('two')])
    const { conversation } = await chat({ model })
    const resumed = new Conversation(JSON.parse(JSON.stringify(conversation)))
    await chat({ model, conversation: resumed, said: 'again' })
    expect(resumed.turn).toBe(2)
    expect(model.asked[1]?.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user'])
  })

  test.each([
    ['maxTokens', 'cut-off'],
    ['refused', 'refused'],
    ['stopSequence', 'done'],
  ] as const)('a turn whose last answer ended by %s is %s', async (reason, ended) => {
    const { parts } = await chat({ model: cannedModel([text('x'), end(reason)]) })
    expect(parts.at(-1)).toMatchObject({ type: 'end', reason: ended })
  })

  test('a turn ends with the error of the model, and the text so far is kept', async () => {
    const failure = new McpError('ERR_MODEL', 'The model canned broke')
    const { parts, conversation } = await chat({ model: cannedModel([text('half'), call('a', 'echo'), failure]) })
    expect(parts.slice(-2)).toEqual([
      { type: 'error', error: failure },
      { type: 'end', reason: 'failed', usage: { inputTokens: 0, outputTokens: 0 }, steps: 1 },
    ])
    expect(conversation.messages.at(-1)).toEqual({ role: 'assistant', content: [{ type: 'text', text: 'half' }] })
    const { parts: odd } = await chat({ model: cannedModel([new TypeError('inside')]) })
    expect(odd[0]).toMatchObject({ type: 'error', error: { code: 'ERR_MODEL', message: 'The model failed' } })
  })

  test('a second turn at the same time is refused and changes nothing', async () => {
    const conversation = new Conversation()
    const first = runChat({ model: cannedModel([text('one')]), conversation, said: 'go', tools: [], callTool: echoing })
    await first.next()
    const { parts } = await chat({ model: cannedModel(), conversation, said: 'me too' })
    expect(parts).toMatchObject([
      { type: 'error', error: { code: 'ERR_INVALID_REQUEST' } },
      { type: 'end', reason: 'failed' },
    ])
    await first.return()
    expect(conversation.messages).toHaveLength(2)
    expect((await chat({ model: cannedModel([text('two')]), conversation })).parts.at(-1)).toMatchObject({ reason: 'done' })
  })

  test('a turn fails if the list of tools cannot be read', async () => {
    const { parts } = await chat({ model: cannedModel(), tools: () => Promise.reject(new McpError('ERR_SERVER_DOWN', 'away')) })
    expect(parts).toMatchObject([
      { type: 'error', error: { code: 'ERR_SERVER_DOWN' } },
      { type: 'end', reason: 'failed' },
    ])
  })
})

describe('a call', () => {
  test.each<[string, CallTool, object]>([
    [
      'by the host',
      async () => ({ kind: 'refused', reason: 'a rule forbids it', feedback: 'use another' }),
      { reason: 'a rule forbids it', feedback: 'use another' },
    ],
    [
      'with ERR_DENIED',
      async () => {
        throw new McpError('ERR_DENIED', 'the person said no', { data: { feedback: 'not on a Friday' } })
      },
      { reason: 'the person said no', feedback: 'not on a Friday' },
    ],
    [
      'with ERR_QUARANTINED',
      async () => {
        throw new McpError('ERR_QUARANTINED', 'it has changed')
      },
      { reason: 'it has changed' },
    ],
    [
      'by a person who says nothing',
      async () => {
        throw new Declined('')
      },
      { reason: 'the person denied it' },
    ],
  ])('a call refused %s is reported to the model, with the words of the person', async (_how, callTool, refusal) => {
    const model = cannedModel([call('a', 'echo')], [text('I see')])
    const { parts, conversation } = await chat({ model, callTool })
    expect(parts[1]).toEqual({ type: 'refused', id: 'a', name: 'echo', ...refusal })
    for (const words of Object.values(refusal)) expect(told(model)[0]).toContain(words)
    expect(conversation.messages[2]).toMatchObject({ content: [{ isError: true }] })
    expect(parts.at(-1)).toMatchObject({ reason: 'done' })
  })

  test('a call of a missing tool, or with invalid arguments, is an error for the model', async () => {
    const called: string[] = []
    const broken: ModelPart = { type: 'tool-call', id: 'c', name: 'echo', args: {}, fault: 'The arguments are not JSON' }
    const model = cannedModel([call('a', 'rm'), call('b', 'echo', { n: 'one' }), broken, call('d', '__proto__')], [text('sorry')])
    await chat({
      model,
      callTool: async (name, args) => {
        called.push(name)
        throw new McpError('ERR_INVALID_PARAMS', `Arguments of tool "${name}": n: expected number, got ${JSON.stringify(args.n)}`)
      },
    })
    expect(told(model)).toEqual([
      'Unknown tool "rm". Available: echo.',
      'The tool was not called. Arguments of tool "echo": n: expected number, got "one"',
      'The tool was not called. The arguments are not JSON.',
      'Unknown tool "__proto__". Available: echo.',
    ])
    expect(called).toEqual(['echo'])
  })

  test('a call that throws is an error for the model', async () => {
    const model = cannedModel([call('a', 'echo')], [text('sorry')])
    await chat({
      model,
      callTool: async () => {
        throw new McpError('ERR_SERVER_DOWN', 'The server notes is away')
      },
    })
    expect(told(model)).toEqual(['The call failed: The server notes is away'])
  })

  test('a call with a schema that cannot be checked here is left to the server', async () => {
    const model = cannedModel([call('a', 'odd', { x: 1 })], [text('ok')])
    await chat({
      model,
      tools: [{ name: 'odd', inputSchema: { $ref: 'https://example.com/schema' } }],
      callTool: async () => result('fine'),
    })
    expect(told(model)).toEqual(['fine'])
  })

  test('a call that hangs is given up in time, and the results of other calls are kept', async () => {
    const clock = fakeClock()
    const model = cannedModel([call('a', 'echo', { n: 1 }), call('b', 'echo', { n: 2 })], [text('ok')])
    let signal: AbortSignal | undefined
    const running = chat({
      model,
      clock,
      limits: { callTimeoutMs: 1000 },
      callTool: (name, args, options) => {
        if (args.n !== 1) return echoing(name, args, options)
        signal = options.signal
        return new Promise(() => {})
      },
    })
    await settle()
    await settle()
    await clock.advance(1000)
    const { parts } = await running
    expect(signal?.aborted).toBe(true)
    expect(told(model)).toEqual([expect.stringContaining('callTimeoutMs'), 'echo 2'])
    expect(parts.at(-1)).toMatchObject({ reason: 'done' })
  })

  test('a call with an id that was used before gets a new id', async () => {
    const model = cannedModel([call('0', 'echo'), call('0', 'echo')], [call('0', 'echo')], [text('ok')])
    const { parts } = await chat({ model })
    const ids = parts.flatMap((part) => (part.type === 'tool-call' ? [part.id] : []))
    expect(ids).toEqual(['0', '0-2', '0-3'])
  })
})

describe('calls at the same time', () => {
  const many = Array.from({ length: 6 }, (_, n) => call(`c${n}`, 'echo', { n }))

  test('calls run in parallel up to the limit, and are reported in order', async () => {
    let running = 0
    let most = 0
    const model = cannedModel(many, [text('ok')])
    const { parts } = await chat({
      model,
      limits: { maxParallelCalls: 3 },
      callTool: async (_name, { n }) => {
        most = Math.max(most, ++running)
        // The first ends last.
        await new Promise((resolve) => setTimeout(resolve, 30 - Number(n) * 4))
        running--
        return result(`echo ${String(n)}`)
      },
    })
    expect(most).toBe(3)
    expect(parts.flatMap((part) => (part.type === 'tool-result' ? [part.id] : []))).toEqual(['c0', 'c1', 'c2', 'c3', 'c4', 'c5'])
    expect(told(model)).toEqual([0, 1, 2, 3, 4, 5].map((n) => `echo ${n}`))
  })

  test('calls over the limit of one answer are not made', async () => {
    const model = cannedModel(many, [text('ok')])
    let calls = 0
    await chat({
      model,
      limits: { maxCalls: 4 },
      callTool: async () => {
        calls++
        return result('ok')
      },
    })
    expect(calls).toBe(4)
    expect(told(model).slice(3)).toEqual(['ok', expect.stringContaining('maxCalls'), expect.stringContaining('maxCalls')])
  })
})

describe('a turn that is stopped', () => {
  test('stopping a turn while the model speaks ends it at once, even if the model ignores the signal', async () => {
    const controller = new AbortController()
    const deaf: Model = {
      id: 'deaf',
      label: 'deaf',
      async *stream() {
        yield text('So ')
        await new Promise(() => {})
      },
    }
    const conversation = new Conversation()
    const parts: ChatPart[] = []
    for await (const part of runChat({ model: deaf, conversation, said: 'go', tools: [], callTool: echoing, signal: controller.signal })) {
      parts.push(part)
      controller.abort()
    }
    expect(parts).toMatchObject([{ type: 'text' }, { type: 'end', reason: 'cancelled' }])
    expect(conversation.messages.at(-1)).toEqual({ role: 'assistant', content: [{ type: 'text', text: 'So ' }] })
  })

  test('stopping a turn while tools run stops them, and the conversation can continue', async () => {
    const controller = new AbortController()
    let stopped = 0
    const model = cannedModel([call('a', 'echo', { n: 1 }), call('b', 'echo', { n: 2 })], [text('Where were we?')])
    const hanging: CallTool = (_name, _args, { signal }) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => {
          stopped++
          reject(signal.reason)
        })
        if (stopped === 0) setTimeout(() => controller.abort(), 5)
      })
    const { parts, conversation } = await chat({ model, signal: controller.signal, callTool: hanging })
    expect(stopped).toBe(2)
    expect(parts.at(-1)).toMatchObject({ type: 'end', reason: 'cancelled' })
    expect(model.asked).toHaveLength(1)
    await chat({ model, conversation, said: 'go on' })
    expect(JSON.stringify(model.asked[1]?.messages)).toContain('The call was cancelled.')
  })

  test('a turn without a reader stops its calls', async () => {
    let aborted = false
    const conversation = new Conversation()
    const model = cannedModel([call('a', 'echo', { n: 1 }), call('b', 'echo', { n: 2 })])
    const callTool: CallTool = async (name, args, options) => {
      if (args.n === 1) return echoing(name, args, options)
      return new Promise((_resolve, reject) => {
        options.signal.addEventListener('abort', () => {
          aborted = true
          reject(options.signal.reason)
        })
      })
    }
    for await (const part of runChat({ model, conversation, said: 'go', tools: [echo], callTool })) if (part.type === 'tool-result') break
    expect(aborted).toBe(true)
    expect(checkToolUse(conversation.messages as SamplingMessage[])).toBeUndefined()
    expect(conversation.messages).toHaveLength(3)
  })

  test('a turn that is stopped before it begins does not call the model', async () => {
    const model = cannedModel([text('x')])
    const { parts } = await chat({ model, signal: AbortSignal.abort() })
    expect(parts).toMatchObject([{ type: 'end', reason: 'cancelled' }])
  })
})

describe('limits of a turn', () => {
  const endless = (): CannedModel => cannedModel(...Array.from({ length: 9 }, (_, at) => [call(`c${at}`, 'echo')]))

  test('the number of steps in a turn is limited', async () => {
    const model = endless()
    const { parts } = await chat({ model, limits: { maxSteps: 3 } })
    expect(parts.at(-1)).toMatchObject({ type: 'end', reason: 'steps', steps: 3 })
    expect(model.asked).toHaveLength(3)
  })

  test('the number of tokens in a turn is limited', async () => {
    expect((await chat({ model: endless(), limits: { maxTurnTokens: 30 } })).parts.at(-1)).toMatchObject({ reason: 'tokens', steps: 2 })
    expect((await chat({ model: endless(), limits: { maxTurnTokens: 31 } })).parts.at(-1)).toMatchObject({ reason: 'tokens', steps: 3 })
  })

  test('the length of one answer is limited', async () => {
    expect((await chat({ model: cannedModel([text('12345')]), limits: { maxAnswerChars: 5 } })).parts.at(-1)).toMatchObject({
      reason: 'done',
    })
    expect((await chat({ model: cannedModel([text('12345')]), limits: { maxAnswerChars: 4 } })).parts).toMatchObject([
      { type: 'error', error: { code: 'ERR_LIMIT', message: expect.stringContaining('maxAnswerChars') } },
      { type: 'end', reason: 'failed' },
    ])
  })

  test('a result over the limit is cut, and the model is told', async () => {
    const model = cannedModel([call('a', 'echo')], [text('ok')])
    const image = { type: 'image' as const, data: 'AAAA', mimeType: 'image/png' }
    const long = { content: [{ type: 'text' as const, text: 'x'.repeat(10_000) }, image], structuredContent: { x: 'y'.repeat(10_000) } }
    await chat({ model, limits: { maxResultTokens: 100 }, callTool: async () => ({ kind: 'result', result: long }) })
    expect(told(model)[0]).toMatch(
      /^x{400} \[The rest of the result is left out: it has about \d+ tokens; the limit is 100 \(maxResultTokens\)\]$/,
    )
    expect(JSON.stringify(model.asked[1])).not.toContain('yyy')
  })
})

test('the scripted model uses a real server through the chat', async () => {
  proves('T-TOOL-002')
  const notes = ['Milk']
  const server = createServer({ name: 'notes', version: '1' })
  server.tool(
    'add',
    { description: 'Writes a note down', input: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] } as const },
    ({ text: note }) => {
      notes.push(note)
      return `Noted: ${note}`
    },
  )
  server.tool('list', { description: 'Lists the notes' }, () => notes.join('\n'))
  const { client, close } = await pair(server)
  const tools = await client.tools().all()
  const callTool: CallTool = async (name, args, { signal }) => ({
    kind: 'result',
    result: await client.call(name.replace('notes__', ''), args, { signal }),
  })
  const { parts } = await chat({
    model: scriptedModel(),
    said: 'add a note: Eggs, then list my notes',
    tools: tools.map((tool) => ({ ...tool, name: `notes__${tool.name}` })),
    callTool,
  })
  await close()
  expect(parts.flatMap((part) => (part.type === 'tool-call' ? [[part.name, part.args]] : []))).toEqual([
    ['notes__add', { text: 'Eggs' }],
    ['notes__list', {}],
  ])
  expect(parts.map((part) => (part.type === 'text' ? part.text : '')).join('')).toBe(
    'notes__add: Noted: Eggs\n\nnotes__list, 2 lines:\nMilk\nEggs',
  )
  expect(parts.at(-1)).toMatchObject({ type: 'end', reason: 'done', steps: 3 })
})

test('a server gets the arguments of its calls and nothing else of the conversation', async () => {
  proves('T-ARCH-017')
  const server = createServer({ name: 'echo', version: '1' })
  server.tool('echo', { input: echo.inputSchema as never }, () => 'result-canary')
  const { client, sent } = await connectPair(server, { revision: '2025-11-25' })
  const model = cannedModel([text('answer-canary'), call('a', 'echo', { n: 7 })], [call('b', 'echo', { n: 8 })], [text('done')])
  await chat({
    model,
    said: 'question-canary',
    system: 'system-canary',
    callTool: async (name, args, { signal }) => ({ kind: 'result', result: await client.call(name, args, { signal }) }),
  })
  const calls = sent('client').filter(({ method }) => method === 'tools/call')
  expect(calls.map(({ params }) => params?.arguments)).toEqual([{ n: 7 }, { n: 8 }])
  expect(JSON.stringify(sent('client'))).not.toContain('canary')
  expect(JSON.stringify(model.asked)).toContain('result-canary')
})

test('the model gets the failure text of a tool, and of other errors only the allowed part', async () => {
  proves('R-TOOL-019')
  const failing = cannedModel([call('a', 'echo')], [text('sorry')])
  await chat({
    model: failing,
    callTool: async () => ({ kind: 'result', result: { content: [{ type: 'text', text: 'There is no book 0' }], isError: true } }),
  })
  expect(told(failing)).toEqual(['There is no book 0'])
  expect(failing.asked.at(-1)?.messages.at(-1)).toMatchObject({ content: [{ type: 'tool_result', isError: true }] })

  const refusing = cannedModel([call('a', 'echo')], [text('sorry')])
  await chat({
    model: refusing,
    callTool: async () => {
      throw new RemoteError({ code: -32602, message: 'Unknown tool: echo' })
    },
  })
  expect(told(refusing)).toEqual(['The call failed: the server answered with the error -32602.'])
})
