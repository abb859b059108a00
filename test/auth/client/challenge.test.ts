import { beforeEach, describe, expect, test } from 'vitest'
import { oauthChallengeOf, parseChallenges } from '../../../src/auth/client/discovery/challenge.ts'
import { cpuClock } from '../../support/linear.ts'

import { proves } from '../../support/proves.ts'

const parsed = (header: string | string[]) =>
  parseChallenges(header).map(({ scheme, params }) => ({ scheme, ...Object.fromEntries(params) }))

describe('the challenges of a refused request', () => {
  beforeEach(() => proves('T-AUTH-022'))

  test.each<[string, string | string[], object[]]>([
    ['one scheme without anything', 'Bearer', [{ scheme: 'bearer' }]],
    ['parameters', 'Bearer realm="x", scope="a b"', [{ scheme: 'bearer', realm: 'x', scope: 'a b' }]],
    ['schemes and names in any case', 'BEARER Scope="a"', [{ scheme: 'bearer', scope: 'a' }]],
    ['commas in quotes', 'Bearer realm="a, Basic b=c", scope="d"', [{ scheme: 'bearer', realm: 'a, Basic b=c', scope: 'd' }]],
    ['quotes in quotes', String.raw`Bearer realm="say \"hi\", ok", scope=d`, [{ scheme: 'bearer', realm: 'say "hi", ok', scope: 'd' }]],
    [
      'several schemes in one header',
      'Negotiate, Basic realm="b", Bearer scope="a", DPoP algs="ES256"',
      [{ scheme: 'negotiate' }, { scheme: 'basic', realm: 'b' }, { scheme: 'bearer', scope: 'a' }, { scheme: 'dpop', algs: 'ES256' }],
    ],
    [
      'several headers',
      ['Basic realm="b"', 'Bearer scope=a'],
      [
        { scheme: 'basic', realm: 'b' },
        { scheme: 'bearer', scope: 'a' },
      ],
    ],
    ['credentials in one piece', 'NTLM TlRMTVNTUAAC==, Bearer scope=a', [{ scheme: 'ntlm' }, { scheme: 'bearer', scope: 'a' }]],
    ['spaces around the equals sign', 'Bearer scope = "a" , error = x', [{ scheme: 'bearer', scope: 'a', error: 'x' }]],
    ['of a doubled parameter the first', 'Bearer scope="a", scope="b"', [{ scheme: 'bearer', scope: 'a' }]],
    ['empty elements', ', ,Bearer ,, scope="a"', [{ scheme: 'bearer', scope: 'a' }]],
    ['what makes sense before what does not', 'Bearer scope="a", realm="no end', [{ scheme: 'bearer', scope: 'a' }]],
    ['nothing of nonsense', '"quoted"', []],
  ])('a challenge is parsed: %s', (_, header, expected) => {
    expect(parsed(header)).toEqual(expected)
  })

  test('challenges are parsed in linear time, up to a number', () => {
    const passed = cpuClock()
    for (const text of ['"'.repeat(100_000), '\\'.repeat(100_000), 'a '.repeat(50_000), 'Bearer x="'.repeat(10_000), ','.repeat(100_000)]) {
      expect(parseChallenges(text).length).toBeLessThanOrEqual(16)
      expect(parseChallenges(Array.from({ length: 1000 }, () => text)).length).toBeLessThanOrEqual(16)
    }
    expect(passed()).toBeLessThan(3000)
    expect(parseChallenges(`Bearer ${Array.from({ length: 100 }, (_, i) => `p${i}=x`).join(', ')}`)[0]?.params.size).toBe(32)
  })

  test('only parameters of our own schemes are read from a challenge', () => {
    const demand = oauthChallengeOf(parseChallenges('Basic scope="x", error="y", Bearer scope="a", resource_metadata="https://a/b"'))
    expect(demand).toEqual({
      offersBearer: true,
      offersDpop: false,
      isOther: false,
      scope: 'a',
      resourceMetadata: 'https://a/b',
      error: undefined,
    })
    expect(oauthChallengeOf([])).toMatchObject({ offersBearer: false, offersDpop: false, scope: undefined })
    expect(oauthChallengeOf(parseChallenges('ApiKey header="x-api-key"'))).toMatchObject({ offersBearer: false, isOther: true })
  })
})
