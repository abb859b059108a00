/** Sends the requests of a recording to a server again, and compares answers; and compares two recordings. */

import { comparableJson } from '../../base/canonical-json.ts'
import { isObject } from '../../base/json.ts'
import type { TappedMessage } from '../../client/tap-target.ts'
import { isId } from '../../jsonrpc/message.ts'
import { RemoteError } from '../../jsonrpc/remote-error.ts'
import { checkMembers } from '../../protocol/check-members.ts'
import { type Difference, differences } from './difference.ts'
import { type Transcript, withoutSecrets } from './transcript-file.ts'

type Params = Record<string, unknown>

/** A request of a recording with its answer. */
export interface RecordedExchange {
  method: string
  /** Without metadata. */
  params: Params
  /** `{ result }` or `{ error }`. */
  answer: Params
  /** Milliseconds until the answer. */
  ms: number
}

/** A request that was sent again. */
export interface ReplayedExchange {
  method: string
  params: Params
  /** Where the answer differs from the recorded one. */
  differences: Difference[]
  /** Milliseconds until the new answer, and until the recorded one. */
  ms: number
  recordedMs: number
}

/** Sends one request of a recording and returns the result. A `Client` is one. */
export interface ReplaySender {
  /** @throws RemoteError as the answer of the server */
  request(method: string, params: Record<string, unknown>, options: { signal: AbortSignal }): Promise<unknown>
}

/** Options for `replayTranscript`. */
export interface ReplayOptions {
  /** Ends the replay. */
  signal: AbortSignal
  /** Send tool calls, which may have effects. Default: true. */
  withCalls?: boolean
  /** Which methods are sent. Default: all. */
  methods?: ReadonlySet<string>
  /** Called after each answer. */
  onReplayed?(exchange: ReplayedExchange): void
  /** Removes known secrets from answers, as they were removed from the recording. Default: none are known. */
  scrub?(text: string): string
}

/** The result of `replayTranscript`. */
export interface ReplayResult {
  exchanges: ReplayedExchange[]
  /** How many requests were not sent: the handshake, subscriptions, rounds, and those without an answer. */
  leftOut: number
}

/** The handshake is the client's own; subscriptions and requests with server state cannot be repeated. */
const NOT_AGAIN = new Set(['initialize', 'server/discover', 'ping', 'subscriptions/listen', 'resources/subscribe', 'resources/unsubscribe'])

/**
 * Sends the requests of a recording to a server, one after the other, and compares the answers with the recorded ones.
 *
 * @example
 * const { exchanges } = await replayTranscript(parseTranscript(text, 'run.jsonl'), client, { signal })
 * const changed = exchanges.filter(({ differences }) => differences.length > 0)
 */
export async function replayTranscript(transcript: Transcript, sender: ReplaySender, options: ReplayOptions): Promise<ReplayResult> {
  checkMembers('replayTranscript', options, { signal: 1, withCalls: 1, methods: 1, onReplayed: 1, scrub: 1 })
  const { signal, withCalls = true, methods, onReplayed, scrub = (text) => text } = options
  const { exchanges: recorded, leftOut } = exchangesIn(transcript.messages)
  const exchanges: ReplayedExchange[] = []
  const again = recorded.filter(({ method }) => (withCalls || method !== 'tools/call') && (methods?.has(method) ?? true))
  for (const { method, params, answer, ms: recordedMs } of again) {
    signal.throwIfAborted()
    const started = performance.now()
    const now = await answerOf(sender, method, params, signal)
    const ms = performance.now() - started
    const clean = JSON.parse(scrub(JSON.stringify(withoutSecrets(now)))) as unknown
    const replayed = { method, params, differences: differences(withoutNoise(answer), withoutNoise(clean)), ms, recordedMs }
    exchanges.push(replayed)
    onReplayed?.(replayed)
  }
  return { exchanges, leftOut: leftOut + recorded.length - again.length }
}

