/** Every page of the console on an empty home: no error, nothing refused, nothing from elsewhere, and no finding of axe. */

import { mkdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Page as Tab } from 'playwright-core'
import { expect, test } from 'vitest'
import { SAY_ADD } from '../../console/src/state/tour.ts'
import { openLink, startConsole } from '../cli/support/started.ts'
import { chromiumOfFile } from '../support/chromium.ts'
import { temporaryFolders } from '../support/folders.ts'
import { faultsOf } from './support/faults.ts'
import { savePicture } from './support/pictures.ts'
import { openWindow, typeIntoPalette, type Window } from './support/windows.ts'
import { worlds } from './support/worlds.ts'

const chromium = chromiumOfFile()
const newFolder = temporaryFolders()
const newWorld = worlds()
const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const IMAGES = `${ROOT}docs/images/`

/** With UPDATE_IMAGES=1 the pictures of the docs are made again. */
const isUpdating = process.env.UPDATE_IMAGES === '1'

/** The pages that the docs show. */
const PICTURED: ReadonlySet<string> = new Set(
  'home servers tools resources prompts chat timeline policy audit settings waiting tour'.split(' '),
)

async function picture({ page }: Window, name: string, home: string): Promise<void> {
  if (!isUpdating || !PICTURED.has(name)) return
  mkdirSync(IMAGES, { recursive: true })
  await savePicture(page, `${IMAGES}console-${name}`, { [home]: '/home/you', [ROOT]: '/opt/portico/', [process.execPath]: 'node' })
}

test('first run on an empty home: every page opens in both themes and all sizes without a fault', async () => {
  const home = newFolder()
  const started = await startConsole({ home, args: ['up', '--no-open', '--port', '0'] })
  const api = await openLink(started.link)
  const ready = async (): Promise<string[]> =>
    (await api.get('GET /api/servers')).servers.map(({ health }: { health: { state: string } }) => health.state)
  await expect.poll(ready, { timeout: 20_000 }).toEqual(['ready', 'ready'])
  const tools = async (): Promise<string[]> => (await api.get('GET /api/tools')).tools.map(({ exposed }: { exposed: string }) => exposed)
  await expect.poll(tools, { timeout: 20_000 }).toContain('notes__add')
  const { recordings } = await api.get('POST /api/recordings', { title: 'First run' })
  const added = await api.run('POST /api/tools/call', { tool: 'notes__add', args: { title: 'Shopping', text: 'Milk, bread and apples' } })
  expect(added).toMatchObject({ state: 'done' })
  await api.run('POST /api/tools/call', { tool: 'notes__list' })
  for (const { id } of recordings) await api.get(`POST /api/recordings/${id}/stop`)
  await api.get('PUT /api/secrets/WEATHER_KEY', { value: 'not shown anywhere' })
  // Without a window nobody could be asked.
  const window = await openWindow(await chromium(), linkOf(started.origin, await api.get('POST /api/session/codes')))
  const { conversation } = await api.get('POST /api/chat', { message: 'List my notes' })
  await api.get('POST /api/chat', { message: SAY_ADD })
  await expect.poll(async () => (await api.get('GET /api/questions')).questions.length, { timeout: 10_000 }).toBeGreaterThan(0)

  const pages: Record<string, string> = {
    home: '/',
    servers: '/servers',
    'add-server': '/servers?add=new',
    ...Object.fromEntries(
      ['overview', 'offering', 'log', 'messages', 'settings', 'doctor'].map((tab) => [`server-${tab}`, `/servers?server=notes&tab=${tab}`]),
    ),
    'all-tools': '/tools',
    tools: '/tools?tool=notes__add',
    resources: '/resources',
    prompts: '/prompts',
    chat: `/chat?conversation=${conversation}`,
    tasks: '/tasks',
    timeline: '/timeline',
    recordings: '/timeline?tab=recordings',
    policy: '/policy',
    grants: '/policy?tab=grants',
    'policy-edit': '/policy?tab=edit',
    audit: '/audit?record=7',
    settings: '/settings',
    models: '/settings?tab=models',
    secrets: '/settings?tab=secrets',
    limits: '/settings?tab=limits',
    waiting: '/waiting',
    tour: '/tour',
  }
  const faults: string[] = []
  for (const [name, path] of Object.entries(pages)) {
    await window.open(path)
    await picture(window, name, home)
    faults.push(...(await faultsOf(window, name)))
  }
  // What opens over a page or beside it. The tour has opened the tray, and shows it again when the page is wide.
  const { page } = window
  const tray = page.getByRole('complementary', { name: 'Waiting for you' })
  await tray.waitFor()
  await page.keyboard.press('w')
  await tray.waitFor({ state: 'detached' })
  for (const [name, { path, open }] of Object.entries(OPENED)) {
    await window.open(path)
    await open(page)
    faults.push(...(await faultsOf(window, name)))
    await page.keyboard.press('Escape')
  }
  expect([...faults, ...window.problems]).toEqual([])
  expect(started.stderr()).not.toContain('console:')
}, 240_000)

