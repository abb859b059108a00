/** Words, differences, marks and searches of the page. */

import { expect, test } from 'vitest'
import { clientJson } from '../../../console/src/state/client-json.ts'
import type { WaitingQuestion } from '../../../console/src/state/console-state.ts'
import { diffLines } from '../../../console/src/state/diff.ts'
import { canBeAllowed } from '../../../console/src/state/explain.ts'
import { foreignName, foreignText } from '../../../console/src/state/foreign-text.ts'
import { agoText, bytesText, counted, durationText, shortened } from '../../../console/src/state/format.ts'
import { enabledText, foundText } from '../../../console/src/state/found-servers.ts'
import { markedArguments, markOrigins } from '../../../console/src/state/origins.ts'
import { matching } from '../../../console/src/state/palette.ts'
import { createPreferences, DEFAULT_PREFERENCES } from '../../../console/src/state/preferences.ts'
import { cardLines, expiryText, isQuiet, mustOpen, noText, yesAnswer, yesText } from '../../../console/src/state/question-words.ts'
import { choiceParam, present, textParam } from '../../../console/src/state/search-params.ts'
import { hasToken, loginAdvice, reviewText, serverState } from '../../../console/src/state/servers.ts'
import { startGroup } from '../../../console/src/state/start-group.ts'
import type { QuestionView, ServerSettings } from '../../../src/console/api.ts'
import type { Explanation } from '../../../src/host/policy-tools/index.ts'

type Question = QuestionView['question']

test('numbers, times and sizes are words', () => {
  expect([counted(1, 'tool'), counted(2_000, 'tool')]).toEqual(['1 tool', '2,000 tools'])
  expect([durationText(0.2), durationText(850), durationText(1_234), durationText(185_000)]).toEqual([
    '< 1 ms',
    '850 ms',
    '1.2 s',
    '3 min 5 s',
  ])
  expect([bytesText(1), bytesText(4_100), bytesText(1_200_000)]).toEqual(['1 byte', '4.1 kB', '1.2 MB'])
  expect([agoText(0, 10_000), agoText(0, 120_000), agoText(0, 7_200_000)]).toEqual(['just now', '2 minutes ago', '2 hours ago'])
  expect(shortened('abcdef', 3)).toBe('abc … (3 more characters)')
})

test('hidden and reordering characters of servers become visible', () => {
  expect(foreignName('a\u202eb\nc')).toBe('a<U+202E>b\\nc')
  expect(foreignText('a\nb\u200bc')).toContain('\n')
})

test('a difference keeps the lines around a change', () => {
  const before = Array.from({ length: 20 }, (_, i) => `line ${i}`)
  const after = before.with(10, 'other')
  expect(diffLines(before.join('\n'), after.join('\n'))).toEqual([
    { kind: 'skipped', text: '7 equal lines' },
    ...[7, 8, 9].map((i) => ({ kind: 'same', text: `line ${i}` })),
    { kind: 'removed', text: 'line 10' },
    { kind: 'added', text: 'other' },
    ...[11, 12, 13].map((i) => ({ kind: 'same', text: `line ${i}` })),
    { kind: 'skipped', text: '6 equal lines' },
  ])
})

test('a difference of huge texts takes no time', () => {
  const [a, b] = ['a', 'b'].map((mark) => Array.from({ length: 50_000 }, (_, i) => `${mark}${i}`).join('\n')) as [string, string]
  const start = performance.now()
  expect(diffLines(a, b)).toHaveLength(100_000)
  expect(performance.now() - start).toBeLessThan(2_000)
})

test('bytes from elsewhere are marked in the arguments, to the end of a piece that is cut', () => {
  const note = 'The code of the back door is 4711, and the alarm is off'
  const [message, more] = markedArguments({ message: `Hi. ${note}. Bye`, more: { a: 'line\nbreak here' } }, [
    { pointer: '/message', source: 'notes/search', excerpt: `${note.slice(0, 20)}…`, bytes: note.length },
    { pointer: '/more/a', source: 'mail', excerpt: 'line\nbreak', bytes: 10 },
  ])
  expect(message?.pieces).toEqual([{ text: 'Hi. ' }, { text: note, source: 'notes/search' }, { text: '. Bye' }])
  expect(more?.pieces.find(({ source }) => source === 'mail')?.text).toBe('line\\nbreak')
  expect(markOrigins('abc', [{ source: 's', excerpt: 'b', bytes: 1 }])).toEqual([{ text: 'abc' }])
})

