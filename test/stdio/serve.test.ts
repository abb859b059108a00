import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer as createTcpServer, connect as dial } from 'node:net'
import { PassThrough, Writable } from 'node:stream'
import { describe, expect, test } from 'vitest'
import { Client } from '../../src/client/index.ts'
import { LineReader } from '../../src/jsonrpc/lines.ts'
import { read } from '../../src/jsonrpc/read.ts'
import type { Link, Target } from '../../src/protocol/interfaces/link.ts'
import { createServer, type Server } from '../../src/server/index.ts'
import { serveStdio } from '../../src/stdio/index.ts'
import { everythingServer, record, type WireMessage } from '../../src/testing/index.ts'
import { isAlive, untilGone } from '../support/processes.ts'
import { proves } from '../support/proves.ts'
import { fixture, type StdioProcess, startServer } from '../support/stdio-process.ts'

const SERVER = fixture('server.mjs')
const MIB = 1024 * 1024

const start = (options: object = {}): StdioProcess => startServer(SERVER, [JSON.stringify(options)])
const ping = (id: string | number): string => `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"method":"ping"}\n`
const call = (name: string, args: object = {}): [string, object] => ['tools/call', { name, arguments: args }]
const texts = (message: { result?: Record<string, unknown> }): unknown => message.result?.content

async function msUntil<T>(promise: Promise<T>): Promise<[number, T]> {
  const started = performance.now()
  const value = await promise
  return [performance.now() - started, value]
}

