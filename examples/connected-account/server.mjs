/**
 * A server that uses people's accounts at another service. The access token identifies the caller. The same person connects
 * the account in a browser, and the token of the other service never leaves this server.
 *
 * @param where the URL of this server, the issuer of its access tokens, and the endpoints of the other service
 */

import { createServer as createHttpServer } from 'node:http'
import { resourceServer, thirdParty } from 'portico/auth'
import { httpHandler } from 'portico/http'
import { createServer } from 'portico/server'

export async function startServer({ url, issuer, photos: { origin, clientId, clientSecret } }) {
  const server = createServer({ name: 'albums', version: '1.0.0' })
  const logins = new Map()

  const photos = thirdParty({
    name: 'Photos',
    url: `${url}/connect`,
    authorizationEndpoint: `${origin}/authorize`,
    tokenEndpoint: `${origin}/token`,
    clientId,
    clientSecret,
    scopes: ['albums'],
    // Your own web login. Here it is a cookie for a person of the same issuer.
    whoIs: (request) => logins.get(cookieOf(request, 'login')),
    login: (_request, returnTo) => Response.redirect(`${url}/login?to=${encodeURIComponent(returnTo)}`, 303),
    onConnected: (elicitationId) => server.completeElicitation(elicitationId),
    onError: (error) => console.error('connecting failed:', error.message),
  })

  server.tool('albums', { description: 'Your photo albums', scopes: ['albums:read'] }, async (_args, ctx) => {
    const token = await photos.tokenFor(ctx.caller.auth)
    const answer = await fetch(`${origin}/albums`, { headers: { authorization: `Bearer ${token}` } })
    return (await answer.json()).albums.join(', ')
  })

  const auth = resourceServer({ resource: `${url}/mcp`, issuer, scopes: ['albums:read'] })
  const handler = httpHandler(server, { auth })
  const http = createHttpServer(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url, url)
    if (pathname.startsWith('/connect/')) return send(await photos.fetch(toRequest(request, url)), response)
    if (pathname === '/login') {
      // A real login would redirect to the issuer. This one accepts any name.
      const id = crypto.randomUUID()
      logins.set(id, { issuer, subject: searchParams.get('as') ?? 'alice' })
      const to = searchParams.get('to') ?? ''
      const location = to.startsWith(`${url}/connect/`) ? to : url
      return response.writeHead(303, { location, 'set-cookie': `login=${id}; Path=/; HttpOnly; SameSite=Lax` }).end()
    }
    handler.node(request, response)
  })
  await new Promise((resolve) => http.listen(Number(new URL(url).port), '127.0.0.1', resolve))
  return () => {
    handler.close()
    http.closeAllConnections()
    http.close()
  }
}

const cookieOf = (request, name) => new RegExp(`(?:^|; )${name}=([^;]*)`).exec(request.headers.get('cookie') ?? '')?.[1]

function toRequest(request, url) {
  const { method, headers } = request
  const hasBody = method !== 'GET' && method !== 'HEAD'
  return new Request(new URL(request.url, url), { method, headers, ...(hasBody ? { body: request, duplex: 'half' } : {}) })
}

async function send(answer, response) {
  response.writeHead(answer.status, Object.fromEntries(answer.headers))
  response.end(Buffer.from(await answer.arrayBuffer()))
}
