import '../../heap.mjs'
import { listen } from 'portico/http'
import { z } from 'zod'
import { benchServer } from './surface.mjs'

const count = Number(process.argv.find((arg) => arg.startsWith('--tools='))?.slice(8) ?? 20)
const server = benchServer(count)
const big = 'x'.repeat(1024 * 1024)
const bytes = new Uint8Array(10 * 1024 * 1024).fill(7)
server.tool(
  'add',
  { input: z.object({ a: z.number(), b: z.number() }), output: z.object({ sum: z.number() }) },
  ({ a, b }) => ({ sum: a + b }),
)
server.tool('big', {}, () => big)
server.tool('progress', {}, async (_args, ctx) => {
  for (let i = 1; i <= 1000; i++) await ctx.progress(i, 1000)
  return []
})
server.resource('bench://blob', { name: 'blob' }, () => bytes)
const { url } = await listen(server, {
  maxConnectionsPerAddress: false,
  maxConnections: 100_000,
  responses: process.argv.includes('--sse') ? 'sse' : 'auto',
  limits: { maxSessions: 100_000, maxStreams: 100_000 },
})
console.log(`listening on ${url}`)
