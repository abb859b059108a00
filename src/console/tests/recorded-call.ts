/** A call of the timeline with everything that belongs to it: its arguments, the questions during it, and its last answer. */

import { isObject } from '../../base/json.ts'
import type { MessageDetails, MessageView } from '../api.ts'
import type { Timeline } from '../timeline/timeline.ts'

/** The requests that a test can repeat. */
export const TESTABLE = ['tools/call', 'prompts/get', 'resources/read'] as const

export interface RecordedCall {
  server: string
  method: (typeof TESTABLE)[number]
  params: Readonly<Record<string, unknown>>
  /** The questions of the server, in their order, with what the host answered. */
  questions: readonly { method: string; answer: Readonly<Record<string, unknown>> }[]
  outcome: { result: Readonly<Record<string, unknown>> } | { error: { message: string } }
  revision?: string
}

/** A reason in words, if the message cannot become a test. */
export function recordedCall(timeline: Timeline, seq: number): RecordedCall | string {
  const first = timeline.details(seq)
  if (!first) return `The timeline has no message ${seq}. Messages are kept for a while only`
  const { method, server, revision } = first
  const request = paramsOf(first)
  if (first.from !== 'host' || !isTestable(method) || !request)
    return `Expected a request of ${TESTABLE.join(', ')}, got ${method ?? first.kind}`
  const related = timeline.related(seq)
  const rounds = [seq, ...related.filter((row) => row.kind === 'request' && row.from === 'host' && row.method === method).map(seqOf)]
  const answer = answerOf(timeline, rounds.at(-1) ?? seq)
  if (!answer) return 'The call has no answer yet, or its answer was too large to keep'
  const { _meta, requestState: _state, inputResponses: _responses, ...params } = request
  return {
    server,
    method,
    params,
    questions: [...askedInRounds(timeline, rounds), ...askedDuring(timeline, related)],
    outcome: answer,
    ...(revision !== undefined && { revision }),
  }
}

/** The newest call of a tool, prompt or resource in this time. */
export function callBetween(timeline: Timeline, name: string, from: number, to: number): number | undefined {
  return timeline.find(
    (row) =>
      row.kind === 'request' &&
      row.from === 'host' &&
      isTestable(row.method) &&
      row.during === undefined &&
      row.at >= from &&
      row.at <= to &&
      (name === row.name || name === `${row.server}__${row.name}`),
  )
}

const seqOf = ({ seq }: MessageView): number => seq

const isTestable = (method: string | undefined): method is RecordedCall['method'] => TESTABLE.some((each) => each === method)

function paramsOf({ message }: MessageDetails): Readonly<Record<string, unknown>> | undefined {
  return isObject(message) && isObject(message.params) ? message.params : undefined
}

function answerOf(timeline: Timeline, seq: number): RecordedCall['outcome'] | undefined {
  const { answer } = timeline.details(seq) ?? {}
  const message = answer === undefined ? undefined : timeline.details(answer)?.message
  if (!isObject(message)) return undefined
  if (isObject(message.result)) return { result: message.result }
  return isObject(message.error) ? { error: { message: String(message.error.message ?? '') } } : undefined
}

/** Questions as requests of the server, in revisions with a session. */
function askedDuring(timeline: Timeline, related: readonly MessageView[]): RecordedCall['questions'] {
  return related.flatMap(({ seq, kind, from, method }) => {
    const answer = kind === 'request' && from === 'server' ? answerOf(timeline, seq) : undefined
    return method !== undefined && answer && 'result' in answer ? [{ method, answer: answer.result }] : []
  })
}

/** Questions inside an answer: the next round has the answers, by name. */
function askedInRounds(timeline: Timeline, rounds: readonly number[]): RecordedCall['questions'] {
  return rounds.slice(1).flatMap((seq, at) => {
    const before = answerOf(timeline, rounds[at] ?? seq)
    const next = timeline.details(seq)
    const asked = before && 'result' in before && isObject(before.result.inputRequests) ? before.result.inputRequests : {}
    const responses = next ? paramsOf(next)?.inputResponses : undefined
    return Object.entries(asked).flatMap(([name, question]) => {
      const answer = isObject(responses) ? responses[name] : undefined
      return isObject(question) && typeof question.method === 'string' && isObject(answer) ? [{ method: question.method, answer }] : []
    })
  })
}
