/** Routes for the timeline and for recordings. */

import { isObject } from '../../base/json.ts'
import {
  compareTranscripts,
  headingLine,
  messageLine,
  type RecordedExchange,
  type ReplayedExchange,
  type Transcript,
} from '../../testing/index.ts'
import type { RecordedRequest, RecordingComparison, RecordingReplay, ReplayedRequest } from '../api.ts'
import { invalid, notFound } from '../errors.ts'
import type { Operations } from '../operations.ts'
import type { ConsoleServices } from '../services.ts'
import { callBetween, recordedCall } from '../tests/recorded-call.ts'
import { testText } from '../tests/test-text.ts'
import { type ReplayFacts, replayThroughHost } from '../timeline/replay.ts'
import type { Timeline } from '../timeline/timeline.ts'
import { specOf } from '../views.ts'
import { input, type Route, route } from '../web/router.ts'
import { OPERATION_ID } from './use.ts'

const TEXT = { type: 'string' }
const NUMBER = { type: 'integer', minimum: 1 }

const TIMELINE = input({
  'before?': NUMBER,
  'limit?': { ...NUMBER, maximum: 1000 },
  'server?': TEXT,
  'method?': TEXT,
  'kind?': { enum: ['request', 'result', 'error', 'notification', 'invalid'] },
  'only?': { enum: ['failed', 'violations', 'slow'] },
  'slowMs?': { type: 'integer', minimum: 0 },
  'q?': { type: 'string', maxLength: 200 },
})

export const timelineRoutes = ({ feed, recordings, host, operations }: ConsoleServices): Route[] => [
  route('GET /api/timeline', { query: TIMELINE }, ({ query }) => feed.timeline.page(query)),
  route('GET /api/timeline/:seq', {}, ({ params: { seq } }) => {
    const message = /^\d{1,15}$/.test(seq) ? feed.timeline.details(Number(seq)) : undefined
    if (!message) throw notFound(`The timeline has no message ${JSON.stringify(seq)}. Messages are kept for a while only`)
    return { message }
  }),
  route('DELETE /api/timeline', {}, () => {
    feed.timeline.clear()
    return null
  }),
  route('POST /api/timeline/transcript', { body: input({ server: TEXT, 'from?': NUMBER, 'to?': NUMBER }) }, ({ body }) => {
    const { server, from = 0, to = Number.POSITIVE_INFINITY } = body
    const messages = feed.timeline.messagesOf(server, from, to)
    const [first] = messages
    if (!first) throw notFound(`The timeline has no messages of the server ${JSON.stringify(server)} in this range`)
    const lines = messages.map(({ from: side, at, message }) =>
      messageLine({ from: side === 'host' ? 'client' : 'server', message, atMs: at - first.at }),
    )
    return { text: [headingLine(server, new Date(first.at)), ...lines].join(''), messages: messages.length }
  }),

  route('POST /api/timeline/test', { body: input({ 'message?': NUMBER, 'operation?': TEXT }) }, ({ body }) => {
    const seq = body.message ?? callOf(feed.timeline, operations, body.operation)
    const call = recordedCall(feed.timeline, seq)
    if (typeof call === 'string') throw notFound(call)
    return testText(call, specOf(host, call.server), new Date().toISOString().slice(0, 10))
  }),

  route('GET /api/recordings', { query: input({ 'state?': { enum: ['recording'] } }) }, async ({ query: { state } }) => ({
    recordings: state === 'recording' ? recordings.running() : await recordings.list(),
  })),
  route(
    'POST /api/recordings',
    { body: input({ 'servers?': { type: 'array', items: TEXT, minItems: 1 }, 'title?': { type: 'string', maxLength: 200 } }), status: 201 },
    async ({ body: { servers = host.specs().map(({ id }) => id), title } }) => {
      for (const id of servers) specOf(host, id)
      return { recordings: await recordings.start([...new Set(servers)], title) }
    },
  ),
]

