/** A console in a real Chromium: what a page of the console can do, and what a page at another port of this computer cannot. */

import { createServer } from 'node:http'
import { expect, onTestFinished, test } from 'vitest'
import { chromiumOfFile } from '../support/chromium.ts'
import { portOf } from '../support/http-requests.ts'
import { codeOf, consoles, Page } from './pages.ts'

const opened = consoles()
const chromium = chromiumOfFile()

/** Logs in as the page of the console does. Returns the token. */
const logIn = async (code: string): Promise<string> => {
  const answer = await fetch('/api/session', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ code }),
  })
  return ((await answer.json()) as { token: string }).token
}

test('a page of the console uses its cookie and its token, and its policy runs no inline code', async () => {
  const { console } = await opened({ host: { servers: {} } })
  const page = await (await (await chromium()).newContext()).newPage()
  await page.goto(console.origin)
  expect(await page.textContent('h1')).toContain('is not built')
  const token = await page.evaluate(logIn, codeOf(console.link()))
  const statusWith = (headers: Record<string, string>) =>
    page.evaluate(async (given) => (await fetch('/api/servers', { headers: given })).status, headers)
  expect(await statusWith({ 'portico-token': token })).toBe(200)
  expect(await statusWith({})).toBe(401)
  expect(await page.evaluate('document.cookie')).toBe('')
  const ran = await page.evaluate(`(async () => {
    const script = document.createElement('script')
    script.textContent = 'window.wasRun = true'
    document.body.append(script)
    document.body.insertAdjacentHTML('beforeend', '<img src=x onerror="window.wasRun = true">')
    await new Promise((resolve) => setTimeout(resolve, 200))
    return [window.wasRun, await fetch('http://127.0.0.1:9/').catch((error) => error.name)]
  })()`)
  expect(ran).toEqual([undefined, 'TypeError'])
})

test('a page at another port receives the cookie, and can use nothing', async () => {
  const { console } = await opened({ host: { servers: {} } })
  const received: (string | undefined)[] = []
  const other = createServer((request, response) => {
    if (request.url === '/api/x') received.push(request.headers.cookie)
    response.writeHead(200, { 'content-type': 'text/html' }).end('<title>other</title>')
  })
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void other.close())
  const context = await (await chromium()).newContext()
  const page = await context.newPage()
  await page.goto(console.origin)
  const token = await page.evaluate(logIn, codeOf(console.link()))
  await page.goto(`http://127.0.0.1:${portOf(other)}/`)
  const code = codeOf(console.link())
  const attempts = await page.evaluate(
    async ({ origin, code: stolen, token: guessed }) => {
      const json = { 'content-type': 'application/json' }
      const attempt = (path: string, init: RequestInit): Promise<string> =>
        fetch(origin + path, { credentials: 'include', ...init }).then(
          ({ type, status }) => `${type} ${status}`,
          () => 'blocked',
        )
      await fetch('/api/x')
      return [
        await attempt('/api/servers', {}),
        await attempt('/api/servers', { headers: { 'portico-token': guessed } }),
        await attempt('/api/events', { mode: 'no-cors' }),
        await attempt('/api/session', { method: 'POST', headers: json, body: JSON.stringify({ code: stolen }) }),
        await attempt('/api/session', { method: 'POST', mode: 'no-cors', body: JSON.stringify({ code: stolen }) }),
      ]
    },
    { origin: console.origin, code, token },
  )
  // The opaque answers are refusals that the page cannot even read.
  expect(attempts.every((each) => each === 'blocked' || each === 'opaque 0')).toBe(true)
  // None of the attempts used up the code.
  expect((await new Page(console.origin).exchange(code)).status).toBe(201)
  // The browser did send the cookie to the other port, so the token is what protects the session.
  expect(received[0]).toContain(`portico-console-${console.port}=`)
  const thief = Object.assign(new Page(console.origin), { cookie: received[0] })
  expect(await thief.fails('GET /api/servers')).toMatchObject({ status: 401, code: 'ERR_SESSION' })
  const framed = await page.evaluate(`(async () => {
    const frame = document.createElement('iframe')
    frame.src = ${JSON.stringify(console.origin)}
    document.body.append(frame)
    await new Promise((resolve) => frame.addEventListener('load', resolve))
    return frame.contentDocument === null
  })()`)
  expect(framed).toBe(true)
  expect(page.frames().map((frame) => frame.url())).not.toContain(`${console.origin}/`)
})
