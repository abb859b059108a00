/** 40 spellings of addresses that only we can reach, at 7 places where somebody else names a URL: nothing is ever connected to. */

import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { readFileSync } from 'node:fs'
import { createServer as createTlsServer } from 'node:https'
import type { Socket } from 'node:net'
import { generateKeyPair, SignJWT } from 'jose'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { clientCredentials, type OAuth, oauth } from '../../../src/auth/client/index.ts'
import { type Resolve, type SafeFetch, type SafeFetchInit, type SafeFetchOptions, safeFetch } from '../../../src/auth/fetch/safe-fetch.ts'
import { resourceServer } from '../../../src/auth/server/index.ts'
import { type CanaryServer, listen, startCanary } from '../../support/canary-server.ts'
import { proves } from '../../support/proves.ts'

/** As hosts of a URL. The first 21 lead to this machine, so that a request without a guard arrives at the canary. */
const FORMS = [
  ...['127.0.0.1', '127.1', '127.0.1', '127.255.0.1', '2130706433', '0x7f000001', '0x7f.1', '0X7F.0.0.1', '0177.0.0.1', '017700000001'],
  ...[
    '127.0.0.1.',
    '①②⑦.⓪.⓪.①',
    '127。0。0。1',
    '0.0.0.0',
    '0',
    '[::1]',
    '[0:0:0:0:0:0:0:1]',
    '[::]',
    '[::ffff:127.0.0.1]',
    '[::FFFF:7F00:1]',
  ],
  ...['localhost', 'LOCALHOST.'],
  ...['attacker.example@127.0.0.1', 'user:password@[::1]', '127.0.0.1%2f@localhost'],
  ...['[::127.0.0.1]', '[64:ff9b::7f00:1]', '[64:ff9b:1::7f00:1]', '[2002:7f00:1::]', '10.0.0.1', '192.168.1.1', '172.16.0.1'],
  ...['169.254.169.254', '0xa9fea9fe', '[::ffff:169.254.169.254]', '[fd00:ec2::254]', '[fe80::1]'],
  ...['rebinding.example', 'private.example', 'mixed.example'],
]
const REACHES_CANARY = 21

const resolve: Resolve = async (host) => {
  if (host === 'private.example') return ['10.0.0.1', 'fd00::1']
  if (host === 'mixed.example') return ['93.184.216.34', '::ffff:7f00:1']
  // Attacker and rebinding: the latter had a public address when it was asked first, below.
  return ['127.0.0.1']
}

let canary: CanaryServer
let attacker: CanaryServer
let guarded: SafeFetch
let network: SafeFetchOptions
/** Where connections were made to, besides the attacker, which is allowed. */
const reached: string[] = []
/** What the attacker answers, by path, and where everything else is redirected to. */
let documents: Record<string, unknown> = {}
let location = ''
/** What the attacker was asked for. */
const asked: string[] = []

const watch = (message: unknown): void => {
  const { socket } = message as { socket: Socket }
  socket.once('connect', () => {
    if (socket.remotePort !== attacker.port) reached.push(`${socket.remoteAddress}:${socket.remotePort}`)
  })
}

beforeAll(async () => {
  canary = await startCanary()
  const [ca, key] = ['cert', 'key'].map((name) => readFileSync(`${import.meta.dirname}/fixtures/attacker-${name}.pem`, 'utf8'))
  const server = createTlsServer({ cert: ca, key }, (request, response) => {
    asked.push(request.url ?? '')
    const document = documents[request.url ?? '']
    if (document === undefined) response.writeHead(302, { location }).end()
    else response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(document))
  })
  attacker = await listen(server as never, '127.0.0.1')
  // The port of the canary is allowed, so that it is the address alone that saves it; and so is the host of the attacker.
  network = { allowPorts: [canary.port, attacker.port], allowHosts: ['attacker.example'], resolve, ca }
  guarded = safeFetch({ ...network, userUrl: 'https://mcp.example/mcp' })
  subscribe('net.client.socket', watch)
})

afterAll(async () => {
  unsubscribe('net.client.socket', watch)
  await canary.close()
  await attacker.close()
})

const urlsOf = (form: string): string[] => ['https', 'http', 'HTTPS'].map((scheme) => `${scheme}://${form}:${canary.port}/inside`)

const evil = (): string => `https://attacker.example:${attacker.port}`

/** A client that has an id everywhere, so that nothing else stops it before it asks. */
const client = (): OAuth => oauth({ network, allowOtherOrigin: true, client: { id: 'c', secret: 's' }, grant: clientCredentials() })

/** An attacker who is MCP server and authorization server, and names these URLs. */
function name({ issuer = evil(), ...metadata }: { issuer?: string; token_endpoint?: string; jwks_uri?: string }): void {
  documents = {
    '/.well-known/oauth-protected-resource/mcp': { resource: `${evil()}/mcp`, authorization_servers: [issuer] },
    '/.well-known/oauth-authorization-server': { issuer, token_endpoint: `${issuer}/token`, ...metadata },
  }
}

