/** The routes of a console for servers: real processes are added, restarted, disabled and removed. */

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { serverFile } from '../../src/host/index.ts'
import { ask } from '../../src/host/policy-tools/index.ts'
import { script } from '../host/hosts.ts'
import { temporaryFolders } from '../support/folders.ts'
import { until } from '../support/until.ts'
import { consoles, event, type Opened, Page } from './pages.ts'

const opened = consoles()
const folders = temporaryFolders()

const LINES = `
const server = createServer({ name: 'hello', version: '1.0.0' })
server.tool('pid', { description: 'The process', annotations: { readOnlyHint: true } }, () => String(process.pid))
console.error('The server has started')
await serveStdio(server)
`

/** Says yes to everything that is asked. */
const agree = ({ asker }: Opened): void => {
  const yes = (id: string): void => asker.answer(id, { kind: 'allow', scope: 'once' })
  for (const { id } of asker.waiting()) yes(id)
  asker.listen({ onAsked: ({ id }) => setImmediate(() => yes(id)), onEnded: () => {} })
}

async function withServer(more: object = {}) {
  const all = await opened({ host: { servers: {} } })
  const page = await Page.open(all.console)
  agree(all)
  const file = script(folders(), LINES)
  const answer = await page.send('POST /api/servers', { body: { id: 'hello', command: process.execPath, args: [file], ...more } })
  await page.run('POST /api/servers/hello/enable')
  return { ...all, page, answer, file }
}

const ready = (page: Page) =>
  until(async () => {
    const { servers } = await page.get('GET /api/servers')
    return servers[0]?.health.state === 'ready' && servers[0].counts.tools === 1
  })

