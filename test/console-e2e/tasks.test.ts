/** Tasks on the page of a started console: started, answered in place, cancelled, and kept over a kill of the host. */

import { readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeAll, expect, onTestFinished, test } from 'vitest'
import { portico } from '../cli/support/cli.ts'
import { openLink, type Started, startConsole } from '../cli/support/started.ts'
import type { Page } from '../console/pages.ts'
import { bundled } from '../support/bundled.ts'
import { chromiumOfFile } from '../support/chromium.ts'
import { temporaryFolders } from '../support/folders.ts'
import { savePicture } from './support/pictures.ts'
import { afterQuiet, goWithKeys, openWindow, tabTo, type Window } from './support/windows.ts'

const chromium = chromiumOfFile()
const newFolder = temporaryFolders()
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
/** The picture of docs/tasks.md, without its extension. */
const IMAGE = fileURLToPath(new URL('../../docs/images/console-tasks', import.meta.url))
let program: string

beforeAll(async () => {
  program = await bundled(new URL('../host/tasks/job-server.ts', import.meta.url), newFolder())
}, 120_000)

const ALLOW = `rules:
  - { id: launch, effect: allow, match: { action: server.launch, server: jobs } }
  - { id: approve, effect: allow, match: { action: server.approve, server: jobs } }
`

/** The home of a person who has the server of jobs, which stores its tasks. */
async function newHome(): Promise<{ home: string; finish(): void }> {
  const home = newFolder()
  const go = join(newFolder(), 'go')
  const variables = Object.entries({ FOLDER: newFolder(), LOG: join(newFolder(), 'log'), GO: go })
  await portico(
    [
      'servers',
      'add',
      'jobs',
      ...variables.flatMap(([name, value]) => ['-e', `${name}=${value}`]),
      '--trusted',
      '--',
      process.execPath,
      program,
    ],
    { env: { HOME: home, PORTICO_HOME: join(home, 'host') }, cwd: home },
  )
  writeFileSync(join(home, 'host', 'policy.yaml'), ALLOW)
  return { home, finish: () => writeFileSync(go, '') }
}

async function started(home: string): Promise<{ console: Started; window: Window; api: Page }> {
  const console = await startConsole({ home, args: ['up', '--no-open', '--port', '0'] })
  const api = await openLink(console.link)
  const isReady = async (): Promise<boolean> =>
    (await api.get('GET /api/tools')).tools.some(({ exposed }: { exposed: string }) => exposed === 'jobs__build')
  await expect.poll(isReady, { timeout: 20_000 }).toBe(true)
  const { code } = await api.get('POST /api/session/codes')
  const window = await openWindow(await chromium(), `${console.origin}/#code=${code}`)
  onTestFinished(() => window.close())
  return { console, window, api }
}

/** Runs the tool as a task. Resolves with its id when its page is open. */
async function runAsTask({ page, open }: Window, tool: string): Promise<string> {
  await open(`/tools?tool=${tool}`)
  await page.getByRole('button', { name: 'Run as task' }).click()
  await page.waitForURL(/\/tasks\?task=/)
  return new URL(page.url()).searchParams.get('task') as string
}

/** What axe finds at the size of a desktop and of a phone, and whether the page is too wide. */
async function faultsOf({ page, still }: Window): Promise<string[]> {
  const faults: string[] = []
  for (const width of [1440, 360]) {
    await page.setViewportSize({ width, height: 800 })
    await still()
    if (!(await page.evaluate('"axe" in window'))) await page.evaluate(AXE)
    const found = (await page.evaluate(
      'axe.run(document, { resultTypes: ["violations"], preload: false }).then(({ violations }) => violations.map(({ id, nodes }) => id + " " + nodes[0].html.slice(0, 160)))',
    )) as string[]
    faults.push(...found.map((each) => `${width}: ${each}`))
    if (await page.evaluate('document.documentElement.scrollWidth > document.documentElement.clientWidth'))
      faults.push(`wider than ${width}`)
  }
  await page.setViewportSize({ width: 1440, height: 900 })
  return faults
}

test('without tasks the page says what to do', async () => {
  const { home } = await newHome()
  const { window } = await started(home)
  await goWithKeys(window.page, 'k', /\/tasks/)
  await window.page.getByText('No tasks yet').waitFor()
  await window.page.getByRole('link', { name: 'Choose a tool' }).waitFor()
  expect([...(await faultsOf(window)), ...window.problems]).toEqual([])
}, 120_000)

test('a task is started on the page of its tool, and its question is answered in place', async () => {
  const { home } = await newHome()
  const { window, api } = await started(home)
  const { page } = window
  const id = await runAsTask(window, 'jobs__ask')
  const question = page.getByRole('region', { name: 'Questions of the task' })
  await question.getByText('Go on?').first().waitFor()
  expect(await faultsOf(window)).toEqual([])
  // As in pages.test.ts.
  if (process.env.UPDATE_IMAGES === '1') await savePicture(page, IMAGE, { [home]: '/home/you' })
  await afterQuiet(page)
  await question.getByRole('combobox').first().selectOption('yes')
  await question.getByRole('button', { name: 'Send' }).click()
  await page.getByText('answer true').first().waitFor()
  await page.getByRole('region', { name: 'Task', exact: true }).getByText('done').first().waitFor()
  await expect.poll(async () => (await api.get(`GET /api/tasks/${id}`)).task.status).toBe('completed')
  // The card of the question has gone.
  await afterQuiet(page)
  expect([...(await faultsOf(window)), ...window.problems]).toEqual([])
}, 120_000)

test('a task is cancelled with the keyboard', async () => {
  const { home } = await newHome()
  const { window, api } = await started(home)
  const { page } = window
  const id = await runAsTask(window, 'jobs__build')
  await page.getByRole('button', { name: 'Cancel', exact: true }).waitFor()
  await tabTo(page, 'Cancel')
  await page.keyboard.press('Enter')
  await page.getByText('It was cancelled').waitFor()
  await expect.poll(async () => (await api.get(`GET /api/tasks/${id}`)).task.status).toBe('cancelled')
  expect(window.problems).toEqual([])
}, 120_000)

test('after a kill of the host its next page shows the task, which goes on to its result', async () => {
  const { home, finish } = await newHome()
  const first = await started(home)
  const id = await runAsTask(first.window, 'jobs__build')
  await first.window.page.getByRole('region', { name: 'Task', exact: true }).getByText('running').first().waitFor()
  first.console.child.kill('SIGKILL')
  await first.console.ended
  const { window } = await started(home)
  await window.open('/tasks')
  await window.page
    .getByRole('list', { name: 'Tasks' })
    .getByRole('button', { name: /jobs\/build/ })
    .click()
  await window.page.waitForURL((url) => url.searchParams.get('task') === id)
  finish()
  await window.page.getByText('built').first().waitFor()
  expect(window.problems).toEqual([])
}, 120_000)
