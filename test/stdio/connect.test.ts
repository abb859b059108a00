import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type CallOptions, Client, type ConnectOptions, verdictMemory } from '../../src/client/index.ts'
import { connect } from '../../src/index.ts'
import { type ProcessTargetOptions, processTarget } from '../../src/stdio/index.ts'
import { groupOf, isAlive, untilGone } from '../support/processes.ts'
import { proves } from '../support/proves.ts'
import { fixture } from '../support/stdio-process.ts'

const ODD = fixture('odd-server.mjs')
const MIB = 1024 * 1024

const open = new Set<Client>()
let folder: string
beforeEach(() => {
  folder = mkdtempSync(`${tmpdir()}/portico-connect-`)
})
afterEach(async () => {
  await Promise.all([...open].map((client) => client.close()))
  open.clear()
  rmSync(folder, { recursive: true, force: true })
})

interface Odd {
  client: Client
  warnings: string[]
  /** Why the connection is over; undefined as long as it is not. */
  closedBy(): Promise<Error | undefined>
  /** Calls a tool and returns the JSON or the text it answers with. */
  call(tool: string, args?: object, options?: CallOptions): Promise<unknown>
}

type OddOptions = Partial<ProcessTargetOptions> & { flags?: string[] }

const target = ({ flags = [], ...options }: OddOptions = {}): ProcessTargetOptions => ({
  command: process.execPath,
  args: [ODD, ...flags],
  shutdownMs: 500,
  ...options,
})

/** A client of the odd server, in a revision that needs no probe. */
async function connectOdd(options: OddOptions = {}, connectOptions: ConnectOptions = {}): Promise<Odd> {
  const warnings: string[] = []
  let markClosed: (error: Error | undefined) => void = () => {}
  const closed = new Promise<Error | undefined>((resolve) => {
    markClosed = resolve
  })
  const client = await connect(target(options), {
    revisions: ['2025-06-18'],
    onWarning: (message) => warnings.push(message),
    onClose: markClosed,
    ...connectOptions,
  })
  open.add(client)
  const call: Odd['call'] = async (tool, args = {}, callOptions = {}) => {
    const { content } = await client.call(tool, { ...args }, callOptions)
    const { text } = content[0] as { text: string }
    try {
      return JSON.parse(text)
    } catch {
      return text
    }
  }
  return { client, warnings, call, closedBy: () => closed }
}

const seenMethods = async ({ call }: Odd): Promise<(string | undefined)[]> =>
  ((await call('seen')) as { method?: string }[]).map(({ method }) => method)

const diary = (): { env: { DIARY: string }; read(): string[]; sent(): { method?: string }[] } => {
  const file = `${folder}/diary`
  const read = (): string[] => readFileSync(file, 'utf8').trimEnd().split('\n')
  return {
    env: { DIARY: file },
    read,
    sent: () => read().flatMap((line) => (line.startsWith('line ') ? [JSON.parse(line.slice(5))] : [])),
  }
}

async function failureOf(promise: Promise<unknown>): Promise<Error & { code?: string; data?: unknown }> {
  const outcome = await promise.then(
    (value) => new Error(`It succeeded with ${JSON.stringify(value)}`),
    (error: Error) => error,
  )
  return outcome
}

