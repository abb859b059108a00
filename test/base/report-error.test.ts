import { format } from 'node:util'
import { runInNewContext } from 'node:vm'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { reportError } from '../../src/base/report-error.ts'
import { RemoteError } from '../../src/jsonrpc/remote-error.ts'

const reports = vi.spyOn(console, 'error').mockReturnValue()
afterEach(() => void reports.mockClear())

/** What the console writes for an error. */
function written(error: unknown, what = 'portico: x failed:'): string {
  reportError(what, error)
  return format(...(reports.mock.lastCall as unknown[]))
}

const FORGED = 'x\n2026-11-19 portico: forged \u001b[2J\u009b31m\r\u202e\u2028\n    at forged (evil.js:1:1)'
const SHOWN = String.raw`x\n2026-11-19 portico: forged \x1b[2J\x9b31m\r<U+202E><U+2028>\n    at forged (evil.js:1:1)`

/** Whether every line but the first belongs to a stack, members or a cause, and nothing controls the terminal. */
const isHarmless = (text: string): boolean =>
  text.split('\n').every((line, i) => (i === 0 || line.startsWith('  ')) && !/\p{C}/u.test(line))

describe('an error on the console', () => {
  test('has its stack, members and causes on lines of their own', () => {
    const cause = Object.assign(new TypeError('connect'), { code: 'ECONNREFUSED' })
    const text = written(new RangeError('The notes are away', { cause }))
    expect(text).toMatch(/^portico: x failed: RangeError: The notes are away\n {4}at .*report-error\.test\.ts/)
    expect(text).toMatch(/\n {2}cause: TypeError: connect\n {4}at .*report-error\.test\.ts[\s\S]*\n {2}\{"code":"ECONNREFUSED"\}$/)
    expect(written(new AggregateError([new Error('one'), 'two'], 'All failed'))).toMatch(
      /\n {2}cause: Error: one\n[\s\S]*\n {2}cause: two$/,
    )
    expect(written(runInNewContext('new Error("of another realm")'))).toContain('x failed: Error: of another realm\n    at ')
  })

  test.each<[string, unknown]>([
    ['the message', new RemoteError({ code: 1, message: FORGED })],
    ['a cause', new Error('outer', { cause: new RemoteError({ code: 1, message: FORGED }) })],
    ['one of several errors', new AggregateError([new Error(FORGED)])],
    ['the name', Object.assign(new Error('x'), { name: FORGED })],
    ['a message that was changed later', Object.assign(new Error('x'), { message: FORGED })],
    ['a text that is thrown', FORGED],
  ])('shows control characters of a peer as text: in %s', (_where, error) => {
    const text = written(error)
    expect(text).toContain(SHOWN)
    expect(isHarmless(text)).toBe(true)
  })

  test('shows control characters of a peer as text in members, and in what failed', () => {
    const text = written(new RemoteError({ code: 1, message: 'x', data: { [FORGED]: [FORGED] } }), `portico: note://%s${FORGED} failed:`)
    expect(text).toContain(`portico: note://%s${SHOWN} failed: RemoteError: x\n    at `)
    expect(text).toContain(String.raw`\n2026-11-19 portico: forged \u001b[2J\x9b31m\r<U+202E>`)
    expect(isHarmless(text)).toBe(true)
  })

  test('shows no bytes of members', () => {
    const secret = Buffer.from('SECRET-4711')
    const error = Object.assign(new Error('x'), {
      command: { args: [secret, new Uint8Array(3), { type: 'Buffer', data: [83, 69] }] },
      code: 7,
    })
    const text = written(error)
    expect(text).toContain('\n  {"command":{"args":["(11 bytes)","(3 bytes)","(2 bytes)"]},"code":7}')
  })

  test('is not longer than somebody reads', () => {
    const long = 'a'.repeat(1_000_000)
    const error = Object.assign(new Error(long), {
      stack: `Error: ${long}${'\n    at b'.repeat(100_000)}`,
      data: long,
      cause: undefined as unknown,
    })
    error.cause = error
    const several = new AggregateError(
      Array.from({ length: 1000 }, () => new Error(long)),
      long,
    )
    for (const each of [error, several, long]) expect(written(each, long).length).toBeLessThan(100_000)
    expect(written(long)).toContain('... (cut at 4096 characters)')
  })

  test.each<[unknown, string]>([
    [undefined, 'undefined'],
    [null, 'null'],
    [{ message: 'a\nb' }, String.raw`{"message":"a\nb"}`],
    [Object.assign(new Error('x'), { self: console }), 'Error: x'],
    [
      {
        get stack() {
          throw new Error('no')
        },
      },
      '(an error that has no text)',
    ],
    [Object.assign(new Error('x'), { name: Symbol('x') }), '(an error that has no text)'],
  ])('may be anything: %#', (error, text) => expect(written(error)).toContain(`portico: x failed: ${text}`))
})
