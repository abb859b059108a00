/** What a card draws of a question: runs of blanks as marks, a bounded part at first, and ended questions in their place. */

import { expect, test } from 'vitest'
import { blankRuns } from '../../../console/src/state/blank-runs.ts'
import type { WaitingQuestion } from '../../../console/src/state/console-state.ts'
import { diffLines } from '../../../console/src/state/diff.ts'
import { keptPlaces } from '../../../console/src/state/kept-places.ts'
import { createRoom, hiddenText, isOver, takeItems, takeLines, takeText } from '../../../console/src/state/question-room.ts'
import { showsArguments } from '../../../console/src/state/question-words.ts'
import { shownQuestion } from '../../../console/src/state/shown-question.ts'
import type { QuestionView } from '../../../src/console/api.ts'

test('long runs of blanks and line breaks become marks, and short ones stay', () => {
  expect(blankRuns(`a${'\n'.repeat(600)}b`)).toEqual([{ text: 'a\n' }, { mark: '600 line breaks' }, { text: '\nb' }])
  expect(blankRuns(`a${' \n\u00a0'.repeat(9)}\nb`)[1]).toEqual({ mark: '10 line breaks' })
  expect(blankRuns(`a${' '.repeat(6_000)}b`)).toEqual([{ text: 'a' }, { mark: '6,000 blanks' }, { text: 'b' }])
  expect(blankRuns('a\n\n\n    b\tc')).toEqual([{ text: 'a\n\n\n    b\tc' }])
  expect(blankRuns('')).toEqual([{ text: '' }])
})

test('many blank lines of a difference become one', () => {
  expect(diffLines('a', `a${'\n'.repeat(600)}b`)).toEqual([
    { kind: 'same', text: 'a' },
    { kind: 'added', text: '', blanks: 599 },
    { kind: 'added', text: 'b' },
  ])
})

test('a text that does not fit is cut, what follows is left out, and both are counted', () => {
  const room = createRoom(1)
  expect(takeText(room, 'short')).toBe('short')
  const long = 'x'.repeat(100_000)
  const shown = takeText(room, long)
  expect(shown.length).toBeLessThan(50_000)
  expect([takeText(room, 'more'), isOver(room)]).toEqual(['', true])
  expect(room.hidden.characters).toBe(long.length - shown.length + 4)
  expect(hiddenText(room)).toMatch(/^60,\d{3} characters$/)
  expect(takeText(createRoom(1), 'y\n'.repeat(5_000)).split('\n')).toHaveLength(500)
  expect(takeText(createRoom(8), long)).toBe(long)
})

test('lines and items beyond the room wait for the person', () => {
  const line = { kind: 'item', label: 'tool', text: 'does it', tone: 'theirs' } as const
  const room = createRoom(1)
  expect(
    takeLines(
      room,
      Array.from({ length: 10_000 }, () => line),
    ),
  ).toHaveLength(500)
  expect(isOver(room)).toBe(true)
  const text = (mark: string): string => Array.from({ length: 400 }, (_, i) => `${mark}${i}`).join('\n')
  const item = (name: string) => ({
    kind: 'tool',
    name,
    flags: [],
    definition: {},
    difference: { class: 'changed', changes: [{ pointer: '/description', text: 'changed', before: text('a'), after: text('b') }] },
  })
  const items = Array.from({ length: 10_000 }, (_, i) => item(`t${i}`)) as unknown as Parameters<typeof takeItems>[1]
  const other = createRoom(1)
  const start = performance.now()
  expect(takeItems(other, items)).toHaveLength(1)
  expect(performance.now() - start).toBeLessThan(1_000)
  expect(other.hidden.items).toBe(9_999)
})

test('an invisible end of a message must be shown before an answer is sent', () => {
  const view = (message: string): QuestionView =>
    ({
      question: { subject: { kind: 'form', message, schema: { properties: {} } } },
      summary: { folded: message.length, lines: [] },
      lines: [],
      folded: 0,
    }) as unknown as QuestionView
  expect(isOver(shownQuestion(view('a'.repeat(1_000)), false, 1).room)).toBe(false)
  const long = shownQuestion(view('a'.repeat(50_000)), false, 1)
  expect([isOver(long.room), long.messages[0]?.text.length, long.isShort]).toEqual([true, 40_000, false])
  expect(isOver(shownQuestion(view('a'.repeat(50_000)), true, 2).room)).toBe(false)
})

test('arguments of many lines are not drawn before "Show everything"', () => {
  const view = (note: string): QuestionView =>
    ({
      question: { subject: { kind: 'call', args: { note }, origins: [] } },
      summary: { folded: note.length, lines: [] },
      lines: [],
      folded: 0,
    }) as unknown as QuestionView
  expect([showsArguments(view('a\nb')), showsArguments(view(`Hello${'\n'.repeat(600)}b`))]).toEqual([true, false])
})

test('ended questions keep their place, but not without end', () => {
  const open = (id: string): WaitingQuestion => ({ id, title: id, server: 's', action: 'tool.call', shownAt: 0 })
  const [a, b, c] = ['a', 'b', 'c'].map(open) as [WaitingQuestion, WaitingQuestion, WaitingQuestion]
  expect(keptPlaces([a, b], [b, c])).toEqual([{ ...a, end: { id: 'a', how: 'ended' } }, b, c])
  expect(keptPlaces([a, b], [{ ...b, end: { id: 'b', how: 'answered' } }])).toHaveLength(1)
  let shown: readonly WaitingQuestion[] = [a]
  for (let round = 0; round < 100; round++) {
    shown = keptPlaces(shown, [a, open(`x${round}`)])
    shown = keptPlaces(shown, [a])
  }
  expect(shown.length).toBeLessThanOrEqual(21)
})
