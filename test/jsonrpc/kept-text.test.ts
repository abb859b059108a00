import { expect, test } from 'vitest'
import { Exchange } from '../../src/jsonrpc/exchange.ts'
import { KeptText } from '../../src/jsonrpc/kept-text.ts'
import type { Outlet } from '../../src/jsonrpc/outlet.ts'

const request = { kind: 'request', id: 'ü', method: 'x', params: undefined } as const

test('prepared text is encoded once, and only when bytes are needed', () => {
  const kept = new KeptText('{"a":"ü"}')
  expect(new TextDecoder().decode(kept.bytes)).toBe(kept.text)
  expect(kept.bytes).toBe(kept.bytes)
})

test('an outlet that accepts parts gets parts, any other gets the whole text, as one answer', () => {
  const written: string[] = []
  const whole: Outlet = { push: () => undefined, answer: (json) => void written.push(json), drop: () => {} }
  const inParts: Outlet = { ...whole, answerKept: (head, kept, tail) => void written.push(head + kept.text + tail) }
  for (const outlet of [whole, inParts]) {
    let over = 0
    const exchange = new Exchange(request, outlet, () => over++)
    exchange.answerKept(new KeptText('{"a":1}'))
    exchange.answerKept(new KeptText('{"a":2}'))
    exchange.answer({ a: 3 })
    expect([over, exchange.isOver]).toEqual([1, true])
  }
  expect(written).toEqual(Array(2).fill('{"jsonrpc":"2.0","id":"ü","result":{"a":1}}'))
})
