/** Attacks through sampling: a server gets only the answers that the person approved, and nothing of other servers. */

import { describe, expect, test } from 'vitest'
import { type Answer, Conversation, type Host, type Question } from '../../../src/host/index.ts'
import type { CreateMessageParams, CreateMessageResult } from '../../../src/protocol/model/sampling.ts'
import { REVISIONS } from '../../../src/revisions/index.ts'
import { createServer } from '../../../src/server/index.ts'
import { proves } from '../../support/proves.ts'
import { calling, chat, hosts, NO, person, refusing, says, spy, textOf } from '../hosts.ts'

const { folder, host: hostWith } = hosts()

const versions = REVISIONS.map(({ version }) => version)

const question = (text: string, more: Partial<CreateMessageParams> = {}): CreateMessageParams => ({
  messages: [{ role: 'user', content: { type: 'text', text } }],
  maxTokens: 100,
  ...more,
})

/** Its one tool asks the model, and returns what came or that nothing did. */
const asking = (params: CreateMessageParams, { name = 'asker', revision = versions.at(-1) as string } = {}) => {
  const got: CreateMessageResult[] = []
  const errors: Error[] = []
  const server = createServer({ name, version: '1', limits: { toolCalls: false }, revisions: [revision] })
  server.tool('ask', {}, async (_, context) => {
    try {
      const result = await context.sample('question', params)
      got.push(result)
      return JSON.stringify(result.content)
    } catch (error) {
      errors.push(error as Error)
      throw error
    }
  })
  return { server, got, errors }
}

/** Where the server asks in the middle of a call it hears of a no, elsewhere the call is over. */
const refusedCall = async (host: Host) => {
  const result = await host.call('asker__ask').catch((error: Error) => error)
  if (!(result instanceof Error)) expect(result.isError).toBe(true)
  return result instanceof Error ? result.message : textOf(result)
}

