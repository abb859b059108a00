/** How events change the state of the page. */

import { expect, test } from 'vitest'
import { type ConsoleState, EMPTY_STATE, MAX_NOTICES, MAX_OPERATIONS } from '../../../console/src/state/console-state.ts'
import type { ConsoleEvent } from '../../../console/src/state/event.ts'
import { ownQuestion } from '../../../console/src/state/own-questions.ts'
import {
  reduce,
  withNotice,
  withOperation,
  withOwnOperation,
  withoutQuestion,
  withQuestions,
  withQuestionView,
} from '../../../console/src/state/reduce.ts'
import { staleRoutes } from '../../../console/src/state/stale.ts'
import { createStore } from '../../../console/src/state/store.ts'
import type { OperationView, QuestionView } from '../../../src/console/api.ts'

const question = (id: string): ConsoleEvent => ({ name: 'question', data: { id, action: 'tool.call', server: 'notes', title: 'Call it?' } })

const viewOf = (id: string, chain: readonly string[] = ['you', 'server notes']): QuestionView =>
  ({
    question: { id, action: 'tool.call', server: { id: 'notes' }, askedAt: 1_000, chain },
    lines: [{ text: 'Call notes/add?' }],
  }) as unknown as QuestionView

const operation = (id: string, more: Partial<OperationView> = {}): OperationView => ({
  id,
  kind: 'call',
  target: 'notes__add',
  state: 'running',
  startedAt: 900,
  ...more,
})

const after = (...events: ConsoleEvent[]): ConsoleState => events.reduce((state, event) => reduce(state, event, 5), EMPTY_STATE)

test('a question waits once, gets its details, and ends', () => {
  let state = after(question('a'), question('a'), question('b'))
  expect(state.questions.map(({ id }) => id)).toEqual(['a', 'b'])
  state = withQuestionView(state, viewOf('a'), 9)
  expect(state.questions[0]).toMatchObject({ title: 'Call notes/add?', shownAt: 9 })
  state = reduce(state, { name: 'question-end', data: { id: 'a', how: 'answered', answer: 'deny' } }, 10)
  expect(state.questions[0]?.end).toMatchObject({ how: 'answered' })
  expect(withoutQuestion(state, 'a').questions).toHaveLength(1)
})

test('the whole list replaces the questions, and known ones keep their time', () => {
  const state = withQuestions(after(question('a'), question('gone')), [viewOf('a'), viewOf('new')], 50)
  expect(state.questions.map(({ id, shownAt }) => [id, shownAt])).toEqual([
    ['a', 5],
    ['new', 50],
  ])
})

test('an operation that has ended does not run again', () => {
  const done = withOperation(withOperation(EMPTY_STATE, operation('a')), operation('a', { state: 'done', result: 1 }))
  expect(withOperation(done, operation('a')).operations[0]).toMatchObject({ state: 'done', result: 1 })
})

test('operations and notices are bounded', () => {
  let state = EMPTY_STATE
  for (let i = 0; i < 300; i++) state = withNotice(withOperation(state, operation(String(i))), { tone: 'plain', text: String(i) })
  expect(state.operations).toHaveLength(MAX_OPERATIONS)
  expect(state.operations[0]?.id).toBe('299')
  expect(state.notices).toHaveLength(MAX_NOTICES)
})

test('the pieces of a chat become one text between its calls', () => {
  const chat = (part: object): ConsoleEvent => ({ name: 'chat', data: { operation: 'o', conversation: 'c', part } }) as ConsoleEvent
  const state = after(
    chat({ type: 'text', text: 'He' }),
    chat({ type: 'text', text: 'llo' }),
    chat({ type: 'tool-call', id: 't', name: 'n', args: {} }),
  )
  expect(state.chats.o).toEqual([
    { type: 'text', text: 'Hello' },
    { type: 'tool-call', id: 't', name: 'n', args: {} },
  ])
})