describe('a server process', () => {
  test('a server process reads messages from its input and writes messages, one a line, to its output', async () => {
    proves('T-STDIO-003', 'T-STDIO-005')
    const server = start()
    await server.initialize()
    const said = 'two\nlines\r\nand "quotes"'
    expect(texts(await server.ask(...call('echo', { text: said })))).toEqual([{ type: 'text', text: said }])
    expect(server.lines).toHaveLength(2)
    for (const message of server.messages) expect(message.jsonrpc).toBe('2.0')
  })

  test('a server process writes only messages to its output, even if its code prints', async () => {
    proves('T-STDIO-009', 'T-STDIO-006')
    const server = start()
    await server.initialize()
    expect(await server.ask(...call('noisy'))).toMatchObject({ result: { content: [{ text: 'said enough' }] } })
    await server.untilStderr('stray bytes')
    for (const stray of ['stray console.log\n', 'stray console.info\n', 'stray write without a newline', 'stray bytes\n'])
      expect(server.stderr()).toContain(stray)
    expect(server.lines.join()).not.toContain('stray')
    expect(server.messages).toHaveLength(2)
  })

  test('a server process serves a second client over the same pipe, with a new session', async () => {
    const server = start()
    await server.initialize('2025-06-18')
    const params = { protocolVersion: '2025-03-26', capabilities: {}, clientInfo: { name: 'second', version: '1' } }
    expect(await server.ask('initialize', params)).toMatchObject({ result: { protocolVersion: '2025-03-26' } })
    expect(texts(await server.ask(...call('echo', { text: 'again' })))).toEqual([{ type: 'text', text: 'again' }])
  })

  test('a server process continues when its client does not read its standard error', async () => {
    const server = start()
    await server.initialize()
    server.child.stderr?.destroy()
    for (let i = 0; i < 3; i++) expect(await server.ask(...call('noisy'))).toMatchObject({ result: {} })
    expect(isAlive(server.pid)).toBe(true)
  })

  test('a server process carries every character of Unicode', async () => {
    proves('T-BASE-010')
    const server = start()
    await server.initialize()
    const text = 'žluťoučký kůň 中文 عربى 👩‍👩‍👧 \u2028 \u0000 \ud800'
    expect(texts(await server.ask(...call('echo', { text })))).toEqual([{ type: 'text', text }])
  })

  test('a server process keeps the id of each request, same type and value', async () => {
    proves('T-BASE-017')
    const server = start()
    server.write(ping('1') + ping(1) + ping(-5) + ping(''))
    await server.until(({ id }) => id === '')
    expect(server.messages.map(({ id }) => id)).toEqual(['1', 1, -5, ''])
  })

  test('a server process answers ping with an empty result before the handshake and during a long call', async () => {
    proves('T-PING-003', 'T-PING-014')
    const server = start()
    expect(await server.ask('ping')).toMatchObject({ result: {} })
    await server.initialize()
    server.send({ jsonrpc: '2.0', id: 'long', method: 'tools/call', params: { name: 'hang' } })
    await server.untilStderr('hanging')
    const [ms, answer] = await msUntil(server.ask('ping'))
    expect(answer.result).toEqual({})
    expect(ms).toBeLessThan(500)
  })

  test('a server process rejects an array of messages in revisions without batches', async () => {
    proves('T-STDIO-004', 'T-BASE-036')
    const server = start()
    await server.initialize('2025-06-18')
    server.write(`[${ping(1).trim()},${ping(2).trim()}]\n${ping('after')}`)
    await server.until(({ id }) => id === 'after')
    expect(server.messages.slice(1, -1)).toMatchObject([{ id: null, error: { code: -32600 } }])
  })

  test('a server process answers a batch with one line in the one revision that has batches', async () => {
    proves('R-STDIO-001')
    const server = start()
    await server.initialize('2025-03-26')
    const notice = '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"none"}}'
    server.write(`[${ping(1).trim()},${notice},${ping(2).trim()}]\n[${notice}]\n${ping('after')}`)
    await server.until(({ id }) => id === 'after')
    const [batch, ...rest] = server.lines.slice(1).map((line) => JSON.parse(line))
    expect(batch).toEqual([1, 2].map((id) => ({ jsonrpc: '2.0', id, result: {} })))
    expect(rest).toEqual([{ jsonrpc: '2.0', id: 'after', result: {} }])
  })

  test('a server process aborts a cancelled request with the reason and does not answer it', async () => {
    proves('T-CANC-003', 'T-CANC-008', 'T-CANC-010')
    const server = start()
    await server.initialize()
    server.send({ jsonrpc: '2.0', id: 'long', method: 'tools/call', params: { name: 'hang' } })
    await server.untilStderr('hanging')
    server.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'long', reason: 'too slow' } })
    await server.untilStderr('aborted: The client cancelled the request: too slow')
    expect(await server.ask('ping', undefined, 'after')).toMatchObject({ result: {} })
    expect(server.messages.map(({ id }) => id)).toEqual([1, 'after'])
  })

  test('a server process withdraws its own request when the client cancels the call it belongs to', async () => {
    proves('T-CANC-001', 'T-CANC-002')
    const server = start()
    await server.initialize('2025-06-18', { elicitation: {} })
    server.send({ jsonrpc: '2.0', id: 'asking', method: 'tools/call', params: { name: 'ask' } })
    const question = await server.until(({ method }) => method === 'elicitation/create')
    server.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'asking' } })
    const called = await server.until(({ method }) => method === 'notifications/cancelled')
    expect(called.params).toMatchObject({ requestId: question.id })
  })

  test('a server process ignores cancellations of anything else', async () => {
    proves('T-CANC-011', 'T-CANC-012', 'T-CANC-013', 'T-CANC-016', 'T-CANC-020', 'T-CANC-021', 'T-CANC-022', 'R-CANC-002')
    const server = start()
    const cancel = (params: unknown): void => server.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params })
    const hands = server.initialize()
    cancel({ requestId: 1, reason: 'the handshake may not be cancelled' })
    expect(await hands).toMatchObject({ result: {} })
    await server.ask(...call('echo', { text: 'done' }), 'done')
    for (const params of [{ requestId: 'done' }, { requestId: 'never came' }, {}, { requestId: null }, { requestId: {} }, [], 5])
      cancel(params)
    expect(await server.ask('ping')).toMatchObject({ result: {} })
    expect(server.messages.every(({ result }) => result !== undefined)).toBe(true)
    expect(server.messages).toHaveLength(3)
  })
})

