/** What the menu of lasting answers offers. */

import { expect, test } from 'vitest'
import { hasMoreAnswers, lastingAnswer, menuAnswers, timesOf } from '../../../console/src/state/lasting-answers.ts'
import type { QuestionView } from '../../../src/console/api.ts'

type Question = QuestionView['question']

const question = (given: object): Question =>
  ({
    subject: { kind: 'call' },
    scopes: ['once', 'turn', 'session', 'project', 'always'],
    widths: ['exact', 'pattern', 'any'],
    ...given,
  }) as unknown as Question

const labels = (asked: Question): string[] => menuAnswers(asked).map(({ label }) => label)

test('a menu has at most five entries, the longest time first, each about the proposed arguments', () => {
  const asked = question({ always: { scope: 'always', width: 'any', expiresAt: Date.UTC(2026, 11, 24, 12) } })
  expect(labels(asked)).toEqual([
    expect.stringMatching(/^Always, with any arguments, until .*2026/),
    'In this project, with any arguments',
    'For this conversation, with any arguments',
    'For this message, with any arguments',
  ])
  expect(hasMoreAnswers(asked)).toBe(true)
  expect(menuAnswers(asked).map(({ answer }) => answer)).toEqual(
    (['always', 'project', 'session', 'turn'] as const).map((scope) => ({ kind: 'allow', scope, width: 'any' })),
  )
  // Without a proposal the narrowest arguments are proposed.
  expect(labels(question({}))[0]).toBe('Always, with exactly these arguments')
})

test('a few answers are all in the menu', () => {
  const asked = question({ scopes: ['once', 'session', 'always'], widths: ['exact', 'any'], always: { scope: 'always', width: 'exact' } })
  expect(labels(asked)).toEqual([
    'Always, with exactly these arguments',
    'Always, with any arguments',
    'For this conversation, with exactly these arguments',
    'For this conversation, with any arguments',
  ])
  expect(hasMoreAnswers(asked)).toBe(false)
})

test('other arguments are offered only for a time that the host grants', () => {
  const asked = question({ widths: ['exact', 'any'], wideScopes: ['once', 'turn'], always: { scope: 'always', width: 'exact' } })
  expect(labels(asked)).toEqual([
    'Always, with exactly these arguments',
    'In this project, with exactly these arguments',
    'For this conversation, with exactly these arguments',
    'For this message, with exactly these arguments',
    'For this message, with any arguments',
  ])
  expect(timesOf(asked, 'any')).toEqual(['turn'])
  expect(timesOf(asked, 'exact')).toEqual(['always', 'project', 'session', 'turn'])
})

test('an answer says what it covers and how long it lasts', () => {
  expect(lastingAnswer(question({}), 'session', 'pattern')).toEqual({
    label: 'For this conversation, with similar arguments',
    answer: { kind: 'allow', scope: 'session', width: 'pattern' },
  })
})

test('a start can be allowed for a shorter time, but not for one message', () => {
  const start = question({ subject: { kind: 'launch' }, scopes: ['always', 'once', 'turn', 'session'], widths: ['exact'] })
  expect(labels(start)).toEqual(['Only this time', 'For this conversation'])
  expect(hasMoreAnswers(start)).toBe(false)
})