test('a mark covers whole words, and tells the exact part of them', () => {
  const text = '{"notes":[{"title":"Door"}],"total":1}'
  const origin = { source: 's', excerpt: 'x', bytes: 1 }
  const [start, end] = [text.indexOf('es"'), text.indexOf('al"')]
  expect(markOrigins(text, [{ ...origin, ranges: [[start, end]] }])).toEqual([
    { text: '{"' },
    { text: text.slice(start, end), source: 's', before: 'not', after: 'al' },
    { text: '":1}' },
  ])
  // Two pieces of one word stay apart, and ends between words stay where they are.
  expect(
    markOrigins('one twothree four', [
      {
        ...origin,
        ranges: [
          [4, 7],
          [9, 12],
        ],
      },
    ]),
  ).toEqual([{ text: 'one ' }, { text: 'two', source: 's', after: 'th' }, { text: 'ree', source: 's' }, { text: ' four' }])
  expect(
    markOrigins('a b c', [
      {
        ...origin,
        ranges: [
          [2, 3],
          [4, 99],
        ],
      },
    ]),
  ).toEqual([{ text: 'a ' }, { text: 'b', source: 's' }, { text: ' c' }])
  // Texts inside of lists are drawn as JSON, where the places are others.
  expect(
    markedArguments({ list: ['say hello'] }, [{ ...origin, pointer: '/list/0', excerpt: 'hello', ranges: [[4, 9]] }])[0]?.pieces,
  ).toContainEqual({
    text: 'hello',
    source: 's',
  })
})

test('the palette shows pages first, and names that begin with the text', () => {
  const entries = [
    { id: '1', kind: 'page', label: 'Home', about: '' },
    { id: '2', kind: 'tool', label: 'Search', about: 'notes' },
    { id: '3', kind: 'tool', label: 'Add a note', about: 'notes' },
    { id: '4', kind: 'server', label: 'notes', about: '' },
  ] as const
  expect(matching(entries, '').map(({ id }) => id)).toEqual(['1'])
  expect(matching(entries, 'note').map(({ id }) => id)).toEqual(['4', '3', '2'])
  expect(matching(entries, 'add notes').map(({ id }) => id)).toEqual(['3'])
})

test('preferences survive broken storage', () => {
  expect(createPreferences({ getItem: () => '{', setItem: () => {} }).get()).toEqual(DEFAULT_PREFERENCES)
  expect(createPreferences({ getItem: () => '{"theme":"pink","isTrayOpen":1}', setItem: () => {} }).get()).toEqual(DEFAULT_PREFERENCES)
  const full = createPreferences({
    getItem: () => null,
    setItem: () => {
      throw new Error('full')
    },
  })
  full.update((state) => ({ ...state, theme: 'dark' }))
  expect(full.get().theme).toBe('dark')
})

test('the search of an address can hold anything', () => {
  expect([textParam({ a: 1 }, 'a'), textParam({ a: ['x'] }, 'a'), choiceParam({ a: 'x' }, 'a', ['x', 'y'])]).toEqual(['1', undefined, 'x'])
  expect(present({ a: undefined, b: 1 })).toEqual({ b: 1 })
})

test.each([
  [{ state: 'ready' }, 0, 'ready', 'fine'],
  [{ state: 'ready' }, 2, 'changed', 'waiting'],
  [{ state: 'permitting' }, 0, 'asks you', 'waiting'],
  [{ state: 'open-circuit', error: { message: 'no program' }, retryInMs: 2_000 }, 0, 'failed', 'danger'],
  [{ state: 'not-enabled' }, 0, 'not enabled', 'plain'],
  [{ state: 'refused', error: { code: 'ERR_DENIED', message: 'no', isByPerson: true as const } }, 0, 'not enabled', 'plain'],
  [{ state: 'refused', error: { code: 'ERR_DENIED', message: 'A rule forbids it' } }, 0, 'failed', 'danger'],
])('the health %j with %i waiting definitions is called %s', (health, waiting, word, tone) => {
  expect(serverState({ health, waiting, changed: waiting, isEnabled: true })).toMatchObject({ word, tone })
})

test('a server whose waiting definitions are all new has not changed', () => {
  const server = { health: { state: 'ready' }, waiting: 2, changed: 0, isEnabled: true } as const
  expect(serverState(server)).toEqual({ word: 'to approve', tone: 'waiting', reason: '2 new definitions wait for your approval' })
  expect([reviewText(server), reviewText({ changed: 1 })]).toEqual(['Review what is new', 'Review changes'])
})

test('the advice about a login fits the settings of the server', () => {
  expect([hasToken({ Authorization: 'x' }), hasToken({ 'X-Api-Key': 'x' }), hasToken({ Accept: 'x' }), hasToken()]).toEqual([
    true,
    true,
    false,
    false,
  ])
  expect(loginAdvice(true)).toContain('refused the token')
  expect(loginAdvice(false)).toContain('log in')
})

test('a server can be copied for another client', () => {
  const entry = (settings: object): unknown => JSON.parse(clientJson({ id: 'a', settings: settings as ServerSettings })).mcpServers.a
  expect(entry({ command: 'node', args: ['a b.mjs'], env: { A: '1' }, roots: [] })).toEqual({
    command: 'node',
    args: ['a b.mjs'],
    env: { A: '1' },
  })
  expect(entry({ url: 'https://a.example/mcp', headers: {} })).toEqual({ type: 'http', url: 'https://a.example/mcp' })
})

