#!/usr/bin/env node
/** The `portico` command. */

import { processIo } from './io.ts'
import { main } from './main.ts'

// Whoever reads our output may stop reading, as `head` does; that is no failure.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(0)
  })
}

process.exitCode = await main(process.argv.slice(2), processIo())
