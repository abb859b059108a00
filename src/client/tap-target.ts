/** Reports every message of a connection. */

import type { Incoming, SingleMessage } from '../jsonrpc/message.ts'
import type { Link, LinkReceiver, Target } from '../protocol/interfaces/link.ts'

/** A message that passed between client and server. */
export interface TappedMessage {
  from: 'client' | 'server'
  /** The message as JSON. For invalid input: `{ malformed }` or `{ ignored }` with the reason. */
  message: unknown
  /** Milliseconds since `tapTarget` was called. */
  atMs: number
}

/**
 * Returns the same target, and reports every message of both sides.
 *
 * @example
 * const client = await connect(tapTarget(httpTarget('https://server.example/mcp'), ({ from, message }) => console.log(from, message)))
 */
export function tapTarget(target: Target, onPassed: (passed: TappedMessage) => void): Target {
  const started = performance.now()
  const tell = (from: TappedMessage['from'], message: unknown): void => onPassed({ from, message, atMs: performance.now() - started })
  const open = async (): Promise<Link> => {
    const link = await target.open()
    const send = link.send.bind(link)
    const start = link.start.bind(link)
    link.send = (json, about) => {
      tell('client', JSON.parse(json))
      send(json, about)
    }
    link.start = (receiver) => start(listening(receiver, (message) => tell('server', message)))
    return link
  }
  return { ...target, open }
}

function listening(receiver: LinkReceiver, tell: (message: unknown) => void): LinkReceiver {
  return {
    ...boundTo(receiver),
    onMessage: (message) => {
      tell(wireForm(message))
      receiver.onMessage(message)
    },
  }
}

function boundTo(receiver: LinkReceiver): LinkReceiver {
  return {
    onMessage: (message) => receiver.onMessage(message),
    onLost: (id, error) => receiver.onLost(id, error),
    onHeld: (id) => receiver.onHeld?.(id),
    onPermitted: () => receiver.onPermitted?.(),
    onMissed: () => receiver.onMissed?.(),
    onForgotten: () => receiver.onForgotten(),
    onClose: (error) => receiver.onClose(error),
  }
}

/** A parsed message in the form it had on the wire. */
const wireForm = (message: Incoming): unknown => (message.kind === 'batch' ? message.messages.map(singleForm) : singleForm(message))

function singleForm(message: SingleMessage): unknown {
  const jsonrpc = '2.0'
  switch (message.kind) {
    case 'request':
      return { jsonrpc, id: message.id, method: message.method, ...(message.params && { params: message.params }) }
    case 'notification':
      return { jsonrpc, method: message.method, ...(message.params && { params: message.params }) }
    case 'result':
      return { jsonrpc, id: message.id, result: message.result }
    case 'error':
      return { jsonrpc, id: message.id ?? null, error: message.error }
    case 'malformed':
      return { malformed: message.error.message, ...(message.id !== undefined && { id: message.id }) }
    case 'ignored':
      return { ignored: message.reason, ...(message.id !== undefined && { id: message.id }) }
  }
}
