/** What a conversation shows while a turn runs. */

import { expect, test } from 'vitest'
import { entriesOf, joinedEntries, messagesIn, waitsFor } from '../../../console/src/state/chat.ts'

const MESSAGES = [
  { role: 'user', content: { type: 'text', text: 'List my notes' } },
  { role: 'assistant', content: { type: 'tool_use', id: 'one', name: 'notes__list', input: {} } },
] as Parameters<typeof entriesOf>[0]

test('a call without a result runs while its turn runs, and was not run afterwards', () => {
  expect(entriesOf(MESSAGES, true)).toMatchObject([{ kind: 'said' }, { kind: 'call', state: 'running' }])
  expect(entriesOf(MESSAGES)).toMatchObject([{ kind: 'said' }, { kind: 'call', state: 'refused' }])
})

test('entries that are stored and come as events are shown once, in their newest state', () => {
  const stored = entriesOf(MESSAGES, true)
  const live = [{ kind: 'call', id: 'one', name: 'notes__list', args: {}, state: 'done' }] as Parameters<typeof joinedEntries>[1]
  expect(joinedEntries(stored, live)).toMatchObject([{ kind: 'said' }, { kind: 'call', state: 'done' }])
  expect(joinedEntries(stored.slice(0, 1), live)).toHaveLength(2)
})

test('the messages of the person are counted, also while a call after them waits', () => {
  expect(messagesIn(entriesOf(MESSAGES, true))).toBe(1)
  expect(messagesIn([])).toBe(0)
})

test('only questions that a model caused and that are open make a conversation wait', () => {
  const question = (chain: string[], isEnded = false) => ({ view: { question: { chain } }, ...(isEnded && { end: {} }) })
  const questions = [
    question(['you', 'model scripted', 'server notes']),
    question(['you', 'model', 'server notes']),
    question(['you', 'model scripted', 'server notes'], true),
    question(['you', 'server notes']),
    {},
  ] as unknown as Parameters<typeof waitsFor>[0]
  expect(waitsFor(questions)).toBe(2)
})
