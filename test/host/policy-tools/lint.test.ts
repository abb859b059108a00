import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decide } from '../../../src/host/consent/decide.ts'
import { EFFECTS } from '../../../src/host/model/action.ts'
import { POLICY_LAYERS, type PolicyLayer, type Rule } from '../../../src/host/model/rule.ts'
import { type KnownNames, type LintFinding, lintPolicy } from '../../../src/host/policy-tools/lint.ts'
import { action, policy, rule } from '../consent/actions.ts'

type Layers = Partial<Record<PolicyLayer, readonly Rule[]>>

const named = (id: string, effect: Rule['effect'], match: Rule['match'] = {}, rest: Partial<Rule> = {}): Rule =>
  rule(effect, match, { id, ...rest })

const codes = (layers: Layers, known?: KnownNames): string[] =>
  lintPolicy(policy(layers), known)
    // It is about nearly every short rule here, and has a test of its own.
    .filter(({ code }) => code !== 'asks-anyway')
    .map(({ severity, code, rule: id }) => `${severity} ${code} ${id}`)

const KNOWN = { notes: ['add', 'list'], mail: ['send'] }

test('an allow rule that does not name its servers is reported, because questions can still follow', () => {
  const asking = (match: Rule['match'], layer: PolicyLayer = 'user'): boolean =>
    lintPolicy(policy({ [layer]: [named('a', 'allow', match)] })).some(({ code }) => code === 'asks-anyway')
  expect(asking({ action: 'tool.call', server: 'notes', tool: 'add' })).toBe(false)
  expect(asking({ action: 'resource.read' })).toBe(false)
  expect(asking({ action: 'tool.call', asserted: { readOnlyHint: true } })).toBe(false)
  for (const match of [{}, { action: 'tool.call', server: 'no*' }, { action: 'tool.call', tier: 'untrusted' as const }])
    expect(asking(match)).toBe(true)
})

describe('rules that never decide', () => {
  test.each<[string, Layers, string[]]>([
    [
      'a stricter one covers it',
      { user: [named('a', 'ask', { server: 'notes' }), named('b', 'allow', { server: 'notes', tool: 'add' })] },
      ['error unreachable b'],
    ],
    [
      'a stricter one of another layer covers it',
      { managed: [named('a', 'deny')], user: [named('b', 'ask', { tool: 'x' })] },
      ['error unreachable b'],
    ],
    [
      'one below that is stricter covers it',
      { managed: [named('a', 'ask', { server: 'n*' })], user: [named('b', 'deny', { server: 'n*' })] },
      ['error unreachable a'],
    ],
    [
      'a glob covers a name',
      { user: [named('a', 'deny', { tool: 'drop_*' }), named('b', 'ask', { tool: 'drop_all' })] },
      ['error unreachable b'],
    ],
    ['a glob is not known to cover a glob', { user: [named('a', 'deny', { tool: 'd*' }), named('b', 'ask', { tool: 'dr*' })] }, []],
    ['one that says as much covers it', { user: [named('a', 'deny'), named('b', 'deny', { tool: 'x' })] }, ['warning duplicate b']],
    ['the same twice', { user: [named('a', 'deny', { tool: 'x' }), named('b', 'deny', { tool: ['x'] })] }, ['warning duplicate b']],
    [
      'a stricter one is about some of its actions only',
      {
        user: [named('a', 'deny', { action: ['tool.call', 'prompt.get'] }), named('b', 'ask', { action: ['tool.call', 'resource.read'] })],
      },
      [],
    ],
    [
      'a stricter one is about all of its actions',
      { user: [named('a', 'deny', { action: ['tool.call', 'prompt.get'] }), named('b', 'ask', { action: 'prompt.get' })] },
      ['error unreachable b'],
    ],
    ['a stricter one has arguments', { user: [named('a', 'deny', {}, { args: { '/n': { max: 1 } } }), named('b', 'ask')] }, []],
    ['a stricter one may be relaxed', { managed: [named('a', 'deny', {}, { mayRelax: true })], user: [named('b', 'ask')] }, []],
    [
      'it sets something aside',
      { managed: [named('a', 'ask'), named('c', 'deny', {}, { mayRelax: true })], user: [named('b', 'ask')] },
      [],
    ],
    ['it has limits', { user: [named('a', 'ask'), named('b', 'ask', { tool: 'x' }, { limits: { concurrent: 1 } })] }, []],
    ['it is about servers that are not trusted', { user: [named('a', 'allow'), named('b', 'allow', { tier: 'untrusted' })] }, []],
    ['another initiator', { user: [named('a', 'deny', { initiator: 'model' }), named('b', 'ask', { initiator: ['model', 'user'] })] }, []],
    ['claims allow nothing', { user: [named('a', 'allow', { claimed: { readOnlyHint: true } })] }, ['error claimed-allow a']],
  ])('a rule that never decides is found: %s', (_name, layers, expected) => {
    expect(codes(layers)).toEqual(expected)
  })

  test('rules that never decide can be removed without changing any decision', () => {
    const match = fc.record(
      {
        server: fc.constantFrom('notes', '*', ['notes', 'mail'], 'n*'),
        tool: fc.constantFrom('add', 'a*', '*'),
        tier: fc.constantFrom('trusted', 'untrusted'),
        claimed: fc.constantFrom({ readOnlyHint: true }, { readOnlyHint: true, idempotentHint: true }),
      },
      { requiredKeys: [] },
    )
    const args = fc.constantFrom<Rule['args']>(undefined, { '/n': { max: 5 } }, { '/*': { max: 5 } })
    const layer = fc.constantFrom(...POLICY_LAYERS)
    const rules = fc.array(fc.record({ layer, effect: fc.constantFrom(...EFFECTS), match, args, mayRelax: fc.boolean() }), { maxLength: 6 })
    const given = fc.record({
      tier: fc.constantFrom('trusted', 'untrusted'),
      n: fc.constantFrom({}, { n: 5 }, { n: 6 }),
      isClaiming: fc.boolean(),
    })
    fc.assert(
      fc.property(rules, given, (all, { tier, n, isClaiming }) => {
        const layersOf = (isKept: (id: string) => boolean): Layers => {
          const layers: Partial<Record<PolicyLayer, Rule[]>> = {}
          for (const [i, { layer: at, effect, match: of, args: test, mayRelax }] of all.entries()) {
            const each = named(`r${i}`, effect, of as Rule['match'], { mayRelax, ...(test ? { args: test } : {}) })
            if (isKept(each.id)) layers[at] = [...(layers[at] ?? []), each]
          }
          return layers
        }
        const wanted = action({ server: { tier: tier as 'trusted' }, args: n, claimed: isClaiming ? { readOnlyHint: true } : {} })
        const whole = policy(layersOf(() => true))
        const effect = decide(whole, wanted, []).effect
        for (const { rule: id, code } of lintPolicy(whole)) {
          if (code !== 'unreachable' && code !== 'duplicate') continue
          expect(decide(policy(layersOf((each) => each !== id)), wanted, []).effect).toBe(effect)
        }
      }),
      { numRuns: 1_000 },
    )
  })

  test('an allow rule of a project without permission from a higher layer is found', () => {
    const project = [named('p', 'allow', { action: 'tool.call' })]
    expect(codes({ project })).toEqual(['error cannot-loosen p'])
    expect(codes({ user: [named('u', 'ask', { action: 'prompt.get' }, { mayRelax: true })], project })).toEqual(['error cannot-loosen p'])
    expect(codes({ user: [named('u', 'ask', { action: 'tool.*' }, { mayRelax: true })], project })).toEqual([])
  })

  test('an allow rule for an action that always needs a person is found', () => {
    expect(codes({ user: [named('e', 'allow', { action: 'elicit.*' })] })).toEqual(['error cannot-loosen e'])
  })
})

