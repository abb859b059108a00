import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { cutTexts, redact, redactHead, redactText } from '../../../src/base/text/redact.ts'
import { cpuMs, expectLinear } from '../../support/linear.ts'
import { proves } from '../../support/proves.ts'

const HIDDEN = '[redacted]'
const JWT = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U'
const PEM =
  '-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0A1B\n\nMIIEowIBAAKCAQEA\n-----END RSA PRIVATE KEY-----'

describe('in a text', () => {
  test.each([
    ['Authorization: Bearer abcdefghijklmnop', `Authorization: ${HIDDEN}`],
    ['bearer a1b2c3d4 and more', `${HIDDEN} and more`],
    ['DPoP Kz~8mXK1EalYznwH-LC-1fBAo.4Ljp~zsPE_NeO.gxU', HIDDEN],
    ['Basic dXNlcjpwYXNzd29yZA==', HIDDEN],
    ['Basic dXNlcjpodW50ZXIy', HIDDEN],
    ['Basic YWJjOmRlZmdoaWprbG1ub3BxcnN0', HIDDEN],
    [`got ${JWT}.`, `got ${HIDDEN}`],
    [`session-${JWT}`, HIDDEN],
    [`${JWT}.part.part`, HIDDEN],
    ['key sk-proj-a1B2c3D4e5F6g7H8', `key ${HIDDEN}`],
    ['sk_live_4eC39HqLyjWDarjtT1zdp7dc', HIDDEN],
    ['pk_test_TYooMQauvdEDq54NiTphI7jx', HIDDEN],
    ['sk-abcdefghijklmnopqrstuv', HIDDEN],
    ['ghp_16C7e42F292c6912E7710c838347Ae178B4a', HIDDEN],
    ['github_pat_11ABCDEFG0abcdefghijkl', HIDDEN],
    ['xoxb-123456789012-abcdefghij', HIDDEN],
    ['glpat-ABCDEFGHIJKLMNOPQRST', HIDDEN],
    ['AKIAIOSFODNN7EXAMPLE', HIDDEN],
    ['x=ASIAIOSFODNN7EXAMPLE;', `x=${HIDDEN};`],
    [`before\n${PEM}\nafter`, `before\n${HIDDEN}\nafter`],
    ['-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANB', HIDDEN],
    ['postgres://app:s3cret@db.example/main', `postgres://app:${HIDDEN}@db.example/main`],
    ['https://:token@host/', `https://:${HIDDEN}@host/`],
    ['https://example.com/?access_token=abc123&x=1', `https://example.com/?access_token=${HIDDEN}&x=1`],
    ['PASSWORD=hunter2 API_KEY="abc def"', `PASSWORD=${HIDDEN} API_KEY="${HIDDEN} def"`],
    ['client_secret=abc; api-key=xyz', `client_secret=${HIDDEN}; api-key=${HIDDEN}`],
  ])('a secret in a text is hidden: %j', (text, expected) => {
    proves('T-LOG-017', 'T-LOG-022')
    expect(redactText(text)).toBe(expected)
    expect(redact({ note: [text] })).toEqual({ note: [expected] })
  })

  test.each([
    'Basic authentication is off, bearer tokens are on',
    'Basic functionality and Basic HTTP/1.1 support',
    'Bearer authentication',
    'the skeleton-architecture-overview and a skateboarding tour',
    'risk-assessment-2025-report, desk-booking-2026-plan, task_2025_summary',
    'pkcs11-configuration for ASIA-PACIFIC-REGION2',
    'AKIATEST is short',
    'xoxo-love-and-kisses',
    'token = parser.next(); secret santa; password: required',
    'https://example.com:8080/a@b and mailto:someone@example.com',
    'see https://example.com/path:with:colons',
    'eyJ is how such a token begins',
    '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----',
    'v1.2.3-alpha.4, 192.168.1.1:443, 2025-01-12T15:00:58Z',
    '550e8400-e29b-41d4-a716-446655440000',
    '{"tool":"search","arguments":{"query":"how to sketch"}}',
  ])('ordinary words in a text stay: %j', (text) => {
    expect(redactText(text)).toBe(text)
  })

  test.each([
    'eyJaaaaaaaa-',
    'eyJaaaaaaaa.',
    '_eyJ',
    'sk-',
    'sk-a1',
    'Bearer ',
    'Bearer    ',
    'Basic a',
    '-----BEGIN ',
    '-----BEGIN PRIVATE KEY----- -----END ',
    'a://',
    'http://a:',
    'a',
    'xoxb-',
    'password=',
    '\n',
  ])('redacting a text takes time in proportion to its length, even for repeated %j', (unit) => {
    expectLinear(20_000, (size) => {
      const text = unit.repeat(size / unit.length)
      return () => redactText(text)
    })
  })
})