describe('input in any chunks', () => {
  test('input of one byte a write, cut inside characters, with carriage returns is read in full', async () => {
    proves('T-STDIO-005')
    const server = start()
    await server.initialize()
    const message = `${JSON.stringify({ jsonrpc: '2.0', id: 'slow', method: 'tools/call', params: { name: 'echo', arguments: { text: 'žluť 👩‍👧' } } })}\r\n`
    server.child.stdin?.cork()
    for (const byte of Buffer.from(message)) {
      server.child.stdin?.uncork()
      server.write(Uint8Array.of(byte))
      await new Promise((resolve) => setImmediate(resolve))
    }
    expect(texts(await server.until(({ id }) => id === 'slow'))).toEqual([{ type: 'text', text: 'žluť 👩‍👧' }])
  })

  test('10,000 messages in one write are all answered, each once', async () => {
    const server = start()
    await server.initialize()
    const ids = Array.from({ length: 10_000 }, (_, i) => `m${i}`)
    server.write(ids.map(ping).join(''))
    await server.until(({ id }) => id === 'm9999')
    expect(server.messages.slice(1).map(({ id }) => id)).toEqual(ids)
    expect(server.messages.every(({ result }) => result !== undefined)).toBe(true)
  })

  test('with more requests than the queue holds, reading pauses in time and none is refused', async () => {
    const server = start()
    await server.initialize()
    const padding = 'x'.repeat(200)
    const line = (id: number): string =>
      `${JSON.stringify({ jsonrpc: '2.0', id: `c${id}`, method: 'tools/call', params: { name: 'later', arguments: { text: 'ok', ms: 5, padding } } })}\n`
    server.write(Array.from({ length: 3000 }, (_, i) => line(i)).join(''))
    await server.until(({ id }) => id === 'c2999')
    expect(server.messages.filter(({ result }) => result !== undefined)).toHaveLength(3001)
  })

  test('a line of garbage, or a part of one, does not affect the next message', async () => {
    const server = start()
    server.write('{"jsonrpc":"2.0","id":"half","meth')
    await new Promise((resolve) => setTimeout(resolve, 20))
    server.write(Buffer.concat([Buffer.from('\n'), Uint8Array.of(0xff, 0xfe, 0x0a), Buffer.from(ping('after'))]))
    await server.until(({ id }) => id === 'after')
    expect(server.messages).toMatchObject([{ error: { code: -32700 } }, { error: { code: -32700 } }, { id: 'after', result: {} }])
  })

  test.each([
    [MIB - 1, true],
    [MIB, true],
    [MIB + 1, false],
  ])('a line of %i bytes against a limit of 1 MiB is read: %s', async (length, isRead) => {
    const server = start({ maxLineBytes: MIB })
    const head = '{"jsonrpc":"2.0","id":"big","method":"ping","params":{"a":"'
    server.write(`${head}${'x'.repeat(length - head.length - 3)}"}}\n${ping('after')}`)
    await server.until(({ id }) => id === 'after')
    const refusal = { id: null, error: { code: -32600, message: 'The message is longer than 1048576 bytes (maxLineBytes)' } }
    expect(server.messages[0]).toMatchObject(isRead ? { id: 'big', result: {} } : refusal)
    expect(server.messages).toHaveLength(2)
  })

  test('reading one message takes linear time, up to the limit', async () => {
    const server = createServer({ name: 'big', version: '1' })
    const cost = async (size: number): Promise<number> => {
      const items = Array.from({ length: Math.floor(size / 12) }, () => '{"abcdef":1}').join(',')
      const bytes = Buffer.from(`{"jsonrpc":"2.0","id":"big","method":"ping","params":{"a":[${items}]}}\n`)
      const before = process.cpuUsage()
      const { input, lines, close } = serveHere(server, { maxValues: Number.POSITIVE_INFINITY })
      for (let at = 0; at < bytes.length; at += 65_536) input.write(bytes.subarray(at, at + 65_536))
      expect(JSON.parse(await lines.next())).toMatchObject({ id: 'big', result: {} })
      await close()
      const { user, system } = process.cpuUsage(before)
      return user + system
    }
    const sizes = [1, 2, 4, 8].map((times) => times * 1.2 * MIB)
    const costs = sizes.map(() => Number.POSITIVE_INFINITY)
    const worst = (): number => Math.max(...costs.slice(1).map((each, i) => each / (costs[i] as number)))
    for (let repeat = 0; repeat < 8 && !(repeat >= 2 && worst() <= 2.5); repeat++) {
      for (const [i, size] of sizes.entries()) costs[i] = Math.min(costs[i] as number, await cost(size))
    }
    expect(worst(), `CPU time: ${costs.join(', ')} µs`).toBeLessThanOrEqual(2.5)
  })
})