describe('a server process', () => {
  test('a server process is started with its arguments and spoken to over its streams', async () => {
    proves('T-STDIO-001', 'T-STDIO-002', 'T-STDIO-003')
    const { client, call } = await connectOdd({ flags: ['--some', 'argument'] })
    expect(client.server.info.name).toBe('odd')
    expect(client.revision).toBe('2025-06-18')
    expect(await call('args')).toEqual(['--some', 'argument'])
    expect(await call('echo', { text: 'žluť\n👩‍👧' })).toBe('žluť\n👩‍👧')
  })

  test('a server process is given its arguments as they are: there is no shell', async () => {
    const flags = [
      'a b',
      '$HOME',
      '`id`',
      '$(id)',
      '; touch /tmp/x',
      '&& true',
      '| cat',
      '> /tmp/x',
      '*',
      '"double"',
      "'single'",
      'new\nline',
      '\\',
      '',
    ]
    const { call } = await connectOdd({ flags })
    expect(await call('args')).toEqual(flags)
  })

  test('a server process sees the few variables it needs and those declared for it', async () => {
    proves('T-AUTH-004')
    process.env.PORTICO_TEST_SECRET = 'hunter2'
    try {
      const { call } = await connectOdd({ env: { DECLARED: 'yes' } })
      const environment = (await call('env')) as Record<string, string>
      expect(environment).toMatchObject({ DECLARED: 'yes', PATH: process.env.PATH })
      const allowed = ['HOME', 'LOGNAME', 'PATH', 'SHELL', 'TERM', 'USER', 'DECLARED']
      expect(Object.keys(environment).filter((name) => !allowed.includes(name))).toEqual([])
    } finally {
      delete process.env.PORTICO_TEST_SECRET
    }
  })

  test('a server process has its own process group', async () => {
    const { call } = await connectOdd()
    const pid = (await call('pid')) as number
    expect(groupOf(pid)).toBe(pid)
  })

  test('a server process is sent nothing but messages, one a line', async () => {
    proves('T-STDIO-010', 'T-STDIO-005', 'T-BASE-029')
    const { env, read, sent } = diary()
    const { client, call } = await connectOdd({ env })
    await call('echo', { text: 'two\nlines' })
    await client.ping()
    await client.close()
    const lines = read().filter((line) => !line.startsWith('pid '))
    expect(lines.at(-1)).toBe('eof')
    expect(sent()).toHaveLength(lines.length - 1)
    for (const message of sent()) expect(message).toMatchObject({ jsonrpc: '2.0', method: expect.any(String) })
    for (const message of sent().filter(({ method }) => method?.startsWith('notifications/'))) expect(message).not.toHaveProperty('id')
  })

  test('a server process supports all features and survives cancelled calls', async () => {
    proves('R-BASE-060')
    const { call } = await connectOdd()
    const pid = await call('pid')
    const controller = new AbortController()
    const givenUp = failureOf(call('hang', {}, { signal: controller.signal }))
    const beside = ['one', 'two', 'three'].map((text) => call('echo', { text }))
    controller.abort()
    expect((await givenUp).name).toBe('AbortError')
    expect(await Promise.all(beside)).toEqual(['one', 'two', 'three'])
    expect(await Promise.all([call('pid'), call('pid')])).toEqual([pid, pid])
  })

  test('a server process can be given as a target, to Client.connect or to connect', async () => {
    for (const way of [Client.connect, connect]) {
      const client = await way(processTarget(target()), { revisions: ['2025-06-18'] })
      expect(client.server.info.name).toBe('odd')
      await client.close()
    }
  })

  test('a server process that was never closed does not outlive this process', async () => {
    const script = `
      import { connect } from 'portico'
      const client = await connect({ command: process.execPath, args: [${JSON.stringify(ODD)}, '--ignore-eof'] }, { revisions: ['2025-06-18'] })
      const { content } = await client.call('pid')
      process.stdout.write(content[0].text)
      process.exit(0)`
    const host = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: ['ignore', 'pipe', 'inherit'] })
    const pid = Number(String((await once(host.stdout, 'data'))[0]))
    await untilGone(pid, 10_000)
  })
})

