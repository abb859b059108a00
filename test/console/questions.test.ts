/** Questions that wait in a console: who answers, who is told, and what a wrong answer does. */

import { describe, expect, test } from 'vitest'
import { type ConsoleAsker, consoleAsker } from '../../src/console/index.ts'
import { type Answer, type Asker, firstOf, type Question } from '../../src/host/index.ts'
import { until } from '../support/until.ts'
import { APPROVED, consoles, event, Page } from './pages.ts'

const opened = consoles()

const ALLOW = { kind: 'allow', scope: 'once' }

/** The id of the only question that waits. */
async function waiting(page: Page, action: string): Promise<string> {
  let id = ''
  await until(async () => {
    const { questions } = await page.get('GET /api/questions')
    id = questions.find(({ question }: { question: Question }) => question.action === action)?.question.id ?? ''
    return id !== ''
  })
  return id
}

const ROLLBACK = { tool: { server: 'deploy', name: 'rollback' }, args: { service: 'api', environment: 'staging' } }

describe('a question', () => {
  test('is listed in words and as data, announced as an event, and its answer lets the call run', async () => {
    const { console } = await opened()
    const page = await Page.open(console)
    const events = await page.events()
    const started = await page.get('POST /api/tools/call', { tool: 'deploy__deploy', args: { ...PLAN, reason: 'a test' } })
    const asked = await event(events, 'question')
    expect(asked).toMatchObject({ action: 'tool.call', server: 'deploy', title: expect.stringContaining('deploy') })
    const { questions } = await page.get('GET /api/questions')
    expect(questions).toHaveLength(1)
    expect(questions[0]).toMatchObject({
      question: { id: asked.id, subject: { kind: 'call', args: { service: 'api' } } },
      lines: expect.arrayContaining([expect.objectContaining({ kind: 'title' })]),
      folded: 0,
    })
    expect(await page.get(`GET /api/questions/${asked.id}`)).toMatchObject({ question: { id: asked.id }, folded: 0 })
    await page.get(`POST /api/questions/${asked.id}/answer`, ALLOW)
    expect(await event(events, 'question-end')).toMatchObject({ id: asked.id, how: 'answered', answer: 'allow' })
    const form = await event(events, 'question')
    expect(form.action).toBe('elicit.form')
    await page.get(`POST /api/questions/${form.id}/answer`, { ...ALLOW, edited: { environment: 'staging', reason: 'a test' } })
    expect(await page.ended(started.operation.id)).toMatchObject({ state: 'done', result: { structuredContent: { to: '1.4.0' } } })
    expect((await page.get('GET /api/questions')).questions).toEqual([])
  })

  test('of two windows the first answer counts, and the second is told', async () => {
    const { console } = await opened()
    const pages = [await Page.open(console), await Page.open(console)] as const
    const streams = await Promise.all(pages.map((page) => page.events()))
    const { operation } = await pages[0].get('POST /api/tools/call', ROLLBACK)
    const id = await waiting(pages[1], 'tool.call')
    const answers = await Promise.all(
      pages.map((page, at) => page.send(`POST /api/questions/${id}/answer`, { body: { kind: 'deny', feedback: `window ${at}` } })),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409])
    const first = answers.findIndex(({ status }) => status === 200)
    expect(answers[1 - first]?.message).toEqual({
      error: { code: 'ERR_CONFLICT', message: 'This question was answered already, with "deny"' },
    })
    for (const stream of streams) expect(await event(stream, 'question-end')).toMatchObject({ id, how: 'answered', answer: 'deny' })
    expect((await pages[0].ended(operation.id)).error.data.feedback).toBe(`window ${first}`)
  })

  test('a denial fails the operation with the words of the person', async () => {
    const { console } = await opened()
    const page = await Page.open(console)
    const { operation } = await page.get('POST /api/tools/call', ROLLBACK)
    const id = await waiting(page, 'tool.call')
    await page.get(`POST /api/questions/${id}/answer`, { kind: 'deny', feedback: 'Not today' })
    const ended = await page.ended(operation.id)
    expect(ended).toMatchObject({ state: 'failed', error: { code: 'ERR_DENIED', data: { feedback: 'Not today' } } })
  })

  test('an answer of the terminal closes the question in the page', async () => {
    let answerAtTerminal: ((answer: Answer) => void) | undefined
    const terminal: Asker = {
      ask: () =>
        new Promise((resolve) => {
          answerAtTerminal = resolve
        }),
    }
    const asker = consoleAsker()
    const { console, host } = await opened({ host: { ask: firstOf(terminal, asker), policy: { session: APPROVED } }, console: { asker } })
    await host.settled()
    const page = await Page.open(console)
    const events = await page.events()
    const { operation } = await page.get('POST /api/tools/call', ROLLBACK)
    const id = await waiting(page, 'tool.call')
    answerAtTerminal?.({ kind: 'deny', feedback: 'Not from here' })
    expect(await event(events, 'question-end')).toMatchObject({ id, how: 'ended', reason: 'The question was answered elsewhere' })
    expect(await page.fails(`POST /api/questions/${id}/answer`, { body: ALLOW })).toMatchObject({
      status: 409,
      message: 'This question has ended: The question was answered elsewhere',
    })
    expect((await page.ended(operation.id)).error.data.feedback).toBe('Not from here')
  })

  test('a cancelled operation withdraws its question', async () => {
    const { console } = await opened()
    const page = await Page.open(console)
    const { operation } = await page.get('POST /api/tools/call', ROLLBACK)
    const id = await waiting(page, 'tool.call')
    await page.get(`DELETE /api/operations/${operation.id}`)
    expect(await page.ended(operation.id)).toMatchObject({ state: 'cancelled', error: { message: 'Cancelled in the console' } })
    expect((await page.fails(`GET /api/questions/${id}`)).status).toBe(409)
  })
})