const ENTRIES: Record<string, (url: string) => Promise<unknown>> = {
  'resource metadata': (url) => {
    const server = new URL(`${evil()}/mcp`)
    const request = { method: 'POST', url: server, server, operation: 'ping', signal: new AbortController().signal }
    const headers = { 'www-authenticate': `Bearer resource_metadata="${Buffer.from(url).toString('latin1')}"` }
    return client().onUnauthorized({ request, status: 401, headers, sent: {} })
  },
  'metadata of an authorization server': (url) => {
    name({ issuer: url })
    return client().login(`${evil()}/mcp`)
  },
  'an endpoint in metadata': (url) => {
    name({ token_endpoint: url })
    return client().login(`${evil()}/mcp`)
  },
  'the keys of an issuer': async (url) => {
    name({ jwks_uri: url })
    const token = await new SignJWT({ iss: evil() }).setProtectedHeader({ alg: 'ES256', kid: '1', typ: 'at+jwt' }).sign(await signingKey)
    const fetch = (at: string, init: RequestInit) => guarded(at, init as SafeFetchInit)
    const guard = resourceServer({ issuer: evil(), resource: 'https://mcp.example/mcp', fetch })
    const header = (name: string) => (name === 'authorization' ? `Bearer ${token}` : undefined)
    const answer = await guard.authenticate({
      method: 'POST',
      url: '/mcp',
      remoteAddress: undefined,
      header,
      count: (name) => (header(name) ? 1 : 0),
    })
    if ('status' in answer && answer.status === 503) throw new Error('It cannot tell, because it has no keys')
    return answer
  },
  'a client document': (url) => guarded(url, { headers: { accept: 'application/json' } }),
  'an icon': (url) => guarded(url, { headers: { accept: 'image/png' } }),
  'where a redirect leads': (url) => {
    // As UTF-8, which is how a header can hold it.
    location = Buffer.from(url).toString('latin1')
    return guarded(`${evil()}/elsewhere`)
  },
}

const signingKey = generateKeyPair('ES256').then(({ privateKey }) => privateKey)

describe('private addresses', () => {
  test('there are 40 private addresses and 7 places; without a guard the canary is reached', async () => {
    expect([new Set(FORMS).size, Object.keys(ENTRIES).length]).toEqual([40, 7])
    const before = canary.hits()
    for (const form of FORMS.slice(0, REACHES_CANARY)) await (await fetch(`http://${form}:${canary.port}/`)).text()
    expect(canary.hits() - before).toBeGreaterThanOrEqual(1)
    expect(reached.length).toBeGreaterThanOrEqual(1)
  })

  test.each(Object.keys(ENTRIES))('an allowed host is reached by %s', async (entry) => {
    asked.length = 0
    location = '/there'
    await ENTRIES[entry]?.(`${evil()}/named`).catch(() => {})
    expect(asked).toContainEqual(expect.stringMatching(/^(\/.well-known\/oauth-authorization-server)?\/named$/))
  })

  test.each(Object.keys(ENTRIES))('private addresses are not reached by %s, in any spelling', async (entry) => {
    proves('R-SEC-007', 'R-SEC-009')
    const before = canary.hits()
    reached.length = 0
    for (const form of FORMS) {
      for (const url of urlsOf(form)) {
        await expect(ENTRIES[entry]?.(url), url).rejects.toThrow()
      }
    }
    expect(canary.hits() - before).toBe(0)
    expect(reached).toEqual([])
  })

  test('private addresses are not reached by a name that was public at its first lookup', async () => {
    proves('R-SEC-012')
    const ends = new AbortController()
    let answers = 0
    const rebinding = safeFetch({
      allowPorts: [canary.port],
      resolve: async () => {
        if (answers++ > 0) return ['127.0.0.1']
        // It would connect now; that it would is enough.
        ends.abort(new Error('it was public'))
        return ['93.184.216.34']
      },
    })
    const url = `https://rebinding.example:${canary.port}/`
    const before = canary.hits()
    await expect(rebinding(url, { signal: ends.signal })).rejects.toThrow('it was public')
    for (let attempt = 0; attempt < 5; attempt++) await expect(rebinding(url)).rejects.toMatchObject({ code: 'ERR_URL_REFUSED' })
    expect(answers).toBe(6)
    expect(canary.hits() - before).toBe(0)
  })

  test('private addresses are refused by their URL where there is only fetch', async () => {
    const asked: string[] = []
    const plain = safeFetch({
      allowPorts: [canary.port],
      fetch: async (url) => (asked.push(String(url)) ? new Response('') : new Response('')),
    })
    for (const form of FORMS.filter((form) => !form.endsWith('.example'))) {
      for (const url of urlsOf(form)) await expect(plain(url), url).rejects.toMatchObject({ code: 'ERR_URL_REFUSED' })
    }
    expect(asked).toEqual([])
  })
})
