/** Closes the connections that were handed to a worker that ended before it had them. */

import type { Worker } from 'node:cluster'

/** How Node hands a connection to a worker, and how the worker answers. No documentation has it; of another form nothing is closed. */
interface Handover {
  cmd?: unknown
  act?: unknown
  seq?: unknown
  ack?: unknown
}

interface Connection {
  close(): void
}

type Send = (message: Handover, connection?: Connection, ...more: unknown[]) => boolean

/**
 * The primary process keeps a connection open until its worker says that it has it. If the worker is killed before, Node forgets the
 * connection: it would stay open as long as the primary process, and its client would wait for ever.
 */
export function closeLostConnections(worker: Worker): void {
  const { process } = worker
  const handedOver = new Map<unknown, Connection>()
  const send = process.send?.bind(process) as Send | undefined
  if (!send) return
  const watched: Send = (message, connection, ...more) => {
    if (connection && message?.cmd === 'NODE_CLUSTER' && message.act === 'newconn') handedOver.set(message.seq, connection)
    return send(message, connection, ...more)
  }
  process.send = watched as typeof process.send
  process.on('internalMessage', ({ ack }: Handover) => handedOver.delete(ack))
  const closeAll = (): void => {
    for (const connection of handedOver.values()) connection.close()
    handedOver.clear()
  }
  process.once('exit', closeAll)
  // Until then Node may hand it more.
  process.once('disconnect', closeAll)
}
