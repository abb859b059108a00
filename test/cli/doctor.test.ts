import { once } from 'node:events'
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { type AddressInfo, createServer as createTcpServer } from 'node:net'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { apiKeys } from '../../src/auth/index.ts'
import { Checkup } from '../../src/host/doctor/checkup.ts'
import { checkUrl } from '../../src/host/doctor/url.ts'
import { listen } from '../../src/http/index.ts'
import { everythingServer } from '../../src/testing/everything.ts'
import { temporaryFolders } from '../support/folders.ts'
import { selfSigned } from '../support/self-signed.ts'
import { fixture, portico, serve, serveFixture } from './support/cli.ts'

const newFolder = temporaryFolders()

interface Report {
  isHealthy: boolean
  findings: { step: string; status: 'ok' | 'failed' | 'skipped'; ms: number; detail: string; advice?: string }[]
}

async function examine(
  ...args: string[]
): Promise<{ code: number | null; report: Report; failed: Report['findings'][number] | undefined }> {
  const { code, stdout } = await portico(['doctor', '--json', '--timeout', '5', ...args], { env: { HOME: newFolder() } })
  const report = JSON.parse(stdout) as Report
  return { code, report, failed: report.findings.find(({ status }) => status === 'failed') }
}

const open: { close(): unknown }[] = []
afterEach(() => {
  for (const each of open.splice(0)) each.close()
})

