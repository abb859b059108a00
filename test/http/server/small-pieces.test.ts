import { describe, expect, onTestFinished, test } from 'vitest'
import { httpHandler } from '../../../src/http/index.ts'
import { rawHttp } from '../../support/http-requests.ts'
import { callTool, modern, openSession, serve, testServer, until } from '../../support/http-service.ts'
import { memoryKeptBy } from '../../support/memory.ts'

const PIECES = 200_000
/** Less than 16 bytes for each piece. */
const MAX_KEPT = 3_000_000
const JSON_TYPE = { 'content-type': 'application/json' }

describe('a body in pieces of one byte takes memory for its bytes, not for its pieces', () => {
  test('on Node', async () => {
    const { port, handler } = await serve(testServer())
    const head = 'POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n'
    const kept = await memoryKeptBy(async () => {
      const { socket } = rawHttp(port, `${head}${'1\r\n \r\n'.repeat(PIECES)}`)
      onTestFinished(() => void socket.destroy())
      await until(() => handler.counts.bodyBytes === PIECES)
      return socket
    })
    expect(kept).toBeLessThan(MAX_KEPT)
  })

  test('on Node, for a stream that reads no body', async () => {
    const { url, port, handler } = await serve(testServer())
    const sessions = await Promise.all(Array.from({ length: 5 }, () => openSession(url, '2025-11-25')))
    const kept = await memoryKeptBy(async () => {
      const streams = sessions.map(({ headers }) => {
        const { 'mcp-session-id': id } = headers
        const head = `GET /mcp HTTP/1.1\r\nhost: localhost\r\naccept: text/event-stream\r\nmcp-session-id: ${id}\r\n`
        return rawHttp(port, `${head}transfer-encoding: chunked\r\n\r\n${'1\r\n \r\n'.repeat(20_000)}`)
      })
      onTestFinished(() => streams.forEach(({ socket }) => void socket.destroy()))
      await until(() => handler.counts.streams === 5)
      await until(() => streams.every(({ socket }) => socket.writableLength === 0))
      return streams
    })
    expect(kept).toBeLessThan(MAX_KEPT)
  })

  test('with fetch', async () => {
    const handler = httpHandler(testServer())
    onTestFinished(() => handler.close())
    let sent = 0
    let finish = (): void => {}
    // As on some runtimes, each piece is the beginning of a large buffer.
    const body = new ReadableStream<Uint8Array>({
      pull: (controller) => {
        if (sent++ < PIECES) return controller.enqueue(new Uint8Array(64).fill(0x20).subarray(0, 1))
        return new Promise((resolve) => {
          finish = () => {
            controller.enqueue(new TextEncoder().encode(JSON.stringify(call.body)))
            controller.close()
            resolve()
          }
        })
      },
    })
    const call = modern(callTool('hi'), JSON_TYPE)
    const init: RequestInit & { duplex: 'half' } = { method: 'POST', headers: call.headers as Record<string, string>, body, duplex: 'half' }
    let answer: Promise<Response> | undefined
    const kept = await memoryKeptBy(async () => {
      answer = handler.fetch(new Request('http://localhost/mcp', init), { remoteAddress: '192.0.2.1' })
      await until(() => handler.counts.bodyBytes === PIECES)
      return handler
    })
    expect(kept).toBeLessThan(MAX_KEPT)
    finish()
    expect((await answer)?.status).toBe(200)
  })

  test('with fetch, where a runtime reads into large buffers', async () => {
    const handler = httpHandler(testServer())
    onTestFinished(() => handler.close())
    const kept = await memoryKeptBy(async () => {
      for (let i = 0; i < 100; i++) {
        const body = new ReadableStream({ start: (controller) => controller.enqueue(new Uint8Array(64 * 1024).subarray(0, 1)) })
        const init: RequestInit & { duplex: 'half' } = { method: 'POST', headers: JSON_TYPE, body, duplex: 'half' }
        void handler.fetch(new Request('http://localhost/mcp', init))
      }
      await until(() => handler.counts.bodyBytes === 100)
      return handler
    })
    expect(kept).toBeLessThan(MAX_KEPT)
  })
})
