/** The rules of a revision that a message breaks. */

import { describe, expect, test } from 'vitest'
import { checkMessage } from '../../src/testing/index.ts'

const result = (value: unknown) => ({ jsonrpc: '2.0', id: 1, result: value })

describe('a message', () => {
  test.each([
    ['a list without tools', result({}), '2025-06-18', 'tools/list', '/result'],
    ['a tool without a schema', result({ tools: [{ name: 'x' }] }), '2025-06-18', 'tools/list', '/result/tools/0'],
    ['content that is text only', result({ content: 'x' }), '2025-06-18', 'tools/call', '/result/content'],
    ['a block of an unknown type', result({ content: [{ type: 'video' }] }), '2025-06-18', 'tools/call', '/result/content/0'],
    [
      'an audio block before there was audio',
      result({ content: [{ type: 'audio', data: '', mimeType: 'a/b' }] }),
      '2024-11-05',
      'tools/call',
      '/result/content/0/type',
    ],
    [
      'annotations before there were any',
      result({ tools: [{ name: 'x', inputSchema: { type: 'object' }, annotations: {} }] }),
      '2024-11-05',
      'tools/list',
      '/result/tools/0/annotations',
    ],
    ['an error without a code', { jsonrpc: '2.0', id: 1, error: { message: 'x' } }, '2025-06-18', 'tools/list', '/error'],
    ['an answer to nothing', result({}), '2025-06-18', undefined, '/id'],
    ['something that is no message', { malformed: 'Not JSON' }, undefined, undefined, ''],
    ['a text', 'hello', undefined, undefined, ''],
  ])('%s is a violation', (_, message, revision, method, pointer) => {
    const found = checkMessage(message, { from: 'server', revision, method })
    expect(found.map((each) => each.pointer)).toContain(pointer)
    expect(found.every(({ text }) => text.length > 0)).toBe(true)
  })

  test.each([
    ['elicitation before there was any', 'elicitation/create', 'server', '2025-03-26', 1, 'Revision 2025-03-26 has no elicitation/create'],
    ['a call of the server', 'tools/call', 'server', '2025-06-18', 1, 'tools/call: expected from the client, came from the server'],
    ['a request without an id', 'tools/list', 'client', '2025-06-18', undefined, 'tools/list is a request: expected an id'],
  ] as const)('%s is a violation with its reason', (_, method, from, revision, id, text) => {
    const params = method === 'tools/call' ? { name: 'x' } : { message: 'x' }
    const message = { jsonrpc: '2.0', ...(id !== undefined && { id }), method, params }
    expect(checkMessage(message, { from, revision }).map((each) => each.text)).toContain(text)
  })

  test.each([
    [result({ tools: [{ name: 'x', inputSchema: { type: 'object' } }] }), '2024-11-05', 'tools/list'],
    [result({ content: [{ type: 'text', text: 'x' }], structuredContent: {} }), '2025-06-18', 'tools/call'],
    [result({ resultType: 'input_required', inputRequests: {} }), '2026-07-28', 'tools/call'],
    [result({ anything: 1 }), '2025-06-18', 'vendor/method'],
    [{ jsonrpc: '2.0', id: 1, method: 'vendor/method', params: 7 }, '2025-06-18', undefined],
    [result({ protocolVersion: '2025-06-18', capabilities: {}, serverInfo: { name: 'x', version: '1' } }), undefined, 'initialize'],
  ])('%j is fine in %s', (message, revision, method) => {
    expect(checkMessage(message, { from: 'server', revision, method })).toEqual([])
  })
})