/** How two recordings differ. */
export interface TranscriptComparison {
  same: number
  /** Requests of the second recording only. */
  added: RecordedExchange[]
  /** Requests of the first recording only. */
  removed: RecordedExchange[]
  /** The same request with another answer. */
  changed: ReplayedExchange[]
  /** The same request and answer, but the answer took much longer. */
  slower: ReplayedExchange[]
}

const SLOWER_TIMES = 2
const SLOWER_MS = 50

/**
 * Compares two recordings. Requests are matched by method and parameters, in order.
 *
 * @example
 * const { added, removed, changed, slower } = compareTranscripts(before, after)
 */
export function compareTranscripts(before: Transcript, after: Transcript): TranscriptComparison {
  const left = new Map<string, RecordedExchange[]>()
  for (const exchange of exchangesIn(before.messages).exchanges) {
    const key = keyOf(exchange)
    left.set(key, [...(left.get(key) ?? []), exchange])
  }
  const result: TranscriptComparison = { same: 0, added: [], removed: [], changed: [], slower: [] }
  for (const exchange of exchangesIn(after.messages).exchanges) {
    const known = left.get(keyOf(exchange))?.shift()
    if (!known) {
      result.added.push(exchange)
      continue
    }
    const { method, params, answer, ms } = exchange
    const found = differences(withoutNoise(known.answer), withoutNoise(answer))
    const pair: ReplayedExchange = { method, params, differences: found, ms, recordedMs: known.ms }
    if (found.length > 0) result.changed.push(pair)
    else if (ms >= known.ms * SLOWER_TIMES && ms >= known.ms + SLOWER_MS) result.slower.push(pair)
    else result.same++
  }
  result.removed.push(...[...left.values()].flat())
  return result
}

const keyOf = ({ method, params }: RecordedExchange): string => `${method} ${comparableJson(params)}`

function exchangesIn(messages: readonly TappedMessage[]): { exchanges: RecordedExchange[]; leftOut: number } {
  const answers = new Map<string, TappedMessage[]>()
  for (const each of messages) {
    if (each.from !== 'server' || !isObject(each.message) || each.message.method !== undefined || !isId(each.message.id)) continue
    const key = JSON.stringify(each.message.id)
    answers.set(key, [...(answers.get(key) ?? []), each])
  }
  const exchanges: RecordedExchange[] = []
  let leftOut = 0
  for (const { from, message, atMs } of messages) {
    if (from !== 'client' || !isObject(message) || typeof message.method !== 'string' || !isId(message.id)) continue
    // After a restart the ids begin again, so an answer is used once.
    const answer = answers.get(JSON.stringify(message.id))?.shift()
    const { _meta: _, ...params }: Params = isObject(message.params) ? message.params : {}
    const found = isObject(answer?.message) ? answer.message : undefined
    const isRound = params.requestState !== undefined || (isObject(found?.result) && found.result.resultType === 'input_required')
    if (!found || NOT_AGAIN.has(message.method) || isRound) leftOut += 1
    else exchanges.push({ method: message.method, params, answer: found, ms: Math.max(0, (answer?.atMs ?? atMs) - atMs) })
  }
  return { exchanges, leftOut }
}

async function answerOf(sender: ReplaySender, method: string, params: Params, signal: AbortSignal): Promise<Params> {
  try {
    return { result: await sender.request(method, params, { signal }) }
  } catch (error) {
    if (error instanceof RemoteError)
      return { error: { code: error.code, message: error.message, ...(error.data !== undefined && { data: error.data }) } }
    throw error
  }
}

/** Ids, metadata and cache times are not compared. */
function withoutNoise(answer: unknown): unknown {
  if (!isObject(answer)) return answer
  const { result, error } = answer
  if (!isObject(result)) return { error }
  const { _meta: _, ttlMs: _ttl, cacheScope: _scope, resultType: _type, ...rest } = result
  return { result: rest }
}
