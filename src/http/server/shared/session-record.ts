/** A shared session as the store keeps it, and changes of it by several replicas at once. */

import { McpError } from '../../../protocol/errors.ts'
import type { SessionState } from '../../../protocol/interfaces/service.ts'
import type { SharedStore } from '../../../store/shared-store.ts'

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

/** Others change the record rarely, so the second attempt nearly always succeeds. */
const MAX_ATTEMPTS = 8

/** Applies a change to the newest record. Throws what `apply` throws. */
export async function changeRecord(
  { sessions }: SharedStore,
  session: ReadSession,
  apply: (state: SessionState) => void,
): Promise<SessionRecord> {
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const record = structuredClone(session.record)
    apply(record.state)
    if (await sessions.replace(session.sid, JSON.stringify(record), session.revision)) {
      session.record = record
      session.revision++
      return record
    }
    const entered = await sessions.enter(session.sid, undefined, 0)
    if (typeof entered === 'string') throw new McpError('ERR_CLOSED', 'The session has ended')
    session.record = JSON.parse(entered.record) as SessionRecord
    session.revision = entered.revision
  }
  throw new McpError('ERR_STORE', 'The session is changed by too many requests at once')
}
