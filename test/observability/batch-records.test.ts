/** Records of batches, which only 2025-03-26 has: one for each request, whatever the others in the batch do. */

import { describe, expect, it, vi } from 'vitest'
import type { Outlet } from '../../src/jsonrpc/outlet.ts'
import { DEFAULT_READ_BOUNDS, read } from '../../src/jsonrpc/read.ts'
import { observed } from '../../src/observability/observed-service.ts'
import type { RequestRecord } from '../../src/observability/request-record.ts'
import type { Channel } from '../../src/protocol/interfaces/service.ts'
import { createServer, ToolError } from '../../src/server/index.ts'
import type { Message } from '../support/raw-channel.ts'
import { until } from '../support/until.ts'

const BYTES = 500

interface Line {
  records: RequestRecord[]
  sent: Message[][]
  channel: Channel
  say(message: unknown, transport?: Outlet): void
  /** Lets the tool `hold` go on. */
  go(): void
}

function line(revision = '2025-03-26'): Line {
  const [records, sent]: [RequestRecord[], Message[][]] = [[], []]
  let go = (): void => {}
  const held = new Promise<string>((resolve) => {
    go = () => resolve('held')
  })
  const server = createServer({ name: 'test', version: '1', onError: () => {} })
  server.tool('hold', {}, () => held)
  server.tool('hi', {}, () => 'hi')
  server.tool('refuse', {}, () => {
    throw new ToolError('no')
  })
  const outlet: Outlet = {
    arrival: { bytes: BYTES, address: '127.0.0.1' },
    push: () => {},
    answer: (json) => void sent.push(JSON.parse(json)),
    drop: () => {},
  }
  const channel = observed(server, (record) => records.push(record)).open({ outlet })
  const say = (message: unknown, transport = outlet): void => channel.receive(read(JSON.stringify(message), DEFAULT_READ_BOUNDS), transport)
  const params = { protocolVersion: revision, capabilities: {}, clientInfo: { name: 'raw', version: '2' } }
  say({ jsonrpc: '2.0', id: 0, method: 'initialize', params })
  say({ jsonrpc: '2.0', method: 'notifications/initialized' })
  records.length = 0
  sent.length = 0
  return { records, sent, channel, say, go }
}

const call = (id: number, name: string): Message => ({ jsonrpc: '2.0', id, method: 'tools/call', params: { name, arguments: {} } })

describe('records of a batch', () => {
  it('keep requests with the same id apart', async () => {
    const { records, sent, say, go } = line()
    say([call(1, 'hold'), call(1, 'refuse'), call(2, 'hi')])
    go()
    await until(() => records.length === 3)
    expect(sent[0]).toHaveLength(3)
    expect(records.map(({ target, outcome, code }) => [target, outcome, code])).toEqual([
      ['hold', 'ok', undefined],
      ['refuse', 'error', -32600],
      ['hi', 'ok', undefined],
    ])
  })

  it('take the time of each request when its own answer is ready', async () => {
    let now = 0
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => now)
    const { records, say, go } = line()
    say([call(1, 'hi'), call(2, 'hold'), call(3, 'refuse')])
    now = 400
    go()
    await until(() => records.length === 3)
    clock.mockRestore()
    expect(records.map(({ target, durationMs }) => [target, durationMs])).toEqual([
      ['hi', 0],
      ['hold', 400],
      ['refuse', 0],
    ])
  })

  it('count the bytes of the message once, and those of each answer', async () => {
    const { records, sent, say, go } = line()
    say([call(1, 'hi'), call(2, 'hold'), { jsonrpc: '2.0', id: 3 }, call(4, 'hi')])
    go()
    await until(() => records.length === 3)
    expect(records.map(({ requestBytes }) => requestBytes)).toEqual([BYTES, undefined, undefined])
    expect(records.every(({ address }) => address === '127.0.0.1')).toBe(true)
    const bytesOf = (id: number): number => JSON.stringify(sent[0]?.find((answer) => answer.id === id)).length
    expect(records.map(({ responseBytes }) => responseBytes)).toEqual([1, 2, 4].map(bytesOf))
  })

  it('count the bytes of one error for the whole batch once', () => {
    const { records, sent, say } = line('2025-06-18')
    say([call(1, 'hi'), call(2, 'hi')])
    expect(records).toMatchObject([
      { outcome: 'error', code: -32600, requestBytes: BYTES, responseBytes: JSON.stringify(sent[0]).length },
      { outcome: 'error', code: -32600, requestBytes: undefined, responseBytes: 0 },
    ])
  })

  it('tell which request the client has cancelled', async () => {
    const { records, say, go } = line()
    say([call(1, 'hold'), call(2, 'hold')])
    say({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } })
    go()
    await until(() => records.length === 2)
    expect(records.map(({ id, outcome, responseBytes }) => [id, outcome, responseBytes > 0])).toEqual([
      [1, 'cancelled', false],
      [2, 'ok', true],
    ])
  })

  it('tell why the transport has written an error in place of all answers', () => {
    const { records, channel, say } = line()
    say([call(1, 'hi'), call(2, 'refuse')], {
      push: () => {},
      answer: () => channel.close('This replica lost its lease', 'replica_lost'),
      drop: () => {},
    })
    expect(records.map(({ outcome, code, reason }) => [outcome, code, reason])).toEqual(Array(2).fill(['error', -32603, 'replica_lost']))
  })

  it('leave answers as they are that were ready before the server ended', () => {
    const { records, channel, say } = line()
    say([call(1, 'hi'), call(2, 'hold')])
    channel.close('over', 'shutdown')
    expect(records.map(({ outcome, reason }) => [outcome, reason])).toEqual([
      ['ok', undefined],
      ['error', 'shutdown'],
    ])
  })
})
