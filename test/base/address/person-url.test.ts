import { domainToASCII } from 'node:url'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isLoopback } from '../../../src/base/address/loopback.ts'
import { personUrl, type UrlWarning } from '../../../src/base/address/person-url.ts'
import { expectLinear } from '../../support/linear.ts'
import { proves } from '../../support/proves.ts'

describe('a URL that a person may be asked to open', () => {
  test('a URL for a person is shown in full, with its host on its own', () => {
    expect(personUrl('https://example.com/connect?id=7#x')).toEqual({
      href: 'https://example.com/connect?id=7#x',
      host: 'example.com',
      hostUnicode: 'example.com',
      warnings: [],
    })
  })

  test.each<[text: string, warnings: UrlWarning[]]>([
    ['https://example.com', []],
    ['https://example.com:443/', []],
    ['https://example.com:8443/', ['unusual-port']],
    ['https://user@example.com/', ['user-info']],
    ['https://paypal.com:x@evil.example/', ['user-info']],
    ['https://paypal.com%2F@evil.example/', ['user-info']],
    ['https://10.0.0.1/', ['ip-address']],
    ['https://0x7f000001/', ['ip-address']],
    ['https://2130706433/', ['ip-address']],
    ['https://[2001:db8::1]/', ['ip-address']],
    ['https://xn--mnchen-3ya.de/', ['punycode']],
    ['https://münchen.de/', ['punycode']],
    ['https://xn--80ak6aa92e.com/', ['punycode']],
    ['https://аpple.com/', ['punycode', 'mixed-scripts']],
    ['https://www.gοοgle.com/', ['punycode', 'mixed-scripts']],
    ['https://sub.аpple.evil.example:99/', ['punycode', 'mixed-scripts', 'unusual-port']],
    ['https://москва.рф/', ['punycode']],
    ['https://москва.example/', ['punycode']],
    ['http://localhost/', ['not-encrypted']],
    ['http://localhost:3000/', ['not-encrypted']],
    ['http://app.localhost:3000/', ['not-encrypted']],
    ['http://127.0.0.1:3000/', ['ip-address', 'not-encrypted']],
    ['http://127.1/', ['ip-address', 'not-encrypted']],
    ['http://[::1]:3000/', ['ip-address', 'not-encrypted']],
  ])('the URL %s has the warnings %j', (text, warnings) => {
    proves('T-ELIC-094')
    expect(personUrl(text)?.warnings).toEqual(warnings)
  })
})

test.each(['xn---t4ovj.example', 'a.xn---t4ovj.example', 'xn---t4ovj'])(
  'a host name that cannot be decoded is shown as it is written: %s',
  (host) => {
    expect(new URL(`https://${host}/`).hostname).toBe(host)
    expect(personUrl(`https://${host}/`)).toMatchObject({ host, hostUnicode: host })
  },
)

describe('a URL that a person may not be asked to open', () => {
  test.each([
    'http://example.com/',
    'http://localhost.evil.example/',
    'http://127.0.0.1.evil.example/',
    'http://128.0.0.1/',
    'http://[::2]/',
    'http://localhost./',
    'file:///etc/passwd',
    'javascript:alert(1)',
    'JAVASCRIPT:alert(1)',
    ' javascript:alert(1)',
    'data:text/html,x',
    'vbscript:x',
    'blob:https://example.com/x',
    'ftp://example.com/',
    'ws://localhost/',
    'wss://example.com/',
    'custom-app://open',
    'mailto:a@b',
    'about:blank',
    'view-source:https://example.com',
    'not a url',
    '',
    '/relative',
    '//example.com',
    'https://',
    'https://exa mple.com',
    'https://xn--a/',
    `https://${'a.'.repeat(130)}com/`,
  ])('a person may not be asked to open %s', (text) => {
    expect(personUrl(text)).toBeUndefined()
  })

  test('a person is never asked to open a URL whose host cannot exist in DNS, in any spelling', () => {
    expect(personUrl(`https://${'a.'.repeat(125)}com/`)?.host).toHaveLength(253)
    expect(personUrl(`https://${'a.'.repeat(125)}xcom/`)).toBeUndefined()
    expect(personUrl(`https://${'ü'.repeat(200_000)}.example/`)).toBeUndefined()
  })
})

describe('the letters behind punycode', () => {
  test.each([
    ['xn--mnchen-3ya.de', 'münchen.de'],
    ['xn--bcher-kva.example', 'bücher.example'],
    ['xn--fiqs8s', '中国'],
    ['xn--fsqu00a.xn--0zwm56d', '例子.测试'],
    ['xn--80ak6aa92e.com', 'аррӏе.com'],
    ['xn--e1afmkfd.xn--p1ai', 'пример.рф'],
    ['xn--r8jz45g.xn--zckzah', '例え.テスト'],
    ['xn--mgbh0fb.xn--kgbechtv', 'مثال.إختبار'],
    ['xn--hxajbheg2az3al.xn--jxalpdlp', 'παράδειγμα.δοκιμή'],
    ['xn--ls8h.la', '💩.la'],
    ['xn--fa-hia.de', 'faß.de'],
    ['a.xn--bcher-kva.b', 'a.bücher.b'],
  ])('the punycode host %s is decoded to %s', (host, unicode) => {
    proves('T-ELIC-094')
    expect(personUrl(`https://${host}/`)).toMatchObject({
      host,
      hostUnicode: unicode,
      warnings: expect.arrayContaining(['punycode']) as unknown,
    })
  })

  test('a decoded punycode host equals the name that any encoder was given', () => {
    const letter = fc.constantFrom(...'abzßäéπжяあ漢字한ع😀0-')
    const label = fc.string({ unit: letter, minLength: 1, maxLength: 12 }).filter((text) => !/^-|-$|^..--/.test(text))
    fc.assert(
      fc.property(label, (text) => {
        const host = domainToASCII(`${text}.example`)
        const url = personUrl(`https://${host}/`)
        // The URL parser refuses names that mix directions of writing.
        if (url?.host === host) expect(url.hostUnicode).toBe(`${text}.example`)
      }),
      { numRuns: 500 },
    )
  })
})

test('checking a URL for a person takes time in proportion to its length', () => {
  expectLinear(100_000, (size) => {
    const urls = [
      `https://example.com/${'a'.repeat(size)}`,
      `https://${'ü'.repeat(size / 10)}.example/`,
      `https://${'xn--'.repeat(size / 40)}/`,
    ]
    return () => urls.map(personUrl)
  })
})

test.each<[string, boolean]>([
  ['localhost', true],
  ['a.localhost', true],
  ['127.0.0.1', true],
  ['127.255.255.254', true],
  ['[::1]', true],
  ['localhost.example', false],
  ['notlocalhost', false],
  ['127.0.0', false],
  ['1270.0.0.1', false],
  ['[::2]', false],
])('the host %s is on this machine: %s', (host, expected) => {
  expect(isLoopback(host)).toBe(expected)
})
