/** The routes of a console for one connection: ping, log level, protocol revision, HTTP transport, working folder. */

import { realpathSync } from 'node:fs'
import { describe, expect, onTestFinished, test } from 'vitest'
import { deployServer } from '../../src/demo/index.ts'
import { serverFile } from '../../src/host/index.ts'
import { allow } from '../../src/host/policy-tools/index.ts'
import { listen } from '../../src/http/index.ts'
import { script } from '../host/hosts.ts'
import { temporaryFolders } from '../support/folders.ts'
import { until } from '../support/until.ts'
import { APPROVED, consoles, Page } from './pages.ts'

const opened = consoles()
const folders = temporaryFolders()

const LINES = `
const server = createServer({ name: 'talker', version: '1.0.0' })
server.tool('talk', { description: 'Logs two messages' }, (_, { log }) => {
  log.debug('a detail')
  log.warning('a warning')
  return process.cwd()
})
await serveStdio(server)
`

const YES = [...APPROVED, allow('start', { action: ['server.launch', 'server.connect', 'tool.call'] })]

async function talker(settings: object = {}) {
  const all = await opened({ host: { servers: {}, policy: { session: YES } } })
  const page = await Page.open(all.console)
  all.asker.listen({ onAsked: ({ id }) => setImmediate(() => all.asker.answer(id, { kind: 'allow', scope: 'once' })), onEnded: () => {} })
  const file = script(folders(), LINES)
  await page.get('POST /api/servers', { id: 'talker', command: process.execPath, args: [file] })
  if (Object.keys(settings).length > 0) await page.get('PATCH /api/servers/talker', settings)
  await page.run('POST /api/servers/talker/enable')
  const talk = async (): Promise<string[]> => {
    const before = (await page.get('GET /api/servers/talker/log?limit=1000')).entries.length
    await page.run('POST /api/tools/call', { tool: 'talker__talk' })
    await until(async () => (await page.get('GET /api/servers/talker/log?limit=1000')).entries.length > before)
    const { entries } = await page.get('GET /api/servers/talker/log?limit=1000')
    return entries.slice(before).map(({ log }: { log: { message?: { data: string } } }) => log.message?.data)
  }
  return { ...all, page, talk }
}

const facts = async (page: Page) => (await page.get('GET /api/servers/talker')).server.facts

describe('a ping by hand', () => {
  test.each([
    ['2025-11-25', 'ping'],
    ['2026-07-28', 'server/discover'],
  ])('in revision %s it is %s', async (revision, method) => {
    const { page } = await talker({ revisions: [revision] })
    expect(await facts(page)).toMatchObject({ revision, pingMethod: method })
    expect(await page.get('POST /api/servers/talker/ping')).toEqual({ ms: expect.any(Number), method })
    const { messages } = await page.get('GET /api/timeline?kind=request')
    expect(messages[0]).toMatchObject({ method, from: 'host' })
  })

  test('of a server that is not connected is an error, and starts nothing', async () => {
    const { page, host } = await talker()
    await page.get('POST /api/servers/talker/disable')
    expect(await page.fails('POST /api/servers/talker/ping')).toMatchObject({
      status: 503,
      message: 'The server "talker" is not connected',
    })
    expect(host.health().talker?.state).toBe('disabled')
    expect((await page.fails('POST /api/servers/none/ping')).status).toBe(404)
  })
})

describe('the log level of a server', () => {
  test.each([
    ['2025-06-18', 'logging/setLevel'],
    ['2026-07-28', undefined],
  ])('in revision %s it is set for this connection and the next', async (revision, method) => {
    const { page, talk } = await talker({ revisions: [revision] })
    expect((await facts(page)).logging).toEqual({ level: 'info', ...(method && { method }) })
    expect(await talk()).toEqual(['a warning'])
    const { server } = await page.get('PUT /api/servers/talker/log-level', { level: 'debug' })
    expect(server.facts.logging.level).toBe('debug')
    expect(await talk()).toEqual(['a detail', 'a warning'])
    await page.run('POST /api/servers/talker/restart')
    expect((await facts(page)).logging.level).toBe('debug')
    expect(await talk()).toEqual(['a detail', 'a warning'])
  })

  test('is refused for a server without logging, and for a word that is no level', async () => {
    const { page } = await talker()
    expect(await page.fails('PUT /api/servers/talker/log-level', { body: { level: 'loud' } })).toMatchObject({ status: 400 })
    const silent = script(folders(), `await serveStdio(createServer({ name: 'silent', version: '1.0.0', logging: false }))`)
    await page.get('POST /api/servers', { id: 'silent', command: process.execPath, args: [silent] })
    await page.run('POST /api/servers/silent/enable')
    expect((await page.get('GET /api/servers/silent')).server.facts).not.toHaveProperty('logging')
    expect(await page.fails('PUT /api/servers/silent/log-level', { body: { level: 'debug' } })).toMatchObject({
      status: 502,
      code: 'ERR_CAPABILITY_MISSING',
    })
  })
})

