/** Connects a client and a server in one process. Messages are JSON text, as on any transport. */

import type { Outlet } from '../jsonrpc/outlet.ts'
import { ANSWER_BOUNDS, DEFAULT_READ_BOUNDS, read } from '../jsonrpc/read.ts'
import type { Link, LinkReceiver, Target } from '../protocol/interfaces/link.ts'
import type { Channel, Service } from '../protocol/interfaces/service.ts'

let opened = 0

/**
 * A target for a server in this process.
 *
 * @example
 * const client = await connect(memoryTarget(createServer({ name: 'demo', version: '1.0.0' })))
 */
export function memoryTarget(service: Service, label = 'in-memory server'): Target {
  return { key: `memory:${++opened}`, label, open: async () => new MemoryLink(service) }
}

class MemoryLink implements Link {
  readonly #channel: Channel
  readonly #toServer: Lane
  #receiver: LinkReceiver | undefined
  #isClosed = false

  constructor(service: Service) {
    const toClient = new Lane((json) => {
      if (!this.#isClosed) this.#receiver?.onMessage(read(json, ANSWER_BOUNDS))
    })
    const put = (json: string): undefined => toClient.put(json)
    const outlet: Outlet = { push: put, answer: put, drop: () => {} }
    this.#toServer = new Lane((json) => {
      if (!this.#isClosed) this.#channel.receive(read(json, DEFAULT_READ_BOUNDS), outlet)
    })
    this.#channel = service.open({ outlet, isPrivate: true })
  }

  start(receiver: LinkReceiver): void {
    this.#receiver = receiver
  }

  send(json: string): void {
    this.#toServer.put(json)
  }

  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#channel.close('The client closed the connection')
  }
}

/** One direction. Messages arrive in a later turn, never inside the call that sends them. */
class Lane {
  readonly #deliver: (json: string) => void
  #waiting: string[] = []

  constructor(deliver: (json: string) => void) {
    this.#deliver = deliver
  }

  put(json: string): undefined {
    if (this.#waiting.push(json) === 1) void TURN.then(this.#run)
  }

  readonly #run = (): void => {
    const messages = this.#waiting
    this.#waiting = []
    for (const json of messages) this.#deliver(json)
  }
}

const TURN = Promise.resolve()
