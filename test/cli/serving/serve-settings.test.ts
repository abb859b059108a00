/** `portico serve` as an operator starts it: settings from the environment and a file, workers, health, metrics, lines of requests. */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { temporaryFolders } from '../../support/folders.ts'
import { http } from '../../support/http-requests.ts'
import { askModern, callTool, openSession } from '../../support/http-service.ts'
import { redisOfFile } from '../../support/redis-server.ts'
import { CLI, portico } from '../support/cli.ts'
import { project } from '../support/project.ts'

vi.setConfig({ testTimeout: 30_000 })
const newFolder = temporaryFolders()
const redisServer = redisOfFile()
const KEY = 'only-for-this-test-0123456789abcdef'
const GET = { method: 'GET', isBare: true, headers: { connection: 'close' } }

const SERVER = `import { createServer } from 'portico/server'
export const server = createServer({ name: 'greeter', version: '1.0.0' })
server.tool('pid', () => String(process.pid))
`

const folderWith = (files: Record<string, string>): string => project(newFolder(), { 'server.mjs': SERVER, ...files })

/** Starts it, and waits until it serves. */
async function start(cwd: string, args: readonly string[], env: Record<string, string> = {}) {
  const child = spawn(process.execPath, [CLI, 'serve', ...args], {
    cwd,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: process.env.PATH ?? '', HOME: cwd, ...env },
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  let said = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text
  })
  await expect.poll(() => said, { timeout: 25_000 }).toMatch(/Serving .* at http\S+[ "]/)
  return { child, url: /http:\/\/[^\s"]+/.exec(said)?.[0] as string, said: () => said }
}

test('an operator configures it with a file and the environment alone', async () => {
  const { url: redisUrl, scan } = await redisServer()
  const cwd = folderWith({
    'serve.yaml': `server: ./server.mjs\nhttp: true\nport: 0\nworkers: 2\nhealth: true\nmetrics: true\nlogFormat: json\nlimits:\n  maxSessions: 1\n`,
    secret: `${KEY}\n`,
    token: 'secret-of-the-scraper\n',
  })
  const { child, url, said } = await start(cwd, [], {
    PORTICO_CONFIG: 'serve.yaml',
    PORTICO_STORE: redisUrl,
    PORTICO_STORE_PREFIX: 'serve-test:',
    PORTICO_KEYS_FILE: join(cwd, 'secret'),
    PORTICO_METRICS_TOKEN_FILE: join(cwd, 'token'),
  })
  const session = await openSession(url, '2025-11-25')
  const pids = new Set<string>()
  for (let id = 1; id <= 4; id++) pids.add(JSON.stringify((await session.ask({ ...callTool('pid'), id })).message.result))
  expect(pids.size).toBe(2)
  expect((await scan()).some((key) => key.startsWith('serve-test:'))).toBe(true)
  // There may be one session, so the idle one makes room.
  await openSession(url, '2025-11-25')
  expect((await session.ask({ ...callTool('pid'), id: 5 })).status).toBe(404)
  expect((await http(new URL('/readyz', url).href, GET)).message).toMatchObject({
    status: 'degraded',
    checks: { store: { status: 'ok' }, capacity: { reason: '1 of 1 sessions of all replicas (limits.maxSessions)' } },
  })
  expect((await http(new URL('/metrics', url).href, GET)).status).toBe(401)
  const scraped = await http(new URL('/metrics', url).href, {
    ...GET,
    headers: { ...GET.headers, authorization: 'Bearer secret-of-the-scraper' },
  })
  expect(scraped.text).toContain('portico_workers{worker="primary",state="running"} 2')
  await expect
    .poll(() =>
      said()
        .split('\n')
        .flatMap((line) => (line.startsWith('{') ? [JSON.parse(line) as Record<string, unknown>] : [])),
    )
    .toContainEqual(expect.objectContaining({ level: 'info', method: 'tools/call', target: 'pid', outcome: 'ok' }))
  child.kill('SIGTERM')
  expect(await once(child, 'exit')).toEqual([0, null])
  expect(said().match(/Serving/g)).toHaveLength(1)
})

test('standard error is JSON with the reference of an error, and a server limit and a card need no code', async () => {
  const broken = `${SERVER}server.tool('broken', () => { throw new Error('two\\nlines') })\n`
  const { url, said } = await start(folderWith({ 'server.mjs': broken }), ['server.mjs', '--http', '0', '--limit', 'toolCalls=0.001/2'], {
    PORTICO_LOG_FORMAT: 'json',
    PORTICO_CARD_NAME: 'com.example/greeter',
    PORTICO_CARD_DESCRIPTION: 'Greets',
    PORTICO_CARD_URL: 'https://mcp.example.com/mcp',
  })
  const failed = await askModern(url, callTool('broken'))
  const reference = /reference ([\w-]+)/.exec(failed.text)?.[1] as string
  const lines = (): Record<string, unknown>[] =>
    said()
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as Record<string, unknown>)
  await expect.poll(lines).toContainEqual(expect.objectContaining({ level: 'error', outcome: 'tool_crash', reference }))
  expect(lines()).toContainEqual(
    expect.objectContaining({ level: 'error', message: expect.stringMatching(`${reference}.*two\\\\nlines\n {4}at `) }),
  )
  expect((await askModern(url, callTool('pid'))).message).toHaveProperty('result')
  expect((await askModern(url, callTool('pid'))).message.error?.data).toMatchObject({ limit: 'toolCalls' })
  expect((await http(`${url}/server-card`, GET)).message).toMatchObject({ name: 'com.example/greeter', version: '1.0.0' })
  expect((await http(new URL('/.well-known/ai-catalog.json', url).href, GET)).status).toBe(200)
})

test.each(['none', 'text', 'json'])('says when it begins to end, and when it has ended, with logFormat %s', async (format) => {
  const slow = `${SERVER}server.tool('slow', () => new Promise((resolve) => setTimeout(() => resolve('done'), 700)))\nserver.tool('begun', () => 'yes')\n`
  const args = ['server.mjs', '--http', '0', '--grace-ms', '20000', '--log-format', format]
  const { child, url, said } = await start(folderWith({ 'server.mjs': slow }), args)
  const answer = askModern(url, callTool('slow'))
  await askModern(url, callTool('begun'))
  child.kill('SIGTERM')
  expect(await once(child, 'exit')).toEqual([0, null])
  expect((await answer).text).toContain('done')
  const texts = said()
    .split('\n')
    .map((line) => (line.startsWith('{') ? (JSON.parse(line) as { message: string }).message : line))
  const start_ = format === 'text' ? '^\\S+Z info ' : '^'
  const [begun, ended] = [/portico: ending, waits at most 20 s for 1 request in progress$/, /portico: ended after \d+\.\d s$/]
  for (const line of [begun, ended]) expect(texts.filter((text) => new RegExp(start_ + line.source).test(text))).toHaveLength(1)
})

test('with drainDelayMs it is not ready at SIGTERM, and serves before it ends', async () => {
  const cwd = folderWith({ 'serve.yaml': 'drainDelayMs: 1500\nhealth: true\n' })
  const { child, url, said } = await start(cwd, ['server.mjs', '--http', '0', '--config', 'serve.yaml'])
  child.kill('SIGTERM')
  await expect.poll(said).toMatch(/ending, serves for 1.5 s, then waits at most 10 s for requests and tasks in progress\n/)
  expect((await http(new URL('/readyz', url).href, GET)).status).toBe(503)
  expect((await askModern(url, callTool('pid'))).status).toBe(200)
  expect(await once(child, 'exit')).toEqual([0, null])
})

test('waits for a task that runs, and counts it', async () => {
  const slow = `import { tasks } from 'portico/tasks'
import { createServer } from 'portico/server'
export const server = createServer({ name: 'greeter', version: '1.0.0' })
server.extend(tasks())
server.tool('slow', { task: 'required' }, () => new Promise((resolve) => setTimeout(() => {
  console.error('the task has ended')
  resolve('done')
}, 700)))
`
  const { child, url, said } = await start(folderWith({ 'server.mjs': slow }), ['server.mjs', '--http', '0'])
  const able = { 'io.modelcontextprotocol/clientCapabilities': { extensions: { 'io.modelcontextprotocol/tasks': {} } } }
  expect((await askModern(url, callTool('slow', {}, { _meta: able }))).message).toMatchObject({ result: { resultType: 'task' } })
  child.kill('SIGTERM')
  expect(await once(child, 'exit')).toEqual([0, null])
  expect(said()).toMatch(/ending, waits at most 10 s for 0 requests and 1 task in progress\nthe task has ended\nportico: ended/)
})

test('says that it has ended after the server was closed, and all lines until then are JSON', async () => {
  const closing = `${SERVER}const close = server.close.bind(server)
server.close = async () => {
  await new Promise((resolve) => setTimeout(resolve, 300))
  console.error('closed')
  await close()
}
`
  const { child, said } = await start(folderWith({ 'server.mjs': closing }), ['server.mjs', '--http', '0', '--log-format', 'json'])
  child.kill('SIGTERM')
  expect(await once(child, 'exit')).toEqual([0, null])
  const texts = said()
    .trim()
    .split('\n')
    .map((line) => (JSON.parse(line) as { message: string }).message)
  expect(texts.slice(-2)).toEqual(['closed', expect.stringMatching(/^portico: ended after (?!0\.[0-2] )\d+\.\d s$/)])
})

test.each([
  ['none', 0],
  ['json', 0],
  ['json', 2],
])('goes on without the reader of its log, with logFormat %s and %i workers', async (format, workers) => {
  const noisy = `${SERVER}server.tool('noise', () => { for (let i = 0; i < 100; i++) console.error('x'.repeat(1000)); return 'done' })\n`
  const args = ['server.mjs', '--http', '0', '--log-format', format, '--workers', String(workers)]
  const { child, url } = await start(folderWith({ 'server.mjs': noisy }), args)
  child.stderr.destroy()
  for (let i = 0; i < 5; i++) expect((await askModern(url, callTool('noise'))).text).toContain('done')
  child.kill('SIGTERM')
  expect(await once(child, 'exit')).toEqual([0, null])
})

test('a worker that cannot start is replaced until one can', async () => {
  const cwd = folderWith({
    'server.mjs': `import { existsSync } from 'node:fs'\nif (existsSync('broken')) throw new Error('no key')\n${SERVER}`,
  })
  const { url, said } = await start(cwd, ['server.mjs', '--http', '0', '--workers', '1', '--log-format', 'json'])
  const pid = Number(/"text":"(\d+)"/.exec((await askModern(url, callTool('pid'))).text)?.[1])
  writeFileSync(join(cwd, 'broken'), '')
  process.kill(pid, 'SIGKILL')
  await expect.poll(said).toContain('no key')
  rmSync(join(cwd, 'broken'))
  // Pauses between attempts grow. A worker that stays although it cannot serve is ended after a minute only.
  const answer = (): Promise<string> => askModern(url, callTool('pid')).then(({ text }) => text, String)
  await expect.poll(answer, { timeout: 20_000 }).toMatch(/"text":"\d+"/)
  expect(said()).not.toContain('did not listen')
}, 60_000)

test('the help shows the flags that change something, and their values', async () => {
  const { stdout } = await portico(['serve', '--help'])
  for (const flag of ['--no-sessions ', '--no-legacy-sse ', '--health ', '--trust-proxy <number|true|false>', '--workers <auto|number>'])
    expect(stdout).toContain(flag)
  for (const flag of ['  --sessions', '--no-health']) expect(stdout).not.toContain(flag)
})

test('--show-config prints every setting with its source, and hides secrets', async () => {
  const cwd = folderWith({ 'serve.json': '{ "http": true, "trustProxy": 1 }' })
  const env = { PORTICO_STORE: 'redis://user:pa%40ss@redis:6379/0', PORTICO_KEYS: KEY, PORTICO_ALLOWED_HOSTS: 'a.example,b.example' }
  const args = ['serve', '--config', 'serve.json', '--limit', 'maxSessions=5', '--no-health', '--show-config']
  const { code, stdout } = await portico(args, { cwd, env })
  expect(code).toBe(0)
  for (const line of [
    /^http +serve\.json:1 +true$/m,
    /^trustProxy +serve\.json:1 +1$/m,
    /^allowedHosts +PORTICO_ALLOWED_HOSTS +\["a\.example","b\.example"\]$/m,
    /^store +PORTICO_STORE +redis:\/\/\(hidden\)@redis:6379\/0$/m,
    /^keys +PORTICO_KEYS +\(hidden\)$/m,
    /^limits\.maxSessions +--limit maxSessions +5$/m,
    /^limits\.maxInFlight +default +2048$/m,
    /^health +--health +false$/m,
    /^host +default +127\.0\.0\.1$/m,
  ])
    expect(stdout).toMatch(line)
  const json = await portico([...args, '--json'], { cwd, env })
  expect(JSON.parse(json.stdout)).toMatchObject({ store: { source: 'PORTICO_STORE' }, port: { value: 3000, source: 'default' } })
  const typo = await portico(args, { cwd, env: { ...env, PORTICO_STORE: 'user:pa%40ss@redis:6379' } })
  // The same as without --show-config.
  expect(typo).toMatchObject({
    code: 8,
    stdout: '',
    stderr: expect.stringContaining('PORTICO_STORE: Expected a URL of Redis such as redis://'),
  })
  for (const text of [stdout, json.stdout, typo.stderr]) expect(text).not.toMatch(/pa%40ss|only-for-this-test/)
})

test('mistakes name their place, and end the command with the code for it', async () => {
  const cwd = folderWith({ 'bad.yaml': 'http: true\nprot: 1\n', 'stdio.yaml': 'port: 80\n' })
  const config = await portico(['serve', 'server.mjs', '--config', 'bad.yaml'], { cwd })
  expect(config).toMatchObject({ code: 8, stderr: expect.stringContaining('bad.yaml:2: unknown setting "prot"; did you mean "port"?') })
  const usage = await portico(['serve', 'server.mjs', '--http', '--workers', 'x'], { cwd })
  expect(usage).toMatchObject({ code: 2, stderr: expect.stringContaining('--workers: workers must be auto') })
  const limit = await portico(['serve', 'server.mjs', '--http', '--limit', 'maxSession=1'], { cwd })
  expect(limit).toMatchObject({ code: 2, stderr: expect.stringContaining('Did you mean "maxSessions" or') })
  const useless = await portico(['serve', 'server.mjs', '--config', 'stdio.yaml'], { cwd })
  expect(useless).toMatchObject({ code: 8, stderr: expect.stringContaining('stdio.yaml:1 needs --http') })
  const flag = await portico(['serve', 'server.mjs', '--port', '1'], { cwd })
  expect(flag).toMatchObject({ code: 2, stderr: expect.stringContaining('--port needs --http') })
  const nothing = await portico(['serve'], { cwd })
  expect(nothing).toMatchObject({ code: 2, stderr: expect.stringContaining('serve needs a file') })
  const store = await portico(['serve', 'server.mjs', '--http'], { cwd, env: { PORTICO_STORE: 'http://127.0.0.1:1' } })
  expect(store).toMatchObject({ code: 8, stderr: expect.stringContaining('PORTICO_STORE: Expected a URL of Redis such as redis://') })
  const prefix = await portico(['serve', 'server.mjs', '--http', '--store-prefix', 'a{b}'], { cwd, env: { PORTICO_STORE: 'redis://h' } })
  expect(prefix).toMatchObject({ code: 2, stderr: expect.stringContaining('--store-prefix: storePrefix must be a text without braces') })
  const auth = await portico(['serve', 'server.mjs', '--http', '--auth-scopes', 'a'], { cwd })
  expect(auth).toMatchObject({ code: 2, stderr: expect.stringContaining('--auth-scopes needs --auth-issuers') })
  const card = await portico(['serve', 'server.mjs', '--http', '--card-name', 'com.example/x'], { cwd })
  expect(card).toMatchObject({ code: 2, stderr: expect.stringContaining('--card-name needs --card-description') })
  const short = await portico(['serve', 'server.mjs', '--http', '--show-config'], { cwd, env: { PORTICO_API_KEYS: 'ci=short' } })
  expect(short).toMatchObject({ code: 8, stderr: expect.stringContaining('PORTICO_API_KEYS: apiKeys must be a list of name=key, with 16') })
  const token = await portico(['serve', 'server.mjs', '--http'], { cwd, env: { PORTICO_METRICS_TOKEN: 'secret-of-the-scraper' } })
  expect(token).toMatchObject({ code: 8, stderr: expect.stringContaining('PORTICO_METRICS_TOKEN needs PORTICO_METRICS=true') })
  const tls = await portico(['serve', 'server.mjs', '--http', '--tls-cert-file', 'x'], { cwd })
  expect(tls).toMatchObject({ code: 2, stderr: expect.stringContaining('--tls-cert-file needs --tls-key-file') })
})

test('the help says what belongs into the file of a secret', async () => {
  const { stdout } = await portico(['serve', '--help'], { cwd: folderWith({}) })
  const help = stdout.replace(/\s+/g, ' ')
  expect(help).toContain('--store-file <file> a file with the value of --store: other users of the machine can see flags')
  expect(help).toContain('--api-keys-file <file> the file with API keys of callers')
})

test('keys are refused for a server that has its own', async () => {
  const own = `import { createServer, keyRing } from 'portico/server'\nexport const server = createServer({ name: 'x', version: '1', keys: keyRing('${KEY}') })\n`
  const { code, stderr } = await portico(['serve', 'server.mjs', '--http', '0'], {
    cwd: folderWith({ 'server.mjs': own }),
    env: { PORTICO_KEYS: KEY },
  })
  expect([code, stderr]).toEqual([8, expect.stringContaining('PORTICO_KEYS: server.mjs has keys of its own')])
})

test('replicas of a server with the same keys continue what the other began', async () => {
  const cwd = folderWith({ 'server.mjs': `${SERVER.replace("'1.0.0' }", "'1.0.0', pageSize: 1 }")}server.tool('b', () => 'b')\n` })
  const [one, other, stranger] = await Promise.all(
    [KEY, KEY, `another-${KEY}`].map((key) => start(cwd, ['server.mjs', '--http', '0'], { PORTICO_KEYS: key })),
  )
  const first = await askModern(one?.url as string, { method: 'tools/list' })
  const { nextCursor: cursor } = first.message.result as { nextCursor: string }
  const next = (url: string) => askModern(url, { method: 'tools/list', params: { cursor } })
  expect((await next(other?.url as string)).message.result).toMatchObject({ tools: [{ name: 'b' }] })
  expect((await next(stranger?.url as string)).message.error).toMatchObject({ code: -32602 })
  expect(stranger?.said()).toContain('give all replicas the same keys')
})

test('lines of workers as JSON have the number of their worker, from their start', async () => {
  const loud = `${SERVER}console.error('loaded')\nserver.tool('say', () => { console.error('said'); return 'ok' })\n`
  const { url, said } = await start(folderWith({ 'server.mjs': loud }), [
    'server.mjs',
    '--http',
    '0',
    '--workers',
    '2',
    '--log-format',
    'json',
  ])
  await askModern(url, callTool('say'))
  const lines = (): Record<string, unknown>[] =>
    said()
      .split('\n')
      .flatMap((line) => (line.startsWith('{') ? [JSON.parse(line) as Record<string, unknown>] : []))
  const workersOf = (text: string): unknown[] => lines().flatMap(({ message, worker }) => (message === text ? [worker] : []))
  await expect.poll(() => workersOf('tools/call say ok')).toEqual([expect.any(Number)])
  // The primary process loads the server, too.
  expect(workersOf('loaded').toSorted()).toEqual([1, 2, undefined])
  expect(workersOf('said')).toEqual(workersOf('tools/call say ok'))
  expect(lines().find(({ message }) => String(message).startsWith('Serving'))).not.toHaveProperty('worker')
})

test('lines of requests as text are one line each, whatever a client sends', async () => {
  const failing = `${SERVER}server.tool('fails', () => { throw new Error('no database') })\n`
  const { url, said } = await start(folderWith({ 'server.mjs': failing }), ['server.mjs', '--http', '0', '--log-format', 'text'])
  await askModern(url, callTool('pid'))
  await askModern(url, callTool('fails'))
  await askModern(url, callTool('none'))
  await askModern(url, { method: 'x\u001b[2J\ny' }).catch(() => {})
  await http(url, { method: 'PUT', isBare: true })
  await expect.poll(said).toMatch(/^\S+Z info tools\/call pid ok [\d.]+ ms 127\.0\.0\.1$/m)
  // What the caller saw, to find it.
  await expect.poll(said).toMatch(/^\S+Z error tools\/call fails tool_crash reference \S{8} [\d.]+ ms 127\.0\.0\.1$/m)
  await expect.poll(said).toMatch(/^\S+Z warn tools\/call none error code -32602 [\d.]+ ms 127\.0\.0\.1$/m)
  await expect.poll(said).toMatch(/^\S+Z warn refused: .* status 405 method_not_allowed PUT \/mcp 127\.0\.0\.1$/m)
  expect(said()).not.toContain('\u001b[2J')
})

test.each([
  [['--path', 'mcp'], {}, 2, '--path: path must be the path of an endpoint such as /mcp: it must begin with a slash'],
  [[], { PORTICO_PATH: '/a b' }, 8, 'PORTICO_PATH: path must be the path of an endpoint'],
  [['--host', 'http://x'], {}, 2, '--host: host must be an IP address or the name of a machine'],
  [['--host', '999.1.1.1'], {}, 2, '--host: host must be an IP address or the name of a machine'],
  [['--host', '0.0.0.0'], {}, 2, '--host: listening on 0.0.0.0 makes the server public'],
  [[], { PORTICO_HOST: '0.0.0.0' }, 8, 'make callers authenticate (PORTICO_AUTH_ISSUERS or PORTICO_API_KEYS)'],
  [['--port', 'abc'], {}, 2, 'Expected a port, from 0 to 65535.'],
  [['--tls-cert-file', 'server.mjs', '--tls-key-file', 'server.mjs'], {}, 2, '--tls-cert-file: the certificate and its key cannot be used'],
  [[], { PORTICO_METRICS: 'true', PORTICO_METRICS_TOKEN: 'short' }, 8, 'PORTICO_METRICS_TOKEN: metricsToken must be a text of at least 16'],
  [['--grace-ms', '9999999999'], {}, 2, '--grace-ms: graceMs must be a whole number from 0 to 2147483647, not "9999999999"'],
  [['--path', '/messages'], {}, 2, '--path: /messages is reserved for clients of the legacy transport'],
  [['--path', '/healthz', '--health'], {}, 2, '--path: /healthz serves health or metrics: choose another path'],
  [['--metrics'], { PORTICO_PATH: '/metrics' }, 8, 'PORTICO_PATH: /metrics serves health or metrics: choose another path'],
  [['--auth-issuers', 'abc', '--auth-resource', 'https://a.example'], {}, 2, '--auth-issuers: An issuer is not a URL: "abc"'],
  [['--auth-issuers', 'https://i.example', '--auth-resource', 'nope'], {}, 2, '--auth-resource: The resource is not a URL: "nope"'],
  [['--auth-issuers', 'https://i.example'], { PORTICO_AUTH_RESOURCE: 'nope' }, 8, 'PORTICO_AUTH_RESOURCE: The resource is not a URL'],
  [['--card-name', 'com.example/x', '--card-description', 'X', '--card-url', 'x'], {}, 2, '--card-url: serverCard: expected the URL'],
])('%j and %j end with %i', async (flags, env, code, message) => {
  const server = `import { createServer } from 'portico/server'\nexport const server = createServer({ name: 'x', version: '1' })\n`
  const ended = await portico(['serve', 'server.mjs', '--http', ...flags], { cwd: folderWith({ 'server.mjs': server }), env })
  expect(ended).toMatchObject({ code, stderr: expect.stringContaining(message) })
  expect(ended.stderr).not.toContain('Write the file before')
})

test.each([
  [[], { PORTICO_SERVER: './nope.mjs' }, 8, 'PORTICO_SERVER: No such file: ./nope.mjs'],
  [[], { PORTICO_SERVER: 'fils' }, 8, 'PORTICO_SERVER: Unknown bundled server "fils". Did you mean "files"?'],
  [[], { PORTICO_SERVER: './empty.mjs' }, 8, 'PORTICO_SERVER: ./empty.mjs exports no server; it exports nothing. Export it:'],
  [['--config', 'serve.yaml'], {}, 8, 'serve.yaml:1: No such file: '],
  [['./nope.mjs'], {}, 2, 'No such file: ./nope.mjs'],
])('a wrong server of %j and %j ends with the code and the name of its place', async (args, env, code, message) => {
  const cwd = folderWith({ 'serve.yaml': 'server: ./nope.mjs\n', 'empty.mjs': 'export {}\n' })
  expect(await portico(['serve', '--http', '0', ...args], { cwd, env })).toMatchObject({ code, stderr: expect.stringContaining(message) })
})

test.each([
  ['broken.mjs', [], 1, /^portico: Cannot load broken\.mjs: no database/],
  ['nope.mjs', [], 2, /^portico: No such file: nope\.mjs$/],
  ['server.mjs', ['--path', '/messages'], 2, /^portico: --path: \/messages is reserved/],
])('with logFormat json the end of %s %j is a line of JSON, after what the module said', async (file, args, code, message) => {
  const cwd = folderWith({
    'server.mjs': `console.error('begins')\nprocess.emitWarning('soon gone')\n${SERVER}`,
    'broken.mjs': `console.error('begins')\nthrow new Error('no database\\nand no cache')\n`,
  })
  const ended = await portico(['serve', file, '--http', '0', '--log-format', 'json', ...args], { cwd })
  expect(ended.code).toBe(code)
  const lines = ended.stderr.trim().split('\n')
  const said = lines.map((line) => JSON.parse(line) as { level: string; message: string })
  expect(said.at(-1)).toMatchObject({ level: 'error', message: expect.stringMatching(message) })
  const before = { 'broken.mjs': ['begins'], 'server.mjs': ['begins', 'Warning: soon gone'] }[file] ?? []
  expect(said.slice(0, -1).map((line) => line.message)).toEqual(before)
})