describe('the protocol revision', () => {
  test('is stored, used at the next start, and automatic again with null', async () => {
    const { page, host } = await talker()
    expect((await page.get('GET /api/settings')).revisions).toContain('2024-11-05')
    expect((await facts(page)).revision).toBe('2026-07-28')
    const { server } = await page.get('PATCH /api/servers/talker', { revisions: ['2024-11-05'] })
    expect(server.settings.revisions).toEqual(['2024-11-05'])
    await page.run('POST /api/servers/talker/enable')
    expect((await facts(page)).revision).toBe('2024-11-05')
    expect((await serverFile(host.folder).list()).servers).toMatchObject([{ revisions: ['2024-11-05'] }])
    await page.get('PATCH /api/servers/talker', { revisions: null })
    await page.run('POST /api/servers/talker/enable')
    expect((await facts(page)).revision).toBe('2026-07-28')
    expect((await page.get('GET /api/servers/talker')).server.settings).not.toHaveProperty('revisions')
  })

  test('that does not exist is refused, and so is an HTTP transport of a command', async () => {
    const { page } = await talker()
    const change = (body: object) => page.fails('PATCH /api/servers/talker', { body })
    expect(await change({ revisions: ['2020-01-01'] })).toMatchObject({ status: 400, message: expect.stringContaining('2020-01-01') })
    expect(await change({ revisions: [] })).toMatchObject({ status: 400 })
    expect(await change({ httpTransport: 'sse' })).toMatchObject({ message: 'httpTransport: expected only for a server with an address' })
    expect(await change({ httpTransport: 'pigeon' })).toMatchObject({ status: 400 })
  })
})

test('the HTTP transport of an address is stored and used, also by the doctor', async () => {
  const deploy = deployServer({ stepMs: 1 })
  const { url, close } = await listen(deploy, { port: 0, handleSignals: false })
  onTestFinished(async () => {
    await close()
    await deploy.close()
  })
  const { console, host } = await opened({ host: { servers: {}, policy: { session: YES } } })
  const page = await Page.open(console)
  await page.get('POST /api/servers', { id: 'far', url: url.replace('/mcp', '/sse') })
  await page.get('PATCH /api/servers/far', { httpTransport: 'sse' })
  await page.run('POST /api/servers/far/enable')
  expect((await page.get('GET /api/servers/far')).server).toMatchObject({ health: { state: 'ready' }, settings: { httpTransport: 'sse' } })
  expect((await serverFile(host.folder).list()).servers).toMatchObject([{ httpTransport: 'sse' }])
  await page.get('PATCH /api/servers/far', { url })
  expect((await page.run('POST /api/servers/far/enable')).state).toBe('failed')
  const { isHealthy } = (await page.run('POST /api/servers/far/doctor')).result
  expect(isHealthy).toBe(false)
})

describe('the working folder of a new command', () => {
  test('is used at its start', async () => {
    const { page } = await talker()
    const cwd = realpathSync(folders())
    await page.get('POST /api/servers', { id: 'there', command: process.execPath, args: [script(folders(), LINES)], cwd })
    await page.run('POST /api/servers/there/enable')
    const { result } = await page.run('POST /api/tools/call', { tool: { server: 'there', name: 'talk' } })
    expect(result.content).toMatchObject([{ text: cwd }])
    expect((await page.get('GET /api/servers/there')).server.settings.cwd).toBe(cwd)
  })

  test.each(['tmp', '~/servers', '/there/is/no/such/folder'])('%s is refused', async (cwd) => {
    const { page } = await talker()
    expect(await page.fails('POST /api/servers', { body: { id: 'x', command: 'node', cwd } })).toMatchObject({
      status: 400,
      message: expect.stringMatching(/^(?:Expected a working folder with its whole path|There is no folder)/),
    })
    expect((await page.fails('PATCH /api/servers/talker', { body: { cwd } })).status).toBe(400)
  })
})
