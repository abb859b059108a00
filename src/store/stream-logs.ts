/** The logs of streams: what a handler says goes into a log, and the replica that holds the connection reads it. Types only. */

/** The stream for messages that belong to no request. It exists as long as its session, and every replica may append to it. */
export const STANDING_STREAM = '0'

/**
 * Producers of one stream whose last batch is remembered. Every replica may append to the standing stream, and a process that was replaced
 * counts as another producer.
 */
export const MAX_PRODUCERS = 64

/** How much of a stream is kept. The oldest events go first. */
export interface LogBounds {
  /** Of one stream. */
  maxEvents: number
  /** Of one stream, as they are stored. */
  maxBytes: number
  /**
   * Of all streams of one session, as they are stored, about. Ended streams go first, then the oldest events of the stream that grows,
   * then those of the other streams, last of the standing one. The newest event stays, and so do changes (`coalesce`) that no reader was given.
   */
  maxSessionBytes: number
  /** How long a stream is kept after its last event. */
  endedTtlMs: number
  /** Ended streams that one session keeps. */
  maxEnded: number
}

/** An event before it has a position. */
export interface NewEvent {
  json: string
  /** The id of the question that this event asks. Its answer is accepted once. */
  question?: string
  /**
   * While an event with this key is unread, another one is not added. When it is the oldest and the log is full, it becomes the newest
   * instead of being dropped. Only for the standing stream.
   */
  coalesce?: string
}

/**
 * Events that are added together. A producer sends one batch of a stream after the other, never two at once, and counts them: a batch
 * that it sends again after an error, with the same `n`, is added once. So a store remembers the last batch of each of 64 producers.
 */
export interface Batch {
  /** Higher than that of the batch before. */
  n: number
  /** From `open` or `takeOver`. Undefined: the standing stream. */
  epoch?: number
  events: readonly NewEvent[]
  /** Ends the stream. */
  isLast?: boolean
}

/**
 * - `gone`: there is no such stream.
 * - `fenced`: another replica has taken the stream over, or it has ended. Stop.
 */
export type Appended = 'gone' | 'fenced' | AppendedBatch

/** A batch that is in the log. */
export interface AppendedBatch {
  /** The position of each event; undefined for an event that was not added because of `coalesce`. */
  positions: (string | undefined)[]
  /** The replica that reads the stream. The store wakes it, except if it is this one. */
  reader: string | undefined
}

/** A position is opaque. Later events have later positions, also after the store has lost events in a failover. */
export interface StreamEvent {
  position: string
  json: string
}

/**
 * - `gone`: there is no such stream.
 * - `lost`: events after the given position are no longer kept, or the store does not know the position.
 * - `superseded`: another reader has attached.
 */
export type ReadFault = 'gone' | 'lost' | 'superseded'

/** A part of a log. */
export interface EventsRead {
  events: StreamEvent[]
  /** These are the last events. There will be no more. */
  isOver: boolean
  /** There may be more events: read on after this position. It is later than the last event if events after that cannot be opened here. */
  next: string | undefined
}

/** What a new reader gets. */
export interface Attached extends EventsRead {
  /** Names this reader in `read` and `detach`. */
  reader: number
  /** The replica that runs the request; undefined for the standing stream. */
  owner: string | undefined
  /** The position before the first of these events: a client that has no other one can resume there. Empty for none. */
  from: string
}

/** What another replica needs in order to continue a stream. */
export interface TakenOver {
  epoch: number
  /** As it was given to `open`. Empty if another key sealed it: end the stream with an error. */
  call: string
  /** The entries of `record`. */
  journal: Record<string, string>
  /** Answers that were not settled, by question. */
  answers: Record<string, string>
  /** Questions without an answer. */
  questions: string[]
}

/**
 * - `accepted`: the executing replica gets the message `answered`.
 * - `duplicate`: it was answered before.
 * - `unknown`: no such question is open.
 */
export type AnswerOutcome = 'accepted' | 'duplicate' | 'unknown'

/** Keeps the events of streams in order, for readers on any replica. */
export interface StreamLogs {
  /**
   * Creates the log of one request. This replica runs the request and reads the stream. When its lease ends, others find the stream with
   * `claimDead`. Returns the epoch, and the number of the first reader is 1.
   *
   * @param call what another replica needs to run the request again, or to answer it with an error
   */
  open(sid: string, stream: string, call: string): Promise<number | 'gone' | 'exists'>
  /** Adds events. What it returned is safe to send: readers find it in this order. */
  append(sid: string, stream: string, batch: Batch, bounds: LogBounds): Promise<Appended>
  /**
   * Becomes the reader, and reads. The reader before is told (`superseded`).
   *
   * @param after the last position that the client has; an empty text for none. Undefined: the last position that any reader was given.
   * @param limit 0: it becomes the reader, and no event counts as given
   */
  attach(sid: string, stream: string, after: string | undefined, limit: number): Promise<ReadFault | Attached>
  /**
   * Reads on. What it returns counts as read: events that coalesce with it are added again.
   *
   * @param after undefined: the last position that any reader was given
   */
  read(sid: string, stream: string, reader: number, after: string | undefined, limit: number): Promise<ReadFault | EventsRead>
  detach(sid: string, stream: string, reader: number): Promise<void>
  /** Records the answer to a question. The first one counts. */
  answer(sid: string, stream: string, question: string, json: string): Promise<AnswerOutcome>
  /**
   * The answers that are not settled. Keeps the session and the stream from expiring. Call it at every renewal of the lease, because
   * messages are only hints.
   *
   * @param epoch undefined for the standing stream
   */
  answers(sid: string, stream: string, epoch: number | undefined): Promise<'gone' | 'fenced' | Record<string, string>>
  /** Forgets a question and its answer. */
  settle(sid: string, stream: string, question: string): Promise<void>
  /** Records a value for a later run of the same request. Returns false if the stream was taken over. */
  record(sid: string, stream: string, epoch: number, name: string, json: string): Promise<boolean>
  /**
   * Makes this replica the owner, if `from` still is. Everything that `from` appends later is refused. A replica without the key of the
   * stream leaves it to others for the length of a lease, and returns undefined.
   */
  takeOver(sid: string, stream: string, from: string): Promise<TakenOver | undefined>
}
