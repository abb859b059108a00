import { describe, expect, test } from 'vitest'
import { decide } from '../../../src/host/consent/decide.ts'
import type { ArgumentRules, ArgumentTest } from '../../../src/host/model/rule.ts'
import { compileArguments, judgeArgument } from '../../../src/host/policy/argument-test.ts'
import { MAX_SELECTED } from '../../../src/host/policy/pointer.ts'
import { action, policy, rule } from '../consent/actions.ts'

const folders = { roots: { repo: '/home/ada/repo' }, real: new Map([['/tmp', '/private/tmp']]) }

// biome-ignore lint/suspicious/noTemplateCurlyInString: it is the syntax of a policy
const REPO = '${root:repo}'
// biome-ignore lint/suspicious/noTemplateCurlyInString: it is the syntax of a policy
const OTHER_ROOT = '${root:other}'

/** The verdict about `/v`, whose real path, if it has one, is given too. */
function judge(test: ArgumentTest, v: unknown, realPath?: string): boolean | undefined {
  const [argument] = compileArguments({ '/v': test }, folders)
  if (!argument) throw new Error('nothing was compiled')
  return judgeArgument(argument, action({ args: { v }, realPaths: realPath === undefined ? {} : { '/v': realPath } }), 'all')
}

describe('operators', () => {
  test.each<[ArgumentTest, unknown, boolean | undefined]>([
    [{ eq: { a: [1] } }, { a: [1] }, true],
    [{ eq: { a: [1] } }, { a: [1, 2] }, false],
    [{ eq: null }, null, true],
    [{ eq: null }, 0, false],
    [{ in: ['a', 2] }, 2, true],
    [{ in: ['a', 2] }, '2', false],
    [{ glob: 'a*c' }, 'abbc', true],
    [{ glob: 'a*c' }, 'ab/c', false],
    [{ glob: 'a**c' }, 'ab/c', true],
    [{ glob: 'abc' }, 'xabc', false],
    [{ glob: '*' }, 5, false],
    [{ re2: '^SELECT' }, 'SELECT 1', true],
    [{ re2: '^SELECT' }, '; SELECT 1', false],
    [{ re2: 'SELECT' }, '; SELECT 1', true],
    [{ len: { max: 3 } }, 'abc', true],
    [{ len: { max: 3 } }, 'abcd', false],
    [{ len: { min: 1 } }, [], false],
    [{ len: { min: 1 } }, { length: 5 }, false],
    [{ min: 0, max: 100 }, 100, true],
    [{ min: 0, max: 100 }, 101, false],
    [{ max: 100 }, '5', false],
    [{ schema: { type: 'object', required: ['a'] } }, { a: 1 }, true],
    [{ schema: { type: 'object', required: ['a'] } }, {}, false],
    [{ schema: { pattern: '^a+$' } }, 'aaa', true],
    [{ glob: 'a*', len: { max: 2 } }, 'ab', true],
    [{ glob: 'a*', len: { max: 2 } }, 'abc', false],
  ])('the test %j of %j is %s', (operators, value, verdict) => {
    expect(judge(operators, value)).toBe(verdict)
  })

  test.each<[string, boolean | undefined]>([
    ['https://corp.example/x', true],
    ['https://CORP.example.:443/x', true],
    ['https://a.b.docs.example/x', true],
    ['https://docs.example/x', false],
    ['https://notdocs.example/x', false],
    ['https://corp.example@evil.example/', false],
    ['https://evil.example/corp.example', false],
    ['https://corp.example.evil.example/', false],
    ['http://local.example:8080/', true],
    ['http://local.example:8081/', false],
    ['https://corp.example:8443/x', true],
    ['http://usual.example/', true],
    ['https://usual.example/', false],
    ['https://usual.example:80/', true],
    ['https://[::1]/', true],
    ['https://[::1]:8443/', false],
    ['https://evil.example\\@corp.example/', undefined],
    [' https://corp.example/', undefined],
    ['https://corp.example\t.evil.example/', undefined],
    ['javascript://corp.example/%0aalert(1)', undefined],
    ['corp.example', undefined],
    ['//corp.example/x', undefined],
  ])('the test hostIn of %j is %s', (url, verdict) => {
    expect(judge({ hostIn: ['corp.example', '*.docs.example', 'local.example:8080', 'usual.example:80', '[::1]:443'] }, url)).toBe(verdict)
  })

  test.each<[string, boolean | undefined]>([
    ['10.1.2.3', true],
    ['11.1.2.3', false],
    ['http://10.1.2.3/x', true],
    ['http://0x0a.1.2.3/', true],
    ['http://167838211/', true],
    ['http://[::ffff:10.1.2.3]/', true],
    ['64:ff9b::10.1.2.3', true],
    ['http://[fd00::1]/', true],
    ['fe80::1', false],
    ['http://example.com/', false],
    ['example.com', false],
    ['http://10.1.2.3\\@x/', undefined],
  ])('the test cidr of %j is %s', (text, verdict) => {
    expect(judge({ cidr: ['10.0.0.0/8', 'fd00::/8'] }, text)).toBe(verdict)
  })

  test.each<[ArgumentTest, string, string | undefined, boolean | undefined]>([
    [{ within: '/a/area' }, '/a/area/x', '/a/area/x', true],
    [{ within: '/a/area' }, '/a/area', '/a/area', true],
    [{ within: '/a/area' }, '/a/area2/x', '/a/area2/x', false],
    [{ within: '/a/area' }, '/a/area/link', '/etc/passwd', false],
    [{ within: '/a/area' }, '/a/area/..x', '/a/area/..x', true],
    [{ within: '/a/area' }, '../x', undefined, undefined],
    [{ within: ['/a/area', '/b'] }, '/b/x', '/b/x', true],
    [{ within: REPO }, '/home/ada/repo/x', '/home/ada/repo/x', true],
    [{ within: `${REPO}/src` }, '/home/ada/repo/x', '/home/ada/repo/x', false],
    [{ within: OTHER_ROOT }, '/home/ada/repo/x', '/home/ada/repo/x', undefined],
    [{ within: [OTHER_ROOT, '/b'] }, '/b/x', '/b/x', true],
    [{ within: '/tmp' }, '/tmp/x', '/private/tmp/x', true],
  ])('the test %j of %j with the real path %j is %s', (operators, value, realPath, verdict) => {
    expect(judge(operators, value, realPath)).toBe(verdict)
  })

  test.each<[ArgumentRules, RegExp]>([
    [{ '/v': {} }, /is empty/],
    [{ v: { eq: 1 } }, /Expected a JSON pointer/],
    [{ '/v': { re2: '(' } }, /Expected RE2 syntax/],
    [{ '/v': { re2: '(?=a)' } }, /Expected RE2 syntax/],
    [{ '/v': { re2: '(a{500}){500}' } }, /at most 10000/],
    [{ '/v': { within: 'src' } }, /Expected an absolute folder/],
    [{ '/v': { hostIn: ['https://x'] } }, /Expected a host/],
    [{ '/v': { hostIn: ['a.*.example'] } }, /Expected a host/],
    [{ '/v': { cidr: ['10.0.0.0'] } }, /Expected an address range/],
    [{ '/v': { schema: { type: 'nothing' } } }, /type/],
  ])('the invalid test %j is refused', (rules, message) => {
    expect(() => compileArguments(rules, folders)).toThrow(message)
  })

  test('globs and regular expressions take linear time', () => {
    const [glob] = compileArguments({ '/v': { glob: '*a*a*a*a*a*a*a*b' } }, folders)
    if (!glob) throw new Error('nothing was compiled')
    const given = action({ args: { v: 'a'.repeat(20_000) } })
    const started = performance.now()
    expect(judgeArgument(glob, given, 'all')).toBe(false)
    expect(performance.now() - started).toBeLessThan(2_000)
  })
})