describe('rules that protect less than they seem to', () => {
  const argument = (effect: Rule['effect'], test: NonNullable<Rule['args']>[string]): LintFinding[] =>
    lintPolicy(policy({ user: [named('a', effect, { server: 'notes' }, { args: { '/v': test } })] }))

  test.each(['SELECT', '^SELECT', 'SELECT$', '^a|b$', '^a$|b', '(^a$)|b', '(?m)^a$', '^a\\$'])(
    'the expression %j is not anchored',
    (re2) => {
      expect(argument('allow', { re2 })).toMatchObject([{ severity: 'error', code: 'unanchored' }])
      expect(argument('deny', { re2 })).toEqual([])
    },
  )

  test.each(['^SELECT$', '^(?:a|b)$', '\\Aa\\z', '(?i)^a$', '^a$|^b$', '^[|]$', '^a\\\\$'])('the expression %j is anchored', (re2) => {
    expect(argument('allow', { re2 })).toEqual([])
  })

  test('a pattern that matches any prefix is found', () => {
    expect(argument('allow', { glob: '**.example.com' })).toMatchObject([{ code: 'unanchored' }])
    expect(argument('allow', { glob: 'https://*.example.com/**' })).toEqual([])
  })

  test.each<[NonNullable<Rule['args']>[string]]>([
    [{ min: 5, max: 4 }],
    [{ len: { min: 5, max: 4 } }],
    [{ eq: 1, in: [2, 3] }],
    [{ max: 5, glob: 'a' }],
    [{ eq: 6, max: 5 }],
    [{ eq: 6, within: '/a' }],
  ])('the contradiction in %j is found', (test) => {
    expect(argument('deny', test)).toMatchObject([{ severity: 'error', code: 'contradiction' }])
  })

  test('a rule for a root that is not granted causes a warning', () => {
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the syntax of a policy
    expect(argument('allow', { within: '${root:repo}/src' })).toMatchObject([{ severity: 'warning', code: 'unknown-root' }])
  })

  test('a grant scope without effect is found', () => {
    expect(codes({ user: [named('a', 'deny', {}, { grant: { scope: 'turn' } })] })).toEqual(['error useless-grant a'])
    expect(codes({ user: [named('a', 'ask', {}, { grant: { scope: 'once', ttl: '8h' } })] })).toEqual(['error useless-grant a'])
    expect(codes({ user: [named('a', 'ask', {}, { grant: { scope: 'turn', ttl: '8h' } })] })).toEqual([])
  })
})

describe('names', () => {
  test('names of missing servers and tools are found', () => {
    expect(codes({ user: [named('a', 'deny', { server: 'note' })] }, KNOWN)).toEqual(['error unknown-server a'])
    expect(codes({ user: [named('a', 'allow', { server: 'notes', tool: 'send' })] }, KNOWN)).toEqual(['error unknown-tool a'])
    expect(codes({ user: [named('a', 'deny', { tool: 'drop_*' })] }, KNOWN)).toEqual(['warning unknown-tool a'])
    expect(codes({ user: [named('a', 'allow', { server: 'n*', tool: ['a*', 'list'] })] }, KNOWN)).toEqual([])
    expect(codes({ user: [named('a', 'allow', { server: 'note' })] })).toEqual([])
  })

  test('a warning about an unknown name lists the known names', () => {
    const [found] = lintPolicy(policy({ user: [named('a', 'deny', { server: 'note' })] }), KNOWN)
    expect(found).toMatchObject({ layer: 'user', text: 'No server matches "note"; known servers: notes, mail' })
  })
})
