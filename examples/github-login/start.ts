/** Starts with the real GitHub. Register an OAuth app there with the callback URL http://127.0.0.1:3000/interaction. */

import { startServer } from './server.ts'

const { GITHUB_CLIENT_ID: clientId, GITHUB_CLIENT_SECRET: clientSecret } = process.env
if (!clientId || !clientSecret) throw new Error('Set GITHUB_CLIENT_ID and GITHUB_CLIENT_SECRET to those of your OAuth app')
await startServer('http://127.0.0.1:3000', { site: 'https://github.com', api: 'https://api.github.com', clientId, clientSecret })
console.log('MCP at http://127.0.0.1:3000/mcp')
