/** Calls the route as Next.js does. @hono/node-server turns requests of Node into web requests here. */

import type { AddressInfo } from 'node:net'
import { serve } from '@hono/node-server'
import { connect } from 'portico'
import * as route from './app/mcp/route.ts'

const handlers: Record<string, (request: Request) => Promise<Response>> = { GET: route.GET, POST: route.POST, DELETE: route.DELETE }
const http = serve({
  port: 0,
  hostname: '127.0.0.1',
  fetch: (request) => handlers[request.method]?.(request) ?? new Response(null, { status: 405 }),
})
await new Promise((resolve) => (http.listening ? resolve(undefined) : http.once('listening', resolve)))

const client = await connect(`http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`)
console.log(client.revision, (await client.call('greet', { name: 'Next' })).content)
await client.close()

const foreign = new Request('https://evil.example/mcp', { method: 'POST', body: '{}', headers: { 'content-type': 'application/json' } })
console.log('Another host:', (await route.POST(foreign)).status)
http.close()
