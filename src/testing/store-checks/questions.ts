/** The rules of questions and their answers. */

import { append, attach, expectEqual, expectTrue, inboxOf, newSession, openStream, type StoreCheck } from './expect.ts'

const acceptsOneAnswer: StoreCheck = async (open) => {
  const [a, b] = [await open(), await open()]
  const sid = await newSession(a)
  const inbox = await inboxOf(a)
  const epoch = await openStream(a, sid, 'r1')
  for (const [stream, batch] of [
    ['r1', { epoch }],
    ['0', {}],
  ] as const) {
    await append(a, sid, stream, { n: 1, ...batch, events: [{ json: '1', question: 'q1' }] })
    expectEqual('an unknown question', await b.streams.answer(sid, stream, 'q9', '{}'), 'unknown')
    const answered = await Promise.all([a, b, b].map((store, at) => store.streams.answer(sid, stream, 'q1', `{"at":${at}}`)))
    expectEqual('three answers at once', answered.sort(), ['accepted', 'duplicate', 'duplicate'])
    const message = await inbox.next('answered')
    const answers = await a.streams.answers(sid, stream, stream === 'r1' ? epoch : undefined)
    expectTrue('the kept answer', typeof answers === 'object')
    const json = typeof answers === 'object' ? answers.q1 : undefined
    expectEqual('the message to the replica that asks', message, { kind: 'answered', sid, stream, question: 'q1', json })
    await a.streams.settle(sid, stream, 'q1')
    expectEqual('an answer after settle', await b.streams.answer(sid, stream, 'q1', '{}'), 'unknown')
    expectEqual('answers after settle', await a.streams.answers(sid, stream, stream === 'r1' ? epoch : undefined), {})
  }
}

const refusesLateAnswers: StoreCheck = async (open) => {
  const store = await open()
  const sid = await newSession(store)
  const epoch = await openStream(store, sid, 'r1')
  const events = ['q1', 'q2'].map((question) => ({ json: '1', question }))
  await append(store, sid, 'r1', { n: 1, epoch, events })
  await store.streams.answer(sid, 'r1', 'q2', '{}')
  await append(store, sid, 'r1', { n: 2, epoch, events: ['2'], isLast: true })
  // Only events are kept after the end: answers may be large, and no later run needs them.
  expectEqual('an answer that was kept until the stream ended', await store.streams.answer(sid, 'r1', 'q2', '{}'), 'unknown')
  expectEqual('an answer after the end of the stream', await store.streams.answer(sid, 'r1', 'q1', '{}'), 'unknown')
  expectEqual('an answer in a session that is gone', await store.streams.answer('none', 'r1', 'q1', '{}'), 'unknown')
}

/** A question is open before anyone can read it. */
const opensQuestionsWithTheirEvent: StoreCheck = async (open) => {
  const [a, b] = [await open(), await open()]
  const sid = await newSession(a)
  const epoch = await openStream(a, sid, 'r1')
  const appending = append(a, sid, 'r1', { n: 1, epoch, events: [{ json: '1', question: 'q1' }] })
  for (let events = 0; events === 0; ) events = (await attach(b, sid, 'r1', '')).events.length
  expectEqual('the answer to a question that was just read', await b.streams.answer(sid, 'r1', 'q1', '{}'), 'accepted')
  await appending
}

export const questionChecks: StoreCheck[] = [acceptsOneAnswer, refusesLateAnswers, opensQuestionsWithTheirEvent]
