import { PassThrough, Writable } from 'node:stream'
import { setImmediate as turn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { LineWriter } from '../../src/stdio/writer.ts'

/** A stream that takes what is written when the test says so. */
function slowStream(highWaterMark: number): { stream: Writable; written: string[]; takeAll(): void } {
  const written: string[] = []
  const held: (() => void)[] = []
  const stream = new Writable({
    highWaterMark,
    write: (chunk: Buffer, _encoding, done) => {
      written.push(chunk.toString())
      held.push(done)
    },
  })
  return {
    stream,
    written,
    takeAll: () => {
      for (let done = held.shift(); done; done = held.shift()) done()
    },
  }
}

test('the lines of one turn of the event loop are written at once, in order', async () => {
  const writes: string[] = []
  const stream = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      writes.push(chunk.toString())
      done()
    },
  })
  const writer = new LineWriter(stream, { maxPendingBytes: 1000 })
  writer.line('1')
  writer.line('2')
  await turn()
  writer.line('3')
  await turn()
  expect(writes).toEqual(['1\n2\n', '3\n'])
})

test('a producer waits while the reader does not read, and continues when it does', async () => {
  const { stream, takeAll } = slowStream(10)
  const blocked: boolean[] = []
  const writer = new LineWriter(stream, { maxPendingBytes: 1000, onBlocked: (isBlocked) => blocked.push(isBlocked) })
  expect(writer.line('more than ten bytes')).toBeUndefined()
  await turn()
  expect(blocked).toEqual([true])
  const wait = writer.line('next')
  expect(wait).toBeInstanceOf(Promise)
  takeAll()
  await wait
  expect(blocked).toEqual([true, false])
  expect(writer.line('free')).toBeUndefined()
})

test.each([
  [99, false],
  [100, false],
  [101, true],
])('%i queued bytes with a limit of 100 are too many: %s', async (bytes, isTooMany) => {
  const { stream } = slowStream(10)
  const writer = new LineWriter(stream, { maxPendingBytes: 100 })
  writer.line('x'.repeat(49))
  await turn()
  expect(writer.pendingBytes).toBe(50)
  const write = (): unknown => writer.line('y'.repeat(bytes - 50))
  if (isTooMany)
    expect(write).toThrow(expect.objectContaining({ code: 'ERR_LIMIT', message: expect.stringContaining('(maxPendingBytes)') }))
  else expect(write()).toBeInstanceOf(Promise)
})

test('the end waits until everything written has been sent', async () => {
  const { stream, written, takeAll } = slowStream(1000)
  const writer = new LineWriter(stream, { maxPendingBytes: 1000 })
  writer.line('little')
  let isOver = false
  const over = writer.end().then(() => {
    isOver = true
  })
  await turn()
  expect(written).toEqual(['little\n'])
  expect(isOver).toBe(false)
  takeAll()
  await turn()
  takeAll()
  await over
})

test('the end does not wait when nothing is queued or the reader is gone', async () => {
  const stream = new PassThrough()
  await new LineWriter(stream, { maxPendingBytes: 10 }).end()
  stream.destroy()
  const writer = new LineWriter(stream, { maxPendingBytes: 10 })
  writer.line('lost')
  await writer.end()
})

test('the end writes nothing to a stream that has ended', async () => {
  const stream = new PassThrough()
  const errors: Error[] = []
  stream.on('error', (error) => errors.push(error))
  stream.end()
  await new LineWriter(stream, { maxPendingBytes: 10 }).end()
  await turn()
  expect(errors).toEqual([])
})

test('the end does not wait for a destroyed stream', async () => {
  const { stream } = slowStream(1000)
  const writer = new LineWriter(stream, { maxPendingBytes: 1000 })
  writer.line('stuck')
  await turn()
  expect(stream.writableLength).toBeGreaterThan(0)
  stream.destroy()
  await writer.end()
})

test('nothing is written to a stream that was destroyed in the same turn', async () => {
  const { stream, written } = slowStream(1000)
  const errors: Error[] = []
  stream.on('error', (error) => errors.push(error))
  const writer = new LineWriter(stream, { maxPendingBytes: 1000 })
  writer.line('lost')
  stream.destroy()
  await turn()
  expect([written, errors]).toEqual([[], []])
})

