/** Serves the everything server over stdio: `npm run -s fixture:stdio`. */

import { endWithNpm } from './fixture-options.mjs'
import { readOptions, setUp } from './setup.mjs'

readOptions({}, 'Usage: npm run -s fixture:stdio (serves on standard input and output)')
endWithNpm()
await setUp({ isForTests: false })
const { everythingServer } = await import('portico/testing')
const { serveStdio } = await import('portico/stdio')
// No rate limits, so that tests can call as fast as possible.
serveStdio(everythingServer({ limits: { toolCalls: false, completions: false } }))
