/** The everything server on standard streams. */

import { setUp } from './setup.mjs'

await setUp({ isForTests: false })
const { everythingServer } = await import('portico/testing')
const { serveStdio } = await import('portico/stdio')
// A test may call as fast as it can.
serveStdio(everythingServer({ limits: { toolCalls: false, completions: false } }))