describe('pings', () => {
  test('pings are requests without params that both sides answer with an empty result', async () => {
    proves('T-PING-001', 'T-PING-002', 'T-PING-003')
    const odd = await connectOdd()
    await odd.client.ping()
    const seen = (await odd.call('seen')) as object[]
    expect(seen).toContainEqual({ jsonrpc: '2.0', id: expect.any(Number), method: 'ping' })
    expect(await odd.call('ask-client', { method: 'ping' })).toEqual({ jsonrpc: '2.0', id: 'from-server', result: {} })
  })

  test('unanswered pings are reported, end the connection, and start the server again', async () => {
    proves('T-PING-004', 'T-PING-005', 'T-PING-006', 'T-PING-007', 'T-PING-010', 'T-PING-011', 'T-PING-012', 'T-PING-013')
    const { env, sent } = diary()
    const odd = await connectOdd({ flags: ['--mute-ping'], restarts: true, env }, { pingIntervalMs: 60 })
    const first = await odd.call('pid')
    while (!odd.warnings.some((warning) => warning.endsWith('(The server does not answer pings); starting it again'))) await sleep(5)
    expect(sent().filter(({ method }) => method === 'ping')).toHaveLength(2)
    expect(odd.warnings.slice(0, 2)).toEqual([
      expect.stringMatching(/^Ping failed \(1 of 2\)/),
      expect.stringMatching(/^Ping failed \(2 of 2\)/),
    ])
    expect(await odd.call('pid')).not.toBe(first)
  })

  test('pings may wait for as long as the caller says', async () => {
    proves('T-PING-009')
    const { client } = await connectOdd({ flags: ['--mute-ping'] })
    expect(await failureOf(client.ping({ timeoutMs: 30 }))).toMatchObject({
      code: 'ERR_TIMEOUT',
      message: 'No answer to ping within 30 ms (timeoutMs)',
    })
  })

  test('pings are not sent when the interval is 0', async () => {
    proves('T-PING-008')
    const { call } = await connectOdd({}, { pingIntervalMs: 0 })
    await sleep(50)
    expect(await call('pings')).toBe(0)
  })

  test('pings are sent as often as the interval says', async () => {
    proves('T-PING-008')
    const started = performance.now()
    const { call, client } = await connectOdd({}, { pingIntervalMs: 500 })
    let pings = 0
    while (pings < 2) {
      // A call counts as a sign of life, too.
      await sleep(1200)
      pings = (await call('pings')) as number
    }
    await client.close()
    expect(pings).toBeLessThanOrEqual((performance.now() - started) / 500 + 1)
  })
})

describe('a request', () => {
  test('a request that takes too long fails, and the server gets a cancellation with its id', async () => {
    proves('T-LIFE-032', 'T-LIFE-033', 'T-LIFE-038', 'T-CANC-002')
    const odd = await connectOdd()
    const failure = await failureOf(odd.call('hang', {}, { timeoutMs: 50 }))
    expect(failure).toMatchObject({ code: 'ERR_TIMEOUT', message: 'No answer to tools/call within 50 ms (timeoutMs)' })
    const seen = (await odd.call('seen')) as { id?: number; method: string; params: { name?: string } }[]
    const hang = seen.find(({ params }) => params?.name === 'hang')
    expect(seen.find(({ method }) => method === 'notifications/cancelled')).toEqual({
      jsonrpc: '2.0',
      method: 'notifications/cancelled',
      params: { requestId: hang?.id, reason: 'No answer to tools/call within 50 ms (timeoutMs)' },
    })
  })

  test('a cancelled request is cancelled at the server, and an answered one is not', async () => {
    proves('T-CANC-001', 'T-CANC-006')
    const odd = await connectOdd()
    const early = new AbortController()
    const late = new AbortController()
    const hanging = failureOf(odd.call('hang', {}, { signal: early.signal }))
    await odd.call('echo', { text: 'x' }, { signal: late.signal })
    early.abort()
    late.abort()
    expect((await hanging).name).toBe('AbortError')
    expect((await seenMethods(odd)).filter((method) => method === 'notifications/cancelled')).toHaveLength(1)
  })

  test('a request lives as long as it progresses, but no longer than its maximum', async () => {
    proves('T-LIFE-034', 'T-LIFE-035')
    const { call } = await connectOdd()
    const limits = { timeoutMs: 800, onProgress: () => {} }
    expect(await call('progress', { times: 20, everyMs: 80 }, limits)).toBe('progressed')
    const failure = await failureOf(call('progress', { times: 1000, everyMs: 40 }, { ...limits, maxTotalMs: 1500 }))
    expect(failure).toMatchObject({ code: 'ERR_TIMEOUT', message: 'No answer to tools/call within 1500 ms in all (maxTotalMs)' })
  })

  test.each([
    ['both a result and an error', '{"jsonrpc":"2.0","id":$ID,"result":{},"error":{"code":1,"message":"no"}}'],
    ['an error without a code', '{"jsonrpc":"2.0","id":$ID,"error":{"message":"no"}}'],
    ['a result that is no object', '{"jsonrpc":"2.0","id":$ID,"result":"done"}'],
    ['a key that reaches a prototype', '{"jsonrpc":"2.0","id":$ID,"result":{"content":[],"__proto__":{"polluted":1}}}'],
    ['300 levels', `{"jsonrpc":"2.0","result":${'{"a":'.repeat(300)}1${'}'.repeat(300)},"id":$ID}`],
    ['two ids', '{"jsonrpc":"2.0","id":$ID,"result":{"content":[]},"id":99}'],
    ['no "jsonrpc"', '{"id":$ID,"result":{"content":[]}}'],
    ['nothing but its id', '{"jsonrpc":"2.0","id":$ID}'],
    ['NaN in it', '{"jsonrpc":"2.0","id":$ID,"result":{"content":[],"n":NaN}}'],
    ['an array around it', '[{"jsonrpc":"2.0","id":$ID,"result":{"content":[]}}]'],
  ])('a request whose answer has %s fails at once, and the connection continues', async (_what, line) => {
    const { call } = await connectOdd()
    expect(await failureOf(call('answer', { line }))).toMatchObject({ code: 'ERR_ANSWER_INVALID' })
    expect(await call('echo', { text: 'still' })).toBe('still')
    expect(({} as { polluted?: number }).polluted).toBeUndefined()
  })
})

