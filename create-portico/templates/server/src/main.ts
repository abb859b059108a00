/** Runs the server: on standard streams, or over HTTP if PORT is set. */

import { listen } from 'portico/http'
import { serveStdio } from 'portico/stdio'
import { server } from './server.ts'

const { PORT } = process.env
if (PORT === undefined) serveStdio(server)
else {
  const { url } = await listen(server, { port: Number(PORT) })
  console.error(`Listening at ${url}`)
}
