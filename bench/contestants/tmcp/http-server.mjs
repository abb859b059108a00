import '../../heap.mjs'
import { createServer } from 'node:http'
import { getRequestListener } from '@hono/node-server'
import { ZodJsonSchemaAdapter } from '@tmcp/adapter-zod'
import { HttpTransport } from '@tmcp/transport-http'
import { McpServer } from 'tmcp'
import { z } from 'zod'
import { say, toolCount } from '../../arguments.mjs'
import { namesOf } from '../../offering.mjs'

const server = new McpServer(
  { name: 'tmcp', version: '1' },
  { adapter: new ZodJsonSchemaAdapter(), capabilities: { tools: { listChanged: true } } },
)
for (const name of namesOf(toolCount)) {
  server.tool({ name, description: `The tool ${name}`, schema: z.object({ text: z.string() }) }, async ({ text }) => ({
    content: [{ type: 'text', text }],
  }))
}
const transport = new HttpTransport(server)
const http = createServer(getRequestListener(async (request) => (await transport.respond(request)) ?? new Response(null, { status: 404 })))
http.keepAliveTimeout = 65_000
http.listen(0, '127.0.0.1', () => say(http.address().port))
