/** The routes of a console for chats and conversations. */

import { describe, expect, test } from 'vitest'
import { createConsole } from '../../src/console/index.ts'
import type { Model } from '../../src/host/index.ts'
import { scriptedModel } from '../../src/testing/index.ts'
import { until } from '../support/until.ts'
import { APPROVED, consoles, event, Page } from './pages.ts'

const opened = consoles()

/** Says what it is told to, one list of parts an answer. */
const saying = (...texts: string[]): Model => ({
  id: 'saying',
  label: 'says a text',
  async *stream() {
    for (const text of texts) yield { type: 'text', text }
    yield { type: 'end', reason: 'endTurn', usage: { inputTokens: 3, outputTokens: 4 } }
  },
})

const hanging: Model = {
  id: 'hanging',
  label: 'says nothing',
  async *stream(_, signal) {
    await new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
  },
}

const failing: Model = {
  id: 'failing',
  label: 'fails',
  // biome-ignore lint/correctness/useYield: it fails first
  async *stream() {
    throw new Error('The key of the provider is sk-secret')
  },
}

const withModel = async (model: HostModel, console = {}) => {
  const all = await opened({ host: { model, policy: { session: APPROVED } }, console })
  await all.host.settled()
  return { ...all, page: await Page.open(all.console) }
}

type HostModel = Model | Model[]

