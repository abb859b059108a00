/** Starts the server as a process, as a desktop client does, and asks it for the weather. */

import { fileURLToPath } from 'node:url'
import { connect } from 'portico'

const client = await connect({
  command: process.execPath,
  args: ['--import', 'tsx', fileURLToPath(new URL('server.ts', import.meta.url))],
})
for await (const { name, description } of client.tools()) console.log(`${name}: ${description}`)

const { structuredContent } = await client.call('forecast', { city: 'Oslo', days: 2 })
console.log(structuredContent)

const unknown = await client.call('forecast', { city: 'Atlantis' })
console.log(unknown.isError, unknown.content)
await client.close()
