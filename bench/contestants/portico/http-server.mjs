import '../../heap.mjs'
import { listen } from 'portico/http'
import { keyRing } from 'portico/server'
import { z } from 'zod'
import { big, bytes, isSse, say, toolCount } from '../../arguments.mjs'
import { benchServer } from './offering.mjs'

const argumentOf = (name) => process.argv.find((argument) => argument.startsWith(`--${name}=`))?.slice(name.length + 3)
const url = argumentOf('store')
// Replicas share keys, which encrypt what the store holds.
const server = benchServer(toolCount, url ? { keys: keyRing('the secret of all replicas in this bench') } : {})
server.tool('add', { input: z.object({ a: z.number(), b: z.number() }), output: z.object({ sum: z.number() }) }, ({ a, b }) => ({
  sum: a + b,
}))
server.tool('big', {}, () => big)
server.tool('progress', {}, async (_args, ctx) => {
  for (let i = 1; i <= 1000; i++) await ctx.progress(i, 1000)
  return []
})
server.resource('bench://blob', { name: 'blob' }, () => bytes)
const { port } = await listen(server, {
  ...(url && { store: (await import('portico/redis')).redis(url, { prefix: argumentOf('prefix') ?? 'bench:' }) }),
  maxConnectionsPerAddress: false,
  maxConnections: 100_000,
  responses: isSse ? 'sse' : 'auto',
  sessions: !process.argv.includes('--no-sessions'),
  health: process.argv.includes('--metrics'),
  metrics: process.argv.includes('--metrics'),
  ...(process.argv.includes('--on-request') && { onRequest: () => {} }),
  limits: {
    maxSessions: 100_000,
    maxStreams: 100_000,
    // No limits per address, because all load comes from one address.
    maxSessionsPerAddress: false,
    maxStreamsPerAddress: false,
    maxInFlightPerAddress: false,
  },
})
say(port)
const handle = server.tool('changing', {}, () => 'x')
process.on('message', (message) => {
  if (message === 'change') handle.update({ description: String(Math.random()) })
})