describe('a chat', () => {
  test('its parts are events, and its conversation can be continued', async () => {
    const { page } = await withModel(saying('Hello', ' there'))
    const events = await page.events()
    const started = await page.send('POST /api/chat', { body: { message: 'Good morning', id: 'first-chat' } })
    expect(started.status).toBe(202)
    const { conversation } = started.message as unknown as { conversation: string }
    expect(await event(events, 'chat')).toMatchObject({ operation: 'first-chat', conversation, part: { type: 'text', text: 'Hello' } })
    expect(await event(events, 'chat', ({ part }) => part.type === 'end')).toMatchObject({ part: { reason: 'done' } })
    expect((await page.ended('first-chat')).result).toEqual({ conversation, reason: 'done', steps: 1, inputTokens: 3, outputTokens: 4 })
    await page.run('POST /api/chat', { message: 'And now?', conversation })
    expect((await page.get('GET /api/conversations')).conversations).toMatchObject([{ id: conversation, title: 'Good morning', turns: 2 }])
    const { messages } = await page.get(`GET /api/conversations/${conversation}`)
    expect(messages.map(({ role }: { role: string }) => role)).toEqual(['user', 'assistant', 'user', 'assistant'])
    await page.get(`DELETE /api/conversations/${conversation}`)
    expect((await page.fails(`GET /api/conversations/${conversation}`)).status).toBe(404)
    expect((await page.fails('POST /api/chat', { body: { message: 'x', conversation } })).status).toBe(404)
  })

  test('a call of the model is asked about, and refused with the words of the person', async () => {
    const { page, asker } = await withModel(scriptedModel())
    const events = await page.events()
    await page.get('POST /api/chat', { message: 'add a note with title="Milk" text="Two litres"' })
    expect((await event(events, 'chat', ({ part }) => part.type === 'tool-call')).part).toMatchObject({ name: 'notes__add' })
    const { id } = await event(events, 'question')
    expect(asker.get(id).chain).toContain('model scripted (no language model)')
    await page.get(`POST /api/questions/${id}/answer`, { kind: 'deny', feedback: 'Not now' })
    expect((await event(events, 'chat', ({ part }) => part.type === 'refused')).part).toMatchObject({ feedback: 'Not now' })
  })

  test('can be stopped, and its conversation is free again', async () => {
    const { page } = await withModel([hanging, saying('Fine')])
    const events = await page.events()
    const { operation, conversation } = await page.get('POST /api/chat', { message: 'Wait' })
    expect((await page.get('GET /api/conversations')).conversations[0].running).toBe(operation.id)
    expect(await page.fails('POST /api/chat', { body: { message: 'More', conversation } })).toMatchObject({ status: 409 })
    expect((await page.fails(`DELETE /api/conversations/${conversation}`)).status).toBe(409)
    await page.get(`DELETE /api/operations/${operation.id}`)
    expect(await event(events, 'chat', ({ part }) => part.type === 'end')).toMatchObject({ part: { reason: 'cancelled' } })
    expect((await page.ended(operation.id)).state).toBe('cancelled')
    expect((await page.run('POST /api/chat', { message: 'More', conversation, model: 'saying' })).state).toBe('done')
  })

  test('a failing model fails the operation, and its text stays in the log', async () => {
    const { page } = await withModel(failing)
    const events = await page.events()
    const operation = await page.run('POST /api/chat', { message: 'Hello' })
    expect(operation).toMatchObject({ state: 'failed', error: { code: 'ERR_MODEL', message: 'The model failed' } })
    expect((await event(events, 'chat', ({ part }) => part.type === 'error')).part.error.code).toBe('ERR_MODEL')
    expect(events.text).not.toContain('sk-secret')
  })

  test.each([
    [{}, 400, 'message'],
    [{ message: '' }, 400, 'message'],
    [{ message: 'x', model: 'other' }, 400, 'model: expected one of saying, scripted, person, got "other"'],
  ])('the message %j is refused with %i', async (body, status, message) => {
    const { page } = await withModel(saying())
    expect(await page.fails('POST /api/chat', { body })).toMatchObject({ status, message: expect.stringContaining(message) })
    expect((await page.get('GET /api/conversations')).conversations).toEqual([])
  })

  test('without a model of the host, the scripted one and the person can answer', async () => {
    const { console } = await opened({ host: { servers: {} } })
    const page = await Page.open(console)
    expect((await page.get('GET /api/settings')).models).toMatchObject([
      { id: 'scripted', kind: 'scripted' },
      { id: 'person', kind: 'person' },
    ])
    expect(await page.run('POST /api/chat', { message: 'Hello' })).toMatchObject({ state: 'done' })
  })

  test('the person answers in place of a model, with a call first', async () => {
    const { page } = await withModel(saying('not me'))
    const events = await page.events()
    const { operation, conversation } = await page.get('POST /api/chat', { message: 'What is open?', model: 'person' })
    const first = await event(events, 'model-turn')
    expect(first).toMatchObject({ isWaiting: true, operation: operation.id, conversation })
    const { turns } = await page.get('GET /api/model-turns')
    expect(turns).toMatchObject([{ id: first.id, request: { messages: [{ role: 'user' }] } }])
    expect(turns[0].request.tools.length).toBeGreaterThan(3)
    expect((await page.fails(`POST /api/model-turns/${first.id}/answer`, { body: {} })).status).toBe(400)
    await page.get(`POST /api/model-turns/${first.id}/answer`, {
      text: 'I look.',
      calls: [{ name: 'notes__search', args: { query: 'x' } }],
    })
    expect((await page.fails(`POST /api/model-turns/${first.id}/answer`, { body: { text: 'again' } })).status).toBe(404)
    expect(await event(events, 'chat', ({ part }) => part.type === 'tool-call')).toMatchObject({ part: { name: 'notes__search' } })
    const { id } = await event(events, 'question')
    await page.get(`POST /api/questions/${id}/answer`, { kind: 'allow', scope: 'once' })
    const next = await event(events, 'model-turn', ({ isWaiting }) => isWaiting)
    await page.get(`POST /api/model-turns/${next.id}/answer`, { text: 'Nothing is open.' })
    expect(await page.ended(operation.id)).toMatchObject({ state: 'done' })
    const { messages, context } = await page.get(`GET /api/conversations/${conversation}`)
    expect(JSON.stringify(messages.at(-1))).toContain('Nothing is open.')
    expect(context).toMatchObject([{ label: 'private:notes' }])
  })

  test('a stopped chat withdraws the request to the person, and only so many wait', async () => {
    const { page } = await withModel(saying('not me'), { limits: { maxModelTurns: 1 } })
    const { operation } = await page.get('POST /api/chat', { message: 'One', model: 'person' })
    await until(async () => (await page.get('GET /api/model-turns')).turns.length === 1)
    expect(await page.run('POST /api/chat', { message: 'Two', model: 'person' })).toMatchObject({
      state: 'failed',
      error: { message: expect.stringContaining('(maxModelTurns)') },
    })
    await page.get(`DELETE /api/operations/${operation.id}`)
    await until(async () => (await page.get('GET /api/model-turns')).turns.length === 0)
  })

  test('a conversation is stored, and can be continued in another console', async () => {
    const { page, host } = await withModel(saying('Hello'))
    const { result } = await page.run('POST /api/chat', { message: 'Good morning' })
    const { conversations } = await host.conversations.list()
    expect(conversations).toMatchObject([{ title: 'Good morning', turns: 1 }])
    const other = await createConsole(host)
    try {
      const window = await Page.open(other)
      const [stored] = (await window.get('GET /api/conversations')).conversations
      expect(stored).toMatchObject({ title: 'Good morning', isOpen: false })
      await window.run('POST /api/chat', { message: 'And now?', conversation: stored.id })
      expect((await window.get(`GET /api/conversations/${stored.id}`)).messages).toHaveLength(4)
      expect((await window.get('GET /api/conversations')).conversations).toMatchObject([{ id: stored.id, isOpen: true, turns: 2 }])
    } finally {
      await other.close()
    }
    expect(result.conversation).not.toBe('')
  })

  test('there are only so many conversations, and a refused chat leaves none', async () => {
    const { page } = await withModel(hanging, { limits: { maxConversations: 2, maxOperations: 1 } })
    await page.get('POST /api/chat', { message: 'One' })
    expect(await page.fails('POST /api/chat', { body: { message: 'Two' } })).toMatchObject({
      status: 429,
      message: expect.stringContaining('(maxOperations)'),
    })
    expect((await page.get('GET /api/conversations')).conversations).toHaveLength(1)
    const { page: other } = await withModel([saying('Hi'), hanging], { limits: { maxConversations: 1 } })
    await other.run('POST /api/chat', { message: 'One' })
    // The first one is stored, and makes room.
    await other.get('POST /api/chat', { message: 'Two', model: 'hanging' })
    expect((await other.get('GET /api/conversations')).conversations).toMatchObject([
      { title: 'Two', isOpen: true },
      { title: 'One', isOpen: false },
    ])
    expect(await other.fails('POST /api/chat', { body: { message: 'Three' } })).toMatchObject({
      status: 429,
      message: expect.stringContaining('(maxConversations)'),
    })
  })
})

test('the settings name the models, the folder and the version', async () => {
  const { page, folder } = await withModel(saying())
  expect(await page.get('GET /api/settings')).toMatchObject({
    name: 'portico',
    version: expect.stringMatching(/^\d+\.\d+\.\d+/),
    folder,
    models: [{ id: 'saying', label: 'says a text', kind: 'configured' }, { id: 'scripted' }, { id: 'person' }],
    limits: { maxSessions: 16 },
  })
})
