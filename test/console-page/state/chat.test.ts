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

test('a conversation waits for open questions of a model, about the servers of its running calls', () => {
  const question = (server: string, chain: string[], isEnded = false) => ({
    server,
    view: { question: { chain } },
    ...(isEnded && { end: {} }),
  })
  const ofModel = ['you', 'model scripted', 'server notes']
  const all = [
    question('notes', ofModel),
    question('deploy', ['you', 'model', 'server deploy']),
    question('notes', ofModel, true),
    question('notes', ['you', 'server notes']),
    { server: 'notes' },
  ] as unknown as Parameters<typeof waitsFor>[0]
  expect(waitsFor(all, entriesOf(MESSAGES, true))).toEqual([all[0]])
  expect(waitsFor(all, [])).toEqual([all[0], all[1]])
  expect(waitsFor([], entriesOf(MESSAGES, true))).toEqual([])
})
