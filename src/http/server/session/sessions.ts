/** The sessions of this process: found by id and owner, limited in number, closed when they expire. */

import type { EndCause } from '../../../protocol/interfaces/service.ts'
import type { AllHttpLimits } from '../fixed-limits.ts'
import { refuseMore, SESSION_LIMITS } from '../limits/caller-limits.ts'
import type { CallerUsage, UsageByCaller } from '../limits/caller-usage.ts'
import { busy, type Refusal } from '../refusal.ts'
import { HttpSession } from './session.ts'
import type { SessionServices } from './session-streams.ts'

export class Sessions {
  readonly #limits: AllHttpLimits
  readonly #services: SessionServices
  readonly #usages: UsageByCaller
  readonly #sessions = new Map<string, HttpSession>()
  #stopTending: (() => void) | undefined

  constructor(services: SessionServices, usages: UsageByCaller) {
    this.#usages = usages
    this.#limits = services.limits
    this.#services = services
  }

  get size(): number {
    return this.#sessions.size
  }

  /** Makes room for one more session, if necessary by closing an idle one. Refuses when all are in use. */
  checkRoom(usage: CallerUsage): Refusal | undefined {
    const { maxSessions } = this.#limits
    const crowded = refuseMore(this.#limits, SESSION_LIMITS, usage, usage.sessions.size)
    if (crowded && !(usage.kind === 'address' && this.#endLongestIdle(usage, 'maxSessionsPerAddress'))) return crowded
    if (this.#sessions.size < maxSessions) return undefined
    const largest = this.#usages.largest(({ sessions }) => sessions.size)
    return this.#endLongestIdle(largest, 'maxSessions') ? undefined : busy(503, 'maxSessions', maxSessions, 'sessions')
  }

  /** Opens a session. Its client learns the id with the answer to the handshake. */
  begin(principal: string | undefined, usage: CallerUsage): HttpSession {
    const session = new HttpSession(principal, usage, this.#services)
    this.#sessions.set(session.id, session)
    usage.sessions.add(session)
    this.#stopTending ??= this.#services.open.everyTick(() => this.#tend())
    return session
  }

  /** The session with this id, if it belongs to this caller. Sessions of others look as if they did not exist. */
  find(id: string, principal: string | undefined): HttpSession | undefined {
    const session = this.#sessions.get(id)
    return session?.principal === principal ? session : undefined
  }

  end(session: HttpSession, reason: string, cause?: EndCause): void {
    this.#sessions.delete(session.id)
    session.usage.sessions.delete(session)
    session.close(reason, cause)
    if (this.#sessions.size > 0) return
    this.#stopTending?.()
    this.#stopTending = undefined
  }

  breakOffAll(): void {
    for (const session of this.#sessions.values()) session.breakOff()
  }

  endAll(reason: string, cause: EndCause): void {
    for (const session of [...this.#sessions.values()]) this.end(session, reason, cause)
  }

  #tend(): void {
    const now = this.#services.now()
    for (const session of [...this.#sessions.values()]) if (session.tend(now)) this.end(session, 'The session expired')
  }

  /** Closes the session that was idle longest. Its client gets a 404 and opens a new one. False when all are in use. */
  #endLongestIdle(usage: CallerUsage, limit: string): boolean {
    let longest: string | undefined
    let since = Number.POSITIVE_INFINITY
    for (const { id, idleSince } of usage.sessions) {
      if (idleSince === undefined || idleSince >= since) continue
      longest = id
      since = idleSince
    }
    const session = longest === undefined ? undefined : this.#sessions.get(longest)
    if (!session) return false
    this.end(session, `There was no room for more sessions (limits.${limit})`)
    return true
  }
}
