import { type CallToolResult, McpServer, type ServerContext } from '@modelcontextprotocol/server'
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import * as z from 'zod/v4'

function createNotes(): McpServer {
  const made = new McpServer({ name: 'worker', version: '2.0.0' }, { capabilities: { logging: {} } })
  made.registerTool('work', { inputSchema: z.object({ steps: z.number() }) }, async ({ steps }, ctx): Promise<CallToolResult> => {
    await ctx.mcpReq.log('info', `working on ${steps}`)
    return { content: [{ type: 'text', text: ctx.mcpReq.signal.aborted ? 'stopped' : `${steps} steps` }] }
  })
  made.registerTool('state', {}, async (ctx: ServerContext) => ({ content: [{ type: 'text', text: String(ctx.mcpReq.signal.aborted) }] }))
  return made
}

export const server = createNotes()

export function main(): void {
  serveStdio(createNotes)
}
