/** Listening to a connection: every message of both sides, as it passes. */

import type { Incoming, SingleMessage } from '../../jsonrpc/message.ts'
import type { Link, LinkReceiver, Target } from '../../protocol/seams/link.ts'

export interface Passed {
  from: 'client' | 'server'
  /** The message as JSON, or what could be told of one that is none. */
  message: unknown
  /** Milliseconds since the connection was opened. */
  atMs: number
}

/** The same target with somebody listening. */
export function tapped(target: Target, onPassed: (passed: Passed) => void): Target {
  const started = performance.now()
  const tell = (from: Passed['from'], message: unknown): void => onPassed({ from, message, atMs: performance.now() - started })
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
    onForgotten: () => receiver.onForgotten(),
    onClose: (error) => receiver.onClose(error),
  }
}

/** A message that was read, as it was written. */
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
