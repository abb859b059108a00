/** Bounds the connections of a server. Idle ones make room, so that they cannot keep the person out. */

import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** Beyond `max`, the connection that has been idle longest is closed. If all are in use, the new one is. */
export function limitConnections(server: Server, max: number): void {
  /** In the order of their last use. */
  const idle = new Set<Socket>()
  let count = 0
  server.on('connection', (socket: Socket) => {
    count++
    idle.add(socket)
    socket.once('close', () => {
      count--
      idle.delete(socket)
    })
    if (count > max) idle.values().next().value?.destroy()
  })
  server.on('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    idle.delete(socket)
    response.once('close', () => {
      if (!socket.destroyed) idle.add(socket)
    })
  })
}