describe('the end', () => {
  test('the end of the input exits with 0 within a second, and aborts a running tool', async () => {
    proves('R-STDIO-010')
    const server = start()
    await server.initialize()
    server.send({ jsonrpc: '2.0', id: 'long', method: 'tools/call', params: { name: 'hang' } })
    await server.untilStderr('hanging')
    server.child.stdin?.end()
    const [ms, exit] = await msUntil(server.exit)
    expect(exit).toEqual({ code: 0, signal: null })
    expect(ms).toBeLessThan(1000)
    expect(server.stderr()).toContain('aborted: The client closed the input')
    expect(server.messages).toHaveLength(1)
  })

  test('the end of the input comes after the answers to earlier requests, as with echo and a pipe', async () => {
    const server = start()
    const hands = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'pipe', version: '1' } }
    server.send({ jsonrpc: '2.0', id: 1, method: 'initialize', params: hands })
    server.send({ jsonrpc: '2.0', id: 2, method: 'tools/call', params: { name: 'later', arguments: { text: 'in time' } } })
    server.child.stdin?.end(ping(3).trimEnd())
    expect(await server.exit).toEqual({ code: 0, signal: null })
    expect(server.messages.map(({ id }) => id).sort()).toEqual([1, 2, 3])
    expect(server.messages.find(({ id }) => id === 2)).toMatchObject({ result: { content: [{ text: 'in time' }] } })
  })

  test('the end of the output ends the process too, without using the processor', async () => {
    const server = start()
    await server.initialize()
    await server.ask(...call('mark'))
    server.child.stdout?.destroy()
    server.write(Array.from({ length: 100 }, (_, i) => ping(i)).join(''))
    const { code } = await server.exit
    expect(code).toBe(0)
    const [, cpuMs] = /exit 0 after ([\d.]+) ms of CPU/.exec(server.stderr()) ?? []
    expect(Number(cpuMs)).toBeLessThan(50)
  })

  test.each(['SIGTERM', 'SIGINT'] as const)('%s ends the process after the running requests', async (signal) => {
    const server = start()
    await server.initialize()
    server.send({ jsonrpc: '2.0', id: 'late', method: 'tools/call', params: { name: 'later', arguments: { text: 'still' } } })
    await server.ask('ping')
    server.child.kill(signal)
    const [ms, exit] = await msUntil(server.exit)
    expect(exit).toEqual({ code: 0, signal: null })
    expect(ms).toBeLessThan(1500)
    expect(server.messages.find(({ id }) => id === 'late')).toMatchObject({ result: {} })
  })

  test('a call that a signal cuts has the reason shutdown in its record', async () => {
    const server = start({ graceMs: 1 })
    await server.initialize()
    server.send({ jsonrpc: '2.0', id: 'long', method: 'tools/call', params: { name: 'hang' } })
    await server.untilStderr('hanging')
    server.child.kill('SIGTERM')
    await server.exit
    expect(server.stderr()).toContain('record: hang error shutdown\n')
  })

  test('a second signal ends the process at once', async () => {
    const server = start({ graceMs: 60_000 })
    await server.initialize()
    server.send({ jsonrpc: '2.0', id: 'long', method: 'tools/call', params: { name: 'hang' } })
    await server.untilStderr('hanging')
    server.child.stdin?.end()
    await new Promise((resolve) => setTimeout(resolve, 50))
    expect(isAlive(server.pid)).toBe(true)
    server.child.kill('SIGTERM')
    const [ms] = await msUntil(server.exit)
    expect(ms).toBeLessThan(1000)
  })

  test('the process ends within two seconds after its launcher was killed, although its input is open', async () => {
    // Between us and the launcher, so that the input outlives the launcher.
    const keeper = spawn('cat', { stdio: ['pipe', 'pipe', 'ignore'] })
    const launcher = spawn(process.execPath, [fixture('wrapper.mjs')], { stdio: [keeper.stdout, 'pipe', 'pipe'] })
    try {
      const [announced] = await once(launcher.stderr, 'data')
      const pid = Number(/server (\d+)/.exec(String(announced))?.[1])
      keeper.stdin.write(ping('there?'))
      expect(String((await once(launcher.stdout, 'data'))[0])).toContain('"id":"there?"')
      launcher.kill('SIGKILL')
      expect(await untilGone(pid, 5000)).toBeLessThan(2000)
      expect(isAlive(keeper.pid as number)).toBe(true)
    } finally {
      keeper.kill('SIGKILL')
      launcher.kill('SIGKILL')
    }
  })

  test('the process ends when its client was killed', async () => {
    const client = spawn(process.execPath, [fixture('killed-client.mjs')], { stdio: ['ignore', 'pipe', 'inherit'] })
    const pid = Number(String((await once(client.stdout, 'data'))[0]))
    expect(isAlive(pid)).toBe(true)
    client.kill('SIGKILL')
    expect(await untilGone(pid, 5000)).toBeLessThan(2000)
  })
})

