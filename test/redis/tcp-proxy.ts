/** A proxy in front of Redis that cuts connections, or lets them hang. */

import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

export interface TcpProxy {
  readonly port: number
  /** Closes all connections. New ones are accepted. */
  cut(): void
  /** Passes nothing on and closes nothing, as after a cable was pulled. `replies` only loses what Redis says, after some replies more. */
  hang(direction: 'both' | 'replies', passing?: number): void
  /** Passes everything on after this time. */
  delay(ms: number): void
  /** Connections that are made from now on work. Those that hang go on hanging. */
  heal(): void
  close(): Promise<void>
}

type Write = (bytes: Buffer) => void

/** Writes after a while, and in order: bytes that come after the delay became shorter do not overtake those that still wait. */
export function inOrder<T>(write: (bytes: T) => void, delayMs: () => number): (bytes: T) => void {
  let last: Promise<void> | undefined
  return (bytes) => {
    if (delayMs() === 0 && !last) return write(bytes)
    const own = Promise.all([last, sleep(delayMs())]).then(() => {
      if (last === own) last = undefined
      write(bytes)
    })
    last = own
  }
}

export async function tcpProxy(target: number): Promise<TcpProxy> {
  const sockets = new Set<Socket>()
  let hanging: 'both' | 'replies' | undefined
  let passes = 0
  let delayMs = 0
  const server = createServer((inner) => {
    const outer = connect(target, '127.0.0.1')
    const [request, reply] = [outer, inner].map((socket) =>
      inOrder<Buffer>(
        (bytes) => socket.write(bytes),
        () => delayMs,
      ),
    ) as [Write, Write]
    const hangs = (): boolean => hung.is || hanging !== undefined
    const hung = { is: false, direction: 'both' as 'both' | 'replies' }
    for (const socket of [inner, outer]) {
      sockets.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => {
        sockets.delete(socket)
        if (!hung.is) for (const each of [inner, outer]) each.destroy()
      })
    }
    const isLost = (direction: 'replies' | 'requests'): boolean => {
      if (!hangs()) return false
      if (!hung.is) {
        hung.is = true
        hung.direction = hanging ?? 'both'
      }
      return direction === 'replies' || hung.direction === 'both'
    }
    inner.on('data', (bytes) => {
      if (passes > 0 || !isLost('requests')) request(bytes)
    })
    outer.on('data', (bytes) => {
      if ((hanging && !hung.is && passes-- > 0) || !isLost('replies')) reply(bytes)
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as { port: number }).port,
    cut: () => {
      for (const socket of sockets) socket.destroy()
    },
    hang: (direction, passing = 0) => {
      hanging = direction
      passes = passing
    },
    delay: (ms) => {
      delayMs = ms
    },
    heal: () => {
      hanging = undefined
    },
    close: async () => {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}
