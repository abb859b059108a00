/** Words for the audit log, the policy, logs and chats. */

import { describe, expect, test } from 'vitest'
import { auditRows, matchingRows } from '../../../console/src/state/audit.ts'
import { type ChatEntry, entriesOf, entriesOfParts, labelWords, lastText, withDecisions } from '../../../console/src/state/chat.ts'
import { sortedGrants } from '../../../console/src/state/grants.ts'
import { joinedLog, logLines } from '../../../console/src/state/log.ts'
import { FIRST_POLICY, replayRows, replaySummary } from '../../../console/src/state/policy.ts'
import type { GrantView, ModelTurnView, ReplayView } from '../../../src/console/api.ts'
import type { AuditRecord } from '../../../src/host/index.ts'
import { parsePolicy } from '../../../src/host/policy/policy-file.ts'

const entry = {
  action: 'tool.call' as const,
  principal: 'me',
  run: 'r',
  initiator: 'model' as const,
  server: 'notes',
  fingerprint: 'f',
  primitive: 'add',
  effect: 'allow' as const,
  reasons: ['A rule allows it'],
}
const record = (seq: number, body: object): AuditRecord => ({ seq, at: seq, hash: 'h', ...body }) as AuditRecord

describe('the audit log', () => {
  const intent = record(1, { kind: 'intent', entry: { ...entry, answer: { kind: 'allow', scope: 'always', by: 'the person' } } })
  const outcome = record(2, { kind: 'outcome', intent: 1, outcome: { kind: 'done', durationMs: 12 } })
  const refusal = record(3, { kind: 'refusal', entry: { ...entry, initiator: 'user', answer: { kind: 'deny', by: 'the person' } } })

  test('shows an action, its decision and its outcome on one line', () => {
    expect(auditRows([outcome, intent])).toMatchObject([
      {
        seq: 1,
        what: 'notes: call add',
        who: 'the model',
        decision: 'allowed',
        because: 'you allowed it always',
        outcome: 'done in 12 ms',
        tone: 'fine',
      },
    ])
  })

  test('shows who refused, and actions that have not ended', () => {
    expect(auditRows([refusal])[0]).toMatchObject({ decision: 'denied', because: 'you denied it', who: 'you', tone: 'danger' })
    expect(auditRows([intent])[0]?.outcome).toBe('no outcome yet')
    expect(auditRows([record(4, { kind: 'intent', entry })])[0]?.because).toBe('A rule allows it')
    expect(auditRows([record(4, { kind: 'intent', entry: { ...entry, grant: 'g' } })])[0]?.because).toBe('you allowed it earlier')
  })

  test('calls the person you wherever they answered, and names nothing that says nothing', () => {
    const because = (answer: object): string | undefined =>
      auditRows([record(1, { kind: 'intent', entry: { ...entry, answer } })])[0]?.because
    expect(because({ kind: 'allow', scope: 'once', by: 'console' })).toBe('you allowed it once')
    expect(because({ kind: 'deny', by: 'console' })).toBe('you denied it')
    expect(because({ kind: 'allow', scope: 'once', by: 'me' })).toBe('you allowed it once')
    expect(because({ kind: 'allow', scope: 'once', by: 'a script' })).toBe('a script allowed it once')
    const form = { ...entry, action: 'elicit.form', primitive: 'capabilities' }
    expect(auditRows([record(1, { kind: 'intent', entry: form })])[0]?.what).toBe('notes: show a form')
  })

  test('shows an error of a tool as one', () => {
    const failed = record(2, { kind: 'outcome', intent: 1, outcome: { kind: 'done', durationMs: 12, isToolError: true } })
    expect(auditRows([failed, intent])[0]).toMatchObject({ outcome: 'ended with an error of the tool after 12 ms', tone: 'danger' })
  })

  test('finds rows that contain all words', () => {
    const rows = auditRows([refusal, outcome, intent])
    expect(matchingRows(rows, 'DENIED you').map(({ seq }) => seq)).toEqual([3])
    expect(matchingRows(rows, '')).toBe(rows)
  })
})

describe('a replay of the log', () => {
  const replay: ReplayView = {
    counts: { same: 7, changed: 1, unknown: 1, unreadable: 1 },
    decisions: [
      { kind: 'changed', seq: 5, before: 'ask', after: 'allow', reasons: ['rule a'] },
      { kind: 'unknown', seq: 4, before: 'allow', possible: ['ask', 'deny'], rules: ['b'] },
      { kind: 'unreadable', seq: 3, why: 'cut off' },
    ],
  }

  test('says how many decisions would be different, and what cannot be known', () => {
    expect(replaySummary(replay)).toBe(
      '1 of 10 decisions would be different. 1 decision depends on arguments that the log does not have. 1 record could not be read.',
    )
    expect(replaySummary({ counts: { same: 0, changed: 0, unknown: 0, unreadable: 0 }, decisions: [] })).toBe(
      'The log has no decisions yet.',
    )
  })

  test('marks decisions that would be less strict', () => {
    expect(replayRows(replay).map(({ change, isLooser }) => [change, isLooser])).toEqual([
      ['ask → allow', true],
      ['allow → ask or deny', false],
      ['not readable', false],
    ])
  })
})