describe('by the name of a member', () => {
  test.each([
    'password',
    'userPassword',
    'passwd',
    'passphrase',
    'secret',
    'client_secret',
    'token',
    'access_token',
    'refreshToken',
    'Authorization',
    'proxy-authorization',
    'apiKey',
    'api_key',
    'API-KEY',
    'privateKey',
    'private_key',
    'Cookie',
    'set-cookie',
    'credential',
    'sessionId',
    'Mcp-Session-Id',
    'pin',
    'OTP',
  ])('a member called %s has its value hidden', (name) => {
    proves('T-LOG-017', 'T-LOG-022')
    expect(redact({ [name]: 'x' })).toEqual({ [name]: HIDDEN })
    expect(redact({ deep: [{ [name]: 1234 }] })).toEqual({ deep: [{ [name]: HIDDEN }] })
    expect(redact({ [name]: ['x', ['y', 7]] })).toEqual({ [name]: [HIDDEN, [HIDDEN, HIDDEN]] })
  })

  test('a member that is not a secret by name or type stays', () => {
    const value = {
      pinned: 'yes',
      spinning: 'x',
      option: 'otp',
      maxTokens: 100,
      tokens: 5,
      isTokenValid: true,
      secret: null,
      tokenInfo: { kind: 'jwt' },
    }
    expect(redact(value)).toEqual(value)
  })

  test('the members of an object under a secret name are hidden one by one', () => {
    expect(redact({ credentials: { user: 'anna', password: 'x' } })).toEqual({ credentials: { user: 'anna', password: HIDDEN } })
  })
})

describe('a value', () => {
  test('redaction copies a value and does not change it', () => {
    const value = Object.freeze({ a: Object.freeze([Object.freeze({ password: 'x' }), 1, null, true]) })
    expect(redact(value)).toEqual({ a: [{ password: HIDDEN }, 1, null, true] })
    expect(value.a[0]).toEqual({ password: 'x' })
  })

  test('redaction cuts a value that nests too deeply', () => {
    const nested = (levels: number): unknown => (levels === 0 ? { password: 'x' } : { a: nested(levels - 1) })
    expect(JSON.stringify(redact(nested(15)))).toContain(HIDDEN)
    expect(JSON.stringify(redact(nested(16)))).toContain('[too deep]')
    expect(JSON.stringify(redact({ password: JSON.parse(`${'['.repeat(40)}"x"${']'.repeat(40)}`) as unknown }))).not.toContain('"x"')
  })

  test('redaction returns a plain value unchanged', () => {
    for (const plain of [1, true, null, undefined]) expect(redact(plain)).toBe(plain)
  })
})

describe('text over the length limit', () => {
  const SECRETS = [
    JWT,
    PEM,
    'postgres://app:s3cret-of-the-database@db.example/main',
    'Bearer abcdefghijklmnop',
    'token=abc123def456',
    'sk-proj-a1B2c3D4e5F6g7H8',
  ]
  const PARTS = ['s3cret-of', 'abcdefghijklm', 'abc123de', 'a1B2c3D4e5', 'MIIEowIB']
  const filler = fc.constantFrom('x', 'word ', '\n', 'a-b_c', '//', ':', '@', '{"a":1}')

  test('only the beginning of a long text is read, and it contains no part of a secret', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(filler, fc.constantFrom(...SECRETS)), { maxLength: 60 }), fc.nat(1_500), (pieces, max) => {
        const text = `${pieces.join(' ')}${' filler'.repeat(400)}`
        const head = redactHead(text, max)
        expect(head.length).toBeLessThanOrEqual(max)
        for (const part of PARTS) expect(head).not.toContain(part)
        const { value, isCut } = cutTexts({ list: [text], more: text }, max)
        expect(isCut).toBe(true)
        const json = JSON.stringify(redact(value))
        for (const part of PARTS) expect(json).not.toContain(part)
      }),
    )
  })

  test.each([4_000, 40_000_000])('a text of %d characters is kept up to the length limit', (length) => {
    expect(redactHead('x'.repeat(length), 3_000)).toBe('x'.repeat(3_000))
    expect(redactHead(`password=${'x'.repeat(length)}`, 100)).toBe(`password=${HIDDEN}`)
  })

  test('a text under the length limit is kept whole', () => {
    expect(redactHead('abc', 3)).toBe('abc')
    expect(cutTexts({ a: ['b', 1, null, true], c: { d: 'e' } }, 100)).toEqual({
      value: { a: ['b', 1, null, true], c: { d: 'e' } },
      isCut: false,
    })
    const odd = JSON.parse('{"__proto__":{"a":1}}')
    expect(JSON.stringify(cutTexts(odd, 100).value)).toBe('{"__proto__":{"a":1}}')
  })

  test('values of any type are cut after a number of characters', () => {
    const sizeOf = (value: unknown): number => JSON.stringify(cutTexts(value, 1_000).value).length
    expect(sizeOf(Array(1_000_000).fill(0))).toBeLessThan(3_000)
    expect(sizeOf(Array(1_000_000).fill([]))).toBeLessThan(3_000)
    expect(sizeOf(Array(100_000).fill('abcdefgh'))).toBeLessThan(3_000)
    expect(sizeOf(Object.fromEntries(Array.from({ length: 100_000 }, (_, at) => [`name${at}`, at])))).toBeLessThan(3_000)
    let deep: unknown = 'x'
    for (let at = 0; at < 10_000; at++) deep = [deep]
    expect(sizeOf(deep)).toBeLessThan(3_000)
  })

  test('member names still hide their values in a long object', () => {
    const { value } = cutTexts({ password: 'x'.repeat(5_000), more: 'y' }, 1_000)
    expect(redact(value)).toEqual({ password: HIDDEN })
  })
})

test('redaction does not try a pattern at every letter of a plain text', () => {
  // 16 MB: tens of times as long where a pattern begins with letters of any kind.
  const text = 'x'.repeat(16_000_000)
  const least = cpuMs(() => void /(?<![\w-])[\w-]{0,32}?eyJ/.test(text))
  expect(cpuMs(() => void redactText(text))).toBeLessThan(10 * least + 500)
})
