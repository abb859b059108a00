/** Values that are known to be secret do not leave, in clear or encoded, and looking for them is cheap. */

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { redactor } from '../../../src/host/secrets/redactor.ts'
import { expectLinear } from '../../support/linear.ts'

const SECRET = 'pä$$ w0rd/+"quoted"?&'

describe('a secret', () => {
  test.each<[how: string, text: string, left: RegExp]>([
    ['as it is', `a ${SECRET} b`, /^a \[redacted\] b$/],
    ['in JSON', JSON.stringify({ a: SECRET }), /^\{"a":"\[redacted\]"\}$/],
    ['in a URL', `https://x.example/?k=${encodeURIComponent(SECRET)}&l=m`, /^https:\/\/x\.example\/\?k=\[redacted\]&l=m$/],
    ['in a URL with small digits', encodeURIComponent(SECRET).replace(/%../g, (code) => code.toLowerCase()), /^\[redacted\]$/],
    ['in a form', new URLSearchParams({ k: 'pa ss/word' }).toString(), /^k=\[redacted\]$/],
    ['in base64', Buffer.from(SECRET).toString('base64'), /^\[redacted\].?={0,2}$/],
    ['in base64url', Buffer.from(SECRET).toString('base64url'), /^\[redacted\].?$/],
    ['in the credentials of Basic', `Basic ${Buffer.from(`ada:${SECRET}`).toString('base64')}`, /^Basic YWRhO.\[redacted\].?={0,2}$/],
    ['in base64 of something around it', Buffer.from(`xx${SECRET}yyy`).toString('base64'), /^.{2,3}\[redacted\].{4,7}$/],
    ['in hexadecimal digits', Buffer.from(SECRET).toString('hex'), /^\[redacted\]$/],
  ])('a secret is hidden %s', (_how, text, left) => {
    expect(redactor([SECRET, 'pa ss/word']).scrub(text)).toMatch(left)
  })

  test('a secret of several lines is hidden line by line, because logs are read by line', () => {
    const key = '-----BEGIN KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\nBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj\n-----END KEY-----\n'
    const { scrub } = redactor([key])
    expect(scrub('  MIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n')).toBe('  [redacted]\n')
    expect(scrub(`a ${key} b`)).toBe('a [redacted] b')
  })

  test('a value too short to distinguish from other text is not hidden', () => {
    expect(redactor(['abc']).scrub('abc abcd')).toBe('abc abcd')
    expect(redactor(['abcd']).scrub('abc abcd')).toBe('abc [redacted]')
    expect(redactor(['abcdef'], { minChars: 7 }).scrub('abcdef')).toBe('abcdef')
    expect(redactor().scrub('abc')).toBe('abc')
  })

  test('secrets can be added at any time, up to maxChars', () => {
    const one = redactor([], { maxChars: 1000 })
    expect(one.scrub('hunter22')).toBe('hunter22')
    one.add('hunter22')
    expect(one.scrub('hunter22')).toBe('[redacted]')
    expect(() => one.add('x'.repeat(1000))).toThrowError(
      expect.objectContaining({ code: 'ERR_LIMIT', message: expect.stringContaining('maxChars') }),
    )
    expect(() => one.add('x'.repeat(1000))).toThrowError(expect.not.stringContaining('xxxx'))
    expect(one.scrub('hunter22')).toBe('[redacted]')
  })
})

describe('several secrets', () => {
  test('secrets that overlap, touch or contain each other are hidden completely', () => {
    const { scrub } = redactor(['secret-one', 'one-secret-two', 'cret-', 'twofold!'])
    expect(scrub('a secret-one-secret-two b')).toBe('a [redacted] b')
    expect(scrub('a secret- b')).toBe('a se[redacted] b')
    expect(scrub('secret-onesecret-one')).toBe('[redacted]')
  })

  test('secrets are found wherever a plain search finds them', () => {
    const word = fc.string({ unit: fc.constantFrom('a', 'b'), minLength: 4, maxLength: 7 })
    fc.assert(
      fc.property(fc.array(word, { maxLength: 5 }), fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 60 }), (words, text) => {
        const hidden = [...text].map(() => false)
        for (const each of words) {
          for (let at = text.indexOf(each); at !== -1; at = text.indexOf(each, at + 1)) hidden.fill(true, at, at + each.length)
        }
        const expected = [...text]
          .map((character, i) => (hidden[i] ? '\0' : character))
          .join('')
          .replace(/\0+/g, '[redacted]')
        expect(redactor(words).scrub(text)).toBe(expected)
      }),
      { numRuns: 2000 },
    )
  })

  test.each(['a', 'ab', 'hunter22'])('searching a text that repeats %s takes linear time', (piece) => {
    const { scrub } = redactor(Array.from({ length: 50 }, (_, i) => `${'a'.repeat(100 + i)}b${'ab'.repeat(i)}`))
    expectLinear(20_000, (size) => {
      const text = piece.repeat(size)
      return () => void scrub(text)
    })
  })
})
