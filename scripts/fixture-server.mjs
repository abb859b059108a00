/** Serves the everything server over HTTP at /mcp: `npm run -s fixture:server -- --port N`. */

import { endWithNpm, refuse } from './fixture-options.mjs'
import { readOptions, setUp } from './setup.mjs'

const HELP = `Usage: npm run -s fixture:server -- [--port N] [--responses json] [--no-sessions]
  --port N          the port; 0 picks a free one (default)
  --responses KIND  "json": answer with JSON, never with a stream
  --no-sessions     keep no sessions`
const values = readOptions(
  { port: { type: 'string', default: '0' }, responses: { type: 'string' }, 'no-sessions': { type: 'boolean' } },
  HELP,
)
const port = Number(values.port)
if (!/^\d+$/.test(values.port) || port > 65_535) refuse(`--port: expected a number from 0 to 65535, got ${JSON.stringify(values.port)}`)
endWithNpm()
await setUp({ isForTests: false })
const { everythingServer } = await import('portico/testing')
const { listen } = await import('portico/http')
// No rate limits, so that tests can call as fast as possible.
const limits = { toolCalls: false, completions: false, logMessages: false, progressNotices: false }
const server = everythingServer({ limits })
await server.skills(new URL('../examples/skills', import.meta.url))
const { url } = await listen(server, {
  port,
  maxConnectionsPerAddress: false,
  limits: { maxSessionsPerAddress: false, maxStreamsPerAddress: false, maxInFlightPerAddress: false },
  ...(values.responses ? { responses: values.responses } : {}),
  ...(values['no-sessions'] ? { sessions: false } : {}),
}).catch((error) => refuse(error.code === 'EADDRINUSE' ? `Port ${port} is in use` : error.message))
console.log(`listening on ${url}`)
