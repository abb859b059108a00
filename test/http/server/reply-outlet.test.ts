import { beforeEach, describe, expect, test, vi } from 'vitest'
import type { BodyMemory } from '../../../src/http/server/limits/body-memory.ts'
import { type AcceptedTypes, type AnswerStream, ReplyOutlet, type ReplyOwner } from '../../../src/http/server/streams/reply-outlet.ts'
import { SlowAnswers } from '../../../src/http/server/streams/slow-answers.ts'
import { KeptText } from '../../../src/jsonrpc/kept-text.ts'
import { TestReply } from './test-sink.ts'

const ANY: AcceptedTypes = { json: true, events: true }
const JSON_ONLY: AcceptedTypes = { json: true, events: false }
const EVENTS_ONLY: AcceptedTypes = { json: false, events: true }

const stream = { push: vi.fn(), finish: vi.fn(), greet: vi.fn(), release: vi.fn() } satisfies AnswerStream
const calls = {
  beginAnswer: vi.fn(() => stream),
  answerAsEvent: vi.fn(),
  statusOf: (code: number | undefined) => (code === undefined ? 200 : 400),
  onOver: vi.fn(),
  onAbandoned: vi.fn(),
  onAbandonedOver: vi.fn(),
}

beforeEach(() => {
  vi.clearAllMocks()
})

function outletOf(kinds: AcceptedTypes = ANY, parts: Partial<ReplyOwner> = {}) {
  const slow = new SlowAnswers(2, () => {})
  const reply = new TestReply()
  const host: ReplyOwner = { slow, ...calls, ...parts }
  return { slow, reply, outlet: new ReplyOutlet(reply, kinds, host, null, { release() {} } as BodyMemory) }
}

describe('a request whose client went away', () => {
  test('a request whose client left is abandoned once and ends once', () => {
    const { outlet, reply } = outletOf()
    outlet.abandon()
    outlet.abandon()
    expect(calls.onAbandoned).toHaveBeenCalledOnce()
    expect([calls.onAbandonedOver.mock.calls.length, calls.onOver.mock.calls.length]).toEqual([0, 0])
    reply.isGone = true
    outlet.answer('{}')
    outlet.drop()
    expect([calls.onAbandonedOver.mock.calls.length, calls.onOver.mock.calls.length]).toEqual([1, 1])
    expect(reply.sent).toEqual([])
  })

  test.each(['answer', 'drop'] as const)('a request whose client left after its %s is not abandoned', (how) => {
    const { outlet } = outletOf()
    outlet[how]('{}')
    outlet.abandon()
    expect([calls.onAbandoned.mock.calls.length, calls.onAbandonedOver.mock.calls.length]).toEqual([0, 0])
    expect(calls.onOver).toHaveBeenCalledOnce()
  })

  test('a request whose client left gets no stream and no answer', () => {
    const { outlet, reply } = outletOf(EVENTS_ONLY)
    reply.isGone = true
    expect(outlet.push('{}')).toBeUndefined()
    outlet.onSlow()
    outlet.release()
    outlet.answerKept('{', new KeptText('x'.repeat(20_000)), '}')
    outlet.drop()
    expect([calls.beginAnswer.mock.calls.length, calls.answerAsEvent.mock.calls.length, reply.sent]).toEqual([0, 0, []])
  })
})