describe('output of a server that is not a message', () => {
  const excuses = [
    '{"level":"info","msg":"ready"}',
    '{"error":"boom","id":1}',
    '{"method":"GET","url":"/"}',
    '["a","b"]',
    '[]',
    '"text"',
    '7',
    'null',
  ]
  const words = ['Listening on http://localhost:3000', '\u001b[32mready\u001b[0m', '{"broken', '\ufeff', '\0', '[1,']

  test('output that is not a message is skipped with at most ten warnings, and never answered', async () => {
    const odd = await connectOdd()
    const text = `${[...words, ...excuses].join('\n')}\n`
    for (let i = 0; i < 5; i++) expect(await odd.call('say', { text })).toBe('said')
    expect(odd.warnings).toHaveLength(10)
    expect(odd.warnings[0]).toContain('wrote a line that is not a message: "Listening on http://localhost:3000"')
    expect(odd.warnings[9]).toContain('(further warnings of this kind are dropped)')
    expect(await seenMethods(odd)).toEqual(['initialize', 'notifications/initialized', ...Array.from({ length: 6 }, () => 'tools/call')])
  })

  test('output that is not a message is a log line, even with the id of an open call', async () => {
    const odd = await connectOdd()
    const hanging = odd.call('hang')
    hanging.catch(() => {})
    // The ids of the handshake and of these calls are among them.
    const text = Array.from({ length: 10 }, (_, id) => `{"id":${id},"level":"info"}\n{"id":${id},"error":"boom"}\n`).join('')
    expect(await odd.call('say', { text })).toBe('said')
    await odd.client.close()
    expect(await failureOf(hanging)).toMatchObject({ code: 'ERR_CLOSED' })
  })

  test('up to 10 MB of random bytes may come before the answer where the limit allows it', async () => {
    const odd = await connectOdd({ maxGarbageLines: Number.POSITIVE_INFINITY })
    expect(await odd.call('noise', { bytes: 10 * MIB, seed: 7 })).toBe('enough')
    expect(odd.warnings.length).toBeGreaterThan(0)
    expect(odd.warnings.length).toBeLessThanOrEqual(10)
  })

  const garbage = (lines: number): string => 'Still listening\n'.repeat(lines)

  test('up to 999 lines in a row that are not messages are skipped, as often as a message follows', async () => {
    const odd = await connectOdd()
    for (let i = 0; i < 3; i++) expect(await odd.call('say', { text: garbage(999) })).toBe('said')
  })

  test('the 1,000th line in a row that is not a message ends the connection, and the error says why', async () => {
    const odd = await connectOdd()
    const pid = (await odd.call('pid')) as number
    const failure = await failureOf(odd.call('say', { text: garbage(1000) }))
    expect(failure).toMatchObject({
      code: 'ERR_LIMIT',
      message: expect.stringContaining('wrote 1000 lines in a row that are not messages (maxGarbageLines); the last: "Still listening"'),
    })
    expect(await odd.closedBy()).toBe(failure)
    await untilGone(pid, 10_000)
  })

  test('lines that are not messages end the connection earlier with a lower limit', async () => {
    const odd = await connectOdd({ maxGarbageLines: 3 })
    expect(await odd.call('say', { text: garbage(2) })).toBe('said')
    expect(await failureOf(odd.call('say', { text: garbage(3) }))).toMatchObject({ code: 'ERR_LIMIT' })
  })
})

