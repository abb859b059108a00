import { describe, expect, onTestFinished, test } from 'vitest'
import { oauth } from '../../../src/auth/client/oauth.ts'
import { resourceServer } from '../../../src/auth/server/resource-server.ts'
import { connect } from '../../../src/index.ts'
import { askModern, callTool, serve, testServer } from '../../support/http-service.ts'
import { type AuthorizationServer, MACHINE, RESOURCE_SERVER, startAuthorizationServer } from '../../support/oidc.ts'
import { proves } from '../../support/proves.ts'

const introspection = {
  clientId: RESOURCE_SERVER.client_id,
  clientSecret: RESOURCE_SERVER.client_secret,
  withoutSubject: 'client',
} as const

async function start(path?: string): Promise<AuthorizationServer> {
  const as = await startAuthorizationServer(path === undefined ? {} : { path })
  onTestFinished(() => as.stop())
  return as
}

async function machineToken(as: AuthorizationServer, resource: string, scope: string): Promise<string> {
  const response = await fetch(`${as.issuer}/token`, {
    method: 'POST',
    headers: { authorization: `Basic ${btoa(`${MACHINE.client_id}:${MACHINE.client_secret}`)}` },
    body: new URLSearchParams({ grant_type: 'client_credentials', resource, scope }),
  })
  return ((await response.json()) as { access_token: string }).access_token
}

describe('with a real authorization server', () => {
  test.each(['jwt', 'opaque'] as const)('tokens that are %s are accepted with their claims', async (tokens) => {
    proves('T-AUTH-010')
    for (const path of [undefined, '/tenant']) {
      const as = await start(path)
      const resource = as.protect('https://mcp.example.com/mcp', { scopes: ['mcp', 'more'], tokens })
      const other = as.protect('https://other.example.com/mcp', { scopes: ['mcp'], tokens })
      const server = testServer()
      server.tool('who', {}, (_args, { caller }) => JSON.stringify([caller.auth?.clientId, caller.auth?.scopes]))
      server.tool('more', { scopes: ['more'] }, () => 'more')
      const { url } = await serve(server, {
        auth: resourceServer({ resource, issuer: { issuer: as.issuer, introspection }, scopes: ['mcp'] }),
      })
      const bearer = async (to: string, scope: string) => ({ authorization: `Bearer ${await machineToken(as, to, scope)}` })
      const headers = await bearer(resource, 'mcp')
      expect((await askModern(url, callTool('who'), headers)).text).toContain('machine')
      expect((await askModern(url, callTool('more'), headers)).status).toBe(403)
      expect((await askModern(url, callTool('more'), await bearer(resource, 'mcp more'))).status).toBe(200)
      expect((await askModern(url, callTool('who'), await bearer(other, 'mcp'))).status).toBe(401)
    }
  })

  test('our client logs in, asks for more scopes when needed, and the handler knows the person', async () => {
    proves('T-AUTH-003')
    const as = await start()
    const server = testServer()
    server.tool('who', {}, (_args, { caller }) => JSON.stringify([caller.auth?.subject, caller.auth?.scopes]))
    server.tool('write', { scopes: ['notes:write'] }, (_args, { caller }) => JSON.stringify(caller.auth?.scopes))
    // The port is part of the name of the resource, and known only when it is open.
    const free = await serve(testServer())
    const { port } = free
    await free.close()
    const resource = as.protect(`http://127.0.0.1:${port}/mcp`, { scopes: ['mcp', 'notes:write'] })
    const { url } = await serve(server, { port, auth: resourceServer({ resource, issuer: as.issuer, scopes: ['mcp'] }) })
    for (const revision of ['2025-06-18', '2025-11-25', '2026-07-28']) {
      const client = await connect(url, { revisions: [revision], auth: oauth({ openBrowser: as.open, user: revision }) })
      expect(JSON.stringify(await client.call('who', {}))).toContain('alice')
      expect(JSON.stringify(await client.call('write', {}))).toContain('notes:write')
      const names: string[] = []
      for await (const { name } of client.tools()) names.push(name)
      expect(names).toContain('write')
      await client.close()
    }
  })
})