describe('a client that does not read', () => {
  test('a client that does not read ends the conversation when too much is queued', async () => {
    const server = createServer({ name: 'talker', version: '1', limits: { logMessages: false } })
    const input = new PassThrough()
    const stuck = new Writable({ highWaterMark: 1024, write: () => {} })
    const serving = serveStdio(server, { streams: { input, output: stuck }, maxPendingBytes: 100_000 })
    const clientInfo = { name: 'deaf', version: '1' }
    const hands = { jsonrpc: '2.0', id: 1, method: 'initialize', params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo } }
    input.write(`${JSON.stringify(hands)}\n{"jsonrpc":"2.0","method":"notifications/initialized"}\n`)
    for (let i = 0; i < 500; i++) {
      server.log.info('x'.repeat(1000))
      await new Promise((resolve) => setImmediate(resolve))
    }
    await serving.closed
    expect(stuck.writableLength).toBeLessThanOrEqual(100_000)
  })

  test('a client that does not read pauses the server, and reading lets it continue', async () => {
    const { input, output, lines, close } = serveHere(createServer({ name: 'x', version: '1' }), { highWaterMark: 1024 })
    output.pause()
    for (let i = 0; i < 500; i++) {
      input.write(ping(`first-${i}`))
      if (i % 50 === 0) await new Promise((resolve) => setImmediate(resolve))
    }
    await new Promise((resolve) => setTimeout(resolve, 20))
    expect(input.isPaused()).toBe(true)
    lines.start()
    for (let i = 0; i < 500; i++) expect(JSON.parse(await lines.next()).id).toBe(`first-${i}`)
    expect(input.isPaused()).toBe(false)
    await close()
  })
})

test('input stays paused while one of two reasons is left', async () => {
  const server = createServer({ name: 'x', version: '1', limits: { maxActive: 1, maxWaiting: 4, toolCalls: false, logMessages: false } })
  const held: (() => void)[] = []
  server.tool('hold', {}, () => new Promise<string>((resolve) => held.push(() => resolve('let go'))))
  const { input, output, lines, close } = serveHere(server, { highWaterMark: 1024 })
  const clientInfo = { name: 't', version: '1' }
  const hands = { jsonrpc: '2.0', id: 0, method: 'initialize', params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo } }
  input.write(`${JSON.stringify(hands)}\n{"jsonrpc":"2.0","method":"notifications/initialized"}\n`)
  for (let id = 1; id <= 4; id++) input.write(`{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"hold"}}\n`)
  // Too many requests wait, and nobody reads the output.
  await expect.poll(() => input.isPaused()).toBe(true)
  output.pause()
  server.log.info('x'.repeat(5000))
  await expect.poll(() => output.writableNeedDrain).toBe(true)
  // Requests are done with, the output is not read yet.
  for (let i = 0; i < 20; i++) {
    held.shift()?.()
    await new Promise((resolve) => setImmediate(resolve))
  }
  expect(input.isPaused()).toBe(true)
  lines.start()
  await expect.poll(() => input.isPaused()).toBe(false)
  await close()
})

describe('many calls that ask back', () => {
  test('many calls with questions are not cut off from answers behind other requests', async () => {
    const server = createServer({ name: 'asker', version: '1', limits: { maxActive: 2, maxWaiting: 4, toolCalls: false } })
    server.tool('ask', { input: { type: 'object' } }, async (_args, ctx) => {
      const { word } = await ctx.elicit('word', 'Which?', { type: 'object', properties: { word: { type: 'string' } }, required: ['word'] })
      return word as string
    })
    const { input, lines, close } = serveHere(server)
    lines.start()
    const send = (message: object): void => void input.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
    send({
      id: 0,
      method: 'initialize',
      params: { protocolVersion: '2025-06-18', capabilities: { elicitation: {} }, clientInfo: { name: 't', version: '1' } },
    })
    await lines.next()
    send({ method: 'notifications/initialized' })
    for (let id = 1; id <= 6; id++) send({ id, method: 'tools/call', params: { name: 'ask' } })
    const answered: unknown[] = []
    while (answered.length < 6) {
      const message = JSON.parse(await lines.next())
      if (message.method === 'elicitation/create') send({ id: message.id, result: { action: 'accept', content: { word: 'yes' } } })
      else answered.push(message.result.content[0].text)
    }
    expect(answered).toEqual(Array.from({ length: 6 }, () => 'yes'))
    await close()
  })
})

