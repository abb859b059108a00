/** Serves the everything server over stdio: `npm run -s fixture:stdio`. */

import { setUp } from './setup.mjs'

await setUp({ isForTests: false })
const { everythingServer } = await import('portico/testing')
const { serveStdio } = await import('portico/stdio')
// No rate limits, so that tests can call as fast as possible.
serveStdio(everythingServer({ limits: { toolCalls: false, completions: false } }))
