/** Text of servers on a screen: nothing of it moves the cursor, reorders letters, forges a line, or hides. */

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { looksLike, skeleton } from '../../../src/base/text/confusable.ts'
import { hasInvisible, visibleText } from '../../../src/base/text/visible-text.ts'
import { expectLinear } from '../../support/linear.ts'

const ESC = '\x1b'

describe('what a terminal would act on is written out', () => {
  test.each([
    ['a colour', `${ESC}[31mred${ESC}[0m`, '\\x1b[31mred\\x1b[0m'],
    ['a cleared screen', `${ESC}[2J${ESC}[H`, '\\x1b[2J\\x1b[H'],
    [
      'a link by OSC 8',
      `${ESC}]8;;https://evil.example${ESC}\\safe${ESC}]8;;${ESC}\\`,
      '\\x1b]8;;https://evil.example\\x1b\\safe\\x1b]8;;\\x1b\\',
    ],
    ['the clipboard by OSC 52', `${ESC}]52;c;cm0gLXJm\x07`, '\\x1b]52;c;cm0gLXJm\\x07'],
    ['sequences of one byte', '\x9b31m\x9d52;c;\x9c', '\\x9b31m\\x9d52;c;\\x9c'],
    ['a carriage return that would write over the line', 'rm -rf /\rls', 'rm -rf /\\rls'],
    ['backspaces', 'rm\b\bls', 'rm\\x08\\x08ls'],
    ['nul, bell, delete', 'a\0\x07\x7f', 'a\\x00\\x07\\x7f'],
  ])('a character that a terminal would act on is written out: %s', (_name, text, shown) => {
    expect(visibleText(text)).toBe(shown)
    expect(hasInvisible(text)).toBe(true)
  })
})

describe('what a person would not see is written out', () => {
  test.each([
    ['embeddings and overrides', '\u202a\u202b\u202c\u202d\u202e', '<U+202A><U+202B><U+202C><U+202D><U+202E>'],
    ['isolates', '\u2066\u2067\u2068\u2069', '<U+2066><U+2067><U+2068><U+2069>'],
    ['marks of direction', '\u200e\u200f\u061c', '<U+200E><U+200F><U+061C>'],
    ['characters without width', 'a\u200bb\u200cc\u200dd\ufeffe\u2060', 'a<U+200B>b<U+200C>c<U+200D>d<U+FEFF>e<U+2060>'],
    ['tags', '\u{e0048}\u{e0069}\u{e007f}\u{e0001}', '<U+E0048><U+E0069><U+E007F><U+E0001>'],
    ['the supplement of variation selectors', 'a\u{e0100}\u{e01ef}', 'a<U+E0100><U+E01EF>'],
    ['variation selectors on nothing', 'a\ufe0f\ufe0e\ufe00', 'a<U+FE0F><U+FE0E><U+FE00>'],
    ['separators of lines', 'a\u2028b\u2029c\u0085', 'a<U+2028>b<U+2029>c\\x85'],
    ['lone surrogates', 'a\ud800b\udc00', 'a<U+D800>b<U+DC00>'],
    ['private use', '\ue000\u{f0000}', '<U+E000><U+F0000>'],
    ['fillers and blanks', '\u3164\u115f\uffa0\u2800\u00ad\u180e', '<U+3164><U+115F><U+FFA0><U+2800>\\xad<U+180E>'],
  ])('a character that a person would not see is written out: %s', (_name, text, shown) => {
    expect(visibleText(text)).toBe(shown)
    expect(hasInvisible(text)).toBe(true)
  })

  test('a second variation selector on an emoji is written out, the first is not', () => {
    expect(visibleText('❤\ufe0f')).toBe('❤\ufe0f')
    expect(visibleText('❤\ufe0f\ufe0f')).toBe('❤\ufe0f<U+FE0F>')
  })
})

describe('lines', () => {
  test('a line end in a log field does not start another entry', () => {
    expect(visibleText('ok\n2026 ERROR root logged in')).toBe('ok\\n2026 ERROR root logged in')
    expect(visibleText('ok\r\n2026 ERROR')).toBe('ok\\r\\n2026 ERROR')
  })

  test('all kinds of line ends are kept in text of several lines', () => {
    expect(visibleText('a\n\tb\r\nc', { multiline: true })).toBe('a\n\tb\nc')
    expect(hasInvisible('a\n\tb\r\nc')).toBe(false)
  })

  test('a lone carriage return is written out even in text of several lines', () => {
    expect(visibleText('a\rb\n', { multiline: true })).toBe('a\\rb\n')
    expect(hasInvisible('a\rb')).toBe(true)
  })
})

test.each([
  ['letters with marks', 'Größe façade naïve'],
  ['Greek, Russian, Chinese, Japanese, Korean', 'λόγος слово 语言 日本語 한국어'],
  ['Hebrew and Arabic', 'שלום مرحبا'],
  ['Persian with its joiners', 'می\u200cخواهم'],
  ['Hindi with its joiners', 'क्\u200dष'],
  ['emoji', '👍🏽 🇪🇺 1\ufe0f\u20e3 ❤\ufe0f'],
  ['families of emoji', '👩‍👩‍👧‍👦 🏳️‍🌈 👩🏽‍💻'],
  ['Arabic signs around a number', '\u0600\u0661'],
  ['punctuation and wide spaces', '“a” – b… c\u00a0d\u3000e'],
])('%s stay unchanged', (_name, text) => {
  expect(visibleText(text)).toBe(text)
  expect(hasInvisible(text)).toBe(false)
})

test('visible text contains nothing invisible and does not change when it is made visible again', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      const shown = visibleText(text)
      expect(hasInvisible(shown)).toBe(false)
      expect(shown).not.toMatch(/[\r\n]/)
      expect(visibleText(shown)).toBe(shown)
      expect(shown === text).toBe(!hasInvisible(text) && !text.includes('\n'))
    }),
  )
})

test.each([
  ['escapes', ESC],
  ['joiners', '\u200d'],
  ['selectors', '\ufe0f'],
  ['tags', '\u{e0041}'],
  ['plain letters', 'a'],
  ['emoji and joiners', '👩\u200d'],
])('making many %s visible takes time in proportion', (_name, unit) => {
  expectLinear(20_000, (size) => {
    const text = unit.repeat(size)
    return () => {
      visibleText(text)
      hasInvisible(text)
    }
  })
})

describe('names that look alike', () => {
  test.each([
    ['read_file', 'reаd_file'], // Cyrillic а
    ['read_file', 'read_fiIe'],
    ['read_file', 'read_fi1e'],
    ['google', 'g00gle'],
    ['google', 'gοοgle'], // Greek ο
    ['send', 'ｓｅｎｄ'],
    ['send', 'se\u200bnd'],
    ['send', 'sénd'],
    ['modern', 'modem'],
    ['read_file', 'read-file'],
    ['Read', 'read'],
    ['list', 'List'],
    ['view', 'vievv'],
  ])('the names %s and %s look alike', (a, b) => {
    expect(looksLike(a, b)).toBe(true)
    expect(looksLike(b, a)).toBe(true)
  })

  test.each([
    ['read_file', 'write_file'],
    ['read', 'reads'],
    ['add', 'and'],
    ['数据', '数字'],
  ])('the names %s and %s do not look alike', (a, b) => {
    expect(looksLike(a, b)).toBe(false)
  })

  test('a name does not count as looking like itself', () => {
    expect(looksLike('read', 'read')).toBe(false)
  })

  test('a skeleton of a name is its own skeleton', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (name) => {
        expect(skeleton(skeleton(name))).toBe(skeleton(name))
      }),
    )
  })
})
