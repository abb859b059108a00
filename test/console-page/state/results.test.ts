/** What results are: pictures, tables, texts, names of files. */

import { describe, expect, test } from 'vitest'
import {
  base64Bytes,
  cellText,
  endingOf,
  fileName,
  isRepeated,
  mediaKind,
  mediaUrl,
  piecesOf,
  tableIn,
  textKind,
  textOf,
} from '../../../console/src/state/results.ts'

describe('pictures and sounds', () => {
  test('only types that browsers draw and play without running anything become elements', () => {
    expect(mediaKind('image/png')).toBe('image')
    expect(mediaKind('Audio/WAV; rate=8000')).toBe('audio')
    for (const type of ['image/svg+xml', 'text/html', 'application/pdf', 'image/png,x', '', undefined])
      expect(mediaKind(type)).toBeUndefined()
  })

  test('an address is made of base64 only, and keeps nothing else of the type', () => {
    expect(mediaUrl('image/png; a="b"', 'aGk=')).toBe('data:image/png;base64,aGk=')
    expect(mediaUrl('image/svg+xml', 'aGk=')).toBeUndefined()
    for (const data of ['', 'a b', '"><script>', 'aGk=#x', 7]) expect(mediaUrl('image/png', data)).toBeUndefined()
    expect(base64Bytes('aGk=')).toBe(2)
  })
})

describe('texts', () => {
  test('JSON, markdown and plain text are told apart', () => {
    expect(textKind('{"a":1}')).toEqual({ kind: 'json', value: { a: 1 } })
    expect(textKind('[1,')).toEqual({ kind: 'text' })
    expect(textKind('42')).toEqual({ kind: 'text' })
    expect(textKind('# Title\n\nText')).toEqual({ kind: 'markdown' })
    expect(textKind('a **bold** word')).toEqual({ kind: 'markdown' })
    expect(textKind('2 * 3 * 4 is 24')).toEqual({ kind: 'text' })
  })

  test('the test for markdown takes no longer for text that was made for that', () => {
    const texts = ['[', '[a', '**a', '|a', '|a|\n', '| ', '- a\n', '#', '*'].map((part) => part.repeat(Math.floor(99_000 / part.length)))
    const start = performance.now()
    for (const text of texts) textKind(text)
    expect(performance.now() - start).toBeLessThan(1_000)
  })

  test('the type of a resource counts more than its text', () => {
    expect(textKind('# no heading', 'text/csv')).toEqual({ kind: 'text' })
    expect(textKind('plain', 'text/markdown')).toEqual({ kind: 'markdown' })
    expect(textKind('{"a":1}', 'text/x-source')).toEqual({ kind: 'text' })
  })

  test('long text is cut at line ends, and nothing is lost', () => {
    const text = Array.from({ length: 2_000 }, (_, index) => `line ${index}`).join('\n')
    const pieces = piecesOf(text, 1_000)
    expect(pieces.join('')).toBe(text)
    expect(pieces.slice(0, -1).every((piece) => piece.endsWith('\n'))).toBe(true)
    const faces = '😀'.repeat(1_500)
    expect(piecesOf(faces, 999).join('')).toBe(faces)
    expect(piecesOf(faces, 999).every((piece) => !/[\uD800-\uDBFF]$/.test(piece))).toBe(true)
  })

  test('the texts of a content are joined, without pictures', () => {
    const content = [
      { type: 'text', text: 'a' },
      { type: 'image', data: 'x' },
      { type: 'resource', resource: { uri: 'u', text: 'b' } },
      { type: 'resource_link', uri: 'note://1' },
    ]
    expect(textOf(content)).toBe('a\n\nb\n\nnote://1')
  })
})

describe('tables', () => {
  test('a list of objects is a table, and so is an object with one such list', () => {
    const rows = [
      { a: 1, b: 'x' },
      { a: 2, b: 'y' },
    ]
    expect(tableIn(rows)).toEqual({ columns: ['a', 'b'], rows })
    expect(tableIn({ found: rows, total: 2 })).toEqual({ name: 'found', columns: ['a', 'b'], rows, rest: { total: 2 } })
  })

  test('other data is not a table', () => {
    const many = Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`c${index}`, 1]))
    for (const value of [[], [1, 2], [{ a: 1 }, 2], { a: 1 }, 'x', null, [many], [{ a: 1 }, { b: 1 }, { c: 1 }], { a: [{}], b: [{}] }])
      expect(tableIn(value)).toBeUndefined()
  })

  test('cells show texts without quotes and everything else as JSON', () => {
    expect([undefined, 'a', ['a', 'b'], [1], { a: 1 }, null, false].map(cellText)).toEqual([
      '',
      'a',
      'a, b',
      '[1]',
      '{"a":1}',
      'null',
      'false',
    ])
  })
})

test('content that only repeats the structured content is recognised', () => {
  expect(isRepeated([{ type: 'text', text: '{ "a": [1] }' }], { a: [1] })).toBe(true)
  expect(isRepeated([{ type: 'text', text: '{"a":2}' }], { a: [1] })).toBe(false)
  expect(isRepeated([{ type: 'text', text: 'a' }], undefined)).toBe(false)
})

test('names of saved files contain no folder and nothing unusual', () => {
  expect(fileName('../../etc/passwd', 'json')).toBe('passwd.json')
  expect(fileName('note://abc?x=1', 'md')).toBe('abc.md')
  expect(fileName('a\u202Egnp.exe', 'png')).toBe('a-gnp.exe.png')
  expect(fileName('...', '')).toBe('result')
  expect(['application/json', 'image/png', 'audio/mpeg', 'x/../y', undefined].map(endingOf)).toEqual(['json', 'png', 'mp3', 'bin', 'bin'])
})
