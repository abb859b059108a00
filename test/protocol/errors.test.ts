import { describe, expect, test } from 'vitest'
import { Cancelled, Declined, ERRORS, type ErrorCode, McpError, ToolError, UrlElicitationRequired } from '../../src/protocol/errors.ts'
import { ERROR_MEANINGS } from '../project/error-meanings.ts'
import { proves } from '../support/proves.ts'

const rows = Object.entries(ERRORS) as [ErrorCode, { rpc: number; isForPeer?: true }][]

describe('the table of errors', () => {
  test.each(rows)('%s has a code for the wire and a sentence for the documentation', (code, { rpc }) => {
    expect(code).toMatch(/^ERR(?:_[A-Z]+)+$/)
    expect(Number.isInteger(rpc)).toBe(true)
    expect(rpc).toBeGreaterThanOrEqual(-32768)
    expect(rpc).toBeLessThanOrEqual(-32000)
    expect(ERROR_MEANINGS[code]).toMatch(/^[A-Z][^\n|]{10,160}\.$/)
  })

  test('no two errors have the same sentence', () => {
    expect(new Set(Object.values(ERROR_MEANINGS)).size).toBe(rows.length)
  })

  test('unknown tools, prompts and cursors are invalid parameters', () => {
    for (const code of [
      'ERR_INVALID_PARAMS',
      'ERR_TOOL_NOT_FOUND',
      'ERR_PROMPT_NOT_FOUND',
      'ERR_CURSOR_INVALID',
      'ERR_STATE_INVALID',
    ] as const)
      expect(ERRORS[code].rpc).toBe(-32602)
  })

  test('local errors are not sent to the peer', () => {
    const kept = rows.filter(([, { isForPeer }]) => !isForPeer).map(([code]) => code)
    expect(kept).toEqual([
      'ERR_SCHEMA',
      'ERR_DEFINITION',
      'ERR_CLOSED',
      'ERR_NETWORK',
      'ERR_HTTP',
      'ERR_NO_ENDPOINT',
      'ERR_SESSION_GONE',
      'ERR_INSECURE',
      'ERR_URL_REFUSED',
      'ERR_STORE',
      'ERR_STORE_DOWN',
      'ERR_STORE_KEY',
      'ERR_AUTH',
      'ERR_EXIT',
      'ERR_SPAWN',
      'ERR_DENIED',
      'ERR_QUARANTINED',
      'ERR_CONSENT',
      'ERR_CONFIG',
      'ERR_SECRET',
      'ERR_AUDIT',
      'ERR_SERVER_UNKNOWN',
      'ERR_SERVER_DOWN',
      'ERR_UNSUPPORTED',
    ])
    for (const code of kept) expect(ERRORS[code].rpc).toBe(-32603)
  })
})

describe('an error', () => {
  test('an error has its code, its message and its data', () => {
    const cause = new Error('below')
    const error = new McpError('ERR_LIMIT', 'Too many', { data: { max: 3 }, cause })
    expect(error).toMatchObject({ name: 'McpError', code: 'ERR_LIMIT', message: 'Too many', data: { max: 3 }, cause })
    expect(error).toBeInstanceOf(Error)
    expect('cause' in new McpError('ERR_LIMIT', 'x')).toBe(false)
  })

  test('an error about pages lists each as an elicitation by URL with its id', () => {
    proves('T-ELIC-050', 'T-ELIC-051')
    const pages = [
      { message: 'Sign in', url: 'https://example.com/1', elicitationId: 'a' },
      { message: 'Agree', url: 'https://example.com/2', elicitationId: 'b' },
    ]
    const error = new UrlElicitationRequired(pages)
    expect(error).toBeInstanceOf(McpError)
    expect(error.code).toBe('ERR_URL_ELICITATION_REQUIRED')
    expect(error.message).toBe('Sign in: https://example.com/1; Agree: https://example.com/2')
    expect(error.data).toEqual({ elicitations: pages.map((page) => ({ mode: 'url', ...page })) })
    expect(error.pages).toEqual(pages)
  })

  test('an error that a handler throws on purpose is recognised by its name', () => {
    expect([new ToolError('x'), new Declined('x'), new Cancelled('x')].map(({ name }) => name)).toEqual([
      'ToolError',
      'Declined',
      'Cancelled',
    ])
  })
})
