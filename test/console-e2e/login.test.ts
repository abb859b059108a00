/** A server over HTTP that needs a login, through the page of a started console, at a real authorization server. */

import { once } from 'node:events'
import { chmodSync, existsSync, writeFileSync } from 'node:fs'
import { createServer as createHttpServer } from 'node:http'
import { delimiter, join } from 'node:path'
import type { Page as Tab } from 'playwright-core'
import { expect, onTestFinished, test } from 'vitest'
import { resourceServer } from '../../src/auth/server/resource-server.ts'
import { httpHandler } from '../../src/http/index.ts'
import { createServer } from '../../src/server/index.ts'
import { openLink, startConsole } from '../cli/support/started.ts'
import { chromiumOfFile } from '../support/chromium.ts'
import { temporaryFolders } from '../support/folders.ts'
import { portOf } from '../support/http-requests.ts'
import { startAuthorizationServer } from '../support/oidc.ts'
import { afterQuiet, openWindow, type Window } from './support/windows.ts'

const chromium = chromiumOfFile()
const newFolder = temporaryFolders()

/** A server that wants a login at an authorization server with a page of its own. */
async function guarded() {
  const as = await startAuthorizationServer()
  as.showsPage = true
  const http = createHttpServer((request, response) => handler.node(request, response)).listen(0, '127.0.0.1')
  await once(http, 'listening')
  onTestFinished(async () => {
    http.closeAllConnections()
    http.close()
    await as.stop()
  })
  const url = `http://127.0.0.1:${portOf(http)}/mcp`
  as.protect(url, { scopes: ['mcp'] })
  const server = createServer({ name: 'guarded', version: '1.0.0' })
  server.tool('hello', { description: 'Says hello' }, () => 'hello from behind the login')
  const handler = httpHandler(server, { auth: resourceServer({ resource: url, issuer: as.issuer, scopes: ['mcp'] }) })
  return { as, url }
}

/** Presses the button in the dialog that the person's own click opened. */
async function answer({ page }: Window, name: string): Promise<void> {
  const button = page.getByRole('dialog').getByRole('button', { name, exact: true })
  await button.waitFor()
  await afterQuiet(page)
  await button.click()
}

/** Opens the login page from the dialog, in a tab of its own. */
async function openLogin({ page }: Window): Promise<Tab> {
  const link = page.getByRole('dialog').getByRole('link', { name: 'Open the page' })
  await link.waitFor()
  await afterQuiet(page)
  const opened = page.context().waitForEvent('page')
  await link.click()
  const tab = await opened
  await tab.getByRole('heading', { name: 'Example login' }).waitFor()
  return tab
}

test('a server that needs a login: declined, refused, logged in, used, logged out, revoked', async () => {
  const { as, url } = await guarded()
  const home = newFolder()
  // A second window of the system's browser would be one too many.
  const opened = join(home, 'opened')
  writeFileSync(join(home, 'xdg-open'), `#!/bin/sh\ntouch '${opened}'\n`)
  chmodSync(join(home, 'xdg-open'), 0o755)
  const env = { PATH: `${home}${delimiter}${process.env.PATH}` }
  const { link, origin } = await startConsole({ home, args: ['up', '--no-open', '--port', '0'], env })
  const api = await openLink(link)
  const { code } = await api.get('POST /api/session/codes')
  const window = await openWindow(await chromium(), `${origin}/#code=${code}`)
  onTestFinished(() => window.close())
  const { page } = window
  const badge = (word: string): Promise<void> =>
    page
      .getByRole('main')
      .getByText(new RegExp(`^\\W*${word}$`))
      .first()
      .waitFor({ timeout: 15_000 })
  const isReady = (): Promise<void> => badge('ready')

  await window.open('/servers')
  await page.getByRole('button', { name: 'Add a server' }).first().click()
  await page.getByLabel('Command, address or JSON').fill(url)
  await page.getByLabel('Name').fill('far')
  await page.getByRole('button', { name: 'Add', exact: true }).click()
  await page.getByRole('heading', { level: 1, name: 'far' }).waitFor()

  // The person does not want to open the page.
  await page.getByRole('button', { name: 'Enable', exact: true }).click()
  await answer(window, 'Connect and enable')
  await page
    .getByRole('dialog')
    .getByText(`127.0.0.1:${new URL(as.issuer).port}`)
    .first()
    .waitFor()
  await answer(window, 'Not now')
  await badge('needs login')
  expect(as.count('authorization')).toBe(0)

  // The person says no at the provider.
  await page.getByRole('button', { name: 'Log in', exact: true }).click()
  const refused = await openLogin(window)
  await refused.getByRole('button', { name: 'Cancel' }).click()
  await badge('needs login')
  await page
    .getByText(/access_denied/)
    .first()
    .waitFor()
  await refused.close()

  await page.getByRole('button', { name: 'Log in', exact: true }).click()
  const tab = await openLogin(window)
  await tab.getByRole('button', { name: 'Log in' }).click()
  await tab.getByText('Login complete').waitFor()
  await tab.close()
  await isReady()

  await window.open('/tools?tool=far__hello')
  await page.getByRole('button', { name: 'Run', exact: true }).click()
  await answer(window, 'Allow once')
  await page.getByText('hello from behind the login').first().waitFor()

  // Out and in again. The new token is short-lived, and the provider withdraws the rest: the next call needs a login.
  await window.open('/servers?server=far')
  await page.getByRole('button', { name: 'Log out', exact: true }).click()
  await badge('needs login')
  as.accessTokenSeconds = 1
  await page.getByRole('button', { name: 'Log in', exact: true }).click()
  const again = await openLogin(window)
  await again.getByRole('button', { name: 'Log in' }).click()
  await again.getByText('Login complete').waitFor()
  await again.close()
  await isReady()
  as.revokeGrants()
  as.accessTokenSeconds = 3600
  await window.open('/tools?tool=far__hello')
  await page.getByRole('button', { name: 'Run', exact: true }).click()
  await answer(window, 'Allow once')
  const last = await openLogin(window)
  await last.getByRole('button', { name: 'Log in' }).click()
  await page.getByText('hello from behind the login').first().waitFor()
  expect(existsSync(opened), 'the page opens in this browser only').toBe(false)
  expect(window.problems.filter((problem) => !problem.startsWith('another window'))).toEqual([])
}, 120_000)