test('only a question that a grant satisfies can be allowed for good', () => {
  const can = (decision: object): boolean => canBeAllowed({ decision } as Pick<Explanation, 'decision'>)
  expect([can({ effect: 'ask' }), can({ effect: 'ask', isForced: true }), can({ effect: 'allow' })]).toEqual([true, false, false])
})

test('the time of the next attempt counts down', () => {
  const failed = {
    health: { state: 'waiting', error: { message: 'It ended' }, retryInMs: 57_600 },
    waiting: 0,
    changed: 0,
    isEnabled: true,
  }
  expect(serverState(failed).reason).toBe('It ended. Next attempt in 58 s')
  expect(serverState(failed, 10_000).reason).toBe('It ended. Next attempt in 48 s')
  expect(serverState(failed, 60_000).reason).toBe('It ended. The next attempt is now')
})

test('servers of other programs are counted until they are imported', () => {
  const found = (isImported: boolean, client: string) => ({ isImported, from: [{ client, scope: 'user' as const, file: 'f' }] })
  expect(foundText([found(true, 'Cursor'), found(false, 'VS Code')])).toBe('Found 1 in VS Code. Nothing of them was started.')
  expect(foundText([found(true, 'Cursor')])).toBeUndefined()
  expect(enabledText([{ server: 'a' }, { server: 'b', error: { message: 'no' } }])).toEqual({
    tone: 'waiting',
    text: '1 of 2 servers enabled. Not enabled: b.',
  })
  expect(enabledText([{ server: 'a' }])).toEqual({ tone: 'fine', text: '1 server enabled.' })
})

test('an answer counts after the quiet time, and after folded text was opened', () => {
  expect([isQuiet(1_000, 1_499), isQuiet(1_000, 1_500)]).toEqual([true, false])
  const line = { kind: 'argument', label: 'text', tone: 'theirs' } as const
  const shown = (text: string): QuestionView =>
    ({
      question: { subject: { kind: 'sample' } },
      summary: { folded: 3, lines: [{ ...line, text: 'a …', folded: 3 }] },
      lines: [{ ...line, text }],
      folded: 0,
    }) as unknown as QuestionView
  expect(mustOpen(shown('a'.repeat(5_000)))).toBe(true)
  // A short question is shown as a whole.
  expect([mustOpen(shown('abcd')), cardLines(shown('abcd'))[0]?.text]).toEqual([false, 'abcd'])
  expect([expiryText(3_600_000, 0), expiryText(90_000, 0), expiryText(30_000, 0), expiryText(0, 1)]).toEqual([
    undefined,
    '2 min left',
    '30 s left',
    'The time to answer is over',
  ])
})

test('the buttons say what a yes and a no mean', () => {
  const subject = (kind: string): Question['subject'] => ({ kind, isFirst: true }) as unknown as Question['subject']
  expect(['call', 'launch', 'approve', 'form', 'url'].map((kind) => yesText(subject(kind)))).toEqual([
    'Allow once',
    'Start and enable',
    'Enable',
    'Send',
    'Open the page',
  ])
  expect([noText(subject('call')), noText(subject('launch'))]).toEqual(['Deny', 'Not now'])
})

test('the first button gives the proposed answer', () => {
  const question = {
    subject: { kind: 'call' },
    scopes: ['once', 'session', 'always'],
  } as unknown as Question
  expect(yesAnswer(question)).toEqual({ kind: 'allow', scope: 'once' })
  expect(yesAnswer({ ...question, scopes: ['always'] }, { a: 1 })).toEqual({ kind: 'allow', scope: 'always', edited: { a: 1 } })
  // The link of the page opens it. The host would open it again.
  expect(yesAnswer({ ...question, subject: { kind: 'url' } } as Question)).toEqual({ kind: 'allow', scope: 'once', isOpened: true })
})

test('two or more starts are asked together, and nothing that is folded', () => {
  const start = (id: string, kind: string, folded = 0): WaitingQuestion =>
    ({
      id,
      view: {
        question: { subject: { kind } },
        summary: { folded, lines: [{ kind: 'command', label: '', text: 'x', folded }] },
        lines: [{ kind: 'command', label: '', text: 'x'.repeat(2_000) }],
        folded: 0,
      },
    }) as unknown as WaitingQuestion
  expect(startGroup([start('a', 'launch'), start('b', 'call')])).toEqual([])
  const ids = startGroup([start('a', 'launch'), start('b', 'connect'), start('c', 'launch', 9), start('d', 'call')]).map(({ id }) => id)
  expect(ids).toEqual(['a', 'b'])
})
