import { createServer, ToolError } from 'portico/server'
import { serveStdio } from 'portico/stdio'
import { z } from 'zod'

// A calculator.
export const server = createServer({ name: 'calculator', version: '1.0.0', instructions: 'Use add for sums.' })

server.tool(
  'add',
  {
    title: 'Addition',
    description: 'Adds two numbers', // shown to the model
    input: z.object({ a: z.number(), b: z.number() }),
    annotations: { readOnlyHint: true },
  },
  async ({ a, b }) => ({ content: [{ type: 'text', text: String(a + b) }] }),
)

server.tool('divide', { input: z.object({ a: z.number(), b: z.number() }) }, async ({ a, b }) => {
  if (b === 0) throw new ToolError('Cannot divide by zero')
  return { content: [{ type: 'text', text: String(a / b) }] }
})

export async function main(): Promise<void> {
  serveStdio(server)
  console.error('Calculator is running')
}