describe('a server that a page adds', () => {
  test('is stored, started after the consent, listed with its state, and can be used', async () => {
    const { page, answer, file, host } = await withServer({ title: 'Hello', labels: ['private:x'] })
    expect(answer.status).toBe(201)
    expect(answer.message).toMatchObject({ server: { id: 'hello', isEnabled: true, tier: 'untrusted' }, movedSecrets: [] })
    await ready(page)
    const { servers } = await page.get('GET /api/servers')
    expect(servers).toMatchObject([
      {
        id: 'hello',
        title: 'Hello',
        transport: { type: 'stdio', command: process.execPath, args: [file] },
        from: [{ client: 'portico', scope: 'ours' }],
        labels: ['private:x'],
        health: { state: 'ready' },
        counts: { tools: 1, prompts: 0, resources: 0, templates: 0 },
        waiting: 0,
      },
    ])
    expect((await serverFile(host.folder).list()).servers.map(({ id }) => id)).toEqual(['hello'])
    const { server } = await page.get('GET /api/servers/hello')
    expect(server).toMatchObject({ roots: [], budget: { tokensLeft: expect.any(Number) } })
    expect((await page.run('POST /api/tools/call', { tool: 'hello__pid' })).state).toBe('done')
    expect((await page.fails('POST /api/servers', { body: { id: 'hello', command: 'x' } })).status).toBe(409)
  })

  test('has a log with its standard error, page by page and as events', async () => {
    const { page, feed } = await withServer()
    await ready(page)
    await until(() => feed.logOf('hello').length > 0)
    const { entries } = await page.get('GET /api/servers/hello/log')
    expect(entries).toMatchObject([{ seq: 1, at: expect.any(Number), log: { kind: 'stderr', line: 'The server has started' } }])
    expect((await page.get('GET /api/servers/hello/log?after=1')).entries).toEqual([])
    const events = await page.events()
    feed.onEvent({ kind: 'log', server: 'hello', log: { kind: 'stderr', line: 'more' } })
    expect(await event(events, 'log')).toMatchObject({ server: 'hello', entry: { seq: 2, log: { line: 'more' } } })
  })

  test('its secrets are moved to the vault, and only their names are shown', async () => {
    const secret = 'ghp_abcdefghijklmnopqrstuvwxyz0123456789'
    const { page, answer, host } = await withServer({ env: { GITHUB_TOKEN: secret } })
    expect(answer.message).toMatchObject({ movedSecrets: ['env.GITHUB_TOKEN'] })
    const { secrets } = await page.get('GET /api/secrets')
    expect(secrets).toMatchObject([{ servers: ['hello'] }])
    for (const route of ['GET /api/servers', 'GET /api/servers/hello', 'GET /api/secrets', 'GET /api/settings'])
      expect(JSON.stringify(await page.get(route))).not.toContain(secret)
    expect(readFileSync(join(host.folder, 'servers.json'), 'utf8')).not.toContain(secret)
  })

  test('is started again in a new process', async () => {
    const { page } = await withServer()
    await ready(page)
    const pid = async (): Promise<string> => (await page.run('POST /api/tools/call', { tool: 'hello__pid' })).result.content[0].text
    const before = await pid()
    expect(await page.run('POST /api/servers/hello/restart')).toMatchObject({ state: 'done', result: { state: 'ready' } })
    await ready(page)
    expect(await pid()).not.toBe(before)
  })

  test('can be disabled and enabled, in the stored list as well', async () => {
    const { page, host } = await withServer()
    await ready(page)
    const events = await page.events()
    expect((await page.get('POST /api/servers/hello/disable')).server).toMatchObject({ isEnabled: false, health: { state: 'disabled' } })
    expect(await event(events, 'servers')).toMatchObject({ ids: ['hello'] })
    expect((await page.get('GET /api/tools')).tools).toEqual([])
    expect((await serverFile(host.folder).list()).servers[0]?.isDisabled).toBe(true)
    expect(await page.run('POST /api/servers/hello/enable')).toMatchObject({ state: 'done', result: { state: 'ready' } })
    expect((await serverFile(host.folder).list()).servers[0]?.isDisabled).toBeFalsy()
    await ready(page)
  })

  test('can be removed', async () => {
    const { page, host } = await withServer()
    await page.get('DELETE /api/servers/hello')
    expect((await page.get('GET /api/servers')).servers).toEqual([])
    expect((await serverFile(host.folder).list()).servers).toEqual([])
  })

  test.each([
    [{}, 'id'],
    [{ id: 'x' }, 'expected either command or url'],
    [{ id: 'x', command: 'a', url: 'https://b.example' }, 'expected either command or url'],
    [{ id: 'x', url: 'not a url' }, 'url: expected a URL, got "not a url"'],
    [{ id: 'x', command: 'a', args: 'b' }, 'args: expected array, got string'],
    [{ id: 'x', command: 'a', env: { A: 1 } }, 'expected string'],
    [{ id: 'x y', command: 'a' }, 'Invalid server name'],
    [{ id: 'x', command: 'a', tier: 'mine' }, 'tier'],
  ])('%j is refused with 400, and nothing is stored', async (body, message) => {
    const { console, host } = await opened({ host: { servers: {} } })
    const page = await Page.open(console)
    expect(await page.fails('POST /api/servers', { body })).toMatchObject({ status: 400, message: expect.stringContaining(message) })
    expect((await serverFile(host.folder).list()).servers).toEqual([])
  })

  test('is not stored if the host has no room for it', async () => {
    const spec = (i: number) => ({
      transport: { type: 'http' as const, url: `https://${i}.example`, headers: {} },
      tier: 'untrusted' as const,
      provenance: [],
      isDisabled: true,
    })
    const full = Object.fromEntries(Array.from({ length: 256 }, (_, i) => [`s${i}`, spec(i)]))
    const { console, host } = await opened({ host: { servers: full } })
    const page = await Page.open(console)
    expect(await page.fails('POST /api/servers', { body: { id: 'x', url: 'https://a.example' } })).toMatchObject({
      status: 429,
      code: 'ERR_LIMIT',
      message: expect.stringContaining('more than 256'),
    })
    expect((await serverFile(host.folder).list()).servers).toEqual([])
  })
})

