/** A shared session as the store keeps it, and changes of it by several replicas at once. */

import { randomFraction } from '../../../base/bytes.ts'
import type { Clock } from '../../../base/clock.ts'
import { McpError } from '../../../protocol/errors.ts'
import type { SessionState } from '../../../protocol/interfaces/service.ts'
import type { SharedStore } from '../../../store/shared-store.ts'
import { NOT_FOUND } from '../session/check-request.ts'

export interface SessionRecord {
  principal: string | undefined
  /** Begins every event id of the session. Only its client knows it. */
  eventName: string
  /** The topic that counts the sessions of this caller. */
  caller: string
  state: SessionState
}

/** A record as a replica read it. */
export interface ReadSession {
  sid: string
  record: SessionRecord
  revision: number
}

const MAX_ATTEMPTS = 30
/** Replicas that change a record at once wait for random times, up to 1 ms at first and twice as long each time. */
const MAX_PAUSE_MS = 200

/** Applies a change to the newest record. Throws what `apply` throws, and ERR_SESSION_GONE. */
export async function changeRecord(
  store: SharedStore,
  clock: Clock,
  session: ReadSession,
  apply: (state: SessionState) => void,
): Promise<SessionRecord> {
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const record = structuredClone(session.record)
    apply(record.state)
    if (await store.sessions.replace(session.sid, JSON.stringify(record), session.revision)) {
      session.record = record
      session.revision++
      return record
    }
    const pauseMs = randomFraction() * Math.min(2 ** attempt, MAX_PAUSE_MS)
    await new Promise<void>((resolve) => clock.after(pauseMs, resolve))
    await readAgain(store, session)
  }
  const data = { reason: 'too-many-requests', retryable: true }
  throw new McpError('ERR_LIMIT', 'Too many requests change this session at once. Send the request again', { data })
}

/** Reads what others have changed since. Rejects with ERR_SESSION_GONE if the session has ended. */
export async function readAgain({ sessions }: SharedStore, session: ReadSession): Promise<void> {
  const entered = await sessions.enter(session.sid, undefined, 0)
  if (typeof entered === 'string') throw new McpError('ERR_SESSION_GONE', NOT_FOUND.message)
  session.record = JSON.parse(entered.record) as SessionRecord
  session.revision = entered.revision
}