describe('a line of the server', () => {
  const LIMIT = 10_000
  const line = (bytes: number): string => {
    const message = '{"jsonrpc":"2.0","id":$ID,"result":{"content":[{"type":"text","text":""}]}}'
    // The id of the call, which follows the handshake, has one digit.
    const padding = 'x'.repeat(bytes - message.length + 2)
    return message.replace('"text":""', `"text":"${padding}"`)
  }

  test.each([LIMIT - 1, LIMIT])('a line of %i bytes fits into a limit of 10,000', async (bytes) => {
    const { call } = await connectOdd({ maxLineBytes: LIMIT })
    expect(await call('answer', { line: line(bytes) })).toMatch(/^x+$/)
  })

  test('a line of the server over the limit ends the connection with an error that names the limit', async () => {
    const { call, closedBy, client } = await connectOdd({ maxLineBytes: LIMIT })
    const pid = (await call('pid').catch(() => 0)) as number
    const failure = await failureOf(call('answer', { line: line(LIMIT + 1) }))
    expect(failure).toMatchObject({
      code: 'ERR_LIMIT',
      message: expect.stringContaining('sent a message longer than 10000 bytes (maxLineBytes)'),
    })
    expect(await closedBy()).toBe(failure)
    expect(client.isClosed).toBe(true)
    await untilGone(pid, 10_000)
  })

  test('a line of the server with more values than maxValues fails its call, and the connection continues', async () => {
    const { call } = await connectOdd({ maxValues: 200 })
    // The message, its result and the content have 7 values without these.
    const answer = (count: number): string =>
      `{"jsonrpc":"2.0","id":$ID,"result":{"content":[{"type":"text","text":"all"}],"_meta":{"x":[${Array(count).fill(1)}]}}}`
    expect(await call('answer', { line: answer(191) })).toBe('all')
    expect((await failureOf(call('answer', { line: answer(192) }))).message).toContain('more than 200 values (maxValues)')
    expect(await call('answer', { line: answer(191) })).toBe('all')
  })

  test('a line of the server of 100 MB uses little more memory than the limit', async () => {
    const client = spawn(process.execPath, [fixture('long-line-client.mjs'), String(100 * MIB)], { stdio: ['ignore', 'pipe', 'inherit'] })
    let said = ''
    client.stdout.setEncoding('utf8').on('data', (text: string) => {
      said += text
    })
    await once(client, 'close')
    const { code, message, grown } = JSON.parse(said) as { code: string; message: string; grown: number }
    expect(code).toBe('ERR_LIMIT')
    expect(message).toContain(`${10 * MIB} bytes (maxLineBytes)`)
    expect(grown).toBeLessThanOrEqual(10 * MIB + 40 * MIB)
  })
})

