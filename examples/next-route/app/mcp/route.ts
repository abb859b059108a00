/** The route /mcp of a Next.js application: a Request in, a Response out. */

import { httpHandler } from 'portico/http'
import { createServer } from 'portico/server'
import { z } from 'zod'

// Next.js must neither prerender nor cache the route.
export const dynamic = 'force-dynamic'

const server = createServer({ name: 'next', version: '1.0.0' })
server.tool('greet', { description: 'Greets', input: z.object({ name: z.string() }) }, ({ name }) => `Hello, ${name}!`)

const handler = httpHandler(server, {
  // Names of your deployment, for example in PUBLIC_HOSTS=app.example.com,www.example.com
  allowedHosts: (process.env.PUBLIC_HOSTS ?? '').split(',').filter(Boolean),
  // Functions have no memory in common: without a store, older clients get no sessions.
  sessions: false,
})

const route = (request: Request): Promise<Response> => handler.fetch(request)

export { route as DELETE, route as GET, route as OPTIONS, route as POST }
