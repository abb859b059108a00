/** Connects a client and a server in one process, for tests. */

import { Client } from '../client/client.ts'
import { memoryTarget } from '../client/memory-link.ts'
import { CONNECT_MEMBERS, type ConnectOptions } from '../client/options.ts'
import type { Outlet } from '../jsonrpc/outlet.ts'
import { checkMembers } from '../protocol/check-members.ts'
import type { Link, Target } from '../protocol/interfaces/link.ts'
import type { Service } from '../protocol/interfaces/service.ts'

/** A message between client and server. */
export interface WireMessage {
  from: 'client' | 'server'
  json: string
}

/** Options for `pair` and `record`. */
export interface PairOptions extends ConnectOptions {
  /** The protocol revision to use, by its date. Default: the newest. */
  revision?: string
  /** Receives every message. */
  onWire?(message: WireMessage): void
}

/** A connected client. */
export interface Pair {
  client: Client
  close(): Promise<void>
}

/**
 * Connects a client to a server in this process.
 *
 * @example
 * const { client, close } = await pair(server)
 * const result = await client.call('add', { a: 1, b: 2 })
 * await close()
 */
export async function pair(service: Service, options: PairOptions = {}): Promise<Pair> {
  checkMembers('pair', options, { revision: 1, onWire: 1, ...CONNECT_MEMBERS })
  const { revision, onWire, ...rest } = options
  const target = onWire ? tapClient(memoryTarget(tapServer(service, onWire)), onWire) : memoryTarget(service)
  const client = await Client.connect(target, revision === undefined ? rest : { ...rest, revisions: [revision] })
  return { client, close: () => client.close() }
}

/**
 * Runs a script against a server and returns all messages in order.
 *
 * @example
 * const messages = await record(server, {}, async (client) => void (await client.call('echo', { text: 'Hi' })))
 */
export async function record(service: Service, options: PairOptions, script: (client: Client) => Promise<void>): Promise<WireMessage[]> {
  const messages: WireMessage[] = []
  const { client, close } = await pair(service, {
    ...options,
    onWire: (message) => {
      messages.push(message)
      options.onWire?.(message)
    },
  })
  try {
    await script(client)
  } finally {
    await close()
  }
  return messages
}

/** The same server, with a callback for each of its messages. */
function tapServer(service: Service, onWire: (message: WireMessage) => void): Service {
  const tap = (outlet: Outlet): Outlet => ({
    push: (json) => {
      onWire({ from: 'server', json })
      return outlet.push(json)
    },
    answer: (json, errorCode) => {
      onWire({ from: 'server', json })
      outlet.answer(json, errorCode)
    },
    drop: () => outlet.drop(),
  })
  return {
    ...service,
    answer: (request, outlet, sender) => service.answer(request, tap(outlet), sender),
    open: (options) => {
      const channel = service.open({ ...options, outlet: tap(options.outlet) })
      const receive = channel.receive.bind(channel)
      channel.receive = (message, outlet) => receive(message, tap(outlet))
      return channel
    },
  }
}

function tapClient(target: Target, onWire: (message: WireMessage) => void): Target {
  const open = async (): Promise<Link> => {
    const link = await target.open()
    const send = link.send.bind(link)
    link.send = (json) => {
      onWire({ from: 'client', json })
      send(json)
    }
    return link
  }
  return { ...target, open }
}
