/** A rule is about a file, a resource or a tool, however that is written. */

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decide } from '../../../src/host/consent/decide.ts'
import type { Action, Effect } from '../../../src/host/model/action.ts'
import { factsOf } from '../../../src/host/model/facts.ts'
import type { Rule } from '../../../src/host/model/rule.ts'
import { explain } from '../../../src/host/policy-tools/explain.ts'
import { lintPolicy } from '../../../src/host/policy-tools/lint.ts'
import { replayDecisions } from '../../../src/host/policy-tools/replay.ts'
import { action, policy, rule } from '../consent/actions.ts'

const effectOf = (rules: Rule[], given: Action): Effect => decide(policy({ user: [rule('allow'), ...rules] }), given, []).effect
const strictly = (rules: Rule[], given: Action): Effect => decide(policy({ user: rules }), given, []).effect

describe('names', () => {
  test.each(['send', 'send/now', 'send_all', 'send/now/and/again'])('the pattern send* matches the name %s', (name) => {
    expect(effectOf([rule('deny', { tool: 'send*' })], action({ primitive: { name } }))).toBe('deny')
  })

  test.each([
    ['*/delete', 'a/b/delete'],
    ['a*z', 'a/z'],
    ['*', 'a/b'],
    ['**', 'a/b'],
  ])('the pattern %s matches the name %s', (pattern, name) => {
    expect(effectOf([rule('deny', { tool: pattern })], action({ primitive: { name } }))).toBe('deny')
  })

  test('a pattern without a star matches only that name', () => {
    expect(effectOf([rule('deny', { tool: 'send' })], action({ primitive: { name: 'send/now' } }))).toBe('allow')
  })
})

describe('a resource that is read through a template', () => {
  const read = (uri: string, template = 'file:///{+path}'): Action =>
    action({ kind: 'resource.read', args: { uri }, primitive: { kind: 'template', name: template } })

  test.each([
    ['its URI', 'file:///etc/**', 'file:///etc/passwd'],
    ['its URI with a step back', 'file:///etc/**', 'file:///home/../etc/passwd'],
    ['its URI with escapes', 'file:///etc/**', 'file:///%65tc/passwd'],
    ['its URI with a fragment', 'file:///etc/passwd', 'file:///etc/passwd#1'],
    ['its template', 'file:///{+path}', 'file:///etc/passwd'],
  ])('a resource that is read through a template is forbidden by a rule on %s', (_name, pattern, uri) => {
    expect(effectOf([rule('deny', { action: 'resource.*', tool: pattern })], read(uri))).toBe('deny')
    expect(effectOf([rule('deny', { tool: pattern })], { ...read(uri), kind: 'resource.subscribe' })).toBe('deny')
  })

  test.each([
    ['file:///docs/a', 'allow'],
    ['file:///docs/../etc/passwd', 'ask'],
    ['file:///docs/%2e%2e/etc/passwd', 'ask'],
    ['file:///docs/..%2fetc/passwd', 'ask'],
    ['file:///etc/passwd', 'ask'],
  ])('a rule on the URI allows %s only if it stays there: %s', (uri, effect) => {
    expect(strictly([rule('allow', { action: 'resource.read', tool: 'file:///docs/**' })], read(uri))).toBe(effect)
  })

  test('of two rules, on the template and on the URI, the stricter holds', () => {
    const rules = [rule('allow', { tool: 'file:///{+path}' }), rule('deny', { tool: 'file:///etc/*' })]
    expect(strictly(rules, read('file:///docs/a'))).toBe('allow')
    expect(strictly(rules, read('file:///etc/passwd'))).toBe('deny')
  })

  test('the explanation of a read through a template shows both names', () => {
    const told = JSON.stringify(explain(policy({ user: [rule('deny', { tool: 'other' })] }), read('file:///etc/passwd'), []))
    expect(told).toContain('file:///etc/passwd')
    expect(told).toContain('file:///{+path}')
  })

  test('a resource read through a template has an unknown identity when its URI is unknown', () => {
    const facts = JSON.parse(JSON.stringify(factsOf(read('file:///etc/passwd'))))
    const rules = policy({ user: [rule('allow'), rule('deny', { tool: 'file:///etc/*' })] })
    expect([...replayDecisions([{ seq: 1, effect: 'deny', facts }], rules)]).toMatchObject([{ kind: 'unknown' }])
    expect([...replayDecisions([{ seq: 1, effect: 'deny', facts, args: { uri: 'file:///etc/passwd' } }], rules)]).toMatchObject([
      { kind: 'same' },
    ])
  })
})

describe('a star in the URI of a rule', () => {
  const read = (uri: string): Action => action({ kind: 'resource.read', args: { uri }, primitive: { kind: 'resource', name: uri } })

  test.each<[Rule['effect'], string, string, Effect]>([
    ['allow', 'notes://*', 'notes://a', 'allow'],
    ['allow', 'notes://*', 'notes://a/b', 'ask'],
    ['allow', 'notes://**', 'notes://a/b', 'allow'],
    ['allow', '*', 'notes://a/b', 'allow'],
    ['deny', 'notes://*', 'notes://a/b', 'deny'],
  ])('rule %s %s: %s is %s, because a star stops at a slash only in allow rules', (effect, tool, uri, expected) => {
    expect(strictly([rule(effect, { tool })], read(uri))).toBe(expected)
  })
})

