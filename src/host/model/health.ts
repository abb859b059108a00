/** The state of a server's connection. */

import { McpError } from '../../protocol/errors.ts'

/** The state of a server. */
export type Health =
  /** Not started. */
  | { state: 'idle' }
  /** The start is being decided; a question may be open. */
  | { state: 'permitting' }
  /**
   * Not started, because the person has not agreed to it yet. They are asked when the server is first used. `lastError`: it ran before
   * and failed, and another start needs a question.
   */
  | { state: 'not-enabled'; lastError?: Error }
  /** `isTrial`: the single attempt after a pause for too many failures. */
  | { state: 'connecting'; isTrial: boolean }
  /** `missedPings`: unanswered pings in a row. */
  | { state: 'ready'; missedPings: number }
  /** Failed; the next attempt is at `retryAt`, a time of the host's clock. */
  | { state: 'waiting'; retryAt: number; lastError: Error }
  /** Failed too often; no attempt before `retryAt`. */
  | { state: 'open-circuit'; retryAt: number; lastError: Error }
  /** Denied, or something is missing that only a person can supply. No attempt before `retry`. */
  | { state: 'refused'; error: Error }
  | { state: 'disabled' }
  | { state: 'closed' }

/** Whether a start is being decided or a connection is being opened. */
export const isUnderway = ({ state }: Health): boolean => state === 'permitting' || state === 'connecting'

/** Whether the person refused the start. The host does not ask again unless they want it. */
const isByPerson = (error: Error): error is McpError =>
  error instanceof McpError && (error.data as { by?: unknown } | undefined)?.by === 'person'

const askAgain = (id: string, { code, message, data }: McpError): McpError =>
  new McpError(code, `${message}. To be asked again: portico servers enable ${id}`, { data })

/** The error for a call without a connection. */
export function downError(id: string, health: Health, now: number, waitedMs: number): Error {
  const name = JSON.stringify(id)
  switch (health.state) {
    case 'refused':
      return isByPerson(health.error) ? askAgain(id, health.error) : health.error
    case 'not-enabled':
      return new McpError('ERR_SERVER_DOWN', `The server ${name} is not enabled`)
    case 'closed':
      return new McpError('ERR_CLOSED', `The server ${name} was closed`)
    case 'disabled':
      return new McpError('ERR_SERVER_DOWN', `The server ${name} is disabled`)
    case 'waiting':
    case 'open-circuit': {
      const retryAfterMs = Math.max(0, Math.ceil(health.retryAt - now))
      const { lastError: cause } = health
      const message = `The server ${name} is down and is tried again in ${retryAfterMs} ms: ${cause.message}`
      return new McpError('ERR_SERVER_DOWN', message, { data: { retryAfterMs }, cause })
    }
    default:
      return new McpError('ERR_SERVER_DOWN', `The server ${name} was not connected within ${waitedMs} ms (waitMs)`, {
        data: { retryAfterMs: waitedMs },
      })
  }
}
