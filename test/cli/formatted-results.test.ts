/** Results and text of models as a person sees them. */

import { describe, expect, test } from 'vitest'
import { printResult, resultLines } from '../../src/cli/output/content.ts'
import { fittedLines } from '../../src/cli/output/fitted.ts'
import { MediaFolder } from '../../src/cli/output/media.ts'
import { Screen } from '../../src/cli/output/screen.ts'
import { StreamedText } from '../../src/cli/output/streamed-text.ts'
import { structuredLines } from '../../src/cli/output/structured.ts'
import { stylesFor } from '../../src/cli/output/style.ts'
import type { CallToolResult } from '../../src/client/index.ts'
import { memoryIo } from './support/memory-io.ts'

const plain = stylesFor(false)
const shown = (value: unknown, columns = 40): string =>
  structuredLines(value, { style: plain, columns })
    .map(({ text }) => text.trimEnd())
    .join('\n')

describe('structured content', () => {
  test('an object is shown as lines of key and value, with lists of plain values on one line', () => {
    expect(shown({ id: 'a1', title: 'Milk', tags: ['home', 'food'], done: false, none: [], due: null })).toBe(
      'id     a1\ntitle  Milk\ntags   home, food\ndone   false\nnone   (none)\ndue    null',
    )
  })

  test('the heading of a column has its words apart', () => {
    expect(shown([{ id: 'a1', updatedAt: 'today' }])).toBe('ID  UPDATED AT\na1  today')
  })

  test('a list of objects is a table if every cell fits, and blocks of lines otherwise', () => {
    const list = [
      { id: 'a1', title: 'Milk' },
      { id: 'a2', title: 'Bread', tag: 'x' },
    ]
    expect(shown({ total: 2, notes: list })).toBe('total  2\nnotes\n  ID  TITLE  TAG\n  a1  Milk\n  a2  Bread  x')
    expect(shown([{ id: 'a1', text: 'a text that is longer than the line of the terminal' }])).toBe(
      '- id    a1\n  text  a text that is longer than the\n        line of the terminal',
    )
  })

  test('nested objects are indented, very deep ones are JSON, and nothing is left out', () => {
    const text = shown({ a: { b: { c: { d: { e: 1 } } } } })
    expect(text).toBe('a\n  b\n    c\n      d\n        {"e":1}')
  })

  test('line breaks are line breaks, and control characters of a server are made visible', () => {
    expect(shown({ text: 'one\ntwo', 'bad\u001bkey': '\u001b[2J' })).toBe('text        one\n            two\nbad\\x1bkey  \\x1b[2J')
  })
})

describe('results', () => {
  const result: CallToolResult = { structuredContent: { id: 'a1' }, content: [{ type: 'text', text: '{"id":"a1"}' }] }
  const printed = async (isTTY: boolean): Promise<string> => {
    const io = memoryIo({ isTTY, env: { NO_COLOR: '1' } })
    await printResult({ io, screen: new Screen(io) }, result, new MediaFolder(io), 'x')
    return io.out()
  }

  test('a result with structured content is shown once: formatted on a terminal, JSON otherwise', async () => {
    expect(await printed(true)).toBe('id  a1\n')
    expect(JSON.parse(await printed(false))).toEqual({ id: 'a1' })
  })

  test('in a chat the same content is shown once, with media by their type', () => {
    const image = { type: 'image' as const, data: 'AA==', mimeType: 'image/png' }
    const lines = resultLines({ ...result, content: [...result.content, image] }, plain, 80)
    expect(lines.map(({ text }) => text)).toEqual(['[image image/png]', 'id  a1'])
    expect(resultLines(result, plain, undefined).map(({ text }) => text)).toEqual(['{"id":"a1"}'])
  })
})

describe('wrapping', () => {
  test('text is wrapped at words, and an address that is wider than the line stays whole', () => {
    const address = 'https://example.com/a/very/long/path'
    expect(fittedLines(`Open ${address} now please`, 20)).toEqual(['Open', address, 'now please'])
    expect(fittedLines('x'.repeat(50), 24)).toEqual(['x'.repeat(24), 'x'.repeat(24), 'xx'])
  })

  test('control characters are escaped before the text is measured', () => {
    for (const line of fittedLines('\u001b[31m red '.repeat(5), 20)) {
      expect(line.length).toBeLessThanOrEqual(20)
      expect(line).not.toContain('\u001b')
    }
  })

  test('text that streams in is wrapped at words and keeps its line breaks and indentation', () => {
    let out = ''
    const text = new StreamedText(
      () => 20,
      (part) => {
        out += part.text
      },
    )
    for (const piece of ['The quick br', 'own fox jumps', ' over\n    the ', 'lazy dog']) text.add(piece)
    text.end()
    expect(out).toBe('The quick brown fox\njumps over\n    the lazy dog')
  })
})
