/** Messages of a client that get no answer: answers to questions, and notifications about requests that any replica may run. */

import type { NotificationMessage, SingleMessage } from '../../../jsonrpc/message.ts'
import { errorJson, notificationJson, resultJson } from '../../../jsonrpc/write.ts'
import type { SessionState } from '../../../protocol/interfaces/service.ts'
import { SILENT } from '../session/check-request.ts'
import { callName, noteCancelled } from './open-call.ts'
import type { ReplicaNotice } from './replica-notice.ts'
import type { ReplicaServices } from './replica-services.ts'
import type { RunningCalls } from './running-calls.ts'
import type { SessionEntries } from './session-entries.ts'
import type { ReadSession } from './session-record.ts'
import { streamOfQuestion } from './shared-call.ts'
import { standingOutlet } from './standing-stream.ts'

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
    const json = JSON.stringify({ kind: 'notice', sid, json: notificationJson(method, params) } satisfies ReplicaNotice)
    switch (method) {
      case 'notifications/cancelled': {
        const id = params?.requestId
        if (typeof id !== 'string' && typeof id !== 'number') return
        const runner = await this.#services.store.sessions.runnerOf(sid, callName(id))
        if (runner === undefined || runner === this.#services.store.replica.id) this.#calls.notice(sid, message)
        else if (!(await this.#services.store.replica.send(runner, json))) await noteCancelled(sid, id, this.#services.store)
        return
      }
      case 'notifications/initialized':
        await this.#entries.change(session, (state) => {
          state.isReady = true
        })
        this.#calls.notice(sid, message)
        return this.#services.store.replica.broadcast(json)
      case 'notifications/progress':
        this.#calls.notice(sid, message)
        return this.#services.store.replica.broadcast(json)
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