/** Dialogs, menus and the tray: where they are, and how a person opens them. */
const OPENED: Record<string, { path: string; open(page: Tab): Promise<void> }> = {
  keys: { path: '/', open: (page) => page.keyboard.press('?').then(() => page.getByRole('dialog').waitFor()) },
  palette: {
    path: '/',
    open: async (page) => {
      await typeIntoPalette(page, 'note')
      await page.getByRole('option').first().waitFor()
    },
  },
  'palette-empty': {
    path: '/',
    open: async (page) => {
      await typeIntoPalette(page, 'nothing has this name')
      await page.getByText('Nothing has this name.').waitFor()
    },
  },
  import: { path: '/servers?add=import', open: (page) => page.getByRole('dialog').waitFor() },
  remove: {
    path: '/servers?server=deploy',
    open: async (page) => {
      await page.getByRole('button', { name: 'Remove' }).click()
      await page.getByRole('dialog').waitFor()
    },
  },
  explain: {
    path: '/tools?tool=notes__remove',
    open: async (page) => {
      await page.getByRole('button', { name: 'Would it be asked?' }).click()
      await page.getByRole('dialog').getByText(/./).first().waitFor()
    },
  },
  result: {
    path: '/tools?tool=notes__list',
    open: async (page) => {
      await page.getByRole('button', { name: 'Run', exact: true }).click()
      await page.getByRole('region', { name: 'Result' }).getByRole('tab').first().waitFor()
    },
  },
  message: {
    path: '/timeline',
    open: async (page) => {
      await page.getByRole('listbox').focus()
      await page.keyboard.press('End')
      await page.waitForURL(/message=/)
    },
  },
  'own-question': {
    path: '/tools?tool=deploy__deploy&args=%7B%22service%22%3A%22api%22%2C%22version%22%3A%221.4.0%22%2C%22environment%22%3A%22staging%22%7D',
    open: async (page) => {
      await page.getByRole('button', { name: 'Use them' }).click()
      // The form begins again with the arguments.
      await page.getByRole('button', { name: 'Use them' }).waitFor({ state: 'detached' })
      await page.getByRole('button', { name: 'Run', exact: true }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Details' }).click()
    },
  },
  more: {
    path: '/waiting',
    open: async (page) => {
      await page
        .getByRole('button', { name: /^Always allow/ })
        .first()
        .click()
      await page.getByRole('menu').waitFor()
    },
  },
  // The tray stays open from here on.
  tray: {
    path: '/policy?tab=grants',
    open: async (page) => {
      await page.keyboard.press('w')
      const card = page.getByRole('article').first()
      await card.getByRole('button', { name: 'Details' }).click()
      await card.getByRole('button', { name: 'Edit' }).click()
    },
  },
}

test('with nothing to show: every page says what to do, and axe finds nothing', async () => {
  const { console } = await newWorld({ host: { servers: {} } })
  const window = await openWindow(await chromium(), console.link())
  const faults: string[] = []
  const paths = ['', 'servers', 'tools', 'resources', 'prompts', 'chat', 'timeline', 'policy', 'policy?tab=grants', 'audit', 'waiting']
  for (const path of [...paths, 'timeline?tab=recordings', 'settings?tab=secrets', 'tools?tool=gone', 'servers?server=gone', 'nowhere']) {
    await window.open(`/${path}`)
    faults.push(...(await faultsOf(window, `empty-${path.replace(/[?=]/g, '-')}`, true)))
  }
  await window.close()
  // What is not there is asked for by its address.
  expect([...faults, ...window.problems.filter((problem) => !/gone|404/.test(problem))]).toEqual([])
}, 120_000)

const linkOf = (origin: string, { code }: { code: string }): string => `${origin}/#code=${code}`
