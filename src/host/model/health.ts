/** How a server is, as far as the wire has told. */

import { McpError } from '../../protocol/errors.ts'

export type Health =
  /** Nobody has wanted it yet. */
  | { state: 'idle' }
  /** It is being found out, or asked, whether it may be started. */
  | { state: 'permitting' }
  /** `isTrial`: it had failed too often, and this is the one attempt after the pause. */
  | { state: 'connecting'; isTrial: boolean }
  /** `missedPings`: how many in a row it has not answered. */
  | { state: 'ready'; missedPings: number }
  /** It failed and is tried again. Times are those of the clock that the server was given. */
  | { state: 'waiting'; retryAt: number; lastError: Error }
  /** It failed too often; for a while nothing is tried. */
  | { state: 'open-circuit'; retryAt: number; lastError: Error }
  /** Somebody said no, or something is missing that only a person can supply. Not tried again until asked to. */
  | { state: 'refused'; error: Error }
  | { state: 'disabled' }
  | { state: 'closed' }

/** Whether something is going on that will lead to another state without anybody's doing. */
export const isUnderway = ({ state }: Health): boolean => state === 'permitting' || state === 'connecting'

/** What a call is told for which there is no connection. */
export function downError(id: string, health: Health, now: number, waitedMs: number): Error {
  const name = JSON.stringify(id)
  switch (health.state) {
    case 'refused':
      return health.error
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
