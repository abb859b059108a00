/** The rows of the timeline: answers join their requests, messages during a call stand under it. */

import { describe, expect, test } from 'vitest'
import { isFailure, requestHeaders, responseHeaders, statusText } from '../../../console/src/state/http-view.ts'
import { asCurl } from '../../../console/src/state/message-copies.ts'
import { addMessages, filteredRows, isTestable, latencyBar, MAX_MESSAGES, timelineRows } from '../../../console/src/state/timeline.ts'
import type { MessageView } from '../../../src/console/api.ts'

const message = (seq: number, more: Partial<MessageView> = {}): MessageView => ({
  seq,
  at: seq,
  server: 'notes',
  connection: 1,
  from: 'host',
  kind: 'request',
  bytes: 10,
  ...more,
})

const call = message(1, { method: 'tools/call', name: 'add', id: 7, revision: '2026-07-28' })
const answer = message(4, { kind: 'result', from: 'server', request: 1, durationMs: 600, bytes: 5, violations: 1 })
const question = message(2, { method: 'elicitation/create', from: 'server', during: 1 })
const other = message(3, { server: 'deploy', method: 'ping' })

describe('rows', () => {
  test('a request and its answer are one row, with their time, sizes and broken rules', () => {
    const [row] = timelineRows([call, answer])
    expect(row).toMatchObject({ seq: 1, answer: 4, title: 'tools/call add', outcome: 'done', durationMs: 600, bytes: 15, violations: 1 })
  })

  test('rows stand in the order of time, and one that is apart from its call says where it belongs', () => {
    const late = message(5, { method: 'elicitation/create', from: 'server', during: 1 })
    expect(timelineRows([call, question, other, late]).map(({ seq, depth, title }) => [seq, depth, title])).toEqual([
      [1, 0, 'tools/call add'],
      [2, 1, 'elicitation/create'],
      [3, 0, 'ping'],
      [5, 1, 'elicitation/create of tools/call add'],
    ])
    const again = message(6, { method: 'tools/call', name: 'add', during: 1 })
    expect(timelineRows([call, other, again]).map(({ title }) => title)).toEqual(['tools/call add', 'ping', 'round 2 of tools/call add'])
  })

  test('the rounds of a call count as one call, which ends as its last round does', () => {
    const first = message(2, { kind: 'result', from: 'server', request: 1, durationMs: 1 })
    const again = message(10, { method: 'tools/call', name: 'add', during: 1 })
    expect(timelineRows([call, first, again])).toMatchObject([
      { seq: 1, rounds: 2, outcome: 'open', depth: 0 },
      { seq: 10, title: 'round 2', depth: 1, parent: 1 },
    ])
    const last = message(31, { kind: 'error', from: 'server', request: 10, failure: 'no', durationMs: 21 })
    expect(timelineRows([call, first, again, last])[0]).toMatchObject({ outcome: 'failed', failure: 'no', durationMs: 22 })
  })

  test('a question that is asked during a question stands under the call', () => {
    const nested = message(3, { method: 'roots/list', from: 'server', during: 2 })
    expect(timelineRows([call, question, nested]).map(({ seq, parent }) => [seq, parent])).toEqual([
      [1, undefined],
      [2, 1],
      [3, 1],
    ])
  })

  test('a filter keeps the call of a row that matches', () => {
    const failed = message(5, { kind: 'error', from: 'host', request: 2, failure: 'closed' })
    const rows = timelineRows([call, question, other, answer, failed])
    expect(filteredRows(rows, { only: 'failed' }).map(({ seq }) => seq)).toEqual([1, 2])
    expect(filteredRows(rows, { text: 'elicitation' }).map(({ seq }) => seq)).toEqual([1, 2])
    expect(filteredRows(rows, { server: 'deploy' }).map(({ seq }) => seq)).toEqual([3])
  })

  test('a test can be made of an answered call, and of nothing else', () => {
    expect(timelineRows([call, question, answer]).map(isTestable)).toEqual([true, false])
    expect(timelineRows([call, other]).map(isTestable)).toEqual([false, false])
  })

  test('an error and a failed result count as failed, a request without an answer is open', () => {
    expect(timelineRows([call, message(2, { kind: 'error', request: 1, failure: 'no such tool' })])[0]).toMatchObject({
      outcome: 'failed',
      failure: 'no such tool',
    })
    expect(timelineRows([call])[0]?.outcome).toBe('open')
    expect(timelineRows([message(1, { kind: 'notification', method: 'x' })])[0]?.outcome).toBe('none')
  })

  test('control characters in names are visible', () => {
    expect(timelineRows([message(1, { method: 'tools/call', name: 'a\u202eb' })])[0]?.title).not.toContain('\u202e')
  })
})