describe('a server that cannot be used', () => {
  test('says why, and is tried again on request', async () => {
    const { console, asker } = await opened({ host: { servers: {} } })
    const page = await Page.open(console)
    await page.get('POST /api/servers', { id: 'hello', command: process.execPath, args: [script(folders(), LINES)] })
    await page.get('POST /api/servers/hello/enable')
    await until(() => asker.waiting().length > 0)
    const [question] = asker.waiting()
    expect(question?.action).toBe('server.launch')
    await page.get(`POST /api/questions/${question?.id}/answer`, { kind: 'deny' })
    await until(async () => (await page.get('GET /api/servers')).servers[0].health.state === 'refused')
    expect((await page.get('GET /api/servers')).servers[0].health.error).toMatchObject({ code: 'ERR_DENIED', message: expect.any(String) })
    const { operation } = await page.get('POST /api/servers/hello/enable')
    await until(() => asker.waiting().length > 0)
    await page.get(`DELETE /api/operations/${operation.id}`)
    expect((await page.ended(operation.id)).state).toBe('cancelled')
  })

  test('has definitions that wait, which can be approved in the page', async () => {
    const { console, asker, host } = await opened({ host: { policy: { user: [ask('ask-first', { action: 'server.approve' })] } } })
    const page = await Page.open(console)
    await until(() => asker.waiting().length === 2)
    for (const { id } of asker.waiting()) await page.get(`POST /api/questions/${id}/answer`, { kind: 'deny' })
    const waiting = async (): Promise<number> => (await page.get('GET /api/servers/notes')).server.waiting
    await host.settled()
    expect(await waiting()).toBeGreaterThan(3)
    expect((await page.get('GET /api/servers/notes')).server.review).toMatchObject({ server: 'notes', isFirst: true })
    const { operation } = await page.get('POST /api/servers/notes/approve')
    await until(() => asker.waiting().length === 1)
    await page.get(`POST /api/questions/${asker.waiting()[0]?.id}/answer`, { kind: 'allow', scope: 'once' })
    expect(await page.ended(operation.id)).toMatchObject({ state: 'done', result: null })
    expect(await waiting()).toBe(0)
    expect((await page.get('GET /api/tools')).tools.length).toBeGreaterThan(3)
  })

  test.each(['enable', 'disable', 'restart', 'approve', 'login', 'logout'])('%s of an unknown server is not found', async (what) => {
    const { console } = await opened()
    const error = await (await Page.open(console)).fails(`POST /api/servers/nothing/${what}`)
    expect(error).toMatchObject({ status: 404, code: 'ERR_SERVER_UNKNOWN', message: expect.stringContaining('deploy, notes') })
  })

  test('a login to a server without logins fails with the reason', async () => {
    const { console } = await opened()
    const page = await Page.open(console)
    for (const what of ['login', 'logout'])
      expect(await page.run(`POST /api/servers/notes/${what}`)).toMatchObject({ state: 'failed', error: { message: expect.any(String) } })
  })
})

describe('roots', () => {
  test('a folder is granted after a question, listed and revoked', async () => {
    const { console, asker } = await opened()
    const page = await Page.open(console)
    const folder = folders()
    const { operation } = await page.get('POST /api/servers/notes/roots', { folder })
    await until(() => asker.waiting().length > 0)
    await page.get(`POST /api/questions/${asker.waiting()[0]?.id}/answer`, { kind: 'allow', scope: 'once' })
    expect(await page.ended(operation.id)).toMatchObject({ state: 'done', result: [{ uri: expect.stringContaining(folder) }] })
    const { roots } = await page.get('GET /api/servers/notes/roots')
    expect(roots).toHaveLength(1)
    const route = `DELETE /api/servers/notes/roots?uri=${encodeURIComponent(roots[0].uri)}`
    await page.get(route)
    expect((await page.get('GET /api/servers/notes/roots')).roots).toEqual([])
    expect((await page.fails(route)).status).toBe(404)
  })
})

