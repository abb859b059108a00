import { once } from 'node:events'
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer as createHttpServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { delimiter, join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { resourceServer } from '../../src/auth/server/resource-server.ts'
import { httpHandler } from '../../src/http/index.ts'
import { createServer } from '../../src/server/index.ts'
import { temporaryFolders } from '../support/folders.ts'
import { startAuthorizationServer } from '../support/oidc.ts'
import { CLI, portico } from './support/cli.ts'
import { answerQuestion, OPEN_QUESTION, openQuestion, startTerminal } from './support/terminal.ts'

const newFolder = temporaryFolders()
const ended: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ended.splice(0).reverse()) await end()
})

/** A server that wants a login at a real authorization server. */
async function guarded() {
  const as = await startAuthorizationServer()
  ended.push(() => as.stop())
  const http = createHttpServer((request, response) => handler.node(request, response)).listen(0, '127.0.0.1')
  await once(http, 'listening')
  ended.push(() => {
    http.closeAllConnections()
    http.close()
  })
  const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`
  as.protect(url, { scopes: ['mcp'] })
  const server = createServer({ name: 'guarded', version: '1.0.0' })
  server.tool('hello', { description: 'Says hello' }, () => 'hello')
  const handler = httpHandler(server, { auth: resourceServer({ resource: url, issuer: as.issuer, scopes: ['mcp'] }) })
  return { as, url }
}

/** Allows all that is asked about it but the login itself. */
const ALLOW = `rules:
  - { id: connect, effect: allow, match: { action: server.connect, server: far } }
  - { id: approve, effect: allow, match: { action: server.approve, server: far } }
  - { id: calls, effect: allow, match: { action: tool.call, server: far, tier: untrusted } }
`

test('a manual login opens no page before the person has seen its host and agreed', async () => {
  const { as, url } = await guarded()
  const home = newFolder()
  const seen = join(home, 'page')
  const opener = join(home, 'xdg-open')
  writeFileSync(opener, `#!/bin/sh\nprintf '%s' "$1" > '${seen}.part' && mv '${seen}.part' '${seen}'\n`)
  chmodSync(opener, 0o755)
  const env = { HOME: home, PORTICO_HOME: join(home, 'host'), PATH: `${home}${delimiter}${process.env.PATH}` }
  const start = async () => {
    const terminal = startTerminal([CLI, 'call', url, 'hello'], { env, cwd: home, columns: 160 })
    await terminal.until(OPEN_QUESTION)
    expect(terminal.text()).toContain(`asks you to open a page on ${new URL(as.issuer).hostname}`)
    expect(existsSync(seen)).toBe(false)
    return terminal
  }
  const refusing = await start()
  await refusing.press('n')
  expect(await refusing.exit).not.toBe(0)
  expect(existsSync(seen)).toBe(false)
  expect(refusing.text()).toContain('you chose not to open its login page')

  const agreeing = await start()
  await agreeing.press('y')
  await agreeing.until('Waiting for the login ...')
  await expect.poll(() => existsSync(seen) && readFileSync(seen, 'utf8') !== '', { timeout: 20_000 }).toBe(true)
  await as.open(readFileSync(seen, 'utf8'))
  expect(await agreeing.exit, agreeing.text()).toBe(0)
}, 90_000)

test('a login through the host is used by later runs without a browser, until the logout', async () => {
  const { as, url } = await guarded()
  const home = newFolder()
  const seen = join(home, 'page')
  const opener = join(home, 'xdg-open')
  writeFileSync(opener, `#!/bin/sh\nprintf '%s' "$1" > '${seen}.part' && mv '${seen}.part' '${seen}'\n`)
  chmodSync(opener, 0o755)
  const env = { HOME: home, PORTICO_HOME: join(home, 'host'), PATH: `${home}${delimiter}${process.env.PATH}` }
  const run = (...args: string[]) => portico(args, { env, cwd: home })
  expect((await run('servers', 'add', 'far', url)).code).toBe(0)
  writeFileSync(join(home, 'host', 'policy.yaml'), ALLOW)
  const without = await run('call', 'far/hello')
  expect([3, 6], without.stderr).toContain(without.code)
  expect(existsSync(seen)).toBe(false)

  const terminal = startTerminal([CLI, 'servers', 'login', 'far'], { env, cwd: home, columns: 160 })
  for (;;) {
    await expect.poll(() => openQuestion(terminal) !== '' || existsSync(seen), { timeout: 20_000 }).toBe(true)
    if (existsSync(seen)) break
    expect(terminal.text()).toContain(new URL(as.issuer).host)
    await answerQuestion(terminal, /./, 'y')
  }
  await as.open(readFileSync(seen, 'utf8'))
  expect(await terminal.exit, terminal.text()).toBe(0)
  expect(terminal.text()).toContain('Logged in to far')

  expect(await run('call', 'far/hello')).toMatchObject({ code: 0, stdout: 'hello\n' })
  expect((await run('servers', 'logout', 'far')).code).toBe(0)
  const after = await run('call', 'far/hello')
  expect([3, 6], after.stderr).toContain(after.code)
  expect((await run('servers', 'login', 'fra')).stderr).toContain('Did you mean "far"?')
}, 90_000)
