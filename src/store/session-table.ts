/** The sessions of all replicas: one record each, and the requests in progress. Types only. */

/** How long a session lives. */
export interface SessionLife {
  /** Without use. */
  ttlMs: number
  /** In all. */
  maxAgeMs: number
}

/**
 * - `gone`: there is no such session.
 * - `duplicate`: a request with this id is in progress.
 * - `full`: the session has `maxCalls` requests in progress. Before a session counts as full, the requests of replicas that are gone are removed.
 *   Of these, at most `maxCalls` that the client has cancelled stay, and do not count.
 */
export type Entered = 'gone' | 'duplicate' | 'full' | EnteredSession

/** A session that a request has entered. */
export interface EnteredSession {
  record: string
  /** Counts the changes of the record, from 1. */
  revision: number
  /** True about ten times in `ttlMs`: add the session to its topics again, for 1.1 times `ttlMs`. */
  isTopicRenewalDue: boolean
  /** The client has cancelled the request while another replica ran it. */
  isCancelled: boolean
}

/** A session that was looked at without using it. */
export interface LookedAtSession {
  /** Undefined if this replica cannot open it. */
  record?: string | undefined
  /** How long it has not been used; undefined while it is in use: a request is in progress, or a replica that lives reads a stream. */
  idleMs?: number | undefined
}

/** Keeps the records of sessions. A record is text to the store. */
export interface SessionTable {
  create(sid: string, record: string, life: SessionLife): Promise<void>
  /**
   * Reads the record, moves its expiry, and registers a request of this replica, all at once.
   *
   * @param call the id of the request. Without it, nothing is registered.
   * @param isTakenOver true: this replica goes on with a request of a replica that is gone. It stays cancelled if it was.
   *   The same again is the same attempt: its reply was lost.
   */
  enter(sid: string, call: string | undefined, maxCalls: number, isTakenOver?: boolean): Promise<Entered>
  /** The request is over. Does nothing if it is registered for another replica: the client may use the id again. */
  leave(sid: string, call: string): Promise<void>
  /** Replaces the record if `revision` is still the current one. Returns false otherwise, and if there is no such session. */
  replace(sid: string, record: string, revision: number): Promise<boolean>
  /** Removes the session with everything that belongs to it. Returns whether there was one. */
  end(sid: string): Promise<boolean>
  /** Looks at sessions without moving their expiry. One that is damaged, so that no replica can use it, is `gone`. */
  idle(sids: string[]): Promise<('gone' | LookedAtSession)[]>
  /** Removes the session, as `end` does, if it is idle and has been for so long. Returns whether it did. */
  endIdle(sid: string, idleMs: number): Promise<boolean>
  /**
   * Notes that the client has cancelled a request, until the request is over. Returns the replica that runs it, or ran it when it died;
   * undefined: there is no such request.
   */
  cancel(sid: string, call: string): Promise<string | undefined>
  /** Those of the requests that the client has cancelled. */
  cancelled(sid: string, calls: readonly string[]): Promise<string[]>
}