describe('servers of other clients', () => {
  const SECRET = 'ghp_abcdefghijklmnopqrstuvwxyz0123456789'
  const withClients = async () => {
    const home = folders()
    mkdirSync(join(home, '.cursor'))
    const mcpServers = {
      hello: { command: process.execPath, args: [script(folders(), LINES)], env: { GITHUB_TOKEN: SECRET } },
      mail: { url: `https://mail.example/mcp?token=${SECRET}`, headers: { Authorization: `Bearer ${SECRET}` } },
      odd: { command: 7 },
    }
    writeFileSync(join(home, '.cursor', 'mcp.json'), JSON.stringify({ mcpServers }))
    const all = await opened({ host: { servers: {} }, console: { imports: { home } } })
    return { ...all, page: await Page.open(all.console) }
  }

  test('are listed without their secrets, and without starting them', async () => {
    const { page, asker } = await withClients()
    const { servers, problems } = await page.get('GET /api/import')
    expect(servers).toMatchObject([
      {
        id: 'hello',
        transport: { type: 'stdio', command: process.execPath },
        from: [{ scope: 'user' }],
        isImported: false,
        plainSecrets: ['env.GITHUB_TOKEN'],
      },
      { id: 'mail', transport: { type: 'http', headerNames: ['Authorization'] }, plainSecrets: ['url', 'headers.Authorization'] },
    ])
    expect(problems).toMatchObject([{ file: expect.stringContaining('.cursor'), text: expect.any(String) }])
    expect(JSON.stringify(servers)).not.toContain(SECRET)
    expect((await page.get('GET /api/servers')).servers).toEqual([])
    expect(asker.waiting()).toEqual([])
  })

  test('are imported on request, with their secrets in the vault, and start after the consent', async () => {
    const { page, asker, host } = await withClients()
    expect(await page.get('POST /api/import', { ids: ['hello', 'mail'] })).toEqual({ added: ['hello', 'mail'], updated: [] })
    const { servers: found } = await page.get('GET /api/import')
    expect(found.map(({ isImported }: { isImported: boolean }) => isImported)).toEqual([true, true])
    expect((await page.get('GET /api/servers')).servers.map(({ id }: { id: string }) => id)).toEqual(['hello', 'mail'])
    expect((await page.get('GET /api/secrets')).secrets.length).toBeGreaterThan(1)
    expect(readFileSync(join(host.folder, 'servers.json'), 'utf8')).not.toContain(SECRET)
    await page.get('POST /api/servers/hello/enable')
    await until(() => asker.waiting().some(({ action }) => action === 'server.launch'))
    expect(await page.get('POST /api/import', { ids: ['hello'] })).toEqual({ added: [], updated: [] })
  })

  test('can be imported with their secrets in place, which no page sees', async () => {
    const { page, host } = await withClients()
    await page.get('POST /api/import', { ids: ['hello'], moveSecrets: false })
    expect((await page.get('GET /api/secrets')).secrets).toEqual([])
    expect(readFileSync(join(host.folder, 'servers.json'), 'utf8')).toContain(SECRET)
    for (const route of ['GET /api/servers', 'GET /api/servers/hello']) expect(JSON.stringify(await page.get(route))).not.toContain(SECRET)
  })

  test('an unknown name is not found, and nothing is imported', async () => {
    const { page, host } = await withClients()
    expect(await page.fails('POST /api/import', { body: { ids: ['hello', 'nothing'] } })).toMatchObject({
      status: 404,
      message: 'No other client has a server "nothing"',
    })
    expect((await serverFile(host.folder).list()).servers).toEqual([])
    expect((await page.fails('POST /api/import', { body: { ids: [] } })).status).toBe(400)
  })
})