/** The request that an operation sent. @throws ApiError 400 or 404 */
function callOf(timeline: Timeline, operations: Operations, id: string | undefined): number {
  if (id === undefined) throw invalid('Expected message (the seq of a request) or operation (an id), got neither')
  const { target, startedAt, endedAt = Number.POSITIVE_INFINITY } = operations.get(id)
  const name = typeof target === 'string' ? target : `${target.server}__${target.name}`
  const found = callBetween(timeline, name, startedAt, endedAt)
  if (found === undefined) throw notFound('The messages of this call are no longer in the timeline: run it again')
  return found
}

export const recordingRoutes = ({ host, byHand, recordings, operations }: ConsoleServices): Route[] => [
  route(
    'POST /api/recordings/open',
    { body: input({ text: TEXT, 'title?': { type: 'string', maxLength: 200 } }), status: 201 },
    async ({ body }) => ({
      recording: await recordings.add(body.text, body.title),
    }),
  ),
  route('POST /api/recordings/compare', { body: input({ before: TEXT, after: TEXT }) }, async ({ body: { before, after } }) =>
    comparisonView(await recordings.read(before), await recordings.read(after)),
  ),
  route(
    'GET /api/recordings/:id',
    { query: input({ 'after?': { type: 'integer', minimum: 0 }, 'limit?': { ...NUMBER, maximum: 1000 } }) },
    async ({ params: { id }, query: { after = 0, limit = 200 } }) => {
      const { messages } = await recordings.read(id)
      const part = messages.slice(after, after + limit).map((each, at) => ({ index: after + at, ...each }))
      const next = after + part.length
      return { recording: await recordings.view(id), messages: part, ...(next < messages.length && { next }) }
    },
  ),
  route('GET /api/recordings/:id/text', {}, async ({ params: { id } }) => ({ text: await recordings.text(id) })),
  route('POST /api/recordings/:id/stop', {}, async ({ params: { id } }) => ({ recording: await recordings.stop(id) })),
  route(
    'POST /api/recordings/:id/replay',
    { body: input({ server: TEXT, 'calls?': { type: 'boolean' }, 'id?': OPERATION_ID }), status: 202 },
    async ({ params, body: { server, calls = false, id } }) => {
      specOf(host, server)
      const transcript = await recordings.read(params.id)
      return {
        operation: operations.start({
          kind: 'replay',
          target: server,
          id,
          run: ({ signal }) => replay({ host, server, transcript, withCalls: calls, conversation: byHand.emptied(), signal }),
        }),
      }
    },
  ),
  route('DELETE /api/recordings/:id', {}, async ({ params: { id } }) => {
    await recordings.remove(id)
    return null
  }),
]

async function replay(facts: ReplayFacts): Promise<RecordingReplay> {
  const { exchanges, leftOut } = await replayThroughHost(facts)
  const changed = exchanges.filter(({ differences }) => differences.length > 0)
  return { asked: exchanges.length, leftOut, changed: changed.map(replayedView) }
}

/** Requests of each kind in one answer. */
const MAX_COMPARED = 500

function comparisonView(before: Transcript, after: Transcript): RecordingComparison {
  const { same, added, removed, changed, slower } = compareTranscripts(before, after)
  const total = added.length + removed.length + changed.length
  if (total > 4 * MAX_COMPARED) throw invalid(`The recordings differ in ${total} requests: too many to compare`)
  return {
    same,
    added: added.slice(0, MAX_COMPARED).map(requestView),
    removed: removed.slice(0, MAX_COMPARED).map(requestView),
    changed: changed.slice(0, MAX_COMPARED).map(replayedView),
    slower: slower.slice(0, MAX_COMPARED).map(({ method, params, ms, recordedMs }) => ({
      method,
      ...named(params),
      beforeMs: Math.round(recordedMs),
      afterMs: Math.round(ms),
    })),
  }
}

const requestView = ({ method, params, ms }: RecordedExchange): RecordedRequest => ({
  method,
  ...named(params),
  params,
  durationMs: Math.round(ms),
})

const replayedView = ({ method, params, differences, ms, recordedMs }: ReplayedExchange): ReplayedRequest => ({
  method,
  ...named(params),
  params,
  differences,
  durationMs: Math.round(ms),
  recordedMs: Math.round(recordedMs),
})

function named(params: unknown): { name?: string } {
  const name = isObject(params) ? (params.name ?? params.uri) : undefined
  return typeof name === 'string' ? { name } : {}
}
