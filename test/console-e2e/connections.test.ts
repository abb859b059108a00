/** Models and connections in a browser: adding a model by keyboard, and everything about one connection to a server. */

import { realpathSync } from 'node:fs'
import { expect, onTestFinished, test } from 'vitest'
import { deployServer } from '../../src/demo/index.ts'
import { allow } from '../../src/host/policy-tools/index.ts'
import { listen } from '../../src/http/index.ts'
import { scriptedModel } from '../../src/testing/index.ts'
import { script } from '../host/hosts.ts'
import { KEY, provider } from '../host/language-models/fixtures/provider.ts'
import { chromiumOfFile } from '../support/chromium.ts'
import { temporaryFolders } from '../support/folders.ts'
import { faultsOf } from './support/faults.ts'
import { keyboardOf } from './support/keyboard.ts'
import { openWindow } from './support/windows.ts'
import { worlds } from './support/worlds.ts'

const chromium = chromiumOfFile()
const world = worlds()
const folders = temporaryFolders()

const ALLOWED = [
  allow('start', { action: ['server.launch', 'server.connect', 'server.approve'] }),
  allow('calls', { action: 'tool.call', tier: 'untrusted' }),
]

async function shown(host: Parameters<typeof world>[0]['host']) {
  const all = await world({ host: { policy: { session: ALLOWED }, ...host } })
  const window = await openWindow(await chromium(), all.console.link())
  onTestFinished(() => window.close())
  return { ...all, window, page: window.page }
}

test('a model is added, tested, chatted with and removed by keys alone, and its key is shown nowhere', async () => {
  const { origin } = await provider(
    { kind: 'message', text: ['hello'] },
    { kind: 'message', text: ['Good morning, says the model'] },
    { kind: 'status', status: 503, message: 'Too busy' },
  )
  const { window, page, host } = await shown({ servers: {}, fallbackModel: scriptedModel() })
  const keys = keyboardOf(window)
  await window.open('/settings?tab=models')
  await keys.to(/^Provider/)
  await keys.type('Another')
  await keys.fill(/^Name of the model/, 'canned')
  await keys.fill(/^Address/, 'http://models.example/v1')
  await keys.fill(/^Key/, KEY)
  await page.getByText('The key would be sent unencrypted to models.example').waitFor()
  await expect.poll(() => page.getByRole('button', { name: 'Add and test' }).isDisabled()).toBe(true)
  const faults = await faultsOf(window, 'models-fault', true)
  await page.getByLabel(/^Address/).fill(`${origin}/v1`)
  await keys.enter('Add and test')
  await page.getByText('hello', { exact: true }).waitFor()
  await expect.poll(() => page.locator('input[type=password]').inputValue()).toBe('')
  expect(host.models.map(({ id }) => id)).toEqual(['compatible:canned'])
  const everything = await page.evaluate(
    'document.documentElement.outerHTML + JSON.stringify({ ...localStorage, ...sessionStorage }) + location.href',
  )
  expect(everything).not.toContain(KEY)
  faults.push(...(await faultsOf(window, 'models-added')))

  await window.open('/chat')
  await page.getByRole('textbox', { name: /message/i }).fill('Hello')
  await page.keyboard.press('Enter')
  await page.getByText('Good morning, says the model').first().waitFor()

  await window.open('/settings?tab=models')
  await keys.enter(/^Test 127/)
  await page.getByText('does not work').waitFor()
  faults.push(...(await faultsOf(window, 'models-failed')))
  await keys.enter(/^Remove 127/)
  await keys.enter('Remove')
  await page.getByText(/is removed, and so is its key/).waitFor()
  expect(host.models.map(({ id }) => id)).toEqual(['scripted'])
  expect(await (await host.secrets()).list()).toEqual([])
  expect([...faults, ...window.problems]).toEqual([])
}, 120_000)

const TALKER = `
const server = createServer({ name: 'talker', version: '1.0.0' })
server.tool('talk', { description: 'Logs' }, (_, { log }) => {
  log.debug('a detail')
  return process.cwd()
})
await serveStdio(server)
`

test('a command is added with its folder, pinged, told what to log, and started with an older revision', async () => {
  const { window, page, host } = await shown({ servers: {} })
  const cwd = realpathSync(folders())
  await window.open('/servers?add=new')
  await page.getByLabel('Command, address or JSON').fill(`${process.execPath} ${script(folders(), TALKER)}`)
  await page.getByLabel(/^Name/).fill('talker')
  const folder = page.getByLabel('Working folder')
  await expect.poll(() => folder.inputValue()).toBe(host.project)
  await folder.fill('/there/is/no/such/folder')
  await page.getByRole('button', { name: 'Add', exact: true }).click()
  await page.getByText('There is no folder "/there/is/no/such/folder"').waitFor()
  const faults = await faultsOf(window, 'add-folder', true)
  await folder.fill(cwd)
  await page.getByRole('button', { name: 'Add', exact: true }).click()
  await expect.poll(() => host.health().talker?.state, { timeout: 20_000 }).toBe('ready')

  await page.getByRole('button', { name: 'Ping' }).click()
  await page.getByText(/within \d+ ms\. Revision 2026-07-28 has no ping: server\/discover was sent\./).waitFor()
  faults.push(...(await faultsOf(window, 'connection-ping')))

  await page.getByRole('tab', { name: 'Settings' }).click()
  await page.getByLabel('Protocol revision').selectOption('2025-06-18')
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await expect.poll(() => host.connection('talker')?.revision, { timeout: 20_000 }).toBe('2025-06-18')
  faults.push(...(await faultsOf(window, 'settings-revision')))

  await page.getByRole('tab', { name: 'Log' }).click()
  await page.getByText('Set with logging/setLevel').waitFor()
  await page.getByLabel('The server logs').selectOption('debug')
  await expect.poll(() => host.connection('talker')?.logging?.level).toBe('debug')
  expect((await host.call('talker__talk', {}, { as: 'person' })).content).toMatchObject([{ text: cwd }])
  await page.getByText('a detail').waitFor()
  faults.push(...(await faultsOf(window, 'log-level')))
  expect([...faults, ...window.problems.filter((problem) => !problem.includes('400'))]).toEqual([])
}, 120_000)

test('a message over HTTP shows its status and headers, and those of the configuration by name only', async () => {
  const deploy = deployServer({ stepMs: 1 })
  const { url, close } = await listen(deploy, { port: 0, handleSignals: false })
  onTestFinished(async () => {
    await close()
    await deploy.close()
  })
  const secret = 'a-very-secret-value-4711'
  const transport = { type: 'http' as const, url, headers: { 'X-Api-Key': secret } }
  const { window, page, host } = await shown({ servers: { far: { transport, tier: 'trusted', provenance: [] } } })
  await host.settled()
  await window.open('/servers?server=far&tab=messages')
  await page.getByRole('option').filter({ hasText: 'tools/list' }).first().click()
  const http = page.getByText('HTTP POST, 200 OK').first()
  await http.click()
  await page.getByRole('heading', { name: 'Response headers' }).waitFor()
  await page.getByText('x-api-key', { exact: true }).waitFor()
  await page.getByText('sent, not shown').first().waitFor()
  expect(await page.content()).not.toContain(secret)
  const faults = await faultsOf(window, 'http-view')
  await page.getByRole('tab', { name: 'Settings' }).click()
  await page.getByText('HTTP transport').waitFor()
  expect([...faults, ...window.problems]).toEqual([])
}, 120_000)
