/** Servers that nobody should reach: they count everybody who connects. */

import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface CanaryServer {
  port: number
  /** Connections, whether or not anything was asked over them. */
  hits(): number
  close(): Promise<void>
}

/** Listens on every address of this machine, so that 127.0.0.1, 127.x, ::1, 0.0.0.0 and :: all lead here. */
export const startCanary = (answer: RequestListener = (_, response) => response.end('{"secret":"of the inside"}')): Promise<CanaryServer> =>
  listen(createServer(answer), '::')

export async function listen(server: Server, host: string): Promise<CanaryServer> {
  let hits = 0
  server.on('connection', () => hits++)
  server.listen(0, host)
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    hits: () => hits,
    close: async () => {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}
