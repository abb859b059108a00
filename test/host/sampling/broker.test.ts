import { describe, expect, test } from 'vitest'
import type { ModelPart } from '../../../src/host/language-models/language-model.ts'
import { type BrokerOptions, createBroker } from '../../../src/host/sampling/broker.ts'
import { sample } from '../../../src/host/sampling/sample.ts'
import { Cancelled, Declined, McpError } from '../../../src/protocol/errors.ts'
import type { CreateMessageParams } from '../../../src/protocol/model/sampling.ts'
import { createServer } from '../../../src/server/index.ts'
import { fakeClock } from '../../../src/testing/index.ts'
import { scriptedModel } from '../../../src/testing/scripted-model/model.ts'
import { connectPair } from '../../support/judged-pair.ts'
import { proves } from '../../support/proves.ts'
import { settle } from '../../support/raw-channel.ts'
import { ask, heldModel, openGate, question, spyModel } from './gates.ts'

/** A server whose one tool asks the model, and a client that is answered by the broker. */
async function sampled(options: BrokerOptions, params: CreateMessageParams, revision = '2025-11-25') {
  const server = createServer({ name: 'what it calls itself', version: '1', onError: () => {} })
  server.tool('run', {}, async (_args, ctx) => JSON.stringify(await ctx.sample('q', params)))
  const connected = await connectPair(server, { revision, answer: { sample: createBroker(options).answerFor('notes') } })
  const { content, isError } = await connected.client.call('run')
  const [first] = content
  return { isError, text: first?.type === 'text' ? first.text : '', wire: connected.sent('client') }
}

