/** Small stand-ins for the other parties: an issuer of access tokens, and the photo service. */

import { createServer } from 'node:http'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'

/** Signs access tokens for one resource. */
export async function startIssuer() {
  const { privateKey, publicKey } = await generateKeyPair('ES256')
  const jwk = { ...(await exportJWK(publicKey)), kid: '1', alg: 'ES256' }
  const { url, close } = await listening((request, response) => {
    if (request.url === '/jwks') return json(response, { keys: [jwk] })
    if (request.url === '/.well-known/oauth-authorization-server') return json(response, { issuer: url, jwks_uri: `${url}/jwks` })
    response.writeHead(404).end()
  })
  const token = (subject, resource) =>
    new SignJWT({ client_id: 'the-client', scope: 'albums:read' })
      .setProtectedHeader({ alg: 'ES256', typ: 'at+jwt', kid: '1' })
      .setIssuer(url)
      .setSubject(subject)
      .setAudience(resource)
      .setIssuedAt()
      .setExpirationTime('5m')
      .sign(privateKey)
  return { url, token, close }
}

/** Stores albums, and issues tokens for them. The cookie of the browser names the user; there is no real login. */
export async function startPhotos() {
  const clientId = 'albums-server'
  const clientSecret = crypto.randomUUID()
  const codes = new Map()
  const tokens = new Map()
  const { url, close } = await listening(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url, url)
    if (pathname === '/authorize') {
      const code = crypto.randomUUID()
      codes.set(code, /user=(\w+)/.exec(request.headers.cookie ?? '')?.[1] ?? 'nobody')
      const back = new URL(searchParams.get('redirect_uri'))
      back.search = new URLSearchParams({ code, state: searchParams.get('state') })
      return response.writeHead(302, { location: back.href }).end()
    }
    if (pathname === '/token') {
      let body = ''
      for await (const chunk of request) body += chunk
      const user = codes.get(new URLSearchParams(body).get('code'))
      if (user === undefined || request.headers.authorization !== `Basic ${btoa(`${clientId}:${clientSecret}`)}`)
        return json(response, { error: 'invalid_grant' }, 400)
      const token = `photos-${crypto.randomUUID()}`
      tokens.set(token, user)
      return json(response, { access_token: token, token_type: 'bearer', expires_in: 3600 })
    }
    const user = tokens.get((request.headers.authorization ?? '').replace('Bearer ', ''))
    return user === undefined ? response.writeHead(401).end() : json(response, { albums: [`${user} at sea`, `${user} in the hills`] })
  })
  return { origin: url, clientId, clientSecret, close }
}

const json = (response, body, status = 200) => response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))

async function listening(answer) {
  const server = createServer(answer)
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  const close = () => {
    server.closeAllConnections()
    server.close()
  }
  return { url: `http://127.0.0.1:${server.address().port}`, close }
}
