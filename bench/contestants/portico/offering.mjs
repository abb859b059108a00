import { createServer } from 'portico/server'
import { z } from 'zod'
import { namesOf, promptNames, resourceUris, toolNames } from '../../offering.mjs'

export function benchServer(count = toolNames.length, options = {}) {
  const server = createServer({ name: 'portico', version: '1', limits: { toolCalls: false, progressNotices: false }, ...options })
  for (const name of namesOf(count))
    server.tool(name, { description: `The tool ${name}`, input: z.object({ text: z.string() }) }, async ({ text }) => text)
  for (const uri of resourceUris) server.resource(uri, { name: uri }, () => 'x')
  for (const name of promptNames) server.prompt(name, { description: name }, () => 'x')
  return server
}
