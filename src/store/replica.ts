/** This process among the replicas: its lease, its inbox, and the replicas that died. Types only. */

/** A message to a replica. It is a hint: the store is the truth, and a replica reads it again at every renewal of its lease. */
export type StoreMessage =
  /** A stream that this replica reads has new events, or has ended. */
  | { kind: 'wake'; sid: string; stream: string }
  /** Another reader took over a stream that this replica reads. `reader` is the new one. */
  | { kind: 'superseded'; sid: string; stream: string; reader: number }
  /** An answer came to a question of this replica. */
  | { kind: 'answered'; sid: string; stream: string; question: string; json: string }
  /** From `send` or `broadcast`. */
  | { kind: 'message'; json: string }
  /** Messages were lost, or this replica has joined again after it lost its lease. Read everything again. */
  | { kind: 'missed' }
  /** The lease of this replica has ended, or is about to. Stop what it runs, close its connections, and join again. */
  | { kind: 'lost'; reason: string }

/** A replica whose lease has ended, with requests that it left. */
export interface DeadReplica {
  replica: string
  streams: { sid: string; stream: string }[]
}

/** This process as one of the replicas that share a store. */
export interface Replica {
  /** Names this replica until it loses its lease. It gets another name when it joins again. */
  readonly id: string
  readonly leaseMs: number
  /**
   * False from the moment in which others may take over. Look at it before every write to a socket. The clock never goes back, but it may stand
   * still while the machine sleeps. Then this is true until the next renewal, and the store refuses what this replica says.
   */
  readonly isHeld: boolean
  /** Takes the lease and renews it from then on. Calls after the first return at once. `open` and `attach` join if necessary. */
  join(): Promise<void>
  /** Returns a function that ends it. */
  listen(listener: (message: StoreMessage) => void): () => void
  /** Puts a message into the inbox of a replica. Returns false if that replica is gone. */
  send(replica: string, json: string): Promise<boolean>
  /** Sends a message to all other replicas. */
  broadcast(json: string): Promise<void>
  /**
   * Claims one replica whose lease has ended, so that no other replica looks after it at the same time. Take its streams over, then call
   * it again, until it returns undefined.
   */
  claimDead(): Promise<DeadReplica | undefined>
  /** Gives the lease up. Others take over at once what this replica has not ended. */
  leave(): Promise<void>
}
