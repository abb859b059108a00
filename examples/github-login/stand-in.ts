/** Answers like GitHub, for one user, without a network. */

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import type { GitHub } from './login.ts'

export async function startStandIn(): Promise<GitHub & { close(): void }> {
  const clientId = 'our-app'
  const clientSecret = crypto.randomUUID()
  const code = crypto.randomUUID()
  const token = `gho_${crypto.randomUUID()}`
  const http = createServer(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost')
    const json = (body: unknown): void => void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    if (pathname === '/login/oauth/authorize') {
      const back = new URLSearchParams({ code, state: searchParams.get('state') ?? '' })
      return void response.writeHead(302, { location: `${searchParams.get('redirect_uri')}?${back}` }).end()
    }
    if (pathname === '/login/oauth/access_token') {
      const form = new URLSearchParams(await text(request))
      return json(form.get('code') === code && form.get('client_secret') === clientSecret ? { access_token: token } : { error: 'bad' })
    }
    if (pathname === '/user' && request.headers.authorization === `Bearer ${token}`) return json({ id: 583231, login: 'octocat' })
    response.writeHead(404).end()
  })
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  const site = `http://127.0.0.1:${(http.address() as AddressInfo).port}`
  return { site, api: site, clientId, clientSecret, close: () => void http.close() }
}
