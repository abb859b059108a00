import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decodeHeaderValue, encodeHeaderValue } from '../../src/http/header-value.ts'
import { proves } from '../support/proves.ts'

describe('a value in a header', () => {
  test.each([
    ['us-west1', 'us-west1', 'plain ASCII'],
    ['', '', 'nothing'],
    ['two words', 'two words', 'spaces inside'],
    ['!~', '!~', 'the first and the last visible character'],
    ['42', '42', 'digits'],
    ['=?base64?', '=?base64?', 'half of the mark'],
    ['Hello, 世界', '=?base64?SGVsbG8sIOS4lueVjA==?=', 'beyond ASCII'],
    ['é', '=?base64?w6k=?=', 'Latin-1'],
    [' padded ', '=?base64?IHBhZGRlZCA=?=', 'spaces around'],
    ['\tx', '=?base64?CXg=?=', 'a tab in front'],
    ['a\tb', '=?base64?YQli?=', 'a tab inside, which proxies fold'],
    ['line1\nline2', '=?base64?bGluZTEKbGluZTI=?=', 'a line break'],
    ['x\r\nSet-Cookie: a=b', '=?base64?eA0KU2V0LUNvb2tpZTogYT1i?=', 'another header'],
    ['\u0000', '=?base64?AA==?=', 'a control character'],
    ['\u007f', '=?base64?fw==?=', 'the last control character'],
    ['=?base64?literal?=', '=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?=', 'what looks like an encoded one'],
  ])('the value %j is sent as %j: %s', (value, text) => {
    proves('T-HDR-030', 'T-HDR-031', 'T-HDR-034', 'T-HDR-035', 'T-HDR-036', 'R-HDR-011', 'R-HDR-023', 'R-HDR-024')
    expect(encodeHeaderValue(value)).toBe(text)
    expect(decodeHeaderValue(text)).toBe(value)
  })

  test('an encoded header value is valid in HTTP and decodes to the same value', () => {
    proves('T-HDR-030', 'T-HDR-034', 'T-HDR-037')
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'binary-ascii' })), (value) => {
        const text = encodeHeaderValue(value)
        expect(text).toMatch(/^[!-~]?(?:[ -~]*[!-~])?$/)
        expect(decodeHeaderValue(text)).toBe(value)
      }),
    )
  })

  test.each(['=?base64?not base64?=', '=?base64?AAA?=', '=?base64?/w==?=', 'é', '\u0000', '\u007f', 'a\nb'])(
    'the header value %j is invalid',
    (text) => {
      expect(decodeHeaderValue(text)).toBeUndefined()
    },
  )

  test('an encoded header value has one spelling of its mark, and any other is plain text', () => {
    proves('R-HDR-023')
    expect(decodeHeaderValue('=?BASE64?eA==?=')).toBe('=?BASE64?eA==?=')
    expect(decodeHeaderValue('  us-west1\t')).toBe('us-west1')
  })
})
