/** One POST of a revision without sessions: the request says everything, and its stream is its life. */

import { type Incoming, METHOD_NOT_FOUND, type RequestMessage } from '../../jsonrpc/message.ts'
import { McpError } from '../../protocol/errors.ts'
import type { Answering, Service } from '../../protocol/service.ts'
import { isModernError } from '../../revisions/negotiate.ts'
import type { Revision } from '../../revisions/revision.ts'
import { faultOfHeader, route } from '../../revisions/route.ts'
import type { Ask, Reply } from './ask.ts'
import type { Load } from './load.ts'
import { faultOfMirrors } from './mirrors.ts'
import type { OpenStreams } from './open-streams.ts'
import type { HttpLimits } from './options.ts'
import { PlainStream } from './plain-stream.ts'
import { about, busy, type Refusal, refuse } from './refusal.ts'
import { ReplyOutlet } from './reply-outlet.ts'

export interface StatelessOptions {
  service: Service
  supported: readonly Revision[]
  limits: HttpLimits
  load: Load
  open: OpenStreams
}

export interface Visit {
  ask: Ask
  reply: Reply
  principal: string | undefined
  kinds: { json: boolean; events: boolean }
}

/** Refuses or answers; a refusal is the caller's to send. */
export function answerStandingAlone(message: Incoming, visit: Visit, options: StatelessOptions): Refusal | undefined {
  switch (message.kind) {
    case 'request':
      return answerRequest(message, visit, options)
    case 'notification':
      visit.reply.send(202, {})
      return undefined
    case 'result':
    case 'error':
      return refuse(400, 'In this revision a client sends no responses')
    case 'batch':
      return refuse(400, 'Batches are not part of this protocol revision')
    case 'malformed':
      return about(refuse(400, message.error.message, { code: message.error.code }), message.id)
    case 'ignored':
      return refuse(400, message.reason)
  }
}

function answerRequest(message: RequestMessage, visit: Visit, options: StatelessOptions): Refusal | undefined {
  const { ask, principal } = visit
  const { service, supported, load } = options
  const disagreement = faultOfHeader(message, ask.header('mcp-protocol-version'), supported)
  if (disagreement) return badRequest(message, disagreement, supported.at(-1) as Revision)
  const { revision, error } = route(message, undefined, supported)
  if (error) return badRequest(message, error, revision)
  const fault = faultOfMirrors(ask, message, (tool) => service.mirroredParams(tool), true)
  if (fault !== undefined) return badRequest(message, new McpError('ERR_HEADER_MISMATCH', `Header mismatch: ${fault}`), revision)
  const isListen = message.method === 'subscriptions/listen'
  if (isListen && !visit.kinds.events)
    return about(refuse(406, 'subscriptions/listen is answered with text/event-stream, which is not taken or not given here'), message.id)
  const full = isListen ? enterListen(principal, options) : load.enter(principal)
  if (full) return about(full, message.id)
  start(message, visit, revision.version, isListen, options)
  return undefined
}

function start(message: RequestMessage, visit: Visit, version: string, isListen: boolean, options: StatelessOptions): void {
  const { ask, reply, principal, kinds } = visit
  const { service, load, open } = options
  let answering: Answering | undefined
  let isGone = false
  const onGone = (): void => {
    isGone = true
    answering?.cancel(new DOMException('The client went away', 'AbortError'))
  }
  reply.onGone = onGone
  const outlet = new ReplyOutlet({
    reply,
    slow: open.slow,
    kinds,
    source: { beginAnswer: (to) => new PlainStream(to, open, isListen ? () => answering?.finish() : undefined, onGone) },
    statusOf,
    onOver: () => (isListen ? load.leaveListen(principal) : load.leave(principal)),
  })
  answering = service.answer(message, outlet, { version, principal, account: principal ?? ask.remoteAddress ?? '' })
  if (isGone) onGone()
}

function enterListen(principal: string | undefined, { load, open, limits }: StatelessOptions): Refusal | undefined {
  if (open.size >= limits.maxStreams) return busy(503, 'maxStreams', limits.maxStreams, 'open streams')
  return load.enterListen(principal)
}

const badRequest = ({ id }: RequestMessage, { code, message, data }: McpError, revision: Revision): Refusal =>
  about(refuse(400, message, { code: revision.errorCode(code), data }), id)

/** What the request itself did wrong shows in the status; what its handler says does not. */
function statusOf(errorCode: number | undefined): number {
  if (errorCode === undefined) return 200
  if (errorCode === METHOD_NOT_FOUND) return 404
  return isModernError(errorCode) ? 400 : 200
}