test('the queue is bounded again after a reader reads again', async () => {
  const { stream, takeAll } = slowStream(10)
  const writer = new LineWriter(stream, { maxPendingBytes: 100 })
  for (let i = 0; i < 3; i++) {
    writer.line('x'.repeat(90))
    await turn()
    expect(() => writer.line('y'.repeat(20))).toThrow('(maxPendingBytes)')
    takeAll()
    await turn()
    // Nobody waits now, so a long line is no fault of the reader.
    expect(writer.line('z'.repeat(200))).toBeUndefined()
    await turn()
    takeAll()
    await turn()
  }
})

test('an answer that is delayed after progress counts as queued until it is written', async () => {
  const { stream, takeAll } = slowStream(10)
  const writer = new LineWriter(stream, { maxPendingBytes: 400 })
  writer.line(progress(1))
  await turn()
  writer.answer(answerTo(1))
  const waiting = progress(1).length + 1 + answerTo(1).length
  expect(writer.pendingBytes).toBe(waiting)
  expect(() => writer.line('y'.repeat(401 - waiting))).toThrow('(maxPendingBytes)')
  const over = writer.end()
  for (let i = 0; i < 5; i++) {
    takeAll()
    await turn()
  }
  await over
  expect(writer.pendingBytes).toBe(0)
})

test('a waiting producer is released when the stream is closed', async () => {
  const { stream } = slowStream(10)
  const writer = new LineWriter(stream, { maxPendingBytes: 1000 })
  writer.line('more than ten bytes')
  await turn()
  const wait = writer.line('next')
  stream.destroy()
  await wait
})

/** What is written, one entry a write. */
function recorded(): { writer: LineWriter; writes: string[] } {
  const writes: string[] = []
  const stream = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      writes.push(chunk.toString())
      done()
    },
  })
  return { writer: new LineWriter(stream, { maxPendingBytes: 1000 }), writes }
}

const progress = (token: unknown): string =>
  JSON.stringify({ jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken: token, progress: 1 } })
const answerTo = (id: unknown): string => JSON.stringify({ jsonrpc: '2.0', id, result: {} })

test.each([[5], ['text "with" quotes'], [-1]])('an answer to %j leaves in a later write than the progress before it', async (id) => {
  const { writer, writes } = recorded()
  writer.line(progress(id))
  writer.answer(answerTo(id))
  await expect.poll(() => writes).toEqual([`${progress(id)}\n`, `${answerTo(id)}\n`])
  // In another turn as well, if that comes at once.
  writer.line(progress(id))
  await turn()
  writer.answer(answerTo(id))
  expect(writer.pendingBytes).toBeGreaterThan(0)
  await expect.poll(() => writes.slice(2)).toEqual([`${progress(id)}\n`, `${answerTo(id)}\n`])
})

test('answers to other requests are not delayed, nor is one long after its progress', async () => {
  const { writer, writes } = recorded()
  writer.line(progress(5))
  writer.answer(answerTo('5'))
  writer.answer(answerTo(6))
  await turn()
  expect(writes).toEqual([`${progress(5)}\n${answerTo('5')}\n${answerTo(6)}\n`])
  await new Promise((resolve) => setTimeout(resolve, 20))
  writer.answer(answerTo(5))
  await turn()
  expect(writes).toHaveLength(2)
})

test('the end does not wait for the delay, and loses nothing', async () => {
  const { writer, writes } = recorded()
  writer.line(progress(1))
  writer.answer(answerTo(1))
  writer.line(progress(2))
  writer.answer(answerTo(2))
  await writer.end()
  expect(writes.join('')).toBe(`${[progress(1), progress(2), answerTo(1), answerTo(2)].join('\n')}\n`)
  expect(writer.pendingBytes).toBe(0)
  await new Promise((resolve) => setTimeout(resolve, 20))
  expect(writes.join('').match(/"result"/g)).toHaveLength(2)
})

test('all producers that wait for the same reader share one promise, and the next wait has its own', async () => {
  const { stream, takeAll } = slowStream(1)
  const writer = new LineWriter(stream, { maxPendingBytes: 1000 })
  writer.line('first')
  await turn()
  const waiting = writer.line('second')
  expect(waiting).toBeInstanceOf(Promise)
  expect(writer.line('third')).toBe(waiting)
  await turn()
  takeAll()
  await turn()
  takeAll()
  await waiting
  writer.line('fourth')
  await turn()
  const next = writer.line('fifth')
  expect(next).toBeInstanceOf(Promise)
  expect(next).not.toBe(waiting)
  stream.destroy()
  await next
})
