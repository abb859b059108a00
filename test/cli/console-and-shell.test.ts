/** The shell and the page share one host: questions are asked in both, and the first answer counts. */

import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { event } from '../console/pages.ts'
import { temporaryFolders } from '../support/folders.ts'
import { CLI } from './support/cli.ts'
import { LINK, openLink } from './support/started.ts'
import { answerQuestion, openQuestion, startTerminal, type TerminalProcess, typeLine } from './support/terminal.ts'

const newFolder = temporaryFolders()

function sit(...args: string[]): TerminalProcess {
  const home = newFolder()
  return startTerminal([CLI, ...args], { cwd: home, columns: 120, rows: 40, env: { HOME: home, PORTICO_HOME: join(home, 'host') } })
}

/** The newest link on the screen. */
async function linkIn(terminal: TerminalProcess): Promise<string> {
  await terminal.until(LINK)
  return terminal
    .text()
    .split('\n')
    .findLast((line) => LINK.test(line)) as string
}

test('the page shows what the shell does, and the shell what the page does', async () => {
  const terminal = sit()
  const page = await openLink(await linkIn(terminal))
  await typeLine(terminal, 'call notes__add title=Milk text=x')
  await terminal.until(/^title +Milk$/m)
  const listed = await page.run('POST /api/tools/call', { tool: 'notes__list' })
  expect(listed.result.structuredContent).toMatchObject({ total: 1 })
  expect(await page.get('GET /api/tour')).toEqual({ hasRogue: true })
  await page.get('POST /api/tour/rogue')
  const state = async (): Promise<string> => (await page.get('GET /api/servers/rogue')).server.health.state
  await expect.poll(state, { timeout: 20_000 }).toBe('not-enabled')
  await typeLine(terminal, 'servers')
  await terminal.until(/^rogue +not enabled/m)
  expect(await page.get('DELETE /api/tour/rogue')).toEqual({ hasRogue: true })
  expect((await page.get('GET /api/servers')).servers.map(({ id }: { id: string }) => id).sort()).toEqual(['deploy', 'notes'])
  await typeLine(terminal, 'q')
  expect(await terminal.exit).toBe(0)
}, 60_000)

describe('a question', () => {
  test('is answered in the terminal, and closes in the page', async () => {
    const terminal = sit()
    const page = await openLink(await linkIn(terminal))
    const events = await page.events()
    await typeLine(terminal, 'add a note with title="Bread" text="Rye"')
    const { id } = await event(events, 'question')
    expect((await page.get('GET /api/questions')).questions).toHaveLength(1)
    await answerQuestion(terminal, /call notes\/add/i, 'y')
    expect(await event(events, 'question-end')).toMatchObject({ id, how: 'ended', reason: 'The question was answered elsewhere' })
    expect(await page.fails(`POST /api/questions/${id}/answer`, { body: { kind: 'deny' } })).toMatchObject({ status: 409 })
    await terminal.until(/^ +title +Bread$/m)
  }, 60_000)

  test('is answered in the page, and closes in the terminal, where typing goes on', async () => {
    const terminal = sit()
    const page = await openLink(await linkIn(terminal))
    const events = await page.events()
    await typeLine(terminal, 'add a note with title="Bread" text="Rye"')
    const { id } = await event(events, 'question')
    await expect.poll(() => openQuestion(terminal), { timeout: 20_000 }).toMatch(/call notes\/add/i)
    await page.get(`POST /api/questions/${id}/answer`, { kind: 'allow', scope: 'once' })
    await terminal.until('The question was answered elsewhere.')
    await terminal.until(/^ +title +Bread$/m)
    await typeLine(terminal, 'call notes__list')
    await terminal.until(/^total +1$/m)
  }, 60_000)

  test('of a call in the page is asked in the terminal, too', async () => {
    const terminal = sit()
    const page = await openLink(await linkIn(terminal))
    await page.get('POST /api/tour/rogue')
    const { operation } = await page.get('POST /api/servers/rogue/enable')
    await answerQuestion(terminal, /Connect to rogue/, 'n')
    expect(await page.ended(operation.id)).toMatchObject({ state: 'failed', error: { code: 'ERR_DENIED' } })
  }, 60_000)
})

describe('links', () => {
  test('the command console prints a new link, and each link works once', async () => {
    const terminal = sit()
    const first = await linkIn(terminal)
    await openLink(first)
    await expect(openLink(first)).rejects.toThrow('was used already')
    await typeLine(terminal, 'console')
    await expect.poll(() => linkIn(terminal), { timeout: 20_000 }).not.toBe(first)
    await openLink(await linkIn(terminal))
  }, 60_000)

  test('with --no-console there is only the terminal', async () => {
    const terminal = sit('--no-console')
    await typeLine(terminal, 'console')
    await terminal.until('There is no console')
    expect(terminal.text()).not.toContain('127.0.0.1')
  }, 60_000)
})