const PLAN = { service: 'api', environment: 'staging', version: '1.4.0' }

describe('a wrong answer', () => {
  test.each([
    [{}, 'kind'],
    [{ kind: 'maybe' }, 'kind'],
    [{ kind: 'allow' }, 'scope: expected one of those that the question offers'],
    [{ kind: 'allow', scope: 'forever' }, 'scope'],
    [{ kind: 'allow', scope: 'once', width: 'anything' }, 'width'],
    [{ kind: 'allow', scope: 'once', feedback: 'x' }, 'feedback: expected only with the kind "deny"'],
    [{ kind: 'deny', scope: 'once' }, 'scope: expected only with another kind of answer, got it with "deny"'],
    [{ kind: 'cancel', feedback: 'x' }, 'feedback'],
    [{ kind: 'allow', scope: 'once', edited: [] }, 'edited: expected the arguments as an object'],
    [{ kind: 'allow', scope: 'once', edited: { service: 7 } }, 'service'],
    [{ kind: 'allow', scope: 'once', by: 'the administrator' }, 'by'],
  ])('%j is refused with 400, and the question stays open', async (body, message) => {
    const { console } = await opened()
    const page = await Page.open(console)
    await page.get('POST /api/tools/call', ROLLBACK)
    const id = await waiting(page, 'tool.call')
    const error = await page.fails(`POST /api/questions/${id}/answer`, { body })
    expect(error).toMatchObject({ status: 400, code: 'ERR_INVALID_PARAMS', message: expect.stringContaining(message) })
    await page.get(`POST /api/questions/${id}/answer`, { kind: 'cancel' })
  })

  test('an unknown question is not found', async () => {
    const { console } = await opened({ host: { servers: {} } })
    const page = await Page.open(console)
    expect(await page.fails('POST /api/questions/nothing/answer', { body: ALLOW })).toMatchObject({
      status: 404,
      code: 'ERR_NOT_FOUND',
      message: 'No question has the id "nothing"',
    })
  })
})

