/** A server's channel with nothing between it and the test: messages in as JSON, messages out as they are written. */

import type { Outlet } from '../../src/jsonrpc/outlet.ts'
import { DEFAULT_READ_BOUNDS, read } from '../../src/jsonrpc/read.ts'
import type { Access } from '../../src/protocol/interfaces/access.ts'
import type { Channel, Service } from '../../src/server/index.ts'

// What was written may be anything; a test says what it expects of it.
// biome-ignore lint/suspicious/noExplicitAny: the point of a raw channel is that nothing is known of its messages
export type Message = Record<string, any>

export interface RawChannel {
  channel: Channel
  /** Everything written so far. */
  out: Message[]
  /** Sends a message, or any text. */
  send(message: unknown): void
  /** Sends a request and resolves with its answer. */
  ask(method: string, params?: unknown, id?: string | number): Promise<Message>
  /** Resolves with the first message that fits, past or future. */
  until(fits: (message: Message) => boolean): Promise<Message>
  /** Opens a session in the named revision. */
  initialize(revision: string, capabilities?: unknown): Promise<Message>
  dropped: number
  /** The access of whoever sends the next messages. */
  sender: Access
}

export function rawChannel(service: Service, options: { principal?: string; beginsAnew?: boolean; isPrivate?: true } = {}): RawChannel {
  const out: Message[] = []
  const waiting: { fits: (message: Message) => boolean; resolve: (message: Message) => void }[] = []
  let nextId = 1000
  const take = (json: string): undefined => {
    const value = JSON.parse(json) as Message
    out.push(value)
    for (const each of [...waiting]) {
      if (!each.fits(value)) continue
      waiting.splice(waiting.indexOf(each), 1)
      each.resolve(value)
    }
  }
  const outlet: Outlet = { push: take, answer: take, drop: () => raw.dropped++ }
  const outletOf = (sender: Access): Outlet => (sender === undefined ? outlet : { ...outlet, sender })
  const channel = service.open({ outlet, ...options })
  const raw: RawChannel = {
    channel,
    out,
    dropped: 0,
    sender: undefined,
    send: (message) =>
      channel.receive(read(typeof message === 'string' ? message : JSON.stringify(message), DEFAULT_READ_BOUNDS), outletOf(raw.sender)),
    ask: (method, params, id = nextId++) => {
      const answer = raw.until((message) => message.id === id && message.method === undefined)
      raw.send({ jsonrpc: '2.0', id, method, ...(params === undefined ? {} : { params }) })
      return answer
    },
    until: (fits) => {
      const known = out.find(fits)
      if (known) return Promise.resolve(known)
      return new Promise((resolve) => waiting.push({ fits, resolve }))
    },
    initialize: async (protocolVersion, capabilities = {}) => {
      const answer = await raw.ask('initialize', { protocolVersion, capabilities, clientInfo: { name: 'raw', version: '1' } })
      raw.send({ jsonrpc: '2.0', method: 'notifications/initialized' })
      return answer
    },
  }
  return raw
}

/** The metadata that a stateless request must carry. */
export const envelope = (capabilities: unknown = {}, extra: Message = {}): Message => ({
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'raw', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': capabilities,
  ...extra,
})

/** Lets everything that is ready happen. */
export const settle = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 5))