describe('a server that exits', () => {
  test('a server that exits with a code fails the call at once, with the code and its last output', async () => {
    proves('T-STDIO-014', 'R-STDIO-011', 'R-STDIO-013')
    const { call, client, closedBy } = await connectOdd()
    const started = performance.now()
    const failure = await failureOf(call('exit', { code: 3, stderr: 'fatal: cannot reach the database\n' }))
    expect(performance.now() - started).toBeLessThan(5000)
    expect(failure).toMatchObject({ code: 'ERR_EXIT', data: { exitCode: 3, signalCode: null } })
    expect(failure.message).toMatch(/exited with code 3: fatal: cannot reach the database$/)
    expect(await closedBy()).toBe(failure)
    expect(client.isClosed).toBe(true)
    expect(await failureOf(call('echo'))).toMatchObject({ code: 'ERR_CLOSED' })
  })

  test.each(['SIGSEGV', 'SIGKILL'] as const)('a server that exits by %s fails the call at once, with the signal', async (signal) => {
    const { call } = await connectOdd()
    const started = performance.now()
    const failure = await failureOf(call('signal', { signal }))
    expect(performance.now() - started).toBeLessThan(5000)
    expect(failure).toMatchObject({ code: 'ERR_EXIT', data: { exitCode: null, signalCode: signal } })
    expect(failure.message).toContain(`was ended by ${signal}`)
  })

  test('the error of a server that exited contains no secrets and only its last output', async () => {
    const { call } = await connectOdd({ flags: ['--key', 'sk-abcdefghijklmnopqrst'] })
    const stderr = `${'chatter '.repeat(50_000)}\nAuthorization: Bearer abcdefghijklmnop\nfatal: the end\n`
    const { message } = await failureOf(call('exit', { code: 1, stderr }))
    expect(message).toContain('fatal: the end')
    expect(message).not.toContain('abcdefghijklmnop')
    expect(message.length).toBeLessThan(1500)
  })

  test('a server that exits while its grandchild holds its output open fails at once, and both are ended', async () => {
    const { env, read } = diary()
    const { call } = await connectOdd({ flags: ['--grandchild'], env })
    let grandchild = 0
    while (grandchild === 0) {
      await sleep(10)
      grandchild = Number(/^grandchild (\d+)$/m.exec(read().join('\n'))?.[1] ?? 0)
    }
    const started = performance.now()
    expect(await failureOf(call('exit', { code: 4 }))).toMatchObject({ code: 'ERR_EXIT' })
    expect(performance.now() - started).toBeLessThan(5000)
    await untilGone(grandchild, 10_000)
  })

  test('a server that closes its output counts as gone', async () => {
    proves('T-STDIO-014', 'R-STDIO-011')
    const { call, closedBy } = await connectOdd()
    const pid = (await call('pid')) as number
    const failure = await failureOf(call('close-output'))
    expect(failure).toMatchObject({ code: 'ERR_CLOSED', message: expect.stringContaining('closed its output') })
    expect(await closedBy()).toBe(failure)
    await untilGone(pid, 10_000)
  })

  test('a server that exits before its first message fails the connection with its last output', async () => {
    const failure = await failureOf(connectOdd({ flags: ['--crash-at-once'] }))
    expect(failure).toMatchObject({ code: 'ERR_EXIT', data: { exitCode: 7 } })
    expect(failure.message).toContain('cannot find my settings')
  })

  test('a server with a session is not started again by default, because the session would be lost', async () => {
    const { call, warnings } = await connectOdd()
    await failureOf(call('exit', { code: 1 }))
    expect(await failureOf(call('pid'))).toMatchObject({ code: 'ERR_CLOSED' })
    expect(warnings).toEqual([])
  })

  test('a server is started again where that is enabled, and the next call waits for it', async () => {
    const { call, warnings, client } = await connectOdd({ restarts: true })
    const first = await call('pid')
    expect(await failureOf(call('exit', { code: 1 }))).toMatchObject({ code: 'ERR_EXIT' })
    const second = await call('pid')
    expect(second).not.toBe(first)
    expect(client.isClosed).toBe(false)
    expect(warnings).toEqual([expect.stringMatching(/ended \(.*exited with code 1\); starting it again$/)])
  })

  test('a stateless server is started again by default, and the next call works', async () => {
    proves('R-STDIO-012')
    const closes: unknown[] = []
    const command = { command: process.execPath, args: [fixture('server.mjs')] }
    const client = await connect(command, { memory: verdictMemory(), limits: { probeTimeoutMs: 30_000 }, onClose: (e) => closes.push(e) })
    open.add(client)
    expect(client.revision).toBe('2026-07-28')
    const pidOf = async (): Promise<number> => {
      const [first] = (await client.call('pid')).content
      return Number((first as { text: string }).text)
    }
    const first = await pidOf()
    const hanging = failureOf(client.call('hang'))
    process.kill(first, 'SIGKILL')
    expect(await hanging).toMatchObject({ code: 'ERR_EXIT' })
    expect(await pidOf()).not.toBe(first)
    expect(closes).toEqual([])
    // What it does not want is not done.
    const plain = await connect({ ...command, restarts: false }, { memory: verdictMemory(), limits: { probeTimeoutMs: 30_000 } })
    open.add(plain)
    const [said] = (await plain.call('pid')).content
    process.kill(Number((said as { text: string }).text), 'SIGKILL')
    await expect.poll(() => plain.isClosed).toBe(true)
  })

  test('a server that takes seconds to start is spoken to in its newest revision', async () => {
    const late = `setTimeout(() => import(${JSON.stringify(pathToFileURL(fixture('server.mjs')).href)}), 2500)`
    // The handshake would be sent after two seconds, if the process were not still starting.
    const limits = { probeTimeoutMs: 2000 }
    const slow = await connect({ command: process.execPath, args: ['-e', late] }, { memory: verdictMemory(), limits })
    open.add(slow)
    expect(slow.revision).toBe('2026-07-28')
  })

  test('a process that never answers the probe gets the handshake after a while', async () => {
    const silent = `process.stdin.on('data', (chunk) => { for (const line of String(chunk).trim().split('\\n')) {
      const { id, method, params } = JSON.parse(line)
      if (method === 'initialize') console.log(JSON.stringify({ jsonrpc: '2.0', id, result: { protocolVersion: params.protocolVersion, capabilities: {}, serverInfo: { name: 'old', version: '1' } } }))
    } })`
    const started = performance.now()
    const client = await connect(
      { command: process.execPath, args: ['-e', silent] },
      { memory: verdictMemory(), limits: { probeTimeoutMs: 500 } },
    )
    open.add(client)
    expect(client.server.info.name).toBe('old')
    expect(performance.now() - started).toBeGreaterThan(950)
  })

  test('a server is started again at most five times a minute', async () => {
    const { call, warnings, closedBy } = await connectOdd({ restarts: true })
    const pids = new Set<unknown>()
    for (let i = 0; i < 6; i++) {
      pids.add(await call('pid'))
      await failureOf(call('exit', { code: 1 }))
    }
    expect(pids.size).toBe(6)
    expect(await closedBy()).toMatchObject({ code: 'ERR_EXIT' })
    expect(await failureOf(call('pid'))).toMatchObject({ code: 'ERR_CLOSED' })
    expect(warnings).toHaveLength(5)
  })
})

