import { createServer } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { BodyText } from '../../../src/http/client/body-text.ts'
import { EventReader } from '../../../src/http/client/event-reader.ts'
import { DEFAULT_HTTP_CLIENT_LIMITS } from '../../../src/http/client/options.ts'
import { connect } from '../../../src/index.ts'
import { portOf } from '../../support/http-requests.ts'
import { until } from '../../support/http-service.ts'
import { memoryKeptBy } from '../../support/memory.ts'

const PIECES = 200_000
/** Less than 16 bytes for each piece. */
const MAX_KEPT = 3_000_000

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)
/** The beginning of a large buffer, as some runtimes give it. */
const piece = (text: string): Uint8Array => {
  const buffer = new Uint8Array(64)
  return buffer.subarray(0, new TextEncoder().encodeInto(text, buffer).written)
}

describe('what a server sends in small pieces takes memory for its length, not for its pieces', () => {
  test('an answer as JSON', async () => {
    const body = new BodyText('the server', DEFAULT_HTTP_CLIENT_LIMITS)
    const kept = await memoryKeptBy(() => {
      for (let i = 0; i < PIECES; i++) body.push(piece(' '))
      return body
    })
    expect(kept).toBeLessThan(MAX_KEPT)
    expect(body.text()).toBe(' '.repeat(PIECES))
  })

  test('a line of an event', async () => {
    const data: string[] = []
    const reader = new EventReader({ server: 'it', limits: DEFAULT_HTTP_CLIENT_LIMITS, onEvent: (_name, each) => data.push(each) })
    reader.push(bytes('data: '))
    const kept = await memoryKeptBy(() => {
      for (let i = 0; i < PIECES; i++) reader.push(piece('é!'))
      return reader
    })
    expect(kept).toBeLessThan(MAX_KEPT)
    reader.push(bytes('\n\n'))
    expect(data).toEqual(['é!'.repeat(PIECES)])
  })

  test('an event in many lines', async () => {
    const data: string[] = []
    const reader = new EventReader({ server: 'it', limits: DEFAULT_HTTP_CLIENT_LIMITS, onEvent: (_name, each) => data.push(each) })
    const kept = await memoryKeptBy(() => {
      for (let i = 0; i < PIECES; i++) reader.push(piece('data: é!\n'))
      return reader
    })
    expect(kept).toBeLessThan(MAX_KEPT)
    reader.push(bytes('\n'))
    expect(data).toEqual([Array.from({ length: PIECES }, () => 'é!').join('\n')])
  })

  test('the comments between the lines of an event are not kept', async () => {
    const reader = new EventReader({ server: 'it', limits: DEFAULT_HTTP_CLIENT_LIMITS, onEvent: () => {} })
    const chunk = bytes(`: ${'x'.repeat(60_000)}\ndata: twenty characters..\n`)
    const kept = await memoryKeptBy(() => {
      for (let i = 0; i < 1000; i++) reader.push(chunk)
      return reader
    })
    expect(kept).toBeLessThan(64 * 60_000 * 1.5)
  })

  test('a refusal that is held while the request waits', async () => {
    let length = 1
    let isRead = false
    const server = createServer((socket) => {
      socket.on('error', () => {})
      socket.once('data', () => {
        socket.write('HTTP/1.1 503 Busy\r\nretry-after: 20\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n')
        socket.write(`${'1\r\n \r\n'.repeat(length)}0\r\n\r\n`)
      })
      // The client closes the connection when it has read everything.
      socket.once('close', () => {
        isRead = true
      })
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const abort = new AbortController()
    onTestFinished(() => {
      abort.abort()
      server.close()
    })
    const refused = async (): Promise<unknown> => {
      isRead = false
      const connecting = connect(`http://127.0.0.1:${portOf(server)}/mcp`, { signal: abort.signal })
      connecting.catch(() => {})
      await until(() => isRead)
      return [connecting]
    }
    // The first one loads the modules.
    await refused()
    length = 60_000
    expect(await memoryKeptBy(refused)).toBeLessThan(MAX_KEPT)
  })
})
