/** The MCP server, and the login, at one address. */

import { createServer as createHttpServer } from 'node:http'
import { resourceServer } from 'portico/auth'
import { httpHandler } from 'portico/http'
import { createServer } from 'portico/server'
import { type GitHub, gitHubLogin } from './login.ts'

export async function startServer(url: string, github: GitHub): Promise<() => Promise<void>> {
  const server = createServer({ name: 'hello', version: '1.0.0' })
  server.tool('whoami', { description: 'Says who you are' }, (_args, { caller }) => {
    const { subject, claims } = caller.auth ?? {}
    return `You are ${claims?.login} (${subject})`
  })

  const resource = `${url}/mcp`
  const scopes = ['hello']
  const login = await gitHubLogin(url, resource, scopes, github)
  const mcp = httpHandler(server, { auth: resourceServer({ issuer: url, resource, scopes }) })
  const http = createHttpServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', url)
    const isOurs = pathname === '/mcp' || pathname.startsWith('/.well-known/oauth-protected-resource')
    if (isOurs) mcp.node(request, response)
    else login.handle(request, response)
  })
  await new Promise<void>((resolve) => http.listen(Number(new URL(url).port), '127.0.0.1', resolve))
  return async () => {
    await mcp.close()
    http.closeAllConnections()
    http.close()
  }
}
