import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { LineReader } from '../../src/jsonrpc/lines.ts'
import { expectLinear } from '../support/linear.ts'
import { proves } from '../support/proves.ts'

type Event = string | { tooLong: true } | { notUtf8: true }

const TOO_LONG: Event = { tooLong: true }
const NOT_UTF8: Event = { notUtf8: true }

function reader(maxLineBytes = 1_000_000): { events: Event[]; lines: LineReader } {
  const events: Event[] = []
  const lines = new LineReader({
    maxLineBytes,
    onLine: (text, from, to) => events.push(text.slice(from, to)),
    onTooLong: () => events.push(TOO_LONG),
    onNotUtf8: () => events.push(NOT_UTF8),
  })
  return { events, lines }
}

function readAll(bytes: Uint8Array, cuts: readonly number[], maxLineBytes?: number): Event[] {
  const { events, lines } = reader(maxLineBytes)
  let from = 0
  for (const cut of [...cuts.map((each) => each % (bytes.length + 1)).sort((a, b) => a - b), bytes.length]) {
    lines.push(bytes.subarray(from, cut))
    from = cut
  }
  lines.end()
  return events
}

const oneByteAtATime = (bytes: Uint8Array): number[] => Array.from(bytes, (_, i) => i)
const utf8 = (text: string): Uint8Array => Buffer.from(text)

const aLine = fc.string({ unit: 'grapheme', minLength: 1 }).map((text) => `"${text.replaceAll(/[\r\n]/g, '')}`)
const cuts = fc.array(fc.nat(), { maxLength: 20 })

describe('any chunking of any lines gives the same lines', () => {
  test('lines cut anywhere, also inside a character, are read the same', () => {
    proves('T-STDIO-005')
    fc.assert(
      fc.property(fc.array(aLine), cuts, (texts, where) => {
        expect(readAll(utf8(texts.map((text) => `${text}\n`).join('')), where)).toEqual(texts)
      }),
    )
  })

  test('lines that arrive one byte at a time are read the same', () => {
    fc.assert(
      fc.property(fc.array(aLine, { maxLength: 5 }), (texts) => {
        const bytes = utf8(texts.map((text) => `${text}\n`).join(''))
        expect(readAll(bytes, oneByteAtATime(bytes))).toEqual(texts)
      }),
    )
  })

  test('lines with carriage returns are read the same in any chunks', () => {
    fc.assert(
      fc.property(fc.array(aLine), cuts, (texts, where) => {
        expect(readAll(utf8(texts.map((text) => `${text}\r\n`).join('')), where)).toEqual(texts.map((text) => `${text}\r`))
      }),
    )
  })

  test('lines that are not UTF-8 or too long are reported the same in any chunks', () => {
    const bad = fc.constantFrom<[Uint8Array, Event]>(
      [Uint8Array.of(0xff, 0xfe), NOT_UTF8],
      [Uint8Array.of(0x61, 0xc3), NOT_UTF8],
      [Uint8Array.of(0xed, 0xa0, 0x80), NOT_UTF8],
      [utf8('x'.repeat(41)), TOO_LONG],
      [Uint8Array.from({ length: 60 }, () => 0xff), TOO_LONG],
    )
    const good = fc
      .string({ unit: 'grapheme-ascii', minLength: 1, maxLength: 30 })
      .map((text): [Uint8Array, Event] => [utf8(`"${text}`), `"${text}`])
    fc.assert(
      fc.property(fc.array(fc.oneof(bad, good)), cuts, (all, where) => {
        const bytes = Buffer.concat(all.flatMap(([line]) => [line, utf8('\n')]))
        expect(readAll(bytes, where, 40)).toEqual(all.map(([, event]) => event))
      }),
    )
  })
})

test('10,000 lines in one chunk are all read', () => {
  const texts = Array.from({ length: 10_000 }, (_, i) => `{"line":${i}}`)
  expect(readAll(utf8(`${texts.join('\n')}\n`), [])).toEqual(texts)
})

test('text after the last newline is a line when the stream ends', () => {
  expect(readAll(utf8('one\ntwo'), [5])).toEqual(['one', 'two'])
})