describe('custom streams', () => {
  test('custom streams end the conversation and leave the process alone', async () => {
    const { input, serving, lines } = serveHere(createServer({ name: 'x', version: '1' }))
    lines.start()
    const { write } = process.stdout
    input.end(ping('last').trimEnd())
    expect(JSON.parse(await lines.next())).toMatchObject({ id: 'last', result: {} })
    await serving.closed
    expect(process.stdout.write).toBe(write)
    expect(process.listenerCount('SIGTERM')).toBe(process.listenerCount('SIGINT'))
    await serving.close()
  })

  test.each(['2025-06-18', '2026-07-28'])(
    'custom streams make any channel a transport, with the same messages, in %s',
    async (revision) => {
      proves('T-BASE-046', 'T-BASE-047', 'T-BASE-048', 'R-BASE-074', 'R-BASE-076')
      const script = async (client: Client): Promise<void> => {
        await client.tools().all()
        await client.call('echo', { text: 'over there' })
        await client.call('add', { a: 1, b: 2 })
        await client.ping()
      }
      const options = { revisions: [revision] }
      const expected = await record(everythingServer(), { revision }, script)

      const tcp = createTcpServer((socket) => void serveStdio(everythingServer(), { streams: { input: socket, output: socket } }))
      await new Promise<void>((resolve) => tcp.listen(0, '127.0.0.1', resolve))
      const { port } = tcp.address() as { port: number }
      const wire: WireMessage[] = []
      const client = await Client.connect(socketTarget(port, wire), options)
      await script(client)
      await client.close()
      await new Promise((resolve) => tcp.close(resolve))
      expect(wire).toEqual(expected)
      const requests = wire.filter(({ from }) => from === 'client').map(({ json }) => JSON.parse(json))
      if (revision === '2026-07-28') for (const { params } of requests) expect(Object.keys(params._meta)).toEqual(ENVELOPE)
    },
  )
})

/** What each request without a session says about itself. */
const ENVELOPE = ['protocolVersion', 'clientInfo', 'clientCapabilities'].map((name) => `io.modelcontextprotocol/${name}`)

/** A transport that Portico does not have: lines over a socket. */
const socketTarget = (port: number, wire: WireMessage[]): Target => ({
  key: `socket:${port}`,
  label: 'a socket',
  open: async (): Promise<Link> => {
    const socket = dial(port, '127.0.0.1')
    return {
      start: ({ onMessage, onClose }) => {
        const reader = new LineReader({
          maxLineBytes: MIB,
          onLine: (text, from, to) => {
            const json = text.slice(from, to)
            wire.push({ from: 'server', json })
            onMessage(read(json, { maxDepth: 64, maxKeys: 10_000, maxValues: 100_000, maxBatch: 50 }))
          },
          onTooLong: () => socket.destroy(),
          onNotUtf8: () => socket.destroy(),
        })
        socket.on('data', (chunk) => reader.push(chunk))
        socket.on('close', () => onClose(undefined))
      },
      send: (json) => {
        wire.push({ from: 'client', json })
        socket.write(`${json}\n`)
      },
      close: async () => void socket.end(),
    }
  },
})

interface Lines {
  /** Begins to read. */
  start(): void
  next(): Promise<string>
}

/** A server on streams of this process. */
function serveHere(
  server: Server,
  { highWaterMark = 1 << 20, maxValues }: { highWaterMark?: number; maxValues?: number } = {},
): { input: PassThrough; output: PassThrough; serving: ReturnType<typeof serveStdio>; lines: Lines; close(): Promise<void> } {
  const input = new PassThrough({ highWaterMark: 1 << 24 })
  const output = new PassThrough({ highWaterMark })
  const serving = serveStdio(server, { streams: { input, output }, maxLineBytes: 16 * MIB, ...(maxValues !== undefined && { maxValues }) })
  const ready: string[] = []
  const waiting: ((line: string) => void)[] = []
  const reader = new LineReader({
    maxLineBytes: 16 * MIB,
    onLine: (text, from, to) => {
      const line = text.slice(from, to)
      const next = waiting.shift()
      if (next) next(line)
      else ready.push(line)
    },
    onTooLong: () => {},
    onNotUtf8: () => {},
  })
  let isStarted = false
  const lines: Lines = {
    start: () => {
      if (isStarted) return
      isStarted = true
      output.on('data', (chunk: Uint8Array) => reader.push(chunk))
      output.resume()
    },
    next: () => {
      lines.start()
      const line = ready.shift()
      return line === undefined ? new Promise((resolve) => waiting.push(resolve)) : Promise.resolve(line)
    },
  }
  return { input, output, serving, lines, close: () => serving.close() }
}
