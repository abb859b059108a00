import { readFileSync } from 'node:fs'
import { createServer as createHttpServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { PassThrough } from 'node:stream'
import { afterAll, expect, test } from 'vitest'
// @ts-expect-error a plain script without types
import { root } from '../../scripts/setup.mjs'
import { listen } from '../../src/http/index.ts'
import { connect } from '../../src/index.ts'
import { createServer } from '../../src/server/index.ts'
import { serveStdio } from '../../src/stdio/index.ts'
import { calling, chat, hosts, person, says, script, spy, started } from '../host/hosts.ts'
import { enteredFiles } from '../support/entered-files.ts'
import { temporaryFolders } from '../support/folders.ts'

const text = readFileSync(`${root}/ARCHITECTURE.md`, 'utf8')
const newFolder = temporaryFolders()
const { host: hostWith } = hosts()
const closing: (() => unknown)[] = []
afterAll(() => Promise.all(closing.map((close) => close())))

/** Files and folders that a call enters and that its table leaves out, because they add nothing to the idea of the walk. */
const SERVER_HELPERS = [
  'src/base/',
  'src/jsonrpc/',
  'src/protocol/',
  'src/revisions/',
  'src/server/incoming-call.ts',
  'src/server/context.ts',
  'src/server/server-state.ts',
  'src/server/quota.ts',
  'src/server/registry.ts',
  'src/server/server.ts',
]
const HTTP_SERVER_HELPERS = [
  ...SERVER_HELPERS,
  'src/http/server/accepted-types.ts',
  'src/http/server/authorization.ts',
  'src/http/server/expects-answer.ts',
  'src/http/server/refusal.ts',
  'src/http/server/request-path.ts',
  'src/http/server/limits/',
  'src/http/server/runtime/',
  'src/http/server/session/',
  'src/http/server/streams/',
]
const CLIENT_HELPERS = [
  'src/base/',
  'src/client/dialect/dialect.ts',
  'src/client/mirrored-params.ts',
  'src/client/pacing.ts',
  'src/client/trace.ts',
  'src/http/client/',
  'src/http/header-value.ts',
  'src/jsonrpc/',
  'src/protocol/methods.ts',
  'src/revisions/',
]
const HOST_HELPERS = [
  'src/host/create-host.ts',
  ...['actions', 'approval', 'catalog', 'consent', 'conversation', 'server-command', 'model', 'language-models', 'policy'],
  ...['roots', 'secrets', 'servers', 'setup', 'storage', 'tasks'],
].map((path) => (path.includes('/') ? path : `src/host/${path}/`))

/** The files that the table of a section of ARCHITECTURE.md names, up to the given step. */
function walkOf(heading: string, lastStep = Number.POSITIVE_INFINITY): string[] {
  const from = text.indexOf(`### ${heading}\n`)
  expect(from, `ARCHITECTURE.md has no section "${heading}"`).toBeGreaterThan(0)
  const section = text.slice(from, text.indexOf('\n#', from + 5))
  const rows = section.split('\n').filter((line) => Number(/^\| (\d+) \|/.exec(line)?.[1]) <= lastStep)
  return [...rows.join('\n').matchAll(/`(src\/[^`]+)`/g)].map(([, path]) => path as string)
}

/** Every file of the table was entered; every file that was entered is in the table, or is a helper or in a folder of helpers. */
function compare(heading: string, entered: readonly string[], helpers: readonly string[]): void {
  const walk = walkOf(heading)
  expect(walk.length).toBeGreaterThan(4)
  const unentered = walk.filter((file) => !entered.includes(file))
  expect(unentered, 'in the table, but not entered').toEqual([])
  const known = [...walk, ...helpers]
  const unnamed = entered.filter((file) => !known.some((path) => file === path || (path.endsWith('/') && file.startsWith(path))))
  expect(unnamed, 'entered, but neither in the table nor a helper').toEqual([])
}

function echoServer() {
  const server = createServer({ name: 'walk', version: '1', limits: { toolCalls: false } })
  server.tool('echo', { input: { type: 'object', properties: { text: { type: 'string' } } } }, () => 'said')
  return server
}

const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'walker', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
}
const STATELESS = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'echo', arguments: { text: 'a' }, _meta: META } }
const IN_SESSION = { jsonrpc: '2.0', id: 2, method: 'tools/call', params: { name: 'echo', arguments: { text: 'a' } } }

test('a tool call over stdio goes the way that ARCHITECTURE.md describes', async () => {
  const [input, output] = [new PassThrough(), new PassThrough()]
  const serving = serveStdio(echoServer(), { streams: { input, output } })
  closing.push(() => serving.close())
  const call = async (): Promise<void> => {
    const answered = new Promise<string>((resolve) => output.once('data', (chunk) => resolve(String(chunk))))
    input.write(`${JSON.stringify(STATELESS)}\n`)
    expect(await answered).toContain('said')
  }
  await call()
  compare('A tool call over stdio', await enteredFiles(call), SERVER_HELPERS)
})

test('a stateless tool call over HTTP goes the way that ARCHITECTURE.md describes', async () => {
  const url = await listening()
  const call = () => post(url, STATELESS, { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': 'echo' })
  expect(await (await call()).text()).toContain('said')
  compare('A stateless tool call over HTTP', await enteredFiles(async () => (await call()).text()), HTTP_SERVER_HELPERS)
})

test('a tool call over HTTP in a session goes the way that ARCHITECTURE.md describes', async () => {
  const url = await listening()
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'walker', version: '1' } }
  const opened = await post(url, { jsonrpc: '2.0', id: 1, method: 'initialize', params })
  await opened.text()
  const headers = { 'mcp-session-id': opened.headers.get('mcp-session-id') ?? '', 'mcp-protocol-version': '2025-11-25' }
  await post(url, { jsonrpc: '2.0', method: 'notifications/initialized' }, headers)
  const call = () => post(url, IN_SESSION, headers)
  expect(await (await call()).text()).toContain('said')
  const entered = await enteredFiles(async () => (await call()).text())
  const firstSteps = walkOf('A stateless tool call over HTTP', 4)
  expect(entered).toEqual(expect.arrayContaining(firstSteps))
  compare('A tool call over HTTP in a session', entered, [...HTTP_SERVER_HELPERS, ...firstSteps])
})

test('a call of our client over HTTP goes the way that ARCHITECTURE.md describes', async () => {
  const url = await bareServer()
  const client = await connect(url, { revisions: ['2026-07-28'] })
  closing.push(() => client.close())
  const call = () => client.call('echo', { text: 'a' })
  await call()
  // The servers of the other tests may do timed work meanwhile.
  const entered = (await enteredFiles(call)).filter((path) => !path.startsWith('src/http/server/'))
  compare('A stateless call of the client over HTTP', entered, CLIENT_HELPERS)
})

test('a tool call that a model asks for goes the way that ARCHITECTURE.md describes', async () => {
  const lines = `const server = createServer({ name: 'one', version: '1' })
server.tool('echo', { input: object }, () => 'said')
serveStdio(server)`
  const file = script(newFolder(), lines)
  const call = () => [calling('one__echo', { text: 'a' })]
  const model = spy(call(), [says('done')], call(), [says('done')])
  const host = await hostWith({ servers: { one: started(file) }, ask: person(), model })
  expect(JSON.stringify(await chat(host, 'go'))).toContain('said')
  const entered = await enteredFiles(() => chat(host, 'go'))
  compare(
    'A tool call that a model asks for',
    entered.filter((path) => path.startsWith('src/host/')),
    HOST_HELPERS,
  )
})

async function listening(): Promise<string> {
  const served = await listen(echoServer(), { port: 0 })
  closing.push(() => served.close())
  return String(served.url)
}

const post = (url: string, message: object, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers },
    body: JSON.stringify(message),
  })

/** A server that enters none of our files: it answers discovery, lists and calls with fixed texts. */
async function bareServer(): Promise<string> {
  const RESULTS: Record<string, object> = {
    'server/discover': {
      resultType: 'complete',
      supportedVersions: ['2026-07-28'],
      capabilities: { tools: {} },
      serverInfo: { name: 'bare', version: '1' },
      ttlMs: 60_000,
      cacheScope: 'private',
    },
    'tools/list': {
      resultType: 'complete',
      tools: [{ name: 'echo', inputSchema: { type: 'object' } }],
      ttlMs: 60_000,
      cacheScope: 'private',
    },
    'tools/call': { resultType: 'complete', content: [{ type: 'text', text: 'said' }] },
  }
  const http = createHttpServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    const { id, method } = JSON.parse(body) as { id: number; method: string }
    response.setHeader('content-type', 'application/json').end(JSON.stringify({ jsonrpc: '2.0', id, result: RESULTS[method] }))
  })
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  closing.push(() => http.close())
  return `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`
}
