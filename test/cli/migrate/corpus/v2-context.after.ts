import { type CallToolResult, createServer, type Server } from 'portico/server'
import { serveStdio } from 'portico/stdio'
import * as z from 'zod/v4'

function createNotes(): Server {
  const made = createServer({ name: 'worker', version: '2.0.0' })
  made.tool('work', { input: z.object({ steps: z.number() }) }, async ({ steps }, ctx): Promise<CallToolResult> => {
    await ctx.log.info(`working on ${steps}`)
    return { content: [{ type: 'text', text: ctx.signal.aborted ? 'stopped' : `${steps} steps` }] }
  })
  made.tool('state', {}, async (_args, ctx) => ({ content: [{ type: 'text', text: String(ctx.signal.aborted) }] }))
  return made
}

export const server = createNotes()

export function main(): void {
  serveStdio(createNotes())
}
