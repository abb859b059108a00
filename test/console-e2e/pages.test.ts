/** Every page of the console on an empty home: no error, nothing refused, nothing from elsewhere, and no finding of axe. */

import { mkdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { SAY_ADD } from '../../console/src/state/tour.ts'
import { openLink, startConsole } from '../cli/support/started.ts'
import { chromiumOfFile } from '../support/chromium.ts'
import { temporaryFolders } from '../support/folders.ts'
import { savePicture } from './support/pictures.ts'
import { openWindow, type Window } from './support/windows.ts'

const chromium = chromiumOfFile()
const newFolder = temporaryFolders()
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const IMAGES = `${ROOT}docs/images/`

/** With UPDATE_IMAGES=1 the pictures of the docs are made again. */
const isUpdating = process.env.UPDATE_IMAGES === '1'

const SIZES = [
  { width: 1440, height: 900 },
  { width: 900, height: 700 },
  { width: 360, height: 740 },
]

/** Findings of axe as `rule: element`, at most 200 characters each. */
async function findings({ page }: Window): Promise<string[]> {
  // Not a script element: the policy of the page would refuse it.
  if (!(await page.evaluate('"axe" in window'))) await page.evaluate(AXE)
  const violations = (await page.evaluate('axe.run(document).then(({ violations }) => violations)')) as {
    id: string
    nodes: { html: string; failureSummary: string }[]
  }[]
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html.slice(0, 160)} ${failureSummary.slice(0, 200)}`),
  )
}

/** Wider than the window: people would have to scroll to the side. */
const isTooWide = ({ page }: Window): Promise<boolean> => page.evaluate('document.documentElement.scrollWidth > innerWidth')

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
    timeline: '/timeline',
    message: '/timeline?message=3',
    recordings: '/timeline?tab=recordings',
    policy: '/policy',
    grants: '/policy?tab=grants',
    'policy-edit': '/policy?tab=edit',
    audit: '/audit?record=7',
    settings: '/settings',
    secrets: '/settings?tab=secrets',
    limits: '/settings?tab=limits',
    waiting: '/waiting',
    tour: '/tour',
  }
  const faults: string[] = []
  for (const [name, path] of Object.entries(pages)) {
    await window.page.setViewportSize(SIZES[0] as { width: number; height: number })
    await window.page.emulateMedia({ colorScheme: 'light' })
    await window.open(path)
    await picture(window, name, home)
    for (const finding of await findings(window)) faults.push(`${name}, light: ${finding}`)
    for (const size of SIZES) {
      await window.page.setViewportSize(size)
      if (await isTooWide(window)) faults.push(`${name}: wider than ${size.width}`)
    }
    await window.page.emulateMedia({ colorScheme: 'dark' })
    for (const finding of await findings(window)) faults.push(`${name}, dark and narrow: ${finding}`)
  }
  expect([...faults, ...window.problems]).toEqual([])
  expect(started.stderr()).not.toContain('console:')
}, 150_000)

const linkOf = (origin: string, { code }: { code: string }): string => `${origin}/#code=${code}`