async function answering(status: number, headers: Record<string, string> = {}): Promise<string> {
  const server: Server = createServer((_request, response) => response.writeHead(status, headers).end())
  open.push(server)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`
}

test('a checkup says when only file permissions protect stored secrets', async () => {
  const home = newFolder()
  const env = { HOME: home, PORTICO_HOME: join(home, 'host') }
  const checkup = async (): Promise<string> => (await portico(['doctor', ...serve('notes', join(home, 'notes'))], { env })).stderr
  expect(await checkup()).not.toContain('no keychain')
  mkdirSync(join(home, 'host', 'secrets'), { recursive: true, mode: 0o700 })
  for (const name of ['key', 'one.secret']) writeFileSync(join(home, 'host', 'secrets', name), 'x')
  expect(await checkup()).toContain(`There is no keychain: only file permissions protect what is in ${join(home, 'host', 'secrets')}`)
})

describe('a server at a URL', () => {
  test('a server at a URL that works passes every step', async () => {
    const listening = await listen(everythingServer(), { port: 0, handleSignals: false })
    open.push(listening)
    const { code, report } = await examine(listening.url)
    expect(code).toBe(0)
    expect(report.findings.map(({ step, status }) => `${step} ${status}`)).toEqual([
      'address ok',
      'DNS skipped',
      'TCP ok',
      'TLS skipped',
      'HTTP ok',
      'well-known skipped',
      'negotiation ok',
      'authorization skipped',
      'lists ok',
    ])
  })

  test('the TLS step says whether http stays on this machine or is sent without encryption', async () => {
    const port = new URL(await answering(200)).port
    const tlsOf = async (host: string): Promise<string | undefined> => {
      const checkup = new Checkup(() => {})
      const connect = () => Promise.reject(new Error('not needed'))
      const options = { headers: {}, isInsecureAllowed: true, timeoutMs: 5_000, signal: new AbortController().signal, connect }
      await checkUrl(checkup, `http://${host}:${port}/mcp`, options)
      return checkup.findings.find(({ step }) => step === 'TLS')?.detail
    }
    expect(await tlsOf('127.0.0.1')).toBe('not needed: http on this machine')
    // A socket to this address reaches this machine, but the URL does not say so.
    expect(await tlsOf('0.0.0.0')).toBe('not used: http without encryption (--insecure)')
  })

  test('a server at a URL whose name does not exist fails at DNS', async () => {
    const { code, failed } = await examine('https://no-such-host.invalid/mcp')
    expect(code).toBe(5)
    expect(failed?.step).toBe('DNS')
  })

  test('a server at a URL that does not run fails at TCP', async () => {
    const { failed } = await examine('http://127.0.0.1:1/mcp')
    expect(failed).toMatchObject({ step: 'TCP', advice: expect.stringContaining('Nothing listens') })
  })

  test('a server at a URL that does not speak TLS fails there, with what to do', async () => {
    const server = createTcpServer((socket) => {
      socket.on('error', () => {})
      socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')
    })
    open.push(server)
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { failed } = await examine(`https://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`)
    expect(failed).toMatchObject({ step: 'TLS', detail: 'wrong version number', advice: expect.stringContaining('http') })
  })

  test('a URL where nothing is served fails at HTTP', async () => {
    const { failed } = await examine(await answering(404))
    expect(failed).toMatchObject({ step: 'HTTP', detail: 'HTTP 404: not found' })
  })

  test('a server at a URL that accepts connections and sends nothing fails at HTTP after the timeout', async () => {
    const server = createTcpServer((socket) => socket.on('error', () => {}))
    open.push(server)
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { failed } = await examine(`http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`)
    expect(failed).toMatchObject({
      step: 'HTTP',
      detail: 'No answer within 5000 ms',
      advice: expect.stringContaining('does not answer'),
    })
  })

  test('a server at a URL that redirects is not followed', async () => {
    const { failed } = await examine(await answering(302, { location: 'https://elsewhere.example/' }))
    expect(failed).toMatchObject({ step: 'HTTP', detail: expect.stringContaining('https://elsewhere.example/') })
  })

  test('a server at a URL that wants a login without metadata fails at well-known', async () => {
    const { failed } = await examine(await answering(401, { 'www-authenticate': 'Bearer resource_metadata="http://127.0.0.1:1/x"' }))
    expect(failed?.step).toBe('well-known')
  })

  test('a server at a URL that needs a login fails at authorization, with its exit code', async () => {
    const issuer = 'https://issuer.example'
    const server: Server = createServer((request, response) => {
      const origin = `http://${request.headers.host}`
      if (request.url?.startsWith('/.well-known/oauth-protected-resource'))
        return void response
          .writeHead(200, { 'content-type': 'application/json' })
          .end(JSON.stringify({ resource: `${origin}/mcp`, authorization_servers: [origin] }))
      if (request.url?.startsWith('/.well-known/'))
        return void response.writeHead(200, { 'content-type': 'application/json' }).end(
          JSON.stringify({
            issuer: origin,
            authorization_endpoint: `${origin}/authorize`,
            token_endpoint: `${origin}/token`,
            registration_endpoint: `${origin}/register`,
            response_types_supported: ['code'],
            code_challenge_methods_supported: ['S256'],
          }),
        )
      if (request.url === '/register')
        return void response
          .writeHead(201, { 'content-type': 'application/json' })
          .end(JSON.stringify({ client_id: 'c', redirect_uris: [`${issuer}/`] }))
      response.writeHead(401, { 'www-authenticate': `Bearer resource_metadata="${origin}/.well-known/oauth-protected-resource/mcp"` }).end()
    })
    open.push(server)
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { code, failed, report } = await examine(`http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`)
    expect(report.findings.find(({ step }) => step === 'well-known')?.status, JSON.stringify(report)).toBe('ok')
    expect(failed?.step, JSON.stringify(report)).toBe('authorization')
    expect(code).toBe(6)
  })

  test.each([
    [undefined, 'An API key is required: Authorization: Bearer <key>', 'Authorization: Bearer KEY'],
    ['x-api-key', 'An API key is required in the header x-api-key', 'x-api-key: KEY'],
  ])('a server that wants an API key has no login, and the header is named: %s', async (header, words, option) => {
    const auth = apiKeys({ keys: { ci: 'a-key-of-16-characters' }, ...(header !== undefined && { header }) })
    const listening = await listen(everythingServer(), { port: 0, handleSignals: false, auth })
    open.push(listening)
    const { code, failed, report } = await examine(listening.url)
    expect(report.findings.find(({ step }) => step === 'well-known')).toMatchObject({
      status: 'ok',
      detail: expect.stringContaining('names no'),
    })
    expect(failed).toMatchObject({ step: 'authorization', advice: expect.stringContaining(`-H '${option}'`) })
    expect(failed?.detail).toMatch(new RegExp(`HTTP 401 Unauthorized: "${words}"$`))
    expect(code).toBe(6)
    const called = await portico(['tools', listening.url], { env: { HOME: newFolder() } })
    expect(called.stderr).toContain(`send it with -H '${option}'`)
    expect(called.stderr).toContain(words)
    const wrong = ['-H', option.replace('KEY', 'another-key-of-16-characters')]
    const known = `The server did not accept the key in the header ${header ?? 'authorization'}. Check the key`
    expect((await examine(listening.url, ...wrong)).failed?.advice).toContain(known)
    const refused = await portico(['tools', listening.url, ...wrong], { env: { HOME: newFolder() } })
    expect(refused.stderr).toContain(known)
    expect(refused.stderr).not.toContain('send it with')
    expect(called.stderr).not.toMatch(/register|http: \{/)
    expect(called.code).toBe(6)
  })

  test('a server that accepts an API key passes, and the steps say that the key was needed', async () => {
    const auth = apiKeys({ keys: { ci: 'a-key-of-16-characters' } })
    const listening = await listen(everythingServer(), { port: 0, handleSignals: false, auth })
    open.push(listening)
    const { code, report } = await examine(listening.url, '-H', 'Authorization: Bearer a-key-of-16-characters')
    const detailOf = (name: string) => report.findings.find(({ step }) => step === name)
    expect(code).toBe(0)
    expect(detailOf('HTTP')?.detail).toBe('HTTP 400: the server answers; 400 is usual for a request without a session')
    expect(detailOf('well-known')).toMatchObject({ status: 'skipped', detail: 'not needed: your headers have the credentials' })
    expect(detailOf('authorization')).toMatchObject({ status: 'ok', detail: 'credentials required, and yours are accepted' })
  })

  test('a header that is no credential does not make a server protected', async () => {
    const listening = await listen(everythingServer(), { port: 0, handleSignals: false })
    open.push(listening)
    const { report } = await examine(listening.url, '-H', 'X-Team: one')
    expect(report.findings.find(({ step }) => step === 'authorization')).toMatchObject({ status: 'skipped', detail: 'not needed' })
  })

  test('every command that meets a self-signed certificate says how to trust it', async () => {
    const { cert, key } = selfSigned()
    const listening = await listen(everythingServer(), { port: 0, handleSignals: false, tls: { cert, key } })
    open.push(listening)
    for (const words of [
      ['tools', listening.url],
      ['call', listening.url, 'test_simple_text'],
    ]) {
      const { code, stderr } = await portico(words, { env: { HOME: newFolder() } })
      expect([code, stderr.replace(/\s+/g, ' ')]).toEqual([5, expect.stringContaining('in the variable NODE_EXTRA_CA_CERTS')])
    }
    expect((await examine(listening.url)).failed).toMatchObject({ step: 'TLS', advice: expect.stringContaining('NODE_EXTRA_CA_CERTS') })
  })

  test('a server at a URL that is not a server of the protocol fails at the negotiation', async () => {
    const { failed } = await examine(await answering(200, { 'content-type': 'text/html' }))
    expect(failed?.step).toBe('negotiation')
  })

  test('a remote server at an unencrypted URL gets no request', async () => {
    const { failed } = await examine('http://server.example/mcp')
    expect(failed).toMatchObject({ step: 'address', advice: expect.stringContaining('https') })
  })
})

