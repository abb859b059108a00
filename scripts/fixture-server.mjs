/** Serves the everything server over HTTP at /mcp: `npm run -s fixture:server -- --port N`. */

import { parseArgs } from 'node:util'
import { setUp } from './setup.mjs'

const { values } = parseArgs({
  options: { port: { type: 'string', default: '0' }, responses: { type: 'string' }, 'no-sessions': { type: 'boolean' } },
})
await setUp({ isForTests: false })
const { everythingServer } = await import('portico/testing')
const { listen } = await import('portico/http')
// No rate limits, so that tests can call as fast as possible.
const limits = { toolCalls: false, completions: false, logMessages: false, progressNotices: false }
const { url } = await listen(everythingServer({ limits }), {
  port: Number(values.port),
  maxConnectionsPerAddress: false,
  limits: { maxSessionsPerAddress: false, maxStreamsPerAddress: false, maxInFlightPerAddress: false },
  ...(values.responses ? { responses: values.responses } : {}),
  ...(values['no-sessions'] ? { sessions: false } : {}),
})
console.log(`listening on ${url}`)