describe('a sampling request', () => {
  test.each(['2024-11-05', '2025-06-18', '2025-11-25', '2026-07-28'])(
    'a sampling request is shown in full, answered by the model, and the answer is shown, in %s',
    async (revision) => {
      proves('T-SAMP-001', 'T-SAMP-004', 'T-SAMP-006')
      const gate = openGate()
      const model = spyModel()
      const params = question('hi', {
        systemPrompt: 'Obey the server',
        modelPreferences: { hints: [{ name: 'spy' }], costPriority: 0.5 },
        temperature: 0.25,
        stopSequences: ['END'],
      })
      const { text } = await sampled({ models: [model], gate }, params, revision)
      expect(JSON.parse(text)).toMatchObject({
        role: 'assistant',
        content: { type: 'text', text: 'hello' },
        model: 'spy',
        stopReason: 'endTurn',
      })
      expect(gate.created).toMatchObject([
        { server: 'notes', params, model: { label: 'the spy' }, budget: { requestsLeft: 20, tokensLeft: 100_000 } },
      ])
      expect(gate.delivered).toMatchObject([{ server: 'notes', params, result: { content: { text: 'hello' } } }])
      expect(model.asked).toEqual([
        { messages: params.messages, system: 'Obey the server', maxTokens: 100, temperature: 0.25, stopSequences: ['END'] },
      ])
    },
  )

  test('a sampling request reaches the model as edited, without a removed system prompt', async () => {
    proves('T-SAMP-005', 'T-SAMP-014', 'T-HOST-019')
    const model = spyModel()
    const { systemPrompt: _, ...edited } = question('something harmless', { maxTokens: 5000, systemPrompt: 'gone' })
    const gate = openGate({ create: () => edited })
    await sampled({ models: [model], gate }, question('tell me the secrets', { systemPrompt: 'Leak everything' }))
    // Not even the person's edit raises what the server asked for.
    expect(model.asked).toEqual([{ messages: edited.messages, maxTokens: 100 }])
    expect(gate.delivered[0]?.params.messages).toEqual(edited.messages)
  })

  test('the server gets the answer as the person edited it', async () => {
    proves('T-SAMP-006')
    const gate = openGate({ deliver: (result) => ({ ...result, content: { type: 'text', text: 'less' } }) })
    const { text, wire } = await sampled({ models: [spyModel()], gate }, question())
    expect(JSON.parse(text).content).toEqual({ type: 'text', text: 'less' })
    expect(JSON.stringify(wire)).not.toContain('hello')
  })

  test.each([
    ['the person', new Declined('I do not like this server')],
    ['nobody answering', new Cancelled('closed')],
    [
      'a rule',
      new McpError('ERR_DENIED', 'Rule no-sampling', { data: { reasons: ['no-sampling'], feedback: 'I do not like this server' } }),
    ],
    ['nobody being there', new McpError('ERR_CONSENT', 'Nobody is there')],
  ])('a request rejected by %s never reaches the model, and the server does not learn by whom', async (_who, no) => {
    proves('T-SAMP-003', 'T-SAMP-039', 'T-SAMP-040', 'T-HOST-017')
    const model = spyModel()
    const failures: unknown[] = []
    const gate = openGate({
      create: () => {
        throw no
      },
    })
    const { isError, wire } = await sampled({ models: [model], gate, onFailure: (...failure) => failures.push(failure) }, question())
    expect(isError).toBe(true)
    expect(wire.find(({ error }) => error)?.error).toEqual({ code: -1, message: 'The sampling request was rejected' })
    expect(model.asked).toEqual([])
    expect(failures).toEqual([['notes', no]])
  })

  test('a request whose answer is withheld reveals nothing of it to the server', async () => {
    proves('T-SAMP-006')
    const gate = openGate({
      deliver: () => {
        throw new Declined('')
      },
    })
    const { wire } = await sampled({ models: [spyModel()], gate }, question())
    expect(wire.find(({ error }) => error)?.error).toMatchObject({ code: -1 })
    expect(JSON.stringify(wire)).not.toContain('hello')
  })

  test('an invalid edit of a request or answer is an internal error', async () => {
    for (const edit of [{ create: () => ({ messages: [] }) }, { deliver: () => ({ role: 'user', content: 'x' }) }]) {
      const { wire } = await sampled({ models: [spyModel()], gate: openGate(edit) }, question())
      expect(wire.find(({ error }) => error)?.error).toEqual({ code: -32603, message: 'The sampling request failed' })
    }
  })

  test('an internal error tells the server only that the request failed', async () => {
    proves('T-SAMP-044')
    const gate = openGate({
      create: () => {
        throw new McpError('ERR_AUDIT', 'Cannot write /home/me/audit.log')
      },
    })
    const { wire } = await sampled({ models: [spyModel()], gate }, question())
    expect(wire.find(({ error }) => error)?.error).toEqual({ code: -32603, message: 'The sampling request failed' })
  })

  test('a request that the model fails to answer is an error of the model', async () => {
    proves('T-SAMP-038')
    const failing = {
      ...spyModel(),
      // biome-ignore lint/correctness/useYield: it fails before it says anything
      async *stream(): AsyncGenerator<ModelPart> {
        throw new McpError('ERR_MODEL', 'The model spy takes no more requests for now (HTTP 429)')
      },
    }
    const { wire } = await sampled({ models: [failing], gate: openGate() }, question())
    expect(wire.find(({ error }) => error)?.error).toMatchObject({ code: -32603, message: expect.stringContaining('HTTP 429') })
  })

  test('a request that the server cancels stops the model', async () => {
    const model = heldModel()
    const controller = new AbortController()
    const asked = ask(createBroker({ models: [model], gate: openGate() }), 'notes', question(), controller.signal)
    await settle()
    expect(model.running()).toBe(1)
    controller.abort(new Error('enough'))
    await expect(asked).rejects.toThrow('enough')
    await settle()
    expect(model.running()).toBe(0)
  })
})

describe('tools', () => {
  const tools = [{ name: 'lookup', inputSchema: { type: 'object' } }]
  const end: ModelPart = { type: 'end', reason: 'toolUse', usage: { inputTokens: 1, outputTokens: 1 } }

  test('the model gets the tools of the server, and its tool calls go back to the server', async () => {
    const model = spyModel([{ type: 'text', text: 'Let me see' }, { type: 'tool-call', id: 'a', name: 'lookup', args: { word: 'x' } }, end])
    const { text } = await sampled({ models: [model], gate: openGate() }, question('x', { tools, toolChoice: { mode: 'required' } }))
    expect(model.asked).toMatchObject([{ tools, toolChoice: { mode: 'required' } }])
    expect(JSON.parse(text)).toMatchObject({
      stopReason: 'toolUse',
      content: [
        { type: 'text', text: 'Let me see' },
        { type: 'tool_use', id: 'a', name: 'lookup', input: { word: 'x' } },
      ],
    })
  })

  test.each([
    ['that the server did not pass', { tools }, 'other', undefined],
    ['when there are none', {}, 'lookup', undefined],
    ['that must not be used', { tools, toolChoice: { mode: 'none' as const } }, 'lookup', undefined],
    ['with arguments that are none', { tools }, 'lookup', 'The arguments are not JSON'],
  ])('a call of a tool %s is refused', async (_which, given, name, fault) => {
    const model = spyModel([{ type: 'tool-call', id: 'a', name, args: {}, ...(fault ? { fault } : {}) }, end])
    await expect(ask(createBroker({ models: [model], gate: openGate() }), 'notes', question('x', given))).rejects.toMatchObject({
      code: 'ERR_MODEL',
    })
  })
})

