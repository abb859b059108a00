/** The sessions of this process: found by id and owner, bounded in number, ended when nobody needs them. */

import type { CallerUsage, UsageByCaller } from '../limits/caller-usage.ts'
import type { HttpLimits } from '../options.ts'
import { busy, type Refusal } from '../refusal.ts'
import { HttpSession, type SessionServices } from './session.ts'

export class Sessions {
  readonly #limits: HttpLimits
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

  /** Makes room for one more, at the cost of a session that nobody uses if it must be; a refusal when all are in use. */
  checkRoom(usage: CallerUsage): Refusal | undefined {
    const { maxSessions, maxSessionsPerPrincipal, maxSessionsPerAddress } = this.#limits
    const count = usage.sessions.size
    if (usage.kind === 'principal' && count >= maxSessionsPerPrincipal)
      return busy(429, 'maxSessionsPerPrincipal', maxSessionsPerPrincipal, 'sessions of one caller')
    if (usage.kind === 'address' && maxSessionsPerAddress !== false && count >= maxSessionsPerAddress) {
      if (!this.#endLongestIdle(usage, 'maxSessionsPerAddress'))
        return busy(429, 'maxSessionsPerAddress', maxSessionsPerAddress, 'sessions of one address')
    }
    if (this.#sessions.size < maxSessions) return undefined
    const largest = this.#usages.largest(({ sessions }) => sessions.size)
    return this.#endLongestIdle(largest, 'maxSessions') ? undefined : busy(503, 'maxSessions', maxSessions, 'sessions')
  }

  /** A session that takes its room at once; nobody knows its id before the handshake is answered. */
  begin(principal: string | undefined, usage: CallerUsage): HttpSession {
    const session = new HttpSession(principal, usage, this.#services)
    this.#sessions.set(session.id, session)
    usage.sessions.add(session)
    this.#stopTending ??= this.#services.open.everyTick(() => this.#tend())
    return session
  }

  /** The session of this id, if it belongs to this caller. Whose it is otherwise, nobody is told. */
  find(id: string, principal: string | undefined): HttpSession | undefined {
    const session = this.#sessions.get(id)
    return session?.principal === principal ? session : undefined
  }

  end(session: HttpSession, reason: string): void {
    this.#sessions.delete(session.id)
    session.usage.sessions.delete(session)
    session.close(reason)
    if (this.#sessions.size > 0) return
    this.#stopTending?.()
    this.#stopTending = undefined
  }

  breakOffAll(): void {
    for (const session of this.#sessions.values()) session.breakOff()
  }

  endAll(reason: string): void {
    for (const session of [...this.#sessions.values()]) this.end(session, reason)
  }

  #tend(): void {
    const now = this.#services.now()
    for (const session of [...this.#sessions.values()]) if (session.tend(now)) this.end(session, 'The session expired')
  }

  /** Its client is told so by a 404, and begins anew. False when all sessions of this usage are in use. */
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