describe('keep-alive rows', () => {
  const discover = (seq: number, more: Partial<MessageView> = {}): MessageView => message(seq, { method: 'server/discover', ...more })
  const answered = (seq: number, request: number, more: Partial<MessageView> = {}): MessageView =>
    message(seq, { kind: 'result', from: 'server', request, ...more })
  const shown = (messages: readonly MessageView[], text = ''): number[] =>
    filteredRows(timelineRows(messages), { withoutKeepAlive: true, text }).map(({ seq }) => seq)

  test('are left out, but not the message that opens a connection', () => {
    const other = { connection: 2 }
    expect(shown([discover(1), answered(2, 1), discover(3), answered(4, 3), discover(5, other), answered(6, 5, other)])).toEqual([1, 5])
    expect(shown([message(3, { method: 'ping', from: 'server' }), answered(4, 3), call])).toEqual([1])
  })

  test('stay if they failed, wait or break a rule, and if the person searches for them', () => {
    const ping = message(1, { method: 'ping' })
    expect(shown([ping])).toEqual([1])
    expect(shown([ping, answered(2, 1, { kind: 'error', failure: 'gone' })])).toEqual([1])
    expect(shown([ping, answered(2, 1, { violations: 1 })])).toEqual([1])
    expect(shown([ping, answered(2, 1)])).toEqual([])
    expect(shown([ping, answered(2, 1)], 'ping')).toEqual([1])
  })
})

describe('messages', () => {
  test('are kept once, in the order of their numbers, however they arrive', () => {
    const known = addMessages(addMessages([], [other, call]), [question, other])
    expect(known.map(({ seq }) => seq)).toEqual([1, 2, 3])
    expect(addMessages(known, [])).toBe(known)
  })

  test('beyond the limit the oldest are dropped', () => {
    const many = Array.from({ length: MAX_MESSAGES }, (_, index) => message(index + 1))
    const kept = addMessages(many, [message(MAX_MESSAGES + 1)])
    expect([kept.length, kept[0]?.seq, kept.at(-1)?.seq]).toEqual([MAX_MESSAGES, 2, MAX_MESSAGES + 1])
  })
})

describe('filters', () => {
  const rows = timelineRows([call, other, answer])

  test.each([
    [{ server: 'deploy' }, [3]],
    [{ text: 'CALL add' }, [1]],
    [{ only: 'slow' as const }, [1]],
    [{ only: 'violations' as const }, [1]],
    [{ only: 'failed' as const }, []],
    [{ only: 'requests' as const }, [1, 3]],
    [{}, [1, 3]],
  ])('%j', (filters, seqs) => {
    expect(filteredRows(rows, filters).map(({ seq }) => seq)).toEqual(seqs)
  })
})

test('latency bars grow with the logarithm of the time', () => {
  expect([latencyBar(undefined), latencyBar(0.1), latencyBar(100), latencyBar(10_000), latencyBar(1e9)]).toEqual([0, 0.05, 0.5, 1, 1])
})

test('a copied command line quotes everything that a server chose', () => {
  const text = asCurl({
    http: { method: 'POST', url: "https://a.example/'$(id)", headers: { 'x-a': "b'c" }, hiddenHeaders: ['x-key'] },
    message: { a: "it's" },
  })
  expect(text).toBe(
    `curl -X 'POST' 'https://a.example/'\\''$(id)' \\\n  -H 'x-key: YOUR x-key' \\\n  -H 'x-a: b'\\''c' \\\n  --data-binary '{"a":"it'\\''s"}'`,
  )
})

test('the headers of an HTTP exchange are rows, and hidden values have none', () => {
  const http = {
    method: 'POST',
    url: 'https://a.example/mcp',
    headers: { accept: 'application/json', 'mcp-session-id': '[hidden]' },
    hiddenHeaders: ['authorization'],
    status: 401,
    responseHeaders: { 'www-authenticate': 'Bearer' },
  }
  expect(requestHeaders(http).map(({ name, isHidden }) => `${name} ${isHidden}`)).toEqual([
    'authorization true',
    'accept false',
    'mcp-session-id true',
  ])
  expect(responseHeaders(http)).toEqual([{ name: 'www-authenticate', value: 'Bearer', isHidden: false }])
  expect([statusText(http), statusText({ status: 299 }), statusText({})]).toEqual(['401 Unauthorized', '299', 'no response yet'])
  expect([isFailure(http), isFailure({ status: 202 }), isFailure({})]).toEqual([true, false, false])
  expect(asCurl({ http, message: undefined })).toContain("'mcp-session-id: YOUR mcp-session-id'")
})
