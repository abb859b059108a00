import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { z } from 'zod'
import { namesOf, promptNames, resourceUris } from '../../offering.mjs'

export function benchServer(count = 20) {
  const server = new McpServer({ name: 'v1', version: '1' })
  for (const name of namesOf(count)) {
    server.registerTool(name, { description: `The tool ${name}`, inputSchema: { text: z.string() } }, async ({ text }) => ({
      content: [{ type: 'text', text }],
    }))
  }
  for (const uri of resourceUris) server.registerResource(uri, uri, {}, async () => ({ contents: [{ uri, text: 'x' }] }))
  for (const name of promptNames) server.registerPrompt(name, { description: name }, async () => ({ messages: [] }))
  return server
}
