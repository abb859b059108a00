/** An ordinary balancer: passes each HTTP request to one of several addresses, chosen at random. It knows nothing of sessions. */

import { once } from 'node:events'
import { Agent, createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http'
import { portOf } from '../support/http-requests.ts'

export interface Balancer {
  readonly url: string
  /** Ports of the replicas that get requests. */
  readonly ports: ReadonlySet<number>
  /** Resolves when the replica gets requests. */
  add(port: number): Promise<void>
  /** Resolves when the replica gets no more requests. Those that it has go on. */
  remove(port: number): Promise<void>
  /** Where, and with which headers, a request reaches this replica and no other. The balancer need not know it. */
  to(port: number): { url: string; headers: Record<string, string> }
  /** How many requests were passed on to each port. */
  passed(): ReadonlyMap<number, number>
  close(): Promise<void>
}

export async function startBalancer(): Promise<Balancer> {
  const ports = new Set<number>()
  const passed = new Map<number, number>()
  const agent = new Agent({ keepAlive: true })
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    try {
      for await (const chunk of request) chunks.push(chunk as Buffer)
    } catch {
      return
    }
    pass(request, Buffer.concat(chunks), response, [...ports])
  })
  /** Tries another one if a replica accepts no connection, as balancers do: it cannot have seen the request. */
  const pass = (request: IncomingMessage, body: Buffer, response: ServerResponse, left: number[]): void => {
    const [port] = left.splice(Math.floor(Math.random() * left.length), 1)
    if (port === undefined) {
      response.writeHead(502).end()
      return
    }
    passed.set(port, (passed.get(port) ?? 0) + 1)
    const { method = 'POST', url = '/', headers } = request
    const outgoing = httpRequest({ port, host: '127.0.0.1', method, path: url, headers, agent })
    outgoing.on('response', (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers)
      response.flushHeaders()
      answer.pipe(response)
      // An answer that was cut must not look complete.
      answer.on('close', () => !answer.complete && response.destroy())
      answer.on('error', () => response.destroy())
    })
    outgoing.on('error', (error: NodeJS.ErrnoException) => {
      if (response.headersSent || response.destroyed) return void response.destroy()
      if (error.code === 'ECONNREFUSED') return pass(request, body, response, left)
      response.writeHead(502).end()
    })
    response.on('close', () => !response.writableFinished && outgoing.destroy())
    outgoing.end(body)
  }
  // The clients of a replica that ends connect again all at once. Beyond the backlog the kernel lets a connection wait for up to a minute.
  server.listen({ port: 0, host: '127.0.0.1', backlog: 4096 })
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${portOf(server)}/mcp`,
    ports,
    add: async (port) => void ports.add(port),
    remove: async (port) => void ports.delete(port),
    // Around the balancer.
    to: (port) => ({ url: `http://127.0.0.1:${port}/mcp`, headers: {} }),
    passed: () => passed,
    close: async () => {
      agent.destroy()
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
