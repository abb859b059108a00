/** Begins a session with the first request of a client. */

import { randomId } from '../../../base/bytes.ts'
import type { RequestMessage } from '../../../jsonrpc/message.ts'
import type { Outlet } from '../../../jsonrpc/outlet.ts'
import type { Channel, Service, SessionState } from '../../../protocol/interfaces/service.ts'
import type { InFlight } from '../limits/in-flight.ts'
import { JSON_TYPE, type Refusal } from '../refusal.ts'
import { SILENT } from '../session/check-request.ts'
import { statusOf } from '../session/session.ts'
import type { HttpPost } from '../stateless.ts'
import { EVENT_STREAM_HEADERS, eventText } from '../streams/event-stream.ts'
import type { NewSession, SessionEntries } from './session-entries.ts'
import type { SessionRecord } from './session-record.ts'

export interface BeginSessionParts {
  service: Service
  inFlight: InFlight
  entries: SessionEntries
  /** Sends the refusal if the store does not take the session. */
  later(work: Promise<Refusal | undefined>): void
}

/** Answers when the store has the session: the next request of the client may reach any replica. */
export function beginSession(
  { id, sid, caller }: NewSession,
  message: RequestMessage,
  { reply, principal, usage, access, accepts, body }: HttpPost,
  { service, inFlight, entries, later }: BeginSessionParts,
): void {
  let state: SessionState | undefined
  const shared = {
    state: undefined,
    account: sid,
    begin: (begun: SessionState) => (state = begun),
    change: () => Promise.resolve(),
    openPage: () => Promise.resolve(),
  }
  let channel: Channel | undefined
  let isOver = false
  const over = (): void => {
    if (isOver) return
    isOver = true
    inFlight.leave(usage, body)
    queueMicrotask(() => channel?.close('The handshake is over'))
  }
  const keep = async (begun: SessionState, json: string): Promise<Refusal | undefined> => {
    const record: SessionRecord = { principal, eventName: randomId().slice(0, 12), caller, state: begun }
    await entries.begin(sid, record)
    const headers = { 'mcp-session-id': id }
    if (reply.isGone) await entries.forget(sid, record)
    else if (accepts.json) reply.send(200, { ...JSON_TYPE, ...headers }, json)
    else reply.send(200, { ...EVENT_STREAM_HEADERS, ...headers }, eventText(json, undefined))
    return undefined
  }
  reply.onGone = () => channel?.close('The client disconnected during the handshake')
  const outlet: Outlet = {
    sender: access,
    arrival: body.arrival,
    push: () => undefined,
    answer: (json, errorCode) => {
      over()
      if (errorCode !== undefined || !state) return reply.send(statusOf(errorCode), JSON_TYPE, json)
      later(keep(state, json))
    },
    drop: () => {
      over()
      if (!reply.isGone) reply.send(202, {})
    },
  }
  try {
    channel = service.open({ outlet: { ...SILENT, canPush: true }, principal, shared })
    channel.receive(message, outlet)
  } catch (error) {
    over()
    throw error
  }
}
