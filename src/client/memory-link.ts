/** A client and a server in one process: the same messages as on any wire, as text, without the wire. */

import type { Outlet } from '../jsonrpc/outlet.ts'
import { read } from '../jsonrpc/read.ts'
import { DEFAULT_READ_BOUNDS } from '../protocol/bounds.ts'
import type { Link, LinkReceiver, Target } from '../protocol/link.ts'
import type { Channel, Service } from '../protocol/service.ts'

let opened = 0

export function memoryTarget(service: Service, label = 'in-memory server'): Target {
  return { key: `memory:${++opened}`, label, open: async () => new MemoryLink(service) }
}

class MemoryLink implements Link {
  readonly #channel: Channel
  readonly #outlet: Outlet
  #receiver: LinkReceiver | undefined
  #isClosed = false

  constructor(service: Service) {
    const deliver = (json: string): undefined => {
      // In a later turn, as on a wire: a reply never arrives inside the call that caused it.
      queueMicrotask(() => {
        if (!this.#isClosed) this.#receiver?.onMessage(read(json, DEFAULT_READ_BOUNDS))
      })
    }
    this.#outlet = { push: deliver, answer: deliver, drop: () => {} }
    this.#channel = service.open({ outlet: this.#outlet })
  }

  start(receiver: LinkReceiver): void {
    this.#receiver = receiver
  }

  send(json: string): void {
    queueMicrotask(() => {
      if (!this.#isClosed) this.#channel.receive(read(json, DEFAULT_READ_BOUNDS), this.#outlet)
    })
  }

  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#channel.close('The client closed the connection')
  }
}