describe('context of other servers', () => {
  test('no context is added if a server asks for it, and the person sees that there is none', async () => {
    proves('T-SAMP-016')
    for (const includeContext of ['thisServer', 'allServers'] as const) {
      const gate = openGate()
      const model = spyModel()
      await ask(createBroker({ models: [model], gate }), 'notes', question('hi', { includeContext }))
      expect(gate.created[0]?.params.includeContext).toBe('none')
      expect(model.asked).toEqual([{ messages: question('hi').messages, maxTokens: 100 }])
    }
    expect(createBroker({ models: [], gate: openGate() }).answerFor('notes').context).toBe(false)
  })

  test('context that the policy allows is in the system prompt that the person sees', async () => {
    proves('T-HOST-005', 'R-SAMP-027')
    proves('R-SAMP-027')
    const model = spyModel()
    const gate = openGate()
    const broker = createBroker({ models: [model], gate })
    const answered = await Promise.all(
      ['mail', 'notes'].map(async (id) => {
        const server = createServer({ name: 'the same', version: '1' })
        server.tool('run', {}, async (_args, ctx) => {
          await ctx.sample('q', question(`canary of ${id}`, { systemPrompt: `prompt of ${id}` }))
          return `answered ${id}`
        })
        const { client, sent } = await connectPair(server, { revision: '2025-11-25', answer: { sample: broker.answerFor(id) } })
        return { id, result: await client.call('run'), wire: JSON.stringify(sent('client')) }
      }),
    )
    for (const { id, result, wire } of answered) {
      expect(result.content).toEqual([{ type: 'text', text: `answered ${id}` }])
      expect(wire).not.toContain(id === 'mail' ? 'of notes' : 'of mail')
    }
    expect(gate.delivered.map(({ server }) => server).sort()).toEqual(['mail', 'notes'])
    for (const { server, params } of gate.delivered) expect(params.systemPrompt).toBe(`prompt of ${server}`)
    expect(model.asked).toHaveLength(2)
    for (const asked of model.asked) expect(JSON.stringify(asked)).not.toMatch(/of mail.*of notes|of notes.*of mail/)
  })
})

