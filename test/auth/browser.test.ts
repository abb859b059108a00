/** The pages that people see, as Chromium shows them. */

import { once } from 'node:events'
import { createServer as createHttpServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { BrowserContext, Page } from 'playwright-core'
import { describe, expect, onTestFinished, test } from 'vitest'
// @ts-expect-error a plain script without types
import { startServer } from '../../examples/connected-account/server.mjs'
// @ts-expect-error a plain script without types
import { startIssuer, startPhotos } from '../../examples/connected-account/surroundings.mjs'
import { oauth } from '../../src/auth/client/index.ts'
import { resourceServer } from '../../src/auth/server/index.ts'
import { httpHandler } from '../../src/http/index.ts'
import { connect } from '../../src/index.ts'
import { chromiumOfFile } from '../support/chromium.ts'
import { testServer } from '../support/http-service.ts'
import { startAuthorizationServer } from '../support/oidc.ts'
import { proves } from '../support/proves.ts'
import { startRealm } from './client/realm.ts'
import { failureOf, open } from './client/support.ts'

const chromium = chromiumOfFile()

/** The browser of one person. */
async function newBrowser(): Promise<BrowserContext> {
  const context = await (await chromium()).newContext()
  // Less than a test may take, so that what was waited for is told.
  context.setDefaultTimeout(10_000)
  onTestFinished(() => context.close())
  return context
}

/** Listens at a free port until the test is over. */
async function listening(answer: RequestListener): Promise<number> {
  const http = createHttpServer(answer).listen(0, '127.0.0.1')
  await once(http, 'listening')
  onTestFinished(() => {
    http.closeAllConnections()
    http.close()
  })
  return (http.address() as AddressInfo).port
}

const textOf = (page: Page): Promise<string | null> => page.locator('body').textContent()

/** Whether a script in the page would run; what the browser does for a test itself is not asked. */
const runsScripts = (page: Page): Promise<boolean> =>
  page.evaluate(`(() => {
    const script = document.createElement('script')
    script.textContent = 'window.hasRun = true'
    document.documentElement.append(script)
    return window.hasRun === true
  })()`)

test('a script runs where nothing forbids it, which proves that the browser test works', async () => {
  const page = await (await newBrowser()).newPage()
  const port = await listening((_request, response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<p>plain'))
  await page.goto(`http://127.0.0.1:${port}/`)
  expect(await runsScripts(page)).toBe(true)
})

const THANKS = 'Login complete. You can close this window and return to the program.'
const HOSTILE = `"><script>alert(1)</script><img src="http://127.0.0.1:9/spy" onerror="alert(2)"><h1>Call 555-0100</h1>`

/** All that a page does besides being shown. */
function watch(page: Page): { dialogs: string[]; asked: string[] } {
  const seen = { dialogs: [] as string[], asked: [] as string[] }
  page.on('dialog', (dialog) => {
    seen.dialogs.push(dialog.message())
    void dialog.dismiss()
  })
  page.on('request', (request) => seen.asked.push(new URL(request.url()).pathname))
  return seen
}

async function expectThanks(page: Page): Promise<void> {
  expect(await page.title()).toBe('Login complete')
  expect(await textOf(page)).toBe(THANKS)
  expect(await page.locator('script, img, a, h1, style, link, iframe').count()).toBe(0)
  expect(await runsScripts(page)).toBe(false)
}

describe('the login of a client', () => {
  test('a login ends on a page that says so and runs no script', async () => {
    const as = await startAuthorizationServer()
    onTestFinished(() => as.stop())
    const port = await listening((request, response) => handler.node(request, response))
    const resource = as.protect(`http://127.0.0.1:${port}/mcp`)
    const server = testServer()
    server.tool('whoami', {}, (_args, { caller }) => String(caller.auth?.subject))
    const handler = httpHandler(server, { auth: resourceServer({ resource, issuer: as.issuer, scopes: ['mcp'] }) })
    onTestFinished(() => handler.close())

    const page = await (await newBrowser()).newPage()
    let shown: Awaited<ReturnType<Page['goto']>> = null
    const openBrowser = async (url: string): Promise<void> => {
      shown = await page.goto(url)
    }
    const client = await open(resource, oauth({ openBrowser }))
    expect((await client.call('whoami')).content).toMatchObject([{ text: 'alice' }])

    await expectThanks(page)
    expect(page.url()).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/callback\?code=/)
    expect(shown!.status()).toBe(200)
    expect(await shown!.allHeaders()).toMatchObject({
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
    })
  })

  test('a login page shows no text of a hostile authorization server', async () => {
    const realm = await startRealm()
    realm.callback = { error: HOSTILE, error_description: HOSTILE, error_uri: `javascript:${HOSTILE}`, [HOSTILE]: HOSTILE }
    const page = await (await newBrowser()).newPage()
    const seen = watch(page)
    const openBrowser = async (url: string): Promise<void> => void (await page.goto(url))
    expect(await failureOf(open(realm.url, oauth({ openBrowser })))).toMatchObject({ code: 'ERR_AUTH' })

    expect(new URL(page.url()).searchParams.get('error_description')).toBe(HOSTILE)
    await expectThanks(page)
    expect(await page.content()).not.toContain('555-0100')
    expect(seen).toEqual({ dialogs: [], asked: ['/authorize', '/callback'] })
  })

  test('a login page shows nothing to a caller with another state, and the login continues', async () => {
    const realm = await startRealm()
    const browser = await newBrowser()
    const [stranger, page] = [await browser.newPage(), await browser.newPage()]
    const seen = watch(stranger)
    let status = 0
    const openBrowser = async (url: string): Promise<void> => {
      const callback = new URL(new URL(url).searchParams.get('redirect_uri')!)
      callback.search = new URLSearchParams({ code: 'theirs', state: HOSTILE, error_description: HOSTILE }).toString()
      const answered = stranger.waitForResponse(() => true)
      // There is nothing in the answer, so that Chromium shows a page of its own.
      await expect(stranger.goto(callback.href)).rejects.toThrow('ERR_HTTP_RESPONSE_CODE_FAILURE')
      status = (await answered).status()
      await page.goto(url)
    }
    const client = await open(realm.url, oauth({ openBrowser }))
    expect((await client.call('read')).content).toMatchObject([{ text: 'read done' }])
    expect(status).toBe(400)
    await stranger.waitForURL('chrome-error://chromewebdata/')
    expect(seen.dialogs).toEqual([])
    await expectThanks(page)
  })
})

/**
 * The server of the example, and around it an issuer and a service with photos. The service is at another site, as in real
 * life: what comes back from there is subject to what browsers think of cookies and other sites.
 */
async function albums() {
  const issuer = await startIssuer()
  const photos = await startPhotos()
  const door = await listening(async (request, response) => {
    const { url = '/', method = 'GET', headers } = request
    if (url.startsWith('/authorize')) {
      const link = (photos.origin + url).replaceAll('&', '&amp;').replaceAll('"', '&quot;')
      response.writeHead(200, { 'content-type': 'text/html' }).end(`<h1>Photos</h1><a href="${link}">Allow</a>`)
      return
    }
    const { authorization = '', 'content-type': type = '' } = headers
    let body = ''
    for await (const chunk of request) body += chunk
    const how = { method, headers: { authorization, 'content-type': type }, ...(method === 'POST' && { body }) }
    const answer = await fetch(photos.origin + url, how)
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(await answer.text())
  })
  const url = `http://127.0.0.1:${await freePort()}`
  const stop = await startServer({ url, issuer: issuer.url, photos: { ...photos, origin: `http://localhost:${door}` } })
  onTestFinished(() => {
    stop()
    issuer.close()
    photos.close()
  })
  return {
    url,
    /** A browser in which somebody is logged in, here and at the photos. */
    browserOf: async (person: string): Promise<Page> => {
      const browser = await newBrowser()
      await browser.addCookies([{ name: 'user', value: person, url: photos.origin }])
      const page = await browser.newPage()
      await page.goto(`${url}/login?as=${person}&to=${encodeURIComponent(`${url}/connect/none`)}`)
      return page
    },
    /** Calls the tool for somebody, whose client sends them to a page once. */
    call: async (person: string, visit: (href: string) => Promise<void>): Promise<unknown> => {
      let isFirst = true
      const client = await connect(`${url}/mcp`, {
        http: { headers: { authorization: `Bearer ${await issuer.token(person, `${url}/mcp`)}` } },
        answer: {
          elicitUrl: async ({ href }) => {
            if (!isFirst) return { action: 'decline' }
            isFirst = false
            await visit(href)
            return { action: 'accept' }
          },
        },
      })
      onTestFinished(() => client.close())
      const { content } = await client.call('albums', {})
      return content
    },
  }
}

async function freePort(): Promise<number> {
  const http = createHttpServer().listen(0, '127.0.0.1')
  await once(http, 'listening')
  const { port } = http.address() as AddressInfo
  http.close()
  await once(http, 'close')
  return port
}

const headingOf = (page: Page): Promise<string | null> => page.locator('h1').textContent()
const visitCookies = async (page: Page) => (await page.context().cookies()).filter(({ name }) => name.includes('portico'))

describe('a page to connect an account', () => {
  test('a page to connect an account works for its person, with a cookie', async () => {
    proves('T-ELIC-100', 'T-ELIC-101')
    const { url, browserOf, call } = await albums()
    const page = await browserOf('alice')
    const seen = watch(page)
    const answer = await call('alice', async (href) => {
      const response = await page.goto(href)
      expect(response?.status()).toBe(200)
      expect(await headingOf(page)).toBe('Do you agree?')
      expect(await textOf(page)).toContain('May this server use your Photos account on your behalf?')
      expect(await textOf(page)).toContain('Requested by the application the-client.')
      expect(await page.getByRole('button').allInnerTexts()).toEqual(['Yes, continue', 'No'])
      expect(await runsScripts(page)).toBe(false)
      expect(await visitCookies(page)).toEqual([])

      await page.getByRole('button', { name: 'Yes, continue' }).click()
      await page.waitForURL(/^http:\/\/localhost:/)
      const tenMinutes = Date.now() / 1000 + 600
      const [cookie, ...others] = await visitCookies(page)
      expect(cookie).toMatchObject({ domain: '127.0.0.1', path: '/', httpOnly: true, secure: true, sameSite: 'Lax' })
      expect(cookie!.name).toMatch(/^__Host-portico-visit-[\w-]{8}$/)
      expect(Math.abs(cookie!.expires - tenMinutes)).toBeLessThan(10)
      expect(others).toEqual([])
      // Neither who they are nor where they come from.
      expect(await page.evaluate('document.referrer')).toBe('')

      await page.getByRole('link', { name: 'Allow' }).click()
      await page.waitForURL(`${url}/connect/callback?**`)
      expect(await headingOf(page)).toBe('Done')
      expect(await runsScripts(page)).toBe(false)
      expect(await visitCookies(page)).toEqual([])
      // Once, and not again.
      await page.goto(href)
      expect(await headingOf(page)).toBe('Page expired')
    })
    expect(answer).toMatchObject([{ text: 'alice at sea, alice in the hills' }])
    expect(seen.dialogs).toEqual([])
  })

  test('a page to connect an account does nothing after a denial', async () => {
    const { browserOf, call } = await albums()
    const page = await browserOf('alice')
    const answer = await call('alice', async (href) => {
      await page.goto(href)
      await page.getByRole('button', { name: 'No' }).click()
      await page.getByRole('heading', { name: 'Cancelled' }).waitFor()
      expect(await visitCookies(page)).toEqual([])
    })
    expect(answer).toMatchObject([{ text: 'The person declined: Connect your Photos account' }])
  })

  test('a page to connect an account is refused to another person, and its redirect to another browser', async () => {
    proves('T-ELIC-100', 'T-ELIC-101')
    const { url, browserOf, call } = await albums()
    const [page, mallory, elsewhere] = [await browserOf('alice'), await browserOf('mallory'), await browserOf('alice')]
    const refusedTo = async (stranger: Page, href: string): Promise<void> => {
      const response = await stranger.goto(href)
      expect(response?.status()).toBe(403)
      expect(await headingOf(stranger)).toBe('Access denied')
      expect(await stranger.locator('form').count()).toBe(0)
      expect(await visitCookies(stranger)).toEqual([])
    }
    const answer = await call('alice', async (href) => {
      await refusedTo(mallory, href)
      await page.goto(href)
      await page.getByRole('button', { name: 'Yes, continue' }).click()
      const onward = (await page.getByRole('link', { name: 'Allow' }).getAttribute('href'))!
      // The link leads to the way back, with the right state: for Mallory, and for Alice at another browser.
      await refusedTo(mallory, onward)
      await refusedTo(elsewhere, onward)
      await page.getByRole('link', { name: 'Allow' }).click()
      await page.waitForURL(`${url}/connect/callback?**`)
      expect(await headingOf(page)).toBe('Done')
    })
    expect(answer).toMatchObject([{ text: 'alice at sea, alice in the hills' }])
  })

  test('a page to connect an account connects nothing when another person opens it', async () => {
    proves('T-ELIC-100')
    const { browserOf, call } = await albums()
    const alice = await browserOf('alice')
    const answer = await call('mallory', async (href) => {
      await alice.goto(href)
      expect(await headingOf(alice)).toBe('Access denied')
    })
    expect(answer).toMatchObject([{ text: 'The person declined: Connect your Photos account' }])
  })

  test('a page to connect an account cannot be put into a frame', async () => {
    const { url, browserOf, call } = await albums()
    const page = await browserOf('alice')
    let framed = ''
    // At the same site, so that the cookie of the login is sent: only the page itself can refuse.
    const port = await listening((request, response) => {
      response.writeHead(200, { 'content-type': 'text/html' })
      response.end(request.url === '/' ? `<iframe src="/plain"></iframe><iframe src="${framed}"></iframe>` : '<button>Click me</button>')
    })
    await call('alice', async (href) => {
      framed = href
      const answered = page.waitForResponse(href)
      await page.goto(`http://127.0.0.1:${port}/`)
      expect((await answered).status()).toBe(200)
      const [, plain, ours] = page.frames()
      expect(await plain!.getByRole('button').allInnerTexts()).toEqual(['Click me'])
      expect(ours!.url()).toBe('chrome-error://chromewebdata/')
      expect(await ours!.getByRole('button', { name: 'Yes, continue' }).count()).toBe(0)
      expect(await ours!.content()).not.toContain('on your behalf')
      // By itself it is there.
      await page.goto(href)
      expect(await headingOf(page)).toBe('Do you agree?')
      expect(page.url().startsWith(url)).toBe(true)
    })
  })
})
