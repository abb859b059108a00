import { mkdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { decide } from '../../../src/host/consent/decide.ts'
import { compilePolicy } from '../../../src/host/policy/compile-policy.ts'
import { parseRules, readPolicy } from '../../../src/host/policy/policy-file.ts'
import { allow, deny } from '../../../src/host/policy/rule-builder.ts'
import { temporaryFolders } from '../../support/folders.ts'
import { action } from '../consent/actions.ts'

const newFolder = temporaryFolders()

const RULES = `
rules:
  - id: read-docs
    effect: allow
    match: { action: tool.call, server: docs, tool: [read, 'search_*'], tier: untrusted }
    args:
      /url: { hostIn: ['*.corp.example'] }
      /n: { max: 100 }
    limits: { rate: 30/m, concurrent: 2, resultBytes: 1000000 }
  - id: ask-writes
    effect: ask
    match: { action: tool.call, asserted: { destructiveHint: true } }
    grant: { scope: turn, ttl: 15m, maxUses: 3 }
    mayRelax: true
    reason: Writes are looked at
`

const ruleText = (rest: string): string => `rules:\n  - { id: x, ${rest} }`

describe('a policy file', () => {
  test('a policy file in YAML or JSON gives its rules', () => {
    const rules = parseRules(RULES, 'policy.yaml')
    expect(rules.map(({ id }) => id)).toEqual(['read-docs', 'ask-writes'])
    expect(parseRules(JSON.stringify({ rules }), 'policy.json')).toEqual(rules)
  })

  test.each([
    ['effect: allow, match: {}, efect: deny', /rule "x", rules\[0\]: unknown property "efect"/],
    ['effect: allow, match: { servers: a }', /rule "x", rules\[0\]\.match: unknown property "servers"/],
    ['effect: permit, match: {}', /rule "x", rules\[0\]\.effect: expected .*"permit"/],
    ['effect: allow', /rule "x", rules\[0\]: .*"match"/],
    ['effect: allow, match: { tier: 5 }', /rule "x", rules\[0\]\.match\.tier: expected/],
    ['effect: allow, match: { action: tool.cal }', /rule "x": match\.action: expected server\.launch, .* got "tool\.cal"/],
    ['effect: allow, match: {}, args: { /v: { regex: a } }', /rules\[0\]\.args\.\/v: unknown property "regex"/],
    ['effect: allow, match: {}, args: { /v: { re2: "(" } }', /rule "x": Expected RE2 syntax at "\/v", got "\("/],
    ['effect: allow, match: {}, args: { v: { eq: 1 } }', /rule "x": Expected a JSON pointer .* got "v"/],
    ['effect: allow, match: {}, args: {}', /rules\[0\]\.args: expected/],
    ['effect: allow, match: {}, limits: { rate: 30/s }', /rule "x": limits\.rate: expected .* got "30\/s"/],
    ['effect: allow, match: {}, limits: { concurrent: 0 }', /rules\[0\]\.limits\.concurrent: expected/],
    ['effect: ask, match: {}, grant: { scope: forever }', /rules\[0\]\.grant\.scope: expected/],
    ['effect: ask, match: {}, grant: { ttl: 8 hours }', /rule "x": Expected a duration .* got "8 hours"/],
  ])('{ %s } is refused with the rule, the place, the expected and the actual value', (rest, message) => {
    expect(() => parseRules(ruleText(rest), 'policy.yaml')).toThrow(
      expect.objectContaining({ code: 'ERR_CONFIG', message: expect.stringMatching(message) }),
    )
  })

  test.each([
    ['rules: [', /policy\.yaml: .*line 1/s],
    ['', /policy\.yaml: expected object, got null/],
    ['rulez: []', /unknown property "rulez"/],
    ['a: &a [x]\nb: [*c]', /policy\.yaml/],
    [
      `rules:\n  - { id: x, effect: ask, match: {} }\n  - { id: x, effect: ask, match: {} }`,
      /rule "x", rules\[1\]\.id: expected a unique id/,
    ],
  ])('the policy file %j is refused', (text, message) => {
    expect(() => parseRules(text, 'policy.yaml')).toThrow(message)
  })

  test('all mistakes of a file are reported together', () => {
    const text = `rules:\n  - { id: a, effect: ask, match: { action: x } }\n  - { id: b, effect: ask, match: { action: y } }`
    expect(() => parseRules(text, 'policy.yaml')).toThrow(/rule "a".*rule "b"/)
  })

  test('a policy file may have maxRules rules and patterns of maxPatternLength, and no more', () => {
    const rules = (count: number): string =>
      JSON.stringify({ rules: Array.from({ length: count }, (_, i) => ({ id: `r${i}`, effect: 'ask', match: {} })) })
    expect(parseRules(rules(2_000), 'p')).toHaveLength(2_000)
    expect(() => parseRules(rules(2_001), 'p')).toThrow(/rules: expected at most 2000 items, got 2001/)
    expect(() => parseRules(rules(2), 'p', { limits: { maxRules: 1 } })).toThrow(/at most 1 item/)
    const named = (length: number): string => ruleText(`effect: ask, match: { tool: ${'a'.repeat(length)} }`)
    expect(parseRules(named(1_024), 'p')).toHaveLength(1)
    expect(() => parseRules(named(1_025), 'p')).toThrow(/match\.tool: expected/)
  })

  test('each layer is read; a missing file has no rules, and an unreadable file is an error', async () => {
    const folder = newFolder()
    const file = (name: string): string => join(folder, name)
    writeFileSync(file('user.yaml'), RULES)
    writeFileSync(file('large.yaml'), `# ${'x'.repeat(200)}\n${RULES}`)
    const policy = await readPolicy({ managed: file('none.yaml'), user: file('user.yaml') }, { repo: '/r' })
    expect(Object.keys(policy.layers)).toEqual(['user'])
    expect(policy.roots).toEqual({ repo: '/r' })
    await expect(readPolicy({ user: folder })).rejects.toMatchObject({ code: 'ERR_CONFIG' })
    await expect(readPolicy({ user: file('large.yaml') }, {}, { limits: { maxFileBytes: 100 } })).rejects.toThrow(
      /at most 100 bytes \(maxFileBytes\)/,
    )
  })
})

test('rules in TypeScript equal rules in a file', () => {
  expect(deny('no-drop', { tool: 'drop_*' }, { reason: 'Not from here' })).toEqual({
    id: 'no-drop',
    effect: 'deny',
    match: { tool: 'drop_*' },
    reason: 'Not from here',
  })
})

test('folders in rules are compared by their real paths', async () => {
  const folder = realpathSync(newFolder())
  mkdirSync(join(folder, 'real'))
  symlinkSync(join(folder, 'real'), join(folder, 'link'))
  const args = { '/path': { within: join(folder, 'link') } }
  const policy = await compilePolicy({ layers: { managed: [deny('not-there', {}, { args })], user: [allow('else', {})] }, roots: {} })
  const effectAt = (path: string): string => decide(policy, action({ args: { path }, realPaths: { '/path': path } }), []).effect
  expect(effectAt(join(folder, 'real', 'x'))).toBe('deny')
  expect(effectAt(join(folder, 'other'))).toBe('allow')
})

test('an error in a policy names the rule and the layer', async () => {
  await expect(compilePolicy({ layers: { project: [allow('bad', { action: 'nothing' })] }, roots: {} })).rejects.toThrow(
    /Rule "bad" of the project layer: match\.action/,
  )
})

test('many large expressions are refused quickly, before any of them is compiled', () => {
  const args = Array.from({ length: 150 }, (_, i) => `      /a${i}: { re2: 'x${i}a{999}b{999}c{999}d{999}e{999}f{999}g{999}h{999}' }`)
  const file = `rules:\n  - id: r\n    effect: deny\n    match: { action: tool.call }\n    args:\n${args.join('\n')}\n`
  const start = performance.now()
  expect(() => parseRules(file, 'policy.yaml')).toThrow(/policy.yaml: the expressions are too large together: expected at most 100000/)
  expect(performance.now() - start).toBeLessThan(3_000)
  expect(parseRules(file.replaceAll(/\{999\}/g, ''), 'policy.yaml')).toHaveLength(1)
})
