import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import { z } from 'zod'

// A calculator.
export const server = new McpServer({ name: 'calculator', version: '1.0.0' }, { instructions: 'Use add for sums.', capabilities: {} })

server.registerTool(
  'add',
  {
    title: 'Addition',
    description: 'Adds two numbers', // shown to the model
    inputSchema: { a: z.number(), b: z.number() },
    annotations: { readOnlyHint: true },
  },
  async ({ a, b }) => ({ content: [{ type: 'text', text: String(a + b) }] }),
)

server.registerTool('divide', { inputSchema: { a: z.number(), b: z.number() } }, async ({ a, b }) => {
  if (b === 0) throw new Error('Cannot divide by zero')
  return { content: [{ type: 'text', text: String(a / b) }] }
})

export async function main(): Promise<void> {
  const transport = new StdioServerTransport()
  await server.connect(transport)
  console.error('Calculator is running')
}
