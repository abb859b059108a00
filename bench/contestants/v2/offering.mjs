import { McpServer } from '@modelcontextprotocol/server'
import { z } from 'zod'
import { namesOf, promptNames, resourceUris } from '../../offering.mjs'

const input = z.object({ text: z.string() })

export function benchServer(count = 20) {
  const server = new McpServer({ name: 'v2', version: '1' })
  for (const name of namesOf(count))
    server.registerTool(name, { description: `The tool ${name}`, inputSchema: input }, async ({ text }) => ({
      content: [{ type: 'text', text }],
    }))
  for (const uri of resourceUris) server.registerResource(uri, uri, {}, async () => ({ contents: [{ uri, text: 'x' }] }))
  for (const name of promptNames) server.registerPrompt(name, { description: name }, async () => ({ messages: [] }))
  return server
}
