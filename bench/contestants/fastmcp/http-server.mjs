import '../../heap.mjs'
import { createServer } from 'node:net'
import { FastMCP } from 'fastmcp'
import { z } from 'zod'
import { big, isSse, say, toolCount } from '../../arguments.mjs'
import { namesOf } from '../../offering.mjs'

/** FastMCP warns about each connection of the load, because its client declares no capabilities. */
const logger = { debug() {}, info() {}, log() {}, warn() {}, error: console.error }
const server = new FastMCP({ name: 'fastmcp', version: '1.0.0', logger })
for (const name of namesOf(toolCount))
  server.addTool({ name, description: `The tool ${name}`, parameters: z.object({ text: z.string() }), execute: async ({ text }) => text })
server.addTool({ name: 'big', parameters: z.object({}), execute: async () => big })
server.addTool({
  name: 'progress',
  parameters: z.object({}),
  execute: async (_args, { reportProgress }) => {
    for (let progress = 1; progress <= 1000; progress++) await reportProgress({ progress, total: 1000 })
    return 'done'
  },
})

/** FastMCP cannot choose a free port and report it, so this server chooses one first. */
const port = await new Promise((resolve) => {
  const probe = createServer().listen(0, '127.0.0.1', () => {
    const { port: free } = probe.address()
    probe.close(() => resolve(free))
  })
})
const log = console.log
console.log = () => {}
console.info = () => {}
await server.start({ transportType: 'httpStream', httpStream: { port, host: '127.0.0.1', endpoint: '/mcp', enableJsonResponse: !isSse } })
console.log = log
say(port)
