/** The sessions of this process: found by id and owner, bounded in number, ended when nobody needs them. */

import type { HttpLimits } from './options.ts'
import { busy, type Refusal } from './refusal.ts'
import { HttpSession, type SessionSurroundings } from './session.ts'

export class Sessions {
  readonly #limits: HttpLimits
  readonly #around: SessionSurroundings
  readonly #sessions = new Map<string, HttpSession>()
  readonly #perPrincipal = new Map<string, number>()
  #stopTending: (() => void) | undefined

  constructor(around: SessionSurroundings) {
    this.#limits = around.limits
    this.#around = around
  }

  get size(): number {
    return this.#sessions.size
  }

  /** Whether there is room for one more. */
  faultOfRoom(principal: string | undefined): Refusal | undefined {
    const { maxSessions, maxSessionsPerPrincipal } = this.#limits
    if (this.#sessions.size >= maxSessions) return busy(503, 'maxSessions', maxSessions, 'sessions')
    if (principal !== undefined && (this.#perPrincipal.get(principal) ?? 0) >= maxSessionsPerPrincipal)
      return busy(429, 'maxSessionsPerPrincipal', maxSessionsPerPrincipal, 'sessions of one caller')
    return undefined
  }

  /** A session that takes its room at once; nobody knows its id before the handshake is answered. */
  begin(principal: string | undefined): HttpSession {
    const session = new HttpSession(principal, this.#around)
    this.#sessions.set(session.id, session)
    if (principal !== undefined) this.#perPrincipal.set(principal, (this.#perPrincipal.get(principal) ?? 0) + 1)
    this.#stopTending ??= this.#around.open.everyTick(() => this.#tend())
    return session
  }

  /** The session of this id, if it belongs to this caller. Whose it is otherwise, nobody is told. */
  find(id: string, principal: string | undefined): HttpSession | undefined {
    const session = this.#sessions.get(id)
    return session?.principal === principal ? session : undefined
  }

  end(session: HttpSession, reason: string): void {
    if (this.#sessions.delete(session.id) && session.principal !== undefined) this.#forgetOne(session.principal)
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
    const now = this.#around.now()
    for (const session of [...this.#sessions.values()]) if (session.tend(now)) this.end(session, 'The session expired')
  }

  #forgetOne(principal: string): void {
    const count = (this.#perPrincipal.get(principal) ?? 0) - 1
    if (count > 0) this.#perPrincipal.set(principal, count)
    else this.#perPrincipal.delete(principal)
  }
}
