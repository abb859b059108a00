import { chmodSync, existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { oauth } from '../../../src/auth/client/index.ts'
import { openBrowser } from '../../../src/auth/client/login/node/browser.ts'
import { openLoopback } from '../../../src/auth/client/login/node/loopback.ts'
import { proves } from '../../support/proves.ts'
import { startRealm } from './realm.ts'
import { failureOf, open } from './support.ts'

describe('the browser', () => {
  let folder: string
  const path = process.env.PATH
  const { platform } = process

  // A program that stands in for the opener of each system and writes down how it was called.
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'portico-opener-'))
    for (const name of ['xdg-open', 'open', 'rundll32']) {
      writeFileSync(
        join(folder, name),
        `#!/bin/sh\nfor arg in "$@"; do printf '%s\\n' "$arg" >> '${folder}/seen.part'; done\nmv '${folder}/seen.part' '${folder}/seen'\n`,
      )
      chmodSync(join(folder, name), 0o755)
    }
    process.env.PATH = `${folder}:${path}`
  })
  afterEach(() => {
    process.env.PATH = path
    Object.defineProperty(process, 'platform', { value: platform })
  })

  async function seen(): Promise<string[]> {
    const file = join(folder, 'seen')
    for (let i = 0; i < 200 && !existsSync(file); i += 1) await new Promise((resolve) => setTimeout(resolve, 10))
    return readFileSync(file, 'utf8').trimEnd().split('\n')
  }

  test.each([
    'https://as.example/authorize?a=b&c=d',
    'https://as.example/$(calc)?x=`calc`',
    'https://as.example/?a="&calc&"',
    "https://as.example/?a='; calc; '",
    'https://as.example/?a=b%0acalc',
    'https://as.example/ --flag',
    'https://as.example/?x=%PATH%^&calc|calc>x',
    'http://127.0.0.1:1234/authorize?x=$(calc)',
  ])('the browser is given %s as one argument, as the parser writes it', async (url) => {
    proves('R-SEC-018')
    await openBrowser(url)
    expect(await seen()).toEqual([new URL(url).href])
  })

  test.each<[NodeJS.Platform, string[]]>([
    ['darwin', []],
    ['win32', ['url.dll,FileProtocolHandler']],
    ['linux', []],
  ])('the browser is opened on %s without a shell', async (name, before) => {
    proves('R-SEC-018', 'R-SEC-019')
    Object.defineProperty(process, 'platform', { value: name })
    await openBrowser('https://as.example/?a=1&b=$(calc)')
    expect(await seen()).toEqual([...before, 'https://as.example/?a=1&b=$(calc)'])
  })

  test.each([
    'http://$(calc)@x',
    'a:$(calc)?',
    '-flag',
    '--help',
    'http://as.example',
    'javascript:alert(1)',
    'JavaScript:alert(1)',
    'java\nscript:alert(1)',
    'file:///etc/passwd',
    'data:text/html,x',
    'vbscript:x',
    'ms-msdt:x',
    'search-ms:x',
    'ssh://x',
    'ftp://x/y',
    'smb://x/y',
    'mailto:x@y',
    'tel:1',
    'about:blank',
    'blob:https://x/y',
    'ws://127.0.0.1',
    'chrome://x',
    'view-source:https://x',
    'x-apple:y',
    'https://user:pass@as.example/',
    'https://',
  ])('the browser is not given %s', async (url) => {
    proves('R-SEC-016', 'R-SEC-017')
    expect(await failureOf(openBrowser(url))).toMatchObject({ code: 'ERR_AUTH', data: { reason: 'browser' } })
    expect(existsSync(join(folder, 'seen'))).toBe(false)
  })

  test('a missing browser is an error with advice', async () => {
    process.env.PATH = '/nowhere'
    const fault = await failureOf(openBrowser('https://as.example/?state=canary'))
    expect(fault).toMatchObject({ message: expect.stringContaining('openBrowser') })
    expect(inspect(fault, { depth: 20, showHidden: true })).not.toContain('canary')
  })
})

interface Asked {
  path?: string
  method?: string
  host?: string
}

const ask = (uri: string, { path = '/callback', method = 'GET', host }: Asked = {}): Promise<{ status: number; body: string }> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(uri)
    const sent = request({ hostname, port, path, method, headers: host === undefined ? {} : { host } }, (response) => {
      let body = ''
      response.setEncoding('utf8').on('data', (text) => (body += text))
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body }))
    })
    sent.on('error', reject).end()
  })