describe('a server as a program', () => {
  test('a server as a program that works passes every step', async () => {
    const { code, report } = await examine(...serve('everything'))
    expect(report.findings.map(({ step, status }) => `${step} ${status}`)).toEqual([
      'found ok',
      'starts ok',
      'initialize ok',
      'lists ok',
      'clean output ok',
    ])
    expect(code).toBe(0)
  })

  test('a server as a program that does not exist is not found', async () => {
    expect((await examine('--', 'no-such-program-anywhere')).failed).toMatchObject({
      step: 'found',
      advice: expect.stringContaining('PATH'),
    })
  })

  test('a server as a program that is not executable is reported, with advice', async () => {
    const path = join(newFolder(), 'server')
    writeFileSync(path, '#!/bin/sh\n')
    chmodSync(path, 0o644)
    expect((await examine('--', path)).failed).toMatchObject({ step: 'found', advice: `chmod +x ${path}` })
  })

  test('a server as a program that exits at once shows its last output', async () => {
    const { failed } = await examine('--', process.execPath, '-e', 'console.error("no token given"); process.exit(2)')
    expect(failed).toMatchObject({ step: 'initialize', detail: expect.stringContaining('no token given') })
  })

  test('a package that the registry does not have is named as the reason', async () => {
    const { failed } = await examine('--', process.execPath, '-e', 'console.error("npm error code E404"); process.exit(1)')
    expect(failed).toMatchObject({ step: 'initialize', advice: 'There is no such package. Check its name.' })
  })

  test('a program that writes nothing but other lines is reported, with advice', async () => {
    const { failed } = await examine(
      '--',
      process.execPath,
      '-e',
      "process.stdout.write('hello\\n'.repeat(2000)); setInterval(() => {}, 1000)",
    )
    expect(failed).toMatchObject({
      step: 'initialize',
      detail: expect.stringContaining('lines in a row that are not messages'),
      advice: expect.stringContaining('writes lines that are not messages. Only protocol messages may go to standard output'),
    })
  })

  test('a server as a program that prints other text on its output is reported', async () => {
    const { failed } = await examine(...serveFixture('hostile.mjs'))
    expect(failed).toMatchObject({ step: 'clean output', advice: expect.stringContaining('standard error') })
    expect(fixture('hostile.mjs')).toContain('hostile')
  })
})

test('the report for people gives each step a mark, a time and advice', async () => {
  const { stdout } = await portico(['doctor', 'http://127.0.0.1:1/mcp'])
  expect(stdout).toMatch(/^✓ address {8}http:\/\/127\.0\.0\.1:1\/mcp \d+ ms$/m)
  expect(stdout).toMatch(/^✗ TCP .*ECONNREFUSED.* \d+ ms\n {2}→ Nothing listens/m)
  expect(stdout).toMatch(/^– negotiation {4}skipped: an earlier step failed$/m)
})
