import { expect, test } from 'vitest'
import { Exchange } from '../../src/jsonrpc/exchange.ts'
import type { Id } from '../../src/jsonrpc/message.ts'
import { proves } from '../support/proves.ts'
import { type RecordingOutlet, recordingOutlet } from '../support/recording-outlet.ts'

function begin(id: Id = 1): { exchange: Exchange; outlet: RecordingOutlet; over: Exchange[] } {
  const outlet = recordingOutlet()
  const over: Exchange[] = []
  const exchange = new Exchange({ kind: 'request', id, method: 'x', params: { a: 1 } }, outlet, (each) => over.push(each))
  return { exchange, outlet, over }
}

test.each([1, '1', 0, -1, '', 'with "quotes"'])('an answer carries the id %j, same type and value', (id) => {
  proves('T-BASE-017')
  const { exchange, outlet } = begin(id)
  exchange.answer({ b: 2 })
  expect(outlet.answers).toEqual([{ jsonrpc: '2.0', id, result: { b: 2 } }])
})

test('an exchange is answered once, and later writes go nowhere', () => {
  proves('T-CANC-017')
  const { exchange, outlet, over } = begin()
  exchange.push('{"n":1}')
  exchange.answer({})
  exchange.answer({ again: 1 })
  exchange.fail({ code: 1, message: 'no' })
  exchange.failUnexpectedly()
  exchange.cancel('late')
  exchange.push('{"n":2}')
  expect(outlet).toMatchObject({ answers: [{ id: 1, result: {} }], codes: [undefined], pushed: [{ n: 1 }], dropped: 0 })
  expect(over).toEqual([exchange])
  expect(exchange.isOver).toBe(true)
  expect(exchange.signal.aborted).toBe(false)
})

test('a failure is answered with its code, and the outlet gets the code', () => {
  const { exchange, outlet } = begin('q')
  exchange.fail({ code: -32602, message: 'no', data: { why: [1] } })
  expect(outlet.answers).toEqual([{ jsonrpc: '2.0', id: 'q', error: { code: -32602, message: 'no', data: { why: [1] } } }])
  expect(outlet.codes).toEqual([-32602])
})

test('an unexpected failure is answered as an internal error without details', () => {
  proves('T-BASE-034')
  const { exchange, outlet } = begin()
  exchange.failUnexpectedly()
  expect(outlet.answers).toEqual([{ jsonrpc: '2.0', id: 1, error: { code: -32603, message: 'Internal error' } }])
})

test('a cancelled exchange aborts with the reason and is never answered', () => {
  proves('T-CANC-008', 'T-CANC-010')
  const { exchange, outlet, over } = begin()
  const { signal } = exchange
  const reason = new Error('enough')
  exchange.cancel(reason)
  exchange.answer({})
  exchange.push('{}')
  expect(signal.aborted).toBe(true)
  expect(signal.reason).toBe(reason)
  expect(outlet).toMatchObject({ answers: [], pushed: [], dropped: 1 })
  expect(over).toEqual([exchange])
})

test('a cancelled exchange can still cancel its own requests, and sends nothing else', () => {
  const { exchange, outlet } = begin()
  exchange.signal.addEventListener('abort', () => exchange.push('{"called":"off"}'))
  exchange.cancel('enough')
  exchange.push('{"too":"late"}')
  expect(outlet).toMatchObject({ answers: [], pushed: [{ called: 'off' }], dropped: 1 })
})

test('a cancellation that causes another one happens once', () => {
  const { exchange, outlet, over } = begin()
  exchange.signal.addEventListener('abort', () => exchange.cancel('again'))
  exchange.cancel('enough')
  expect(outlet.dropped).toBe(1)
  expect(over).toEqual([exchange])
})

test('a signal that is first read after the cancellation is already aborted', () => {
  const { exchange } = begin()
  exchange.cancel('enough')
  expect(exchange.signal.aborted).toBe(true)
  expect(exchange.signal.reason).toBe('enough')
})

test('an exchange that is aborted but not cancelled still expects its answer', () => {
  const { exchange, outlet, over } = begin()
  const { signal } = exchange
  exchange.abort(undefined)
  expect(signal.reason).toMatchObject({ name: 'AbortError' })
  expect(over).toEqual([])
  exchange.fail({ code: -32603, message: 'too late' })
  expect(outlet.answers).toHaveLength(1)
})

test('the first reason for an abort is kept', () => {
  const { exchange } = begin()
  exchange.abort('first')
  exchange.cancel('second')
  expect(exchange.signal.reason).toBe('first')
})

test('listeners hear the first reason for an abort once, also if they come late, unless they were removed', () => {
  const { exchange } = begin()
  const heard: unknown[] = []
  const stop = [1, 2, 3].map((n) => exchange.onAborted((reason) => heard.push([n, reason])))
  stop[1]?.()
  exchange.abort('first')
  exchange.cancel('second')
  exchange.onAborted((reason) => heard.push(['late', reason]))
  for (const each of stop) each()
  expect(heard).toEqual([
    [1, 'first'],
    [3, 'first'],
    ['late', 'first'],
  ])
})

test('a producer waits as long as the outlet asks it to', async () => {
  const { exchange, outlet } = begin()
  let goOn: () => void = () => {}
  outlet.push = () =>
    new Promise((resolve) => {
      goOn = resolve
    })
  const pushed = exchange.push('{}')
  let isWaiting = true
  void pushed?.then(() => {
    isWaiting = false
  })
  await Promise.resolve()
  expect(isWaiting).toBe(true)
  goOn()
  await pushed
  expect(isWaiting).toBe(false)
})
