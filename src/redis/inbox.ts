/** Reads the inbox of a replica on a connection of its own. */

import type { RedisClient } from './client-library.ts'
import type { Connection } from './connection.ts'
import { textOf } from './context.ts'

/** How long one read waits for a message. Also how often a connection shows that it is alive. */
const BLOCK_MS = 2000
const RETRY_MS = 100
const MOST = 200
/** After so many bytes the next renewal of the lease is too late: Redis would still count them as unread. */
const TELL_BYTES = 4 * 1024 * 1024

export interface InboxActions {
  /** The next message is handled, and more are read, when it resolves: until then the limits of the inbox in Redis count it as unread. It comes again if it rejects. */
  onMessage(bytes: Buffer): Promise<void>
  /** Many bytes were handled. Redis is to count them no longer. */
  onManyHandled(): Promise<unknown>
  /** Messages were dropped before this replica read them. */
  onMissed(): void
}

export class Inbox {
  /** The last message that was handled. */
  cursor = '0-0'
  /** The bytes of all messages that were handled. */
  bytes = 0
  readonly #key: string
  readonly #connection: Connection
  readonly #actions: InboxActions
  #client: RedisClient | undefined
  #isClosed = false
  /** Those of `bytes` that Redis was told of here. */
  #told = 0
  /** The number of the last message. Senders count them. */
  #number = 0

  constructor(key: string, connection: Connection, actions: InboxActions) {
    this.#key = key
    this.#connection = connection
    this.#actions = actions
    void this.#readAll()
  }

  /** @param sent how many messages were sent, if all that were kept are handled: if the last message was dropped, no later number reveals the gap */
  expect(sent: number): void {
    if (sent <= this.#number) return
    this.#number = sent
    this.#actions.onMissed()
  }

  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    // Once: ioredis waits two seconds for the end of a connection that has ended, and the process with it.
    this.#client?.disconnect()
  }

  async #readAll(): Promise<void> {
    this.#client = await this.#connection.blocking(BLOCK_MS).catch(() => undefined)
    if (this.#isClosed) return this.#client?.disconnect()
    while (!this.#isClosed) {
      try {
        if (!this.#client) throw new Error('The client library is missing')
        const reply = await this.#client.callBuffer('XREAD', 'COUNT', MOST, 'BLOCK', BLOCK_MS, 'STREAMS', this.#key, this.cursor)
        this.#connection.note('XREAD')
        await this.#take(reply as [Buffer, [Buffer, Buffer[]][]][] | null)
      } catch (error) {
        this.#connection.note('XREAD', error as Error)
        // The connection is lost, and the client connects again; until then every read fails at once. Or the keys fail for a while.
        if (!this.#isClosed) await new Promise((resolve) => setTimeout(resolve, RETRY_MS))
      }
    }
  }

  async #take(reply: [Buffer, [Buffer, Buffer[]][]][] | null): Promise<void> {
    for (const [id, fields] of reply?.[0]?.[1] ?? []) {
      if (this.#isClosed) return
      const number = Number(textOf(fields[1]))
      if (number > this.#number + 1) this.#actions.onMissed()
      // A message that the client library sent twice has another number, and does no harm: messages are hints.
      this.#number = Math.max(number, this.#number)
      if (fields[3]) await this.#actions.onMessage(fields[3])
      this.cursor = textOf(id)
      this.bytes += fields[3]?.length ?? 0
      if (this.bytes - this.#told < TELL_BYTES) continue
      this.#told = this.bytes
      // The next renewal tells it, too.
      await this.#actions.onManyHandled().catch(() => {})
    }
  }
}