test('blank lines are not messages, unless they have characters that JSON does not count as space', () => {
  expect(readAll(utf8('\n  \n\t\r\n\none\n\n'), [3])).toEqual(['one'])
  expect(readAll(utf8('\ufeff\n\u00a0\n'), [])).toEqual(['\ufeff', '\u00a0'])
})

test('a byte order mark is kept for the parser to refuse', () => {
  expect(readAll(utf8('\ufeff{}\n'), [1])).toEqual(['\ufeff{}'])
})

test('the end of a stream without an open line is silent', () => {
  expect(readAll(utf8(''), [])).toEqual([])
  expect(readAll(utf8('one\n'), [])).toEqual(['one'])
})

describe('the limit for a line', () => {
  const LIMIT = 64

  test.each([
    [LIMIT - 1, false],
    [LIMIT, false],
    [LIMIT + 1, true],
  ])('a line of %i bytes against a limit of 64 is too long: %s', (length, isTooLong) => {
    const line = 'x'.repeat(length)
    const bytes = utf8(`first\n${line}\nlast\n`)
    const expected = ['first', isTooLong ? TOO_LONG : line, 'last']
    for (const where of [[], [6 + length], [10], [3, 20, 6 + length + 1], oneByteAtATime(bytes)])
      expect(readAll(bytes, where, LIMIT)).toEqual(expected)
  })

  test('the limit for a line counts bytes, not characters', () => {
    expect(readAll(utf8(`${'é'.repeat(32)}\n`), [], LIMIT)).toEqual(['é'.repeat(32)])
    expect(readAll(utf8(`${'é'.repeat(33)}\n`), [], LIMIT)).toEqual([TOO_LONG])
  })

  test('a line over its limit is reported once, as soon as it is over, and none of it is kept', () => {
    const { events, lines } = reader(LIMIT)
    lines.push(utf8('x'.repeat(65)))
    expect(events).toEqual([TOO_LONG])
    for (let i = 0; i < 100; i++) lines.push(utf8('y'.repeat(64)))
    expect(events).toEqual([TOO_LONG])
    lines.push(utf8('z\nnext\n'))
    expect(events).toEqual([TOO_LONG, 'next'])
  })

  test('a last line without a newline is reported when it is over its limit', () => {
    expect(readAll(utf8('x'.repeat(65)), [], LIMIT)).toEqual([TOO_LONG])
  })

  test('the limit applies to a line, not to a chunk', () => {
    const texts = Array.from({ length: 100 }, (_, i) => `line ${i}`)
    expect(readAll(utf8(`${texts.join('\n')}\n`), [], LIMIT)).toEqual(texts)
  })
})

test('the sender may reuse the bytes of a chunk', () => {
  const { events, lines } = reader()
  const chunk = Buffer.from('he')
  lines.push(chunk)
  chunk.fill(0)
  lines.push(utf8('llo\n'))
  expect(events).toEqual(['hello'])
})

describe('time to read lines', () => {
  const feed = (bytes: Uint8Array, chunkSize: number, expected: number) => () => {
    let count = 0
    const seen = (): void => void count++
    const lines = new LineReader({ maxLineBytes: 100_000_000, onLine: seen, onTooLong: seen, onNotUtf8: seen })
    for (let at = 0; at < bytes.length; at += chunkSize) lines.push(bytes.subarray(at, at + chunkSize))
    expect(count).toBe(expected)
  }

  test('reading one line in chunks of a pipe takes linear time', () =>
    expectLinear(2_000_000, (size) => feed(utf8(`${'x'.repeat(size)}\n`), 65_536, 1)))

  test('reading one line, one byte at a time, takes linear time', () =>
    expectLinear(50_000, (size) => feed(utf8(`${'x'.repeat(size)}\n`), 1, 1)))

  test('reading many short lines takes linear time', () =>
    expectLinear(200_000, (size) => feed(utf8('{"a":1}\n'.repeat(size / 8)), 65_536, size / 8)))

  test('reading many lines that are not UTF-8 takes linear time', () =>
    expectLinear(8_000, (size) => {
      const bytes = Buffer.concat(Array.from({ length: size / 4 }, () => Uint8Array.of(0xff, 0xfe, 0x61, 0x0a)))
      return feed(bytes, bytes.length, size / 4)
    }))
})