test('an empty policy file is shown without a rule, and with an example as a comment', () => {
  expect(parsePolicy(FIRST_POLICY, 'draft')).toEqual({ rules: [] })
  const example = FIRST_POLICY.replace('rules: []', '').replaceAll(/^# ?/gm, '').split('\n').slice(1).join('\n')
  expect(parsePolicy(example, 'draft').rules).toMatchObject([{ id: 'never-delete', effect: 'deny' }])
})

test('of grants to start a server only the newest is current', () => {
  const grant = (id: string, action: string, at: number, isExpired = false) =>
    ({ id, action, at, isExpired, bind: { server: 'mine' } }) as unknown as GrantView
  const { current, earlier } = sortedGrants([
    grant('a', 'server.launch', 1),
    grant('b', 'tool.call', 2),
    grant('c', 'server.launch', 3),
    grant('d', 'tool.call', 4, true),
  ])
  expect([current.map(({ id }) => id), earlier.map(({ id }) => id)]).toEqual([['c', 'b'], ['a']])
})

test('a log has levels, and printed lines have none', () => {
  const entries = [
    { seq: 1, at: 1, log: { kind: 'stderr' as const, line: 'started' } },
    { seq: 2, at: 2, log: { kind: 'message' as const, message: { level: 'error' as const, logger: 'db', data: { a: 1 } } } },
    { seq: 3, at: 3, log: { kind: 'message' as const, message: { level: 'info' as const, data: 'fine' } } },
  ]
  expect(logLines(entries).map(({ level, text, isProblem }) => [level, text, isProblem])).toEqual([
    ['printed', 'started', false],
    ['error', 'db: {"a":1}', true],
    ['info', 'fine', false],
  ])
  expect(logLines(entries, 'warning').map(({ seq }) => seq)).toEqual([2])
  expect(logLines(entries, 'printed').map(({ seq }) => seq)).toEqual([1])
})

test('a log goes on with the entries of events, each once', () => {
  const line = (seq: number) => ({ seq, at: seq, log: { kind: 'stderr' as const, line: String(seq) } })
  expect(joinedLog([line(1), line(2)], [line(2), line(3)]).map(({ seq }) => seq)).toEqual([1, 2, 3])
  expect(joinedLog([], [line(1)])).toHaveLength(1)
})

describe('a chat', () => {
  test('says who decided about each call, and counts each decision once', () => {
    const call = (id: string, args: object): ChatEntry => ({ kind: 'call', id, name: 'notes__add', args, state: 'done' })
    const kept = (preview: object) => ({ digest: 'd', bytes: 1, preview, isWhole: true })
    const records = [
      record(3, { kind: 'refusal', entry: { ...entry, args: kept({ text: 'b' }), answer: { kind: 'deny', by: 'the person' } } }),
      record(2, { kind: 'outcome', intent: 1, outcome: { kind: 'done', durationMs: 12 } }),
      record(1, { kind: 'intent', entry: { ...entry, args: kept({ text: 'a' }) } }),
    ]
    expect(withDecisions([call('x', { other: 1 }), call('y', { text: 'a' }), call('z', { text: 'b' })], records)).toMatchObject([
      { id: 'x' },
      { id: 'y', decided: { seq: 1, because: 'A rule allows it', outcome: 'done in 12 ms' } },
      { id: 'z', decided: { seq: 3, because: 'you denied it' } },
    ])
    expect(withDecisions([call('x', { other: 1 })], records)[0]).not.toHaveProperty('decided')
  })

  test('shows stored calls with their results, and calls without one as not run', () => {
    const entries = entriesOf([
      { role: 'user', content: { type: 'text', text: 'list' } },
      {
        role: 'assistant',
        content: [
          { type: 'tool_use', id: '1', name: 'notes__list', input: {} },
          { type: 'tool_use', id: '2', name: 'notes__add', input: {} },
        ],
      },
      { role: 'user', content: { type: 'tool_result', toolUseId: '1', content: [{ type: 'text', text: 'none' }] } },
      { role: 'assistant', content: { type: 'text', text: 'You have no notes.' } },
    ])
    expect(entries).toMatchObject([
      { kind: 'said', by: 'person', text: 'list' },
      { kind: 'call', name: 'notes__list', state: 'done', content: [{ text: 'none' }] },
      { kind: 'call', name: 'notes__add', state: 'refused' },
      { kind: 'said', by: 'model', text: 'You have no notes.' },
    ])
  })

  test('shows the parts of a running turn, a refusal with its reason, errors and how it ended', () => {
    const entries = entriesOfParts([
      { type: 'text', text: 'Let me look' },
      { type: 'tool-call', id: '1', name: 'a', args: {} },
      { type: 'refused', id: '1', name: 'a', reason: 'You said no', feedback: 'use b' },
      { type: 'error', error: { code: 'ERR_MODEL' as never, message: 'no model' } },
      { type: 'end', reason: 'steps', usage: { inputTokens: 1, outputTokens: 1 }, steps: 2 },
    ])
    expect(entries).toMatchObject([
      { kind: 'said', by: 'model' },
      { kind: 'call', state: 'refused', reason: 'You said no. use b' },
      { kind: 'failed', text: 'no model' },
      { kind: 'ended', text: expect.stringContaining('limit of steps') },
    ])
  })

  test('explains the labels of its context', () => {
    expect([labelWords('untrusted').word, labelWords('private:notes').word, labelWords('egress').word]).toEqual([
      'untrusted text',
      'private data (notes)',
      'egress',
    ])
  })

  test('finds the newest text of a request to the person in place of a model', () => {
    const turn = { request: { messages: [{ role: 'user', content: [{ type: 'text', text: 'a' }] }] } } as unknown as ModelTurnView
    expect(lastText(turn)).toBe('a')
  })
})
