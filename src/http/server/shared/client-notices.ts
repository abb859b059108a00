/** Messages of a client that get no answer: answers to questions, and notifications about requests that any replica may run. */

import type { NotificationMessage, Params, SingleMessage } from '../../../jsonrpc/message.ts'
import { errorJson, resultJson } from '../../../jsonrpc/write.ts'
import type { SessionState } from '../../../protocol/interfaces/service.ts'
import { isProgressToken } from '../../../protocol/model/progress.ts'
import { SILENT } from '../session/check-request.ts'
import { callName } from './open-call.ts'
import type { ReplicaNotice } from './replica-notice.ts'
import type { ReplicaServices } from './replica-services.ts'
import type { RunningCalls } from './running-calls.ts'
import type { SessionEntries } from './session-entries.ts'
import type { ReadSession } from './session-record.ts'
import { streamOfQuestion } from './shared-call.ts'
import { standingOutlet } from './standing-stream.ts'

/** Tokens of this server are much shorter, and so are the ids of clients. */
const MAX_TOKEN_CHARS = 200
const MAX_REASON_CHARS = 1000

export class ClientNotices {
  readonly #services: ReplicaServices
  readonly #entries: SessionEntries
  readonly #calls: RunningCalls

  constructor(services: ReplicaServices, entries: SessionEntries, calls: RunningCalls) {
    this.#services = services
    this.#entries = entries
    this.#calls = calls
  }

  /** Takes one message that gets no answer. */
  async take(session: ReadSession, message: SingleMessage): Promise<void> {
    const { sid } = session
    if (message.kind === 'result' || message.kind === 'error') {
      const stream = streamOfQuestion(message.id)
      const { id } = message
      if (stream === undefined || typeof id !== 'string') return
      await this.#services.store.streams.answer(
        sid,
        stream,
        id,
        message.kind === 'result' ? resultJson(id, message.result) : errorJson(id, message.error),
      )
    } else if (message.kind === 'notification') await this.#notice(session, message)
  }

  async #notice(session: ReadSession, message: NotificationMessage): Promise<void> {
    const { sid, record } = session
    const { method, params } = message
    const { store, messages, report } = this.#services
    // Calls get only what they need: a client may send megabytes, and each replica would get them.
    const noticeOf = (needed: Params): ReplicaNotice => ({ kind: 'notice', sid, method, params: needed })
    switch (method) {
      case 'notifications/cancelled': {
        const id = params?.requestId
        if (typeof id !== 'string' && typeof id !== 'number') return
        const { replica, sessions } = store
        const name = callName(id)
        const reason = typeof params?.reason === 'string' ? { reason: params.reason.slice(0, MAX_REASON_CHARS) } : {}
        const notice = noticeOf({ requestId: id, ...reason })
        // In the store first: the replica may have died, or never read the message.
        const runner = await sessions.cancel(sid, name).catch((error: Error) => {
          // A request of this replica needs no store to be cancelled.
          if (!this.#calls.runs(sid, name)) throw error
          return replica.id
        })
        return messages.hint(runner ?? replica.id, notice, report)
      }
      case 'notifications/initialized':
        await this.#entries.change(session, (state) => {
          state.isReady = true
        })
        return messages.hintAll(noticeOf({}), report)
      case 'notifications/progress': {
        const { progressToken } = params ?? {}
        if (!isProgressToken(progressToken) || String(progressToken).length > MAX_TOKEN_CHARS) return
        return messages.hintAll(noticeOf({ progressToken }), report)
      }
      default: {
        const shared = {
          state: record.state,
          account: sid,
          begin: () => {},
          change: (apply: (state: SessionState) => void) => this.#entries.change(session, apply),
          openPage: () => Promise.resolve(),
        }
        const channel = this.#services.service.open({ outlet: standingOutlet(sid, this.#services), principal: record.principal, shared })
        channel.receive(message, SILENT)
        channel.close('The notification was handled')
      }
    }
  }
}