describe('standard error', () => {
  test('standard error is delivered line by line, and does not mean failure', async () => {
    proves('T-STDIO-006', 'T-STDIO-007', 'T-STDIO-008')
    const lines: string[] = []
    const { call, warnings } = await connectOdd({ onStderr: (line) => lines.push(line) })
    expect(await call('complain', { text: 'ERROR: everything is fine\nžluť\n' })).toBe('complained')
    expect(await call('echo', { text: 'still' })).toBe('still')
    while (lines.length < 2) await sleep(5)
    expect(lines).toEqual(['ERROR: everything is fine', 'žluť'])
    expect(warnings).toEqual([])
  })

  test('standard error may be ignored without the server being held up by it', async () => {
    proves('T-STDIO-007')
    const { call } = await connectOdd()
    expect(await call('complain', { text: 'x'.repeat(2 * MIB) })).toBe('complained')
    expect(await call('echo', { text: 'still' })).toBe('still')
  })
})

describe('opening a connection', () => {
  test('connecting to a missing command fails with ERR_SPAWN', async () => {
    const failure = await failureOf(connect({ command: 'no-such-command-here' }))
    expect(failure).toMatchObject({ code: 'ERR_SPAWN', message: expect.stringContaining('no-such-command-here') })
  })

  test('a server that exits at an unknown first request is reconnected with a handshake', async () => {
    const memory = verdictMemory()
    const { env, sent } = diary()
    const options = target({ flags: ['--exit-on-unknown'], env })
    const client = await connect(options, { memory })
    open.add(client)
    expect(client.server.info.name).toBe('odd')
    await client.ping()
    expect(sent().map(({ method }) => method)).toEqual(['server/discover', 'initialize', 'notifications/initialized', 'ping'])
    expect(memory.get(processTarget(options).key)).toBe('session')
  })

  test('a server without the probe is connected by a handshake without a second start', async () => {
    const { env, read } = diary()
    const client = await connect(target({ env }), { memory: verdictMemory() })
    open.add(client)
    expect(client.revision).toBe('2025-11-25')
    expect(read().filter((line) => line.startsWith('pid '))).toHaveLength(1)
  })

  test('a silent server ends connecting with a timeout, leaves no process, and gets no cancellation', async () => {
    proves('T-LIFE-039', 'T-CANC-007')
    const { env, read, sent } = diary()
    const failure = await failureOf(connectOdd({ flags: ['--mute'], env }, { limits: { connectTimeoutMs: 1500 } }))
    expect(failure).toMatchObject({ code: 'ERR_TIMEOUT' })
    const pid = Number(/^pid (\d+)$/m.exec(read().join('\n'))?.[1])
    expect(isAlive(pid)).toBe(false)
    expect(sent().map(({ method }) => method)).toEqual(['initialize'])
  })
})

