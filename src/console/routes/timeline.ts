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
import type { ConsoleServices } from '../services.ts'
import { type ReplayFacts, replayThroughHost } from '../timeline/replay.ts'
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

export const timelineRoutes = ({ feed, recordings, host }: ConsoleServices): Route[] => [
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

  route('GET /api/recordings', {}, async () => ({ recordings: await recordings.list() })),
  route(
    'POST /api/recordings',
    { body: input({ 'servers?': { type: 'array', items: TEXT, minItems: 1 }, 'title?': { type: 'string', maxLength: 200 } }), status: 201 },
    async ({ body: { servers = host.specs().map(({ id }) => id), title } }) => {
      for (const id of servers) specOf(host, id)
      return { recordings: await recordings.start([...new Set(servers)], title) }
    },
  ),
]

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
