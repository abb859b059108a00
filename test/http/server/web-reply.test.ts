import { setImmediate as turn } from 'node:timers/promises'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import type { BodyFault } from '../../../src/http/server/runtime/request-reply.ts'
import { WebReply, WebRequestView } from '../../../src/http/server/runtime/web.ts'

const HEADERS = { 'content-type': 'text/event-stream' }

function replied(signal?: AbortSignal) {
  const reply = new WebReply(new Request('http://localhost/mcp', signal ? { signal } : {}))
  const onGone = vi.fn()
  reply.onGone = onGone
  return { reply, onGone }
}

async function streamed(signal?: AbortSignal) {
  const { reply } = replied(signal)
  const sink = reply.open(HEADERS)
  const onGone = vi.fn()
  sink.onGone = onGone
  const { body } = await reply.response
  const reader = (body as ReadableStream<Uint8Array>).getReader()
  return { reply, sink, onGone, reader }
}

const textOf = (bytes: Uint8Array | undefined): string => new TextDecoder().decode(bytes)

describe('a reply to a web request', () => {
  test('a web request that was aborted before its answer is gone, and its response says so', async () => {
    const controller = new AbortController()
    const { reply, onGone } = replied(controller.signal)
    expect(reply.isGone).toBe(false)
    controller.abort()
    expect([reply.isGone, onGone.mock.calls.length, (await reply.response).status]).toEqual([true, 1, 499])
  })

  test('a web request that was aborted before the first check is gone', async () => {
    const { reply } = replied(AbortSignal.abort())
    expect([reply.isGone, (await reply.response).status]).toEqual([true, 499])
  })

  test('a web request that was answered is not gone when the runtime aborts its signal afterwards', async () => {
    const controller = new AbortController()
    const { reply, onGone } = replied(controller.signal)
    reply.extraHeaders = { 'x-more': '1' }
    reply.send(200, { 'content-type': 'text/plain' }, 'all')
    controller.abort()
    const response = await reply.response
    expect([response.status, await response.text(), response.headers.get('x-more'), onGone.mock.calls.length]).toEqual([200, 'all', '1', 0])
  })
})

describe('a stream to a web client', () => {
  test('a stream to a web client is read in order and ends', async () => {
    const { sink, reader } = await streamed()
    sink.write('one')
    sink.write('two')
    sink.end()
    // After its end nothing is written, and nothing fails.
    sink.write('late')
    sink.end()
    sink.destroy()
    expect([textOf((await reader.read()).value), textOf((await reader.read()).value), (await reader.read()).done]).toEqual([
      'one',
      'two',
      true,
    ])
  })

  test('a stream to a web client knows which bytes were read', async () => {
    const { sink, reader } = await streamed()
    sink.write('12345')
    sink.write('67')
    expect([sink.pending, sink.taken]).toEqual([7, 0])
    await reader.read()
    expect([sink.pending, sink.taken]).toEqual([2, 5])
    await reader.read()
    expect([sink.pending, sink.taken]).toEqual([0, 7])
  })

  test('a stream to a web client releases writers when all was read, and at once when nothing waits', async () => {
    const { sink, reader } = await streamed()
    const [first, second] = [vi.fn(), vi.fn()]
    sink.whenDrained(first)
    expect(first).toHaveBeenCalledOnce()
    sink.write('one')
    sink.write('two')
    sink.whenDrained(second)
    await reader.read()
    await turn()
    expect(second).not.toHaveBeenCalled()
    await reader.read()
    void reader.read()
    await turn()
    expect(second).toHaveBeenCalledOnce()
  })

  test.each([
    ['ends', (each: Awaited<ReturnType<typeof streamed>>) => each.sink.end(), 0],
    ['is cut off', (each: Awaited<ReturnType<typeof streamed>>) => each.sink.destroy(), 1],
    ['is given up by its reader', (each: Awaited<ReturnType<typeof streamed>>) => void each.reader.cancel(), 1],
  ])('a stream to a web client that %s releases writers, and reports whether its reader is gone', async (_how, act, gone) => {
    const each = await streamed()
    const drained = vi.fn()
    each.sink.write('one')
    each.sink.whenDrained(drained)
    act(each)
    await turn()
    each.sink.write('late')
    each.sink.whenDrained(drained)
    expect([drained.mock.calls.length, each.onGone.mock.calls.length]).toEqual([2, gone])
  })

  test('a stream to a web client that is cut off fails its reader, once', async () => {
    const { sink, reader, onGone } = await streamed()
    sink.destroy()
    sink.destroy()
    await expect(reader.read()).rejects.toThrow('closed by the server')
    expect(onGone).toHaveBeenCalledOnce()
  })

  test('a stream to a web client whose request is aborted ends, reports it, and accepts nothing more', async () => {
    const controller = new AbortController()
    const { sink, onGone, reader } = await streamed(controller.signal)
    sink.write('one')
    controller.abort()
    sink.write('two')
    expect([onGone.mock.calls.length, sink.taken <= 3]).toEqual([1, true])
    const rest: string[] = []
    for (let each = await reader.read(); !each.done; each = await reader.read()) rest.push(textOf(each.value))
    expect(rest).toEqual(['one'])
  })
})

describe('the body of a web request', () => {
  const BOUNDS = { maxBodyBytes: 10, bodyGraceMs: 1_000, minBodyRate: 5 }

  function asked() {
    let controller: ReadableStreamDefaultController<Uint8Array> | undefined
    const cancelled = vi.fn()
    const body = new ReadableStream<Uint8Array>({
      start: (given) => {
        controller = given
      },
      cancel: cancelled,
    })
    const request = new Request('http://localhost/mcp', { method: 'POST', body, duplex: 'half' } as RequestInit)
    const said = new Promise<[string | undefined, BodyFault | undefined]>((resolve) =>
      new WebRequestView(request, undefined).body(BOUNDS, { grow: () => true }, (text, fault) => resolve([text, fault])),
    )
    return { said, cancelled, write: (text: string) => controller?.enqueue(new TextEncoder().encode(text)), end: () => controller?.close() }
  }

  const fakeTimers = (): void => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
    onTestFinished(() => void vi.useRealTimers())
  }

  test.each([
    [10, ['xxxxxxxxxx', undefined], 0],
    [11, [undefined, 'too-large'], 1],
  ])('a web body of %i bytes with a limit of 10 is read or refused, and leaves no timer', async (length, outcome, times) => {
    fakeTimers()
    const { said, write, end, cancelled } = asked()
    write('x'.repeat(length))
    if (length <= 10) end()
    expect(await said).toEqual(outcome)
    expect([cancelled.mock.calls.length, vi.getTimerCount()]).toEqual([times, 0])
  })

  test('the rate of a web body is judged by what came since the last check, and leaves no timer', async () => {
    fakeTimers()
    const { said, write, cancelled } = asked()
    await turn()
    write('12345')
    await turn()
    await vi.advanceTimersByTimeAsync(1_000)
    expect(vi.getTimerCount()).toBe(1)
    write('6789')
    await turn()
    await vi.advanceTimersByTimeAsync(1_000)
    expect(await said).toEqual([undefined, 'too-slow'])
    expect([cancelled.mock.calls.length, vi.getTimerCount()]).toEqual([1, 0])
  })
})