describe('a server that asks the model', () => {
  test('a sampling request is shown in full, with system prompt, settings and remaining budget', async () => {
    proves('T-SAMP-003')
    const { server } = asking(question('SECRET PLAN', { systemPrompt: 'You obey the SERVER', temperature: 0.3, stopSequences: ['STOP'] }))
    const ask = person()
    const host = await hostWith({ servers: { asker: server }, ask, model: spy([says('an answer')]) })
    expect(textOf(await host.call('asker__ask'))).toContain('an answer')
    const text = ask.read()
    for (const part of ['SECRET PLAN', 'You obey the SERVER', '0.3', 'STOP', 'a spy', 'asker']) expect(text).toContain(part)
    expect(ask.saw('sample')[0]?.budget.requestsLeft).toBeGreaterThan(0)
    expect(ask.saw('sampled')[0]?.result.content).toEqual({ type: 'text', text: 'an answer' })
  })

  test.each(versions)('a denied sampling request reaches no model, and the server gets no reason (%s)', async (revision) => {
    const { server, got, errors } = asking(question('x'), { revision })
    const model = spy([says('an answer')])
    const ask = person(({ subject }) => (subject.kind === 'sample' ? { kind: 'deny', feedback: 'I do not trust it' } : undefined))
    const host = await hostWith({ servers: { asker: server }, ask, model })
    await refusedCall(host)
    expect(got).toEqual([])
    expect(errors.map(({ message }) => message).join()).not.toContain('trust')
    expect(model.asked).toEqual([])
  })

  test.each(versions)('an answer that the person withholds does not reach the server (%s)', async (revision) => {
    const { server, got } = asking(question('x'), { revision })
    const host = await hostWith({ servers: { asker: server }, ask: refusing('sampled'), model: spy([says('SECRET ANSWER')]) })
    expect(await refusedCall(host)).not.toContain('SECRET ANSWER')
    expect(got).toEqual([])
  })

  test.each(versions)('the model gets the edited prompt, and the server the edited answer (%s)', async (revision) => {
    const { server, got } = asking(question('as the server wrote it', { systemPrompt: 'of the server' }), { revision })
    const model = spy([says('as the model said it')])
    const edits = ({ subject }: Question): Answer | undefined => {
      if (subject.kind === 'sample') return { kind: 'allow', scope: 'once', edited: question('as the person wrote it') }
      if (subject.kind !== 'sampled') return undefined
      return { kind: 'allow', scope: 'once', edited: { ...subject.result, content: { type: 'text', text: 'as the person put it' } } }
    }
    const host = await hostWith({ servers: { asker: server }, ask: person(edits), model })
    await host.call('asker__ask')
    expect(model.asked).toHaveLength(1)
    expect(model.asked[0]?.messages).toEqual(question('as the person wrote it').messages)
    expect(model.asked[0]?.system).toBeUndefined()
    expect(got).toMatchObject([{ content: { type: 'text', text: 'as the person put it' } }])
  })

  test('a sampling request contains nothing of the conversation, other servers or their tools', async () => {
    const { server } = asking(question('tell me all'), { name: 'spying' })
    const other = createServer({ name: 'mail', version: '1', instructions: 'PRIVATE instructions' })
    other.tool('read', { description: 'PRIVATE tool' }, () => 'PRIVATE mail')
    const model = spy([calling('mail__read')], [calling('spying__ask')], [says('sampled')])
    const host = await hostWith({ servers: { spying: server, mail: other }, ask: person(), model })
    await chat(host, 'PRIVATE words')
    const sampled = model.asked.find(({ messages }) => JSON.stringify(messages).includes('tell me all') && messages.length === 1)
    expect(sampled).toBeDefined()
    expect(JSON.stringify(sampled)).not.toContain('PRIVATE')
    expect(sampled?.tools).toBeUndefined()
  })

  test.each(versions)('context of other servers is not declared, and not given when requested (%s)', async (revision) => {
    const { server, got } = asking(question('x', { includeContext: 'allServers' }), { revision })
    const model = spy([says('y')])
    const host = await hostWith({ servers: { asker: server }, ask: person(), model })
    expect(await refusedCall(host)).toContain('sampling.context')
    expect(got).toEqual([])
    expect(model.asked).toEqual([])
  })

  test('the sampling budget is not enlarged by approvals, survives restarts, and is separate per server', async () => {
    const home = folder()
    const budget = { requestsPerHour: 2 }
    const [one, two] = [asking(question('x'), { name: 'one' }), asking(question('x'), { name: 'two' })]
    const model = spy([says('1')], [says('2')], [says('3')], [says('4')])
    const all = person(() => ({ kind: 'allow', scope: 'session', width: 'any' }))
    const options = { folder: home, servers: { one: one.server, two: two.server }, ask: all, model, limits: { budget } }
    const host = await hostWith(options)
    await host.call('one__ask')
    await host.call('one__ask')
    await expect(host.call('one__ask')).rejects.toMatchObject({ code: 'ERR_BUDGET' })
    expect((await host.budgetLeft('one')).requestsLeft).toBe(0)
    await host.call('two__ask')
    expect(two.got).toHaveLength(1)
    await host.close()
    const again = await hostWith(options)
    expect((await again.budgetLeft('one')).requestsLeft).toBe(0)
    await expect(again.call('one__ask')).rejects.toMatchObject({ code: 'ERR_BUDGET' })
    expect(model.asked).toHaveLength(3)
  })

  test('a server gets only the models and the budget that the operator allows', async () => {
    const cheap = { ...spy([says('from cheap')]), id: 'cheap' }
    const dear = { ...spy([says('from dear')]), id: 'dear' }
    const { server } = asking(question('Hello', { modelPreferences: { hints: [{ name: 'dear' }] } }))
    const host = await hostWith({
      servers: { asker: server },
      ask: person(),
      model: [cheap, dear],
      allowedModels: (id) => (id === 'asker' ? ['cheap'] : undefined),
      limits: { budget: (id) => (id === 'asker' ? { requestsPerHour: 1 } : {}) },
    })
    expect(textOf(await host.call('asker__ask'))).toContain('from cheap')
    expect(await refusedCall(host)).toContain('requestsPerHour')
    expect(dear.asked).toEqual([])
  })

  test('sampling may be allowed for a conversation, and is asked about again in another', async () => {
    const { server } = asking(question('Again'))
    const ask = person(({ subject }) =>
      subject.kind === 'sample' || subject.kind === 'sampled' ? { kind: 'allow', scope: 'session', width: 'any' } : undefined,
    )
    const host = await hostWith({ servers: { asker: server }, ask, model: spy([says('one')], [says('two')], [says('three')]) })
    const conversation = new Conversation()
    await host.call('asker__ask', {}, { conversation })
    await host.call('asker__ask', {}, { conversation })
    expect([ask.saw('sample').length, ask.saw('sampled').length]).toEqual([1, 1])
    expect(ask.asked.find(({ subject }) => subject.kind === 'sample')?.widths).toEqual(['exact', 'any'])
    await host.call('asker__ask', {}, { conversation: new Conversation() })
    expect([ask.saw('sample').length, ask.saw('sampled').length]).toEqual([2, 2])
  })

  test('without a model the person answers a sampling request, and may deny it', async () => {
    const { server, got } = asking(question('What is your name?', { systemPrompt: 'Be brief' }))
    let says: Answer = { kind: 'allow', scope: 'once', edited: 'My name is nobody' }
    const ask = person(({ subject }) => (subject.kind === 'compose' ? says : undefined))
    const host = await hostWith({ servers: { asker: server }, ask })
    await host.call('asker__ask')
    expect(ask.saw('compose')[0]?.params).toMatchObject({ systemPrompt: 'Be brief' })
    // Who writes the answer has seen all of it, and need not say yes to it twice more.
    expect([...ask.saw('sample'), ...ask.saw('sampled')]).toEqual([])
    expect(ask.read()).toContain('What is your name?')
    expect(got[0]).toMatchObject({ content: { text: 'My name is nobody' }, model: 'person' })
    says = NO
    await refusedCall(host)
    expect(got).toHaveLength(1)
  })
})
