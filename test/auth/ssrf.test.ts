/** 40 spellings of addresses that only we can reach, at 7 places where somebody else names a URL: nothing is ever connected to. */

import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { readFileSync } from 'node:fs'
import { createServer as createTlsServer } from 'node:https'
import type { Socket } from 'node:net'
import { createRemoteJWKSet, customFetch, jwtVerify, SignJWT } from 'jose'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Resolve, type SafeFetch, safeFetch } from '../../src/auth/safe-fetch.ts'
import { type CanaryServer, listen, startCanary } from '../support/canary-server.ts'

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
let ca: string
/** Where connections were made to, besides the attacker, which is allowed. */
const reached: string[] = []
let location = ''

const watch = (message: unknown): void => {
  const { socket } = message as { socket: Socket }
  socket.once('connect', () => {
    if (socket.remotePort !== attacker.port) reached.push(`${socket.remoteAddress}:${socket.remotePort}`)
  })
}

beforeAll(async () => {
  canary = await startCanary()
  ca = readFileSync(`${import.meta.dirname}/fixtures/attacker-cert.pem`, 'utf8')
  const key = readFileSync(`${import.meta.dirname}/fixtures/attacker-key.pem`, 'utf8')
  const redirecting = createTlsServer({ cert: ca, key }, (_, response) => response.writeHead(302, { location }).end())
  attacker = await listen(redirecting as never, '127.0.0.1')
  // Its port is allowed, so that it is the address alone that saves the canary; and so is one host that redirects.
  const allowPorts = [canary.port, attacker.port]
  guarded = safeFetch({ userUrl: 'https://mcp.example/mcp', allowPorts, allowHosts: ['attacker.example'], resolve, ca })
  subscribe('net.client.socket', watch)
})

afterAll(async () => {
  unsubscribe('net.client.socket', watch)
  await canary.close()
  await attacker.close()
})

const urlsOf = (form: string): string[] => ['https', 'http', 'HTTPS'].map((scheme) => `${scheme}://${form}:${canary.port}/inside`)

const signed = new SignJWT({}).setProtectedHeader({ alg: 'HS256', kid: '1' }).sign(new Uint8Array(32))

const ENTRIES: Record<string, (url: string) => Promise<unknown>> = {
  'resource metadata': (url) => guarded(url, { redirect: 'manual', headers: { accept: 'application/json' } }),
  'metadata of an authorization server': (url) => guarded(new URL('/.well-known/oauth-authorization-server', url), { redirect: 'manual' }),
  'an endpoint in metadata': (url) =>
    guarded(url, { method: 'POST', body: 'grant_type=refresh_token', headers: { authorization: 'Basic abc' } }),
  'the keys of an issuer': async (url) => jwtVerify(await signed, createRemoteJWKSet(new URL(url), { [customFetch]: guarded })),
  'a client document': (url) => guarded(url, { headers: { accept: 'application/json' } }),
  'an icon': (url) => guarded(url, { headers: { accept: 'image/png' } }),
  'where a redirect leads': (url) => {
    // As UTF-8, which is how a header can hold it.
    location = Buffer.from(url).toString('latin1')
    return guarded(`https://attacker.example:${attacker.port}/`)
  },
}

describe('addresses that only we can reach', () => {
  test('there are 40, and 7 places; without a guard the canary is reached', async () => {
    expect([new Set(FORMS).size, Object.keys(ENTRIES).length]).toEqual([40, 7])
    const before = canary.hits()
    for (const form of FORMS.slice(0, REACHES_CANARY)) await (await fetch(`http://${form}:${canary.port}/`)).text()
    expect(canary.hits() - before).toBeGreaterThanOrEqual(1)
    expect(reached.length).toBeGreaterThanOrEqual(1)
  })

  test.each(Object.keys(ENTRIES))('are not reached by %s, in any spelling', async (entry) => {
    const before = canary.hits()
    reached.length = 0
    for (const form of FORMS) {
      for (const url of urlsOf(form)) {
        const error = await ENTRIES[entry]?.(url).then(
          (value) => value,
          (error: unknown) => error,
        )
        expect(error, url).toMatchObject({ code: 'ERR_URL_REFUSED' })
      }
    }
    expect(canary.hits() - before).toBe(0)
    expect(reached).toEqual([])
  })

  test('are not reached by a name that was public when it was asked first', async () => {
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

  test('are not asked for where there is only fetch, as far as the URL tells', async () => {
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
