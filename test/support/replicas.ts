/** Several replicas of one server behind a balancer that chooses one at random for each request. */

import { createServer as createHttpServer } from 'node:http'
import { onTestFinished } from 'vitest'
import { createHandler, type HttpHandler } from '../../src/http/server/handler.ts'
import type { Server } from '../../src/server/index.ts'
import { memoryStore } from '../../src/store/index.ts'
import type { SharedStore } from '../../src/store/shared-store.ts'
import { portOf } from './http-requests.ts'
import { fixedLimits, ownLimits, type TestHttpOptions } from './http-service.ts'

export interface Replicas {
  /** The balancer. */
  url: string
  /** One address for each replica. */
  urls: string[]
  handlers: HttpHandler[]
  servers: Server[]
  stores: SharedStore[]
}

/** @param define makes the server of a replica */
export async function serveReplicas(
  define: (replica: number) => Server,
  { count = 3, stores = storesInMemory(count), ...options }: TestHttpOptions & { count?: number; stores?: SharedStore[] } = {},
): Promise<Replicas> {
  const servers = Array.from({ length: count }, (_, i) => define(i))
  const limits = { failedLogins: false, ...options.limits } as const
  const handlers = servers.map((server, i) =>
    createHandler(server, { ...options, limits: ownLimits(limits), store: stores[i] as SharedStore }, fixedLimits(limits)),
  )
  const serveWith = async (choose: () => HttpHandler): Promise<string> => {
    const at = createHttpServer((request, response) => choose().node(request, response))
    await new Promise<void>((resolve) => at.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => {
      at.closeAllConnections()
      at.close()
    })
    return `http://127.0.0.1:${portOf(at)}/mcp`
  }
  const urls = await Promise.all(handlers.map((handler) => serveWith(() => handler)))
  const url = await serveWith(() => handlers[Math.floor(Math.random() * count)] as HttpHandler)
  onTestFinished(async () => {
    await Promise.all(handlers.map((handler) => handler.close()))
    for (const store of stores) await store.close()
  })
  return { url, urls, handlers, servers, stores }
}

export function storesInMemory(count: number): SharedStore[] {
  const first = memoryStore()
  return [first, ...Array.from({ length: count - 1 }, () => first.another())]
}