test('a server that was enabled is announced in one sentence, with what needs a look', () => {
  const enabled = { server: 'weather', tools: 5, resources: 2, prompts: 0, readOnly: 1, held: 1 }
  const { notices } = after({ name: 'enabled', data: enabled }, { name: 'enabled', data: { ...enabled, tools: 0, resources: 0, held: 0 } })
  expect(notices).toMatchObject([
    { tone: 'fine', text: 'weather is ready: 5 tools, 2 resources enabled. 1 item needs a look.', hasReview: true },
    { tone: 'fine', text: 'weather is ready: nothing enabled.' },
  ])
})

test('events of other names change nothing', () => {
  expect(reduce(EMPTY_STATE, { name: 'later', data: {} } as unknown as ConsoleEvent, 1)).toBe(EMPTY_STATE)
})

test('only a question that a click in this window caused counts as its own', () => {
  const asked = (state: ConsoleState, view: QuestionView): ConsoleState =>
    withQuestionView(reduce(state, question(view.question.id), 1), view, 1)
  const clicked = withOwnOperation(withOperation(EMPTY_STATE, operation('o', { server: 'notes' })), 'o')
  expect(ownQuestion(asked(clicked, viewOf('q')))?.id).toBe('q')
  expect(ownQuestion(asked(clicked, viewOf('q', ['you', 'model scripted', 'server notes'])))).toBeUndefined()
  expect(ownQuestion(asked(withOperation(EMPTY_STATE, operation('o')), viewOf('q')))).toBeUndefined()
  const ended = withOperation(clicked, operation('o', { state: 'done' }))
  expect(ownQuestion(asked(ended, viewOf('q')))).toBeUndefined()
  // The server `notes` must not open a dialog for a tool of the server `notes__b`.
  const other = withOwnOperation(withOperation(EMPTY_STATE, operation('o', { target: 'notes__b__add', server: 'notes__b' })), 'o')
  expect(ownQuestion(asked(other, viewOf('q')))).toBeUndefined()
  const unknown = withOwnOperation(withOperation(EMPTY_STATE, operation('o', { target: 'notes__b__add' })), 'o')
  expect(ownQuestion(asked(unknown, viewOf('q')))).toBeUndefined()
})

test('what needs a look in an enabled server waits in the tray until the person reviews it', () => {
  const approve = viewOf('q')
  const asked = { ...approve, question: { ...approve.question, action: 'server.approve' as const } }
  const enable = operation('e', { kind: 'enable', target: 'notes' })
  const first = withQuestions(withOwnOperation(withOperation(EMPTY_STATE, enable), 'e'), [asked], 5)
  expect(ownQuestion(first)?.id).toBe('q')
  const enabled = { server: 'notes', tools: 5, resources: 2, prompts: 0, readOnly: 1, held: 1 }
  const announced = reduce(first, { name: 'enabled', data: enabled }, 5)
  expect(ownQuestion(announced)).toBeUndefined()
  const reviewed = withOwnOperation(withOperation(announced, operation('r', { kind: 'approve', target: 'notes' })), 'r')
  expect(ownQuestion(reviewed)?.id).toBe('q')
})

test('missed events make everything stale, and each event its lists', () => {
  expect(staleRoutes({ name: 'hello', data: { isComplete: false } })).toBe('all')
  expect(staleRoutes({ name: 'hello', data: { isComplete: true } })).toEqual([])
  expect(staleRoutes({ name: 'catalog', data: { kinds: ['tools'] } })).toContain('GET /api/tools')
  expect(staleRoutes({ name: 'operation', data: operation('a') })).toEqual([])
  expect(staleRoutes({ name: 'operation', data: operation('a', { state: 'done' }) })).toContain('GET /api/audit')
})

test('a store tells its listeners about changes only', () => {
  const store = createStore(1)
  let told = 0
  const stop = store.subscribe(() => told++)
  store.update((value) => value)
  store.update((value) => value + 1)
  stop()
  store.update((value) => value + 1)
  expect([told, store.get()]).toEqual([1, 3])
})
