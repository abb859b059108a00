import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { z } from 'zod'

export const server = new McpServer({ name: 'worker', version: '1.0.0' }, { capabilities: { logging: {} } })

server.registerTool('work', { inputSchema: { steps: z.number() } }, async ({ steps }, extra) => {
  const progressToken = extra._meta?.progressToken
  for (let step = 1; step <= steps && !extra.signal.aborted; step++) {
    if (progressToken !== undefined)
      await extra.sendNotification({ method: 'notifications/progress', params: { progressToken, progress: step, total: steps } })
  }
  await extra.sendNotification({ method: 'notifications/message', params: { level: 'info', data: 'done' } })
  return { content: [{ type: 'text', text: `${steps} steps` }] }
})

server.registerTool('state', { description: 'Whether the call goes on' }, async (extra) => ({
  content: [{ type: 'text', text: String(extra.signal.aborted) }],
}))

server.registerTool('note', { inputSchema: { text: z.string() } }, async ({ text }, { sendNotification, signal }) => {
  const state = { signal }
  await sendNotification({ method: 'notifications/message', params: { level: 'warning', data: { text } } })
  return { content: [{ type: 'text', text: signal.aborted || state.signal.aborted ? 'stopped' : text }] }
})