test('a form is refused while it is filled in wrongly, and sent when it is right', async () => {
  const { console } = await opened()
  const page = await Page.open(console)
  const { operation } = await page.get('POST /api/tools/call', { tool: 'deploy__deploy', args: PLAN })
  await page.get(`POST /api/questions/${await waiting(page, 'tool.call')}/answer`, ALLOW)
  const route = `POST /api/questions/${await waiting(page, 'elicit.form')}/answer`
  const right = { environment: 'staging', reason: 'a test' }
  for (const edited of [undefined, 7, {}, { ...right, reason: '' }, { ...right, environment: 'moon' }])
    expect((await page.fails(route, { body: { ...ALLOW, edited } })).message).toMatch(/^edited: /)
  // A person fills in each form, so no answer to one can last.
  expect((await page.fails(route, { body: { kind: 'allow', scope: 'always', edited: right } })).message).toBe(
    'scope: expected one of the offered ones (once), got "always"',
  )
  await page.get(route, { ...ALLOW, edited: right })
  expect(await page.ended(operation.id)).toMatchObject({ state: 'done', result: { structuredContent: { environment: 'staging' } } })
})

test('an operation tells the time that it waited for the person, and that the person declined', async () => {
  const { console } = await opened()
  const page = await Page.open(console)
  const { operation } = await page.get('POST /api/tools/call', { tool: 'deploy__deploy', args: PLAN })
  expect(operation.server).toBe('deploy')
  const first = await waiting(page, 'tool.call')
  await new Promise((resolve) => setTimeout(resolve, 100))
  await page.get(`POST /api/questions/${first}/answer`, ALLOW)
  const form = await waiting(page, 'elicit.form')
  await new Promise((resolve) => setTimeout(resolve, 100))
  await page.get(`POST /api/questions/${form}/answer`, { kind: 'deny' })
  const ended = await page.ended(operation.id)
  expect(ended.isDeclined).toBe(true)
  expect(ended.waitedMs).toBeGreaterThanOrEqual(190)
  expect(ended.waitedMs).toBeLessThanOrEqual(ended.endedAt - ended.startedAt)
  const [call] = (await page.get('GET /api/calls/recent')).calls
  expect(call).toMatchObject({ name: 'deploy', hasAnswers: true })
  // A call without a question has neither.
  const plain = await page.run('POST /api/tools/call', { tool: 'notes__search', args: { query: 'door' } })
  expect(plain).not.toHaveProperty('waitedMs')
  expect(plain).not.toHaveProperty('isDeclined')
  expect((await page.get('GET /api/calls/recent')).calls[0]).not.toHaveProperty('hasAnswers')
})

describe('the asker', () => {
  const question = (id: string, expiresAt = Date.now() + 1000): Question =>
    ({ id, expiresAt, scopes: ['once'], widths: [], subject: { kind: 'read', uri: 'a:b', isSubscription: false } }) as never
  const asks = (asker: ConsoleAsker, id: string) => asker.ask(question(id), new AbortController().signal)

  test('refuses a question above its limit', async () => {
    const asker = consoleAsker({ maxWaiting: 2 })
    void asks(asker, 'a')
    void asks(asker, 'b')
    await expect(asks(asker, 'c')).rejects.toMatchObject({ code: 'ERR_LIMIT', message: expect.stringContaining('maxWaiting') })
    asker.answer('a', { kind: 'deny' })
    const third = asks(asker, 'c')
    asker.answer('c', { kind: 'cancel' })
    expect(await third).toEqual({ kind: 'cancel' })
  })

  test('accepts no answer after the time is over', () => {
    let now = 0
    const asker = consoleAsker({ now: () => now })
    void asker.ask(question('a', 10), new AbortController().signal)
    now = 11
    expect(() => asker.answer('a', { kind: 'deny' })).toThrow('The time to answer this question is over')
  })

  test('rejects at once when the answer is not needed any more', async () => {
    const stop = AbortSignal.abort(new Error('over'))
    await expect(consoleAsker().ask(question('a'), stop)).rejects.toThrow('over')
  })
})