describe('a resource that is not listed', () => {
  const read = (uri: string): Action => action({ kind: 'resource.read', args: { uri }, primitive: { kind: 'resource', name: uri } })

  test('rules for an unlisted resource apply to the resolved URI', () => {
    expect(strictly([rule('allow', { tool: 'file:///docs/**' })], read('file:///docs/../etc/passwd'))).toBe('ask')
    expect(effectOf([rule('deny', { tool: 'file:///etc/**' })], read('file:///docs/../etc/passwd'))).toBe('deny')
  })
})

describe('paths', () => {
  const at = (path: string): Action => action({ args: { path } })
  const deny = rule('deny', {}, { args: { '/path': { glob: '**/.env' } } })

  test.each([
    '/repo/.env',
    '/repo/.env/',
    '/repo/./.env',
    '/repo//.env',
    '/repo/a/../.env',
    '/repo/.env/.',
    '.env',
    './.env',
    'file:///repo/.env',
    'file:///repo/%2eenv',
    'file:///repo/.env#x',
    'file:///repo/.env?x',
    '/repo\\.env',
  ])('%s is an .env file', (path) => {
    expect(effectOf([deny], at(path))).toBe('deny')
  })

  test.each(['/repo/env', '/repo/.envrc', '/repo/.env/x', 'a.env'])('%s is not an .env file', (path) => {
    expect(effectOf([deny], at(path))).toBe('allow')
  })

  /** The same path with empty and single dots, steps there and back, and escapes. */
  const spelled = (path: string): fc.Arbitrary<string> => {
    const joint = fc.constantFrom('/', '//', '/./', '/x/../', '/a/b/../../', '/%2e/')
    const segments = path.split('/').slice(1)
    const end = fc.constantFrom('', '/', '/.', '//', '/x/..')
    return fc
      .tuple(fc.array(joint, { minLength: segments.length, maxLength: segments.length }), end)
      .map(([joints, last]) => segments.map((segment, i) => `${joints[i]}${segment}`).join('') + last)
  }

  test('a rule that forbids a path forbids every spelling of it', () => {
    fc.assert(
      fc.property(spelled('/repo/secret/key.pem'), (path) => {
        expect(effectOf([rule('deny', {}, { args: { '/path': { glob: '/repo/secret/*' } } })], at(path))).toBe('deny')
        expect(effectOf([rule('deny', {}, { args: { '/path': { glob: '/repo/secret/*' } } })], at(`file://${path}`))).toBe('allow')
        expect(effectOf([rule('deny', {}, { args: { '/path': { glob: 'file:///repo/secret/*' } } })], at(`file://${path}`))).toBe('deny')
      }),
    )
  })

  test('a rule that allows a folder allows nothing outside of it', () => {
    const out = fc.constantFrom(
      '/repo/docs/../secret',
      '/repo/docs/a/../../secret',
      '/repo/docs/%2e%2e/secret',
      '/repo/docs/..%2fsecret',
      '/repo/docs/..\\secret',
    )
    fc.assert(
      fc.property(out, (path) => {
        expect(strictly([rule('allow', {}, { args: { '/path': { glob: '/repo/docs/**' } } })], at(path))).toBe('ask')
      }),
    )
    expect(strictly([rule('allow', {}, { args: { '/path': { glob: '/repo/docs/**' } } })], at('/repo/docs/a/../b'))).toBe('allow')
    expect(strictly([rule('allow', {}, { args: { '/path': { glob: '/repo/docs/**' } } })], at('/repo/docs/100%'))).toBe('allow')
  })
})

describe('lint finds rules that do not match what they should', () => {
  const codes = (effect: Rule['effect'], pointer: string, test: NonNullable<Rule['args']>[string]): string[] =>
    lintPolicy(policy({ user: [rule(effect, { server: 'notes' }, { args: { [pointer]: test } })] })).map(
      ({ severity, code }) => `${severity} ${code}`,
    )

  test.each<[Rule['effect'], string, NonNullable<Rule['args']>[string], string[]]>([
    ['deny', '/path', { glob: '/repo/.env/' }, ['error misses']],
    ['deny', '/path', { glob: '/repo//.env' }, ['error misses']],
    ['deny', '/path', { glob: '/repo/../.env' }, ['error misses']],
    ['allow', '/path', { glob: '/repo/./x' }, ['error misses']],
    ['deny', '/path', { glob: '*.env' }, ['warning misses']],
    ['ask', '/files/*', { glob: '.env' }, ['warning misses']],
    ['deny', '/path', { eq: '/etc/passwd' }, ['warning misses']],
    ['deny', '/path', { in: ['/etc/passwd', 5] }, ['warning misses']],
    ['deny', '/path', { re2: '^/etc/' }, ['warning misses']],
    ['deny', '/path', { glob: '**/.env' }, []],
    ['deny', '/path', { glob: '/repo/**' }, []],
    ['deny', '/uri', { glob: 'https://example.com/**' }, []],
    ['deny', '/path', { within: '/etc' }, []],
    ['deny', '/environment', { eq: 'production' }, []],
    ['deny', '/environment', { glob: 'prod*' }, []],
    ['allow', '/path', { eq: '/etc/hosts' }, []],
  ])('lint of the rule %s %s %j finds %j', (effect, pointer, test, expected) => {
    expect(codes(effect, pointer, test)).toEqual(expected)
  })
})
