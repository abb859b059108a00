import { describe, expect, test } from 'vitest'
import { compile } from '../../../src/protocol/schema/compile.ts'
import { FORMATS } from '../../../src/protocol/schema/formats.ts'
import { expectLinear } from '../../support/linear.ts'

const TABLE: Record<string, { good: string[]; bad: string[] }> = {
  'date-time': {
    good: [
      '2025-01-12T15:00:58Z',
      '2025-01-12t15:00:58.123z',
      '2025-01-12T15:00:58+05:30',
      '1998-12-31T23:59:60Z',
      '1998-12-31T15:59:60.5-08:00',
    ],
    bad: [
      '2025-01-12',
      '2025-01-12T15:00Z',
      '2025-01-12T15:00:58',
      '2025-13-12T15:00:58Z',
      '2025-01-12T24:00:00Z',
      '2025-01-12T15:00:60Z',
      'T15:00:58Z',
      '2025-01-12T15:00:58+25:00',
      '2025-01-12T15:00:58.Z',
    ],
  },
  date: {
    good: ['2025-01-31', '2024-02-29', '2000-02-29', '0000-01-01'],
    bad: ['2025-02-29', '1900-02-29', '2025-04-31', '2025-00-10', '2025-1-1', '25-01-01', '2025-01-00', '2025/01/01', ''],
  },
  time: { good: ['00:00:00Z', '23:59:59.999+01:00', '23:59:60Z'], bad: ['24:00:00Z', '12:60:00Z', '12:00:00', '12:00Z', '22:59:60Z'] },
  email: {
    good: ['a@b', 'first.last+tag@sub.example.com', "o'hara@example.com", `${'a'.repeat(64)}@example.com`],
    bad: [
      '',
      'a',
      '@b',
      'a@',
      'a@@b',
      '.a@b',
      'a.@b',
      'a..b@c',
      'a b@c',
      'a@b c',
      'a@-b',
      `${'a'.repeat(65)}@example.com`,
      `a@${'b.'.repeat(126)}com`,
    ],
  },
  uri: {
    good: ['https://example.com/a?b=c#d', 'urn:isbn:0451450523', 'mailto:a@b', 'x:', 'file:///a%20b'],
    bad: ['', '/a/b', 'example.com', '1x://a', '://a', 'http://a b', 'http://a/%zz', 'http://a/%4', 'http://ä', 'x:<>'],
  },
  'uri-reference': { good: ['', '/a/b', '../x', '#f', '?q', 'https://a'], bad: ['a b', '\\x', '%zz'] },
  uuid: {
    good: ['123e4567-e89b-12d3-a456-426614174000', '00000000-0000-0000-0000-000000000000', 'ABCDEF01-2345-6789-ABCD-EF0123456789'],
    bad: [
      '123e4567e89b12d3a456426614174000',
      '123e4567-e89b-12d3-a456-42661417400',
      'g23e4567-e89b-12d3-a456-426614174000',
      ' 123e4567-e89b-12d3-a456-426614174000',
    ],
  },
  ipv4: {
    good: ['0.0.0.0', '255.255.255.255', '127.0.0.1'],
    bad: ['256.0.0.1', '1.2.3', '1.2.3.4.5', '01.2.3.4', '1.2.3.a', '', '1.2.3.4 '],
  },
  ipv6: {
    good: ['::', '::1', '1::', '2001:db8::ff00:42:8329', '1:2:3:4:5:6:7:8', '::ffff:192.0.2.1', '1:2:3:4:5:6:1.2.3.4'],
    bad: [
      '',
      ':',
      ':::',
      '1::2::3',
      '1:2:3:4:5:6:7',
      '1:2:3:4:5:6:7:8:9',
      '12345::',
      'g::',
      '1.2.3.4::',
      '::1.2.3.256',
      '1:2:3:4:5:6:7:1.2.3.4',
      '[::1]',
      '1:2:3:4::5:6:7:8',
    ],
  },
  hostname: {
    good: ['localhost', 'a.b-c.example', 'xn--mnchen-3ya.de', '1.a'],
    bad: ['', '-a', 'a-', 'a..b', '.a', 'a_b', 'a'.repeat(64), 'a b', `${'a.'.repeat(127)}a`],
  },
}

test('every format that is checked has its examples here', () => {
  expect(Object.keys(TABLE).sort()).toEqual(Object.keys(FORMATS).sort())
})

describe.each(Object.entries(TABLE))('%s', (format, { good, bad }) => {
  const validate = compile({ format }, { assertsFormats: true })

  test.each(good)('the text %j has the format', (text) => {
    expect(validate(text)).toEqual({ ok: true, value: text })
  })

  test.each(bad)('the text %j does not have the format', (text) => {
    expect(validate(text).ok).toBe(false)
  })

  test('a format ignores values that are not strings, and everything where it only annotates', () => {
    expect(validate(1).ok).toBe(true)
    expect(compile({ format })(bad[0]).ok).toBe(true)
  })

  test('a format is checked in linear time', () => {
    expectLinear(20_000, (size) => {
      const texts = ['a', '1', '.', '-', 'a.', 'a-', '1:', '::', '%41', 'a@', 'T', '0'].map((unit) => unit.repeat(size / unit.length))
      return () => {
        for (const text of texts) validate(text)
      }
    })
  })
})

test('an unknown format only annotates', () => {
  expect(compile({ format: 'iri' }, { assertsFormats: true })('anything').ok).toBe(true)
  expect(compile({ format: 'toString' }, { assertsFormats: true })('anything').ok).toBe(true)
})
