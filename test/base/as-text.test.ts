import fc from 'fast-check'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { asText } from '../../src/base/as-text.ts'
import { createServer } from '../../src/server/index.ts'
import { rawChannel } from '../support/raw-channel.ts'

/** What JSON can say that has no text of its own: `String()` throws for it. */
const WITHOUT_TEXT = { toString: false, valueOf: 0 }

test('strings stay as they are, errors say their message, JSON is written as JSON', () => {
  expect(asText('a "b"')).toBe('a "b"')
  expect(asText(new TypeError('no'))).toBe('TypeError: no')
  expect(asText({ a: [1] })).toBe('{"a":[1]}')
  expect(asText(undefined)).toBe('undefined')
  expect(asText(12n)).toBe('12')
})

test('every value has a text, also those for which String() throws', () => {
  const circle: { self?: unknown } = {}
  circle.self = circle
  const thrown = Object.assign(new Error('x'), { toString: 1, [Symbol.toPrimitive]: 1 })
  for (const value of [WITHOUT_TEXT, Object.create(null), circle, thrown, Symbol('s'), () => 1]) expect(typeof asText(value)).toBe('string')
  fc.assert(fc.property(fc.anything({ withNullPrototype: true, withBigInt: true }), (value) => typeof asText(value) === 'string'))
})

test('a parameter without a text form gives an invalid parameter error, not an internal error', async () => {
  const server = createServer({ name: 'victim', version: '1', limits: { toolCalls: false } })
  server.tool('echo', { input: { type: 'object' } }, () => 'x')
  server.resource('file:///a', { name: 'a' }, () => 'text')
  server.prompt('p', { input: z.object({ who: z.string() }), complete: { who: () => ['a'] } }, () => 'text')
  const requests: [string, Record<string, unknown>][] = [
    ['tools/call', { name: WITHOUT_TEXT, arguments: {} }],
    ['tools/call', { name: 'echo', arguments: WITHOUT_TEXT }],
    ['tools/list', { cursor: WITHOUT_TEXT }],
    ['resources/read', { uri: WITHOUT_TEXT }],
    ['resources/subscribe', { uri: WITHOUT_TEXT }],
    ['prompts/get', { name: WITHOUT_TEXT }],
    ['prompts/get', { name: 'p', arguments: { who: WITHOUT_TEXT } }],
    ['completion/complete', { ref: WITHOUT_TEXT, argument: { name: 'who', value: '' } }],
    ['completion/complete', { ref: { type: 'ref/prompt', name: WITHOUT_TEXT }, argument: { name: 'who', value: '' } }],
    ['completion/complete', { ref: { type: 'ref/resource', uri: WITHOUT_TEXT }, argument: { name: 'who', value: '' } }],
    ['completion/complete', { ref: { type: 'ref/prompt', name: 'p' }, argument: WITHOUT_TEXT }],
    ['logging/setLevel', { level: WITHOUT_TEXT }],
    ['initialize', { protocolVersion: WITHOUT_TEXT, capabilities: {}, clientInfo: { name: 'c', version: '1' } }],
  ]
  for (const [method, params] of requests) {
    const raw = rawChannel(server)
    if (method !== 'initialize') await raw.initialize('2025-06-18')
    const answer = await raw.ask(method, params, 'asked')
    expect(
      (answer.error as { code?: number } | undefined)?.code,
      `${method} ${JSON.stringify(params)}: ${JSON.stringify(answer)}`,
    ).not.toBe(-32603)
    raw.channel.close('the run is over')
  }
})
