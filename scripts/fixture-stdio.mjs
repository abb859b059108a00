/** The everything server on standard streams. */

import { buildIfStale } from './setup.mjs'

await buildIfStale({ types: false })
const { everythingServer } = await import('portico/testing')
const { serveStdio } = await import('portico/stdio')
// A test may call as fast as it can.
serveStdio(everythingServer({ limits: { toolCalls: false, completions: false } }))