describe('an answer', () => {
  test('an answer is JSON where that is accepted, with the status of its error', () => {
    const { outlet, reply } = outletOf()
    outlet.answer('{"a":1}', -32600)
    expect(reply.sent).toEqual([{ status: 400, body: '{"a":1}' }])
  })

  test('an answer is an event where only events are accepted, unless it is an error', () => {
    const { outlet, reply } = outletOf(EVENTS_ONLY)
    outlet.answer('{}')
    expect(calls.answerAsEvent).toHaveBeenCalledExactlyOnceWith(reply, '{}')
    const other = outletOf(EVENTS_ONLY)
    other.outlet.answer('{}', -32600)
    expect(other.reply.sent).toEqual([{ status: 400, body: '{}' }])
  })

  test('an answer ends the stream that began before it', () => {
    const { outlet, reply } = outletOf()
    void outlet.push('{"progress":1}')
    void outlet.push('{"progress":2}')
    outlet.answer('{}')
    expect(calls.beginAnswer).toHaveBeenCalledOnce()
    expect(stream.push.mock.calls.map(([json]) => json)).toEqual(['{"progress":1}', '{"progress":2}'])
    expect([stream.finish.mock.calls, reply.sent]).toEqual([[['{}']], []])
    // Nothing follows it.
    expect(outlet.push('{"progress":3}')).toBeUndefined()
    outlet.release()
    expect([stream.push.mock.calls.length, stream.release.mock.calls.length]).toEqual([2, 0])
  })

  test('an answer that is dropped ends its stream without one, or is an empty body', () => {
    const streamed = outletOf()
    void streamed.outlet.push('{}')
    streamed.outlet.drop()
    expect(stream.finish.mock.calls).toEqual([[undefined]])
    const [events, json] = [outletOf(), outletOf(JSON_ONLY)]
    events.outlet.drop()
    json.outlet.drop()
    expect([events.reply.sent, json.reply.sent]).toEqual([[{ status: 200, body: undefined }], [{ status: 202, body: undefined }]])
  })

  test.each([
    [16 * 1024 - 1, false],
    [16 * 1024, true],
  ])('an answer of %i prepared characters is sent in parts: %s', (length, inParts) => {
    const { outlet, reply } = outletOf()
    const sendParts = vi.fn()
    Object.assign(reply, { sendParts })
    const kept = new KeptText('x'.repeat(length))
    outlet.answerKept('{"r":"', kept, '"}')
    expect([sendParts.mock.calls.length, reply.sent.length]).toEqual(inParts ? [1, 0] : [0, 1])
    expect(calls.onOver).toHaveBeenCalledOnce()
  })
})

test.each(['answer', 'drop'] as const)('after its %s a request gets no prepared answer', (how) => {
  const { outlet, reply } = outletOf()
  const sendParts = vi.fn()
  Object.assign(reply, { sendParts })
  outlet[how]('{}')
  outlet.answerKept('{"r":"', new KeptText('x'.repeat(20_000)), '"}')
  expect([sendParts.mock.calls.length, reply.sent.length]).toEqual([0, 1])
  expect(calls.onOver).toHaveBeenCalledOnce()
})

describe('an answer that takes long', () => {
  test('a slow answer becomes a stream, once, and is no longer timed', () => {
    const { outlet, slow } = outletOf()
    for (let i = 0; i < 2; i++) slow.tick()
    expect([calls.beginAnswer.mock.calls.length, slow.isEmpty]).toEqual([0, false])
    slow.tick()
    expect([calls.beginAnswer.mock.calls.length, stream.greet.mock.calls.length, slow.isEmpty]).toEqual([1, 1, true])
    outlet.answer('{}')
    expect(stream.finish).toHaveBeenCalledOnce()
  })

  test.each([
    ['was answered', (outlet: ReplyOutlet) => outlet.answer('{}')],
    ['became a stream', (outlet: ReplyOutlet) => void outlet.push('{}')],
    ['was dropped', (outlet: ReplyOutlet) => outlet.drop()],
  ])('a slow answer is not timed once it %s', (_what, act) => {
    const { outlet, slow } = outletOf()
    act(outlet)
    expect(slow.isEmpty).toBe(true)
  })

  test('a slow answer is not timed where it cannot become a stream', () => {
    const { outlet, slow } = outletOf(JSON_ONLY)
    expect([slow.isEmpty, outlet.canPush, outlet.push('{}')]).toEqual([true, false, undefined])
  })
})
