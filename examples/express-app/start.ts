/** Listens at port 3000. KEY_OF_CI is the key of the caller `ci`. */

import { todoApp } from './app.ts'

const { app, mcp } = todoApp({ ci: process.env.KEY_OF_CI ?? '' })
const http = app.listen(3000, '127.0.0.1', () => console.log('MCP at http://127.0.0.1:3000/mcp'))
process.once('SIGTERM', async () => {
  await mcp.drain()
  http.close()
})