describe('which values must match', () => {
  const effectOf = (effect: 'allow' | 'ask' | 'deny', args: ArgumentRules, given: Record<string, unknown>): string =>
    decide(policy({ user: [rule(effect, {}, { args })], managed: effect === 'allow' ? [] : [rule('allow')] }), action({ args: given }), [])
      .effect

  const pattern = { '/list/*/n': { max: 5 } }

  test('an allow rule needs at least one value, and all must match', () => {
    expect(effectOf('allow', pattern, { list: [{ n: 1 }, { n: 5 }] })).toBe('allow')
    expect(effectOf('allow', pattern, { list: [{ n: 1 }, { n: 6 }] })).toBe('ask')
    expect(effectOf('allow', pattern, { list: [{ n: 1 }, {}] })).toBe('ask')
    expect(effectOf('allow', pattern, { list: [] })).toBe('ask')
    expect(effectOf('allow', pattern, {})).toBe('ask')
  })

  test('a rule that asks or denies needs one matching value', () => {
    for (const effect of ['ask', 'deny'] as const) {
      expect(effectOf(effect, pattern, { list: [{ n: 6 }, { n: 5 }] })).toBe(effect)
      expect(effectOf(effect, pattern, { list: [{ n: 6 }] })).toBe('allow')
    }
  })

  test('with `*` a deny rule holds for an empty list; without it, or as an ask rule, it does not', () => {
    expect(effectOf('deny', pattern, {})).toBe('deny')
    expect(effectOf('deny', pattern, { list: [] })).toBe('deny')
    expect(effectOf('deny', { '/n': { max: 5 } }, {})).toBe('allow')
    expect(effectOf('ask', pattern, {})).toBe('allow')
  })

  test('members of prototypes and the length of a list are not found', () => {
    for (const pointer of ['/constructor', '/__proto__', '/list/length']) {
      expect(effectOf('allow', { [pointer]: { schema: {} } }, { list: [1] })).toBe('ask')
    }
    expect(effectOf('allow', { '/list/0': { eq: 1 } }, { list: [1] })).toBe('allow')
    expect(effectOf('allow', { '/a~1b/~0': { eq: 1 } }, { 'a/b': { '~': 1 } })).toBe('allow')
  })

  test(`${MAX_SELECTED} values are tested, and with more values the action is asked about`, () => {
    const list = (length: number): Record<string, unknown> => ({ list: Array.from({ length }, () => 1) })
    const args = { '/list/*': { eq: 2 } }
    expect(effectOf('deny', args, list(MAX_SELECTED))).toBe('allow')
    expect(effectOf('deny', args, list(MAX_SELECTED + 1))).toBe('ask')
  })
})
