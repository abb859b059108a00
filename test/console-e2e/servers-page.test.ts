/** The pages of servers in a browser: importing several, the switch of a server's author, and settings of a changed program. */

import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { script } from '../host/hosts.ts'
import { chromiumOfFile } from '../support/chromium.ts'
import { temporaryFolders } from '../support/folders.ts'
import { afterQuiet, openWindow } from './support/windows.ts'
import { worlds } from './support/worlds.ts'

const chromium = chromiumOfFile()
const world = worlds()
const folders = temporaryFolders()

const lines = (tool: string): string => `
const server = createServer({ name: 'mine', version: '1.0.0' })
server.tool('${tool}', { description: 'Says hello' }, () => 'hello')
await serveStdio(server)
`

test('servers of another program are imported, and the question about all of them is open at once', async () => {
  const home = folders()
  mkdirSync(join(home, '.cursor'))
  const entry = (tool: string) => ({ command: process.execPath, args: [script(folders(), lines(tool))] })
  const mcpServers = { first: entry('hello'), second: entry('weather') }
  writeFileSync(join(home, '.cursor', 'mcp.json'), JSON.stringify({ mcpServers }))
  const { console, host } = await world({ host: { servers: {} }, console: { imports: { home } } })
  const window = await openWindow(await chromium(), console.link())
  onTestFinished(() => window.close())
  const { page } = window
  await window.open('/servers?add=import')
  await page.getByRole('button', { name: 'Import 2 servers', exact: true }).click()
  await page.getByRole('button', { name: 'Enable 2 servers' }).click()
  // The dialog is gone, so that the question can be answered.
  const start = page.getByRole('button', { name: /^Start .*(?:2|all|both)/i }).first()
  await start.waitFor()
  await expect.poll(() => page.getByRole('dialog').count()).toBe(0)
  await afterQuiet(page)
  await start.click()
  await expect.poll(() => Object.values(host.health()).map(({ state }) => state), { timeout: 20_000 }).toEqual(['ready', 'ready'])
  await page.getByText('2 servers enabled.').waitFor()
  await expect.poll(() => page.getByRole('button', { name: /found on this computer/ }).count()).toBe(0)
  expect(window.problems).toEqual([])
}, 120_000)

test('a setting of a program that changed is saved with a question, and the switch saves the questions', async () => {
  const folder = folders()
  const file = script(folder, lines('hello'))
  const { console, host } = await world({ host: { servers: {}, policy: { user: join(folders(), 'policy.yaml') } } })
  const window = await openWindow(await chromium(), console.link())
  onTestFinished(() => window.close())
  const { page } = window
  await window.open('/servers?add=new')
  await page.getByLabel('Command, address or JSON').fill(`${process.execPath} ${file}`)
  await page.getByLabel(/^Name/).fill('mine')
  await page.getByRole('button', { name: 'Add', exact: true }).click()
  await page.getByRole('button', { name: 'Enable' }).first().click()
  await page.getByRole('dialog').waitFor()
  await afterQuiet(page)
  await page.getByRole('dialog').getByRole('button', { name: 'Start and enable', exact: true }).click()
  const state = (): string | undefined => host.health().mine?.state
  await expect.poll(state, { timeout: 20_000 }).toBe('ready')

  script(folder, `${lines('hello')}// changed`)
  const first = host.connection('mine')
  await page.getByRole('tab', { name: 'Settings' }).click()
  await page.getByLabel('Title').fill('My server')
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await page.getByRole('dialog').waitFor()
  await afterQuiet(page)
  await page.getByRole('dialog').getByRole('button', { name: 'Start and enable', exact: true }).click()
  await expect.poll(() => host.connection('mine') !== first && state(), { timeout: 20_000 }).toBe('ready')

  await page.getByLabel('I am writing this server').click()
  await page.getByText('writing-mine').waitFor()
  script(folder, lines('third'))
  await page.getByRole('button', { name: 'Restart' }).click()
  await expect.poll(() => host.tools().map(({ exposed }) => exposed), { timeout: 20_000 }).toEqual(['mine__third'])
  expect(await page.getByRole('dialog').count()).toBe(0)
  expect(window.problems).toEqual([])
}, 120_000)