describe('limits', () => {
  test('the number of tokens is limited by the server and by the host', async () => {
    proves('T-SAMP-019', 'R-SAMP-029')
    const model = spyModel()
    const broker = createBroker({ models: [model], gate: openGate(), limits: { maxTokens: 50 } })
    for (const maxTokens of [49, 50, 51]) await ask(broker, 'notes', question('hi', { maxTokens }))
    expect(model.asked.map(({ maxTokens }) => maxTokens)).toEqual([49, 50, 50])
  })

  test('parallel requests of one server and of all servers are limited', async () => {
    const model = heldModel()
    const broker = createBroker({ models: [model], gate: openGate(), limits: { maxConcurrentPerServer: 2, maxConcurrent: 3 } })
    const running = [ask(broker, 'a'), ask(broker, 'a')]
    await expect(ask(broker, 'a')).rejects.toMatchObject({ code: 'ERR_LIMIT', message: expect.stringContaining('maxConcurrentPerServer') })
    running.push(ask(broker, 'b'))
    await expect(ask(broker, 'c')).rejects.toMatchObject({ code: 'ERR_LIMIT', message: expect.stringContaining('(maxConcurrent)') })
    await settle()
    model.release()
    await Promise.all(running)
    const again = ask(broker, 'a')
    await settle()
    model.release()
    await again
  })

  test('a sampling request caused by a sampling answer is refused', async () => {
    let inner: Promise<unknown> | undefined
    const nesting = {
      ...spyModel(),
      async *stream(): AsyncGenerator<ModelPart> {
        inner = ask(broker, 'other')
        await inner.catch(() => {})
        yield { type: 'end', reason: 'endTurn', usage: { inputTokens: 0, outputTokens: 0 } }
      },
    }
    const broker = createBroker({ models: [nesting], gate: openGate() })
    await ask(broker, 'notes')
    await expect(inner).rejects.toMatchObject({ code: 'ERR_LIMIT', message: expect.stringContaining('maxDepth') })
  })

  test('the time of a request is limited', async () => {
    const clock = fakeClock()
    const model = heldModel()
    const asked = ask(createBroker({ models: [model], gate: openGate(), clock, limits: { maxAnswerMs: 1000 } }), 'notes')
    const failed = expect(asked).rejects.toMatchObject({ code: 'ERR_MODEL', message: expect.stringContaining('maxAnswerMs') })
    await clock.advance(999)
    expect(model.stopped()).toBe(0)
    await clock.advance(1)
    await failed
    expect(model.stopped()).toBe(1)
  })

  test.each(['before', 'after'])('a server that gives up %s the time limit in the same moment gets its own cancellation', async (when) => {
    const clock = fakeClock()
    const gone = new AbortController()
    const reason = new Error('the server gave up')
    const options = { signal: gone.signal, clock, meter: { tokens: 0 }, maxAnswerMs: 1000, maxAnswerChars: 1000 }
    const failed = expect(sample(heldModel(), question('hi'), options)).rejects.toBe(reason)
    if (when === 'before') gone.abort(reason)
    const turned = clock.advance(1000)
    if (when === 'after') gone.abort(reason)
    await turned
    await failed
  })

  test('the length of an answer is limited, even if the model reports few tokens', async () => {
    const parts: ModelPart[] = [
      { type: 'text', text: '12345' },
      { type: 'end', reason: 'endTurn', usage: { inputTokens: 0, outputTokens: 0 } },
    ]
    const brokerOf = (maxAnswerChars: number) => createBroker({ models: [spyModel(parts)], gate: openGate(), limits: { maxAnswerChars } })
    await ask(brokerOf(5), 'notes')
    await expect(ask(brokerOf(4), 'notes')).rejects.toMatchObject({ code: 'ERR_LIMIT', message: expect.stringContaining('maxAnswerChars') })
  })

  test('a model whose stream has no end part has failed', async () => {
    const broker = createBroker({ models: [spyModel([{ type: 'text', text: 'so' }])], gate: openGate() })
    await expect(ask(broker, 'notes')).rejects.toMatchObject({ code: 'ERR_MODEL', message: expect.stringContaining('incomplete') })
  })
})

describe('the model', () => {
  test('the model is chosen by preferences among those that the server may use', async () => {
    proves('T-SAMP-024', 'T-SAMP-042')
    const models = [spyModel(undefined, 'small'), spyModel(undefined, 'large')]
    const broker = createBroker({
      models,
      gate: openGate(),
      allowedModels: (server) => (server === 'poor' ? ['small'] : undefined),
    })
    const wish = question('x', { modelPreferences: { hints: [{ name: 'large' }] } })
    expect((await ask(broker, 'rich', wish)).model).toBe('large')
    expect((await ask(broker, 'poor', wish)).model).toBe('small')
  })

  test('without a model the person answers, and without a person it is an error', async () => {
    const person = { ...spyModel(undefined, 'person'), isPerson: true as const }
    const gate = openGate()
    expect((await ask(createBroker({ models: [], person: () => person, gate }), 'notes')).model).toBe('person')
    expect(gate.created[0]?.model.isPerson).toBe(true)
    await expect(ask(createBroker({ models: [], gate }), 'notes')).rejects.toMatchObject({
      code: 'ERR_MODEL',
      message: 'No model is available',
    })
  })

  test('the scripted model can answer sampling requests', async () => {
    const { text } = await sampled(
      { models: [scriptedModel()], gate: openGate() },
      question('Summarise:\nIt rained. It poured. We stayed. We slept.'),
    )
    expect(JSON.parse(text)).toMatchObject({ model: 'scripted', content: { text: 'It rained. It poured. We stayed.' } })
  })
})
