import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { EventParser } from '../../../src/http/client/event-parser.ts'
import { proofRuns } from '../../support/proof.ts'

type Said = { name: string; data: string } | { id: string } | { retry: number } | 'too long'

function parse(chunks: readonly string[], maxLength = 1000): Said[] {
  const said: Said[] = []
  const parser = new EventParser({
    maxLength,
    onEvent: (name, data) => said.push({ name, data }),
    onId: (id) => said.push({ id }),
    onRetry: (retry) => said.push({ retry }),
    onTooLong: () => said.push('too long'),
  })
  for (const chunk of chunks) parser.push(chunk)
  return said
}

/** The algorithm of the standard, word by word, over the whole text at once. */
function byTheStandard(text: string): Said[] {
  const said: Said[] = []
  let data = ''
  let name = ''
  let idBuffer = ''
  let wasIdSet = false
  const lines = text.replace(/^\uFEFF/, '').split(/\r\n|\n|\r/)
  // What follows the last line end is no line yet.
  for (const line of lines.slice(0, -1)) {
    if (line === '') {
      if (wasIdSet) said.push({ id: idBuffer })
      wasIdSet = false
      if (data !== '') said.push({ name: name === '' ? 'message' : name, data: data.replace(/\n$/, '') })
      data = ''
      name = ''
      continue
    }
    const [, field = '', value = ''] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? []
    if (field === 'event') name = value
    else if (field === 'data') data += `${value}\n`
    else if (field === 'id' && !value.includes('\0')) {
      idBuffer = value
      wasIdSet = true
    } else if (field === 'retry' && /^[0-9]+$/.test(value)) said.push({ retry: Number(value) })
  }
  return said
}

describe('a stream of events', () => {
  test.each([
    ['an event', 'data: a\n\n', [{ name: 'message', data: 'a' }]],
    ['an event with a name and an id', 'event: e\nid: 1\ndata: a\n\n', [{ id: '1' }, { name: 'e', data: 'a' }]],
    ['an id without data', 'id: a1\n\n', [{ id: 'a1' }]],
    ['an id that is taken back', 'id\n\n', [{ id: '' }]],
    ['an id with a NUL, which is none', 'id: a\0b\n\n', []],
    ['an id whose block has not ended', 'id: a1\n', []],
    ['lines of data', 'data: a\ndata\ndata:b\n\n', [{ name: 'message', data: 'a\n\nb' }]],
    ['empty data', 'data:\n\n', [{ name: 'message', data: '' }]],
    ['one space only that is left out', 'data:  a\n\n', [{ name: 'message', data: ' a' }]],
    [
      'lines that end with CR',
      'id: 1\rdata: a\r\rdata: b\r\r',
      [{ id: '1' }, { name: 'message', data: 'a' }, { name: 'message', data: 'b' }],
    ],
    ['lines that end with CR LF', 'data: a\r\n\r\n', [{ name: 'message', data: 'a' }]],
    [
      'lines that end with all kinds',
      'data: a\r\n\rdata: b\n\r\n',
      [
        { name: 'message', data: 'a' },
        { name: 'message', data: 'b' },
      ],
    ],
    ['comments and fields that nobody knows', ': hello\nfoo: bar\nfoo\n: x\n\n', []],
    ['a byte order mark at the beginning', '\uFEFFdata: a\n\n', [{ name: 'message', data: 'a' }]],
    ['a name that holds for one event only', 'event: e\n\ndata: a\n\n', [{ name: 'message', data: 'a' }]],
    ['when to come back', 'retry: 700\nretry: 7x\nretry:\nretry: -1\n\n', [{ retry: 700 }]],
    ['no event without its end', 'data: a\n', []],
  ] as [string, string, Said[]][])('an event stream is read as the standard says: %s', (_, text, said) => {
    expect(parse([text])).toEqual(said)
    expect(byTheStandard(text)).toEqual(said)
  })

  test('an event stream is read the same in any chunks', () => {
    const line = fc.oneof(
      fc.constantFrom(
        'data: a',
        'data',
        'data:',
        'data: {"a": 1}',
        'id: 7',
        'id',
        'event: e',
        'event',
        'retry: 5',
        ': comment',
        '',
        '',
        'dat',
        'x: y',
      ),
      fc.string({ maxLength: 6 }),
    )
    const text = fc
      .array(fc.tuple(line, fc.constantFrom('\n', '\r', '\r\n', '\n\n', '\r\r', '\r\n\r\n')), { maxLength: 20 })
      .map((lines) => lines.flat().join(''))
    fc.assert(
      fc.property(fc.boolean(), text, fc.array(fc.nat(6), { maxLength: 60 }), (hasMark, body, cuts) => {
        const whole = (hasMark ? '\uFEFF' : '') + body
        const chunks: string[] = []
        let at = 0
        for (const length of cuts) {
          chunks.push(whole.slice(at, at + length))
          at += length
        }
        chunks.push(whole.slice(at))
        expect(parse(chunks)).toEqual(byTheStandard(whole))
      }),
      { numRuns: proofRuns(2000) },
    )
  })

  test('an event stream has events of at most maxLength characters, in any chunks', () => {
    const of = (length: number): string => `data: ${'x'.repeat(length)}\n\n`
    expect(parse([of(100)], 100)).toEqual([{ name: 'message', data: 'x'.repeat(100) }])
    expect(parse([of(101)], 100)).toEqual(['too long'])
    expect(parse([...of(101)], 100)).toEqual(['too long'])
    expect(parse([`data: ${'x'.repeat(50)}\ndata: ${'x'.repeat(49)}\n\n`], 100)).toEqual([
      { name: 'message', data: `${'x'.repeat(50)}\n${'x'.repeat(49)}` },
    ])
    expect(parse([`data: ${'x'.repeat(50)}\ndata: ${'x'.repeat(50)}\n\n`], 100)).toEqual(['too long'])
    // Empty lines of data grow it as well.
    expect(parse(['data\n'.repeat(200)], 100)).toEqual(['too long'])
    expect(parse(['x'.repeat(60), 'x'.repeat(60), '\n\ndata: a\n\n'], 100)).toEqual(['too long'])
    expect(parse([':', ...Array.from({ length: 50 }, () => 'x'.repeat(10))], 100)).toEqual(['too long'])
  })

  test('an event stream that was stopped delivers nothing more, not even received events', () => {
    const said: string[] = []
    const parser: EventParser = new EventParser({
      maxLength: 100,
      onEvent: (_, data) => {
        said.push(data)
        parser.stop()
      },
      onId: () => {},
      onRetry: () => {},
      onTooLong: () => {},
    })
    parser.push('data: a\n\ndata: b\n\n')
    parser.push('data: c\n\n')
    expect(said).toEqual(['a'])
  })
})
