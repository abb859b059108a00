/** Sessions of pages. Each has two secrets: a cookie, which the browser sends, and a token, which only the page knows. */

import type { Clock } from '../../base/clock.ts'
import { ApiError, tooMany } from '../errors.ts'
import type { ConsoleLimits } from '../limits.ts'
import { digestOf, isSame, newSecret } from './secret.ts'

export interface Session {
  readonly cookie: Buffer
  readonly token: Buffer
  usedAt: number
  /** Open event streams. Ending the session ends them. */
  readonly streams: Set<{ end(): void }>
}

export interface SessionSecrets {
  cookie: string
  token: string
}

type SessionLimits = Pick<ConsoleLimits, 'maxSessions' | 'sessionIdleMs'>

export class Sessions {
  readonly #limits: SessionLimits
  readonly #clock: Clock
  readonly #sessions = new Set<Session>()

  constructor(limits: SessionLimits, clock: Clock) {
    this.#limits = limits
    this.#clock = clock
  }

  get size(): number {
    return this.#sessions.size
  }

  /** Ends no session: the code of the request may be wrong. @throws ApiError 429 if every session is in use */
  checkRoom(): void {
    const { maxSessions } = this.#limits
    if (this.#sessions.size < maxSessions || this.#idlest()) return
    throw tooMany(`${maxSessions} windows use the console already (maxSessions): close one of them first`)
  }

  /**
   * Ends the session that was idle longest, if there is no room.
   * @param cookies of the request. All windows of a browser have one cookie: a new one would end the sessions of the others.
   */
  open(cookies: readonly string[]): SessionSecrets {
    this.#endIdle()
    this.checkRoom()
    const idlest = this.#sessions.size < this.#limits.maxSessions ? undefined : this.#idlest()
    if (idlest) this.end(idlest)
    const cookie = cookies.find((each) => this.hasCookie(each)) ?? newSecret()
    const token = newSecret()
    this.#sessions.add({ cookie: digestOf(cookie), token: digestOf(token), usedAt: this.#clock.now(), streams: new Set() })
    return { cookie, token }
  }

  /** @throws ApiError 401 unless the token and one of the cookies belong to the same session */
  check(cookies: readonly string[], token: string | undefined): Session {
    if (cookies.length === 0 || token === undefined) throw missing(cookies.length === 0, token === undefined)
    this.#endIdle()
    const cookieDigests = cookies.map(digestOf)
    const tokenDigest = digestOf(token)
    let found: Session | undefined
    // Compares all secrets of every session, so that the time says nothing about them.
    for (const session of this.#sessions) {
      const hasCookie = cookieDigests.filter((digest) => isSame(session.cookie, digest)).length > 0
      const hasToken = isSame(session.token, tokenDigest)
      if (hasCookie && hasToken) found = session
    }
    if (!found) throw unauthorized('There is no session with this cookie and this token: it ended, or the console was started again')
    found.usedAt = this.#clock.now()
    return found
  }

  /** Whether a session has this cookie. */
  hasCookie(cookie: string): boolean {
    const digest = digestOf(cookie)
    return [...this.#sessions].filter((session) => isSame(session.cookie, digest)).length > 0
  }

  end(session: Session): void {
    this.#sessions.delete(session)
    for (const stream of [...session.streams]) stream.end()
  }

  endAll(): void {
    for (const session of [...this.#sessions]) this.end(session)
  }

  #idlest(): Session | undefined {
    return [...this.#sessions].filter(({ streams }) => streams.size === 0).sort((one, other) => one.usedAt - other.usedAt)[0]
  }

  /** A session with an open stream is in use. */
  #endIdle(): void {
    const before = this.#clock.now() - this.#limits.sessionIdleMs
    for (const session of [...this.#sessions]) if (session.usedAt < before && session.streams.size === 0) this.end(session)
  }
}

function missing(hasNoCookie: boolean, hasNoToken: boolean): ApiError {
  const what = [...(hasNoCookie ? ['the cookie'] : []), ...(hasNoToken ? ['the header portico-token'] : [])]
  return unauthorized(`Expected the cookie and the token of a session; ${what.join(' and ')} ${what.length > 1 ? 'are' : 'is'} missing`)
}

const unauthorized = (message: string): ApiError => new ApiError(401, 'ERR_SESSION', message)