describe('closing a connection', () => {
  test('closing a connection sends the messages written right before it', async () => {
    const { env, sent } = diary()
    const target = processTarget({ command: process.execPath, args: [ODD], env })
    for (let i = 0; i < 5; i++) {
      const link = await target.open()
      link.start({ onMessage: () => {}, onLost: () => {}, onForgotten: () => {}, onClose: () => {} })
      const lines = Array.from({ length: 200 }, (_, n) => ({
        jsonrpc: '2.0',
        method: `notifications/${i}-${n}`,
        params: { text: 'x'.repeat(500) },
      }))
      for (const line of lines) link.send(JSON.stringify(line))
      await link.close()
      expect(sent().map(({ method }) => method)).toEqual(expect.arrayContaining([lines[0]?.method, lines.at(-1)?.method]))
    }
    expect(sent()).toHaveLength(1000)
  })

  test('closing a connection sends no message, ends the server and rejects open requests', async () => {
    proves('T-LIFE-029')
    const { env, read, sent } = diary()
    const { client, call, closedBy } = await connectOdd({ env })
    const pid = (await call('pid')) as number
    const hanging = failureOf(call('hang'))
    await new Promise((resolve) => setImmediate(resolve))
    await client.close()
    expect(isAlive(pid)).toBe(false)
    expect(await hanging).toMatchObject({ code: 'ERR_CLOSED' })
    expect(await closedBy()).toBeUndefined()
    expect(sent().map(({ method }) => method)).toEqual(['initialize', 'notifications/initialized', 'tools/call', 'tools/call'])
    expect(read().at(-1)).toBe('eof')
  })

  test('closing a connection ends a server that ignores the end of its input and SIGTERM, and its grandchild', async () => {
    proves('T-LIFE-040', 'T-STDIO-011', 'T-STDIO-012', 'T-STDIO-013', 'R-STDIO-009')
    const { env, read } = diary()
    const { client, call } = await connectOdd({ flags: ['--ignore-eof', '--ignore-sigterm', '--grandchild'], env, shutdownMs: 600 })
    const pid = (await call('pid')) as number
    let grandchild = 0
    while (grandchild === 0) {
      await sleep(10)
      grandchild = Number(/^grandchild (\d+)$/m.exec(read().join('\n'))?.[1] ?? 0)
    }
    const started = performance.now()
    await client.close()
    await Promise.all([untilGone(pid, 10_000), untilGone(grandchild, 10_000)])
    expect(performance.now() - started).toBeLessThan(10_000)
    const fates = read().filter((line) => line === 'eof' || line === 'SIGTERM')
    expect(fates.slice(0, 2)).toEqual(['eof', 'SIGTERM'])
  })
})

describe('a server that does not read', () => {
  test('a server that does not read ends the connection, not this process, when too much is queued', async () => {
    const script = `
      process.stdin.once('data', (line) => {
        const { id, params } = JSON.parse(line)
        const result = { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'deaf', version: '1' } }
        process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, result }) + '\\n')
        process.stdin.pause()
      })
      setInterval(() => {}, 1000)`
    const options = { command: process.execPath, args: ['-e', script], shutdownMs: 200, maxPendingBytes: MIB }
    const client = await connect(options, { revisions: ['2025-06-18'] })
    open.add(client)
    const failures: Promise<Error & { code?: string }>[] = []
    for (let i = 0; i < 20; i++) {
      failures.push(failureOf(client.call('x', { padding: 'x'.repeat(200_000) })))
      await new Promise((resolve) => setImmediate(resolve))
    }
    const codes = (await Promise.all(failures)).map(({ code }) => code)
    expect(codes[0]).toBe('ERR_LIMIT')
    expect(new Set(codes)).toEqual(new Set(['ERR_LIMIT', 'ERR_CLOSED']))
  })
})