describe('the redirect address of a login', () => {
  const start = async (before?: string) => {
    const redirect = await openLoopback({ fixed: undefined, previous: before, openBrowser: () => {} })
    const arrived = redirect.visit('https://as.example', {
      signal: new AbortController().signal,
      isOurs: (url) => new URL(url).searchParams.get('state') === 'right',
    })
    return { redirect, arrived, uri: redirect.uri }
  }

  test('the redirect address of a login is a random port of 127.0.0.1 with one path', async () => {
    const [first, second] = [await start(), await start()]
    expect(first.uri).toMatch(/^http:\/\/127\.0\.0\.1:\d{4,5}\/callback$/)
    expect(first.uri).not.toBe(second.uri)
    await Promise.all([first.redirect.close(), second.redirect.close()])
  })

  test('the redirect address of a login is the last one if it is free', async () => {
    const first = await start()
    const second = await start(first.uri)
    expect(second.uri).not.toBe(first.uri)
    await first.redirect.close()
    const third = await start(first.uri)
    expect(third.uri).toBe(first.uri)
    await Promise.all([second.redirect.close(), third.redirect.close()])
  })

  test('the redirect address refuses everything but the answer to this login, and still gets that', async () => {
    const { redirect, arrived, uri } = await start()
    const right = '/callback?state=right&code=c'
    expect((await ask(uri, { path: '/callback?state=wrong&code=x' })).status).toBe(400)
    expect((await ask(uri, { path: '/callback?code=x' })).status).toBe(400)
    expect((await ask(uri, { path: '/other?state=right' })).status).toBe(404)
    expect((await ask(uri, { path: '/callback/?state=right' })).status).toBe(404)
    expect((await ask(uri, { path: right, method: 'POST' })).status).toBe(405)
    expect((await ask(uri, { path: right, host: 'evil.example' })).status).toBe(421)
    expect((await ask(uri, { path: right, host: '127.0.0.1.evil.example' })).status).toBe(421)
    expect((await ask(uri, { path: 'http://evil.example/callback?state=right' })).status).toBe(400)
    expect((await ask(uri, { path: right })).status).toBe(200)
    expect(await arrived).toBe(`${uri}?state=right&code=c`)
    await redirect.close()
    expect(await failureOf(ask(uri, { path: right }))).toMatchObject({ code: 'ECONNREFUSED' })
  })

  test('the redirect page shows nothing of the request', async () => {
    const { redirect, arrived, uri } = await start()
    const { body } = await ask(uri, { path: '/callback?state=right&error=x&error_description=%3Cscript%3Ealert(1)%3C/script%3E' })
    expect(body).not.toMatch(/script|alert|error/)
    await arrived
    await redirect.close()
  })

  test('the redirect server is closed after too many foreign requests', async () => {
    const { redirect, arrived, uri } = await start()
    const fault = failureOf(arrived)
    for (let i = 0; i < 100; i += 1) await ask(uri, { path: '/callback?state=wrong' })
    expect(await fault).toMatchObject({ data: { reason: 'redirect' } })
    await redirect.close()
  })

  test('the redirect server is closed after the login, with or without success', async () => {
    const realm = await startRealm()
    let place = ''
    const openBrowser = async (url: string): Promise<void> => {
      place = new URL(url).searchParams.get('redirect_uri') as string
      await fetch(url)
    }
    const client = await open(realm.url, oauth({ openBrowser }))
    expect(await client.tools().all()).toHaveLength(3)
    expect(await failureOf(ask(place))).toMatchObject({ code: 'ECONNREFUSED' })
    const refusing = oauth({ openBrowser: () => Promise.reject(new Error('no screen')) })
    expect(await failureOf(open(realm.url, refusing))).toMatchObject({
      code: 'ERR_AUTH',
      data: { reason: 'browser' },
      message: expect.stringContaining('no screen'),
    })
  })

  test('the redirect address may be fixed, and is then the only one', async () => {
    const holder = await start()
    const taken = { fixed: holder.uri, previous: undefined, openBrowser: () => {} }
    expect(await failureOf(openLoopback(taken))).toMatchObject({ data: { reason: 'redirect' } })
    await holder.redirect.close()
    const redirect = await openLoopback({ ...taken, fixed: holder.uri.replace('/callback', '/done') })
    expect(redirect.uri).toBe(holder.uri.replace('/callback', '/done'))
    await redirect.close()
    expect(await failureOf(openLoopback({ ...taken, fixed: 'https://app.example/callback' }))).toMatchObject({
      data: { reason: 'redirect' },
    })
  })
})
