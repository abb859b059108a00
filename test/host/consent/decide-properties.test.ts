import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decide, rankOf } from '../../../src/host/consent/decide.ts'
import { grantMatches } from '../../../src/host/consent/grant-match.ts'
import { ACTION_KINDS, type Action, EFFECTS, type Effect } from '../../../src/host/model/action.ts'
import { GRANT_SCOPES, type Grant } from '../../../src/host/model/grant.ts'
import { POLICY_LAYERS, type Policy, type PolicyLayer, PRESETS, type Rule } from '../../../src/host/model/rule.ts'
import { compileRules } from '../../../src/host/policy/compile-policy.ts'
import { action, grantFor } from './actions.ts'

const optional = <T>(values: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> => fc.option(values, { nil: undefined })

const hints = fc
  .record(
    { readOnlyHint: fc.boolean(), destructiveHint: fc.boolean(), idempotentHint: fc.boolean(), openWorldHint: fc.boolean() },
    { requiredKeys: [] },
  )
  .map((record) => ({ ...record }))

const labels = fc.subarray(['untrusted', 'private:mail', 'private:notes', 'egress'])

const actions: fc.Arbitrary<Action> = fc
  .record({
    kind: fc.constantFrom(...ACTION_KINDS),
    mode: fc.constantFrom('interactive', 'headless'),
    initiator: fc.constantFrom('user', 'model', 'app', 'server'),
    server: fc.record({
      id: fc.constantFrom('notes', 'mail'),
      tier: fc.constantFrom('trusted', 'untrusted'),
      isKnown: fc.boolean(),
      labels,
    }),
    primitive: fc.record({
      name: fc.constantFrom('add', 'drop'),
      state: fc.constantFrom('pinned', 'pinned', 'pinned', 'new', 'changed', 'unseen'),
      isAcceptedReadOnly: fc.constantFrom(undefined, true),
    }),
    claimed: hints,
    asserted: hints,
    isFirstOffering: fc.constantFrom(undefined, true),
    args: fc
      .record({ path: fc.constantFrom('/a/x', '/b/x', 'x'), n: fc.integer({ min: 0, max: 9 }) }, { requiredKeys: [] })
      .map((args) => ({ ...args })),
    labels,
    usage: fc.record({
      identicalInARow: fc.integer({ min: 1, max: 4 }),
      concurrent: fc.integer({ min: 0, max: 3 }),
      lastMinute: fc.integer({ min: 0, max: 4 }),
    }),
  } as const)
  .map((fields) => {
    const { path } = fields.args as { path?: string }
    return action({ ...(fields as Parameters<typeof action>[0]), realPaths: path?.startsWith('/') ? { '/path': path } : {} })
  })

// biome-ignore lint/suspicious/noTemplateCurlyInString: it is the syntax of a policy
const UNKNOWN_ROOT = '${root:none}'

const rules: fc.Arbitrary<Rule> = fc
  .record({
    id: fc.string({ maxLength: 4 }),
    effect: fc.constantFrom(...EFFECTS),
    match: fc.record(
      {
        action: fc.constantFrom('tool.*', '*.*', 'resource.read', '*'),
        server: fc.constantFrom('notes', '*', 'm*'),
        tool: fc.constantFrom('add', '*', 'd*'),
        tier: fc.constantFrom('trusted', 'untrusted'),
        initiator: fc.constantFrom('user', 'model'),
        mode: fc.constantFrom('interactive', 'headless'),
        labels: fc.constantFrom(['untrusted'], ['private:*']),
        claimed: hints,
        asserted: hints,
      },
      { requiredKeys: [] },
    ),
    args: optional(
      fc.constantFrom(
        { '/path': { within: '/a' } },
        { '/n': { max: 5 } },
        { '/*': { glob: '/b/*' } },
        { '/path': { within: [UNKNOWN_ROOT] } },
      ),
    ),
    limits: optional(fc.constantFrom({ rate: '3/m' }, { concurrent: 2 })),
    mayRelax: optional(fc.boolean()),
  })
  .map((rule) => JSON.parse(JSON.stringify(rule)) as Rule)

const layered = (arbitrary: fc.Arbitrary<Rule>, maxLength = 4): fc.Arbitrary<Policy['layers']> =>
  fc.record(
    Object.fromEntries(POLICY_LAYERS.map((layer) => [layer, fc.array(arbitrary, { maxLength })])) as Record<
      PolicyLayer,
      fc.Arbitrary<Rule[]>
    >,
    { requiredKeys: [] },
  )

const policies: fc.Arbitrary<Policy> = fc
  .record({
    layers: layered(rules),
    roots: fc.constant({}),
    isBypassing: fc.boolean(),
    presets: optional(fc.dictionary(fc.constantFrom(...POLICY_LAYERS), fc.constantFrom(...PRESETS))),
  })
  .map(({ presets, ...policy }) => ({ ...policy, ...(presets && { presets }) }))

const decideWith = (policy: Policy, given: Action, grants: readonly Grant[] = []): ReturnType<typeof decide> =>
  decide(compileRules(policy), given, grants)

const isAtLeast = (a: Effect, b: Effect): boolean => rankOf(a) >= rankOf(b)

const withRule = (policy: Policy, layer: PolicyLayer, rule: Rule): Policy => ({
  ...policy,
  layers: { ...policy.layers, [layer]: [...(policy.layers[layer] ?? []), rule] },
})

const always: Rule['match'] = {}

describe('for all rules, actions and grants', () => {
  test('a deny rule that may not be relaxed wins', () => {
    fc.assert(
      fc.property(policies, actions, fc.constantFrom(...POLICY_LAYERS), (policy, given, layer) => {
        const denying = withRule(policy, layer, { id: 'no', effect: 'deny', match: always })
        expect(decideWith(denying, given, [grantFor(given)]).effect).toBe('deny')
      }),
    )
  })

  test('a rule of a lower layer cannot relax a fixed rule of a higher layer', () => {
    const strict = rules.map(({ mayRelax: _, ...rule }) => rule)
    fc.assert(
      fc.property(layered(strict), rules, actions, fc.constantFrom('project', 'session'), (layers, added, given, layer) => {
        const spoken = withRule({ layers, roots: {} }, 'managed', { id: 'said', effect: 'ask', match: always })
        expect(isAtLeast(decideWith(withRule(spoken, layer as PolicyLayer, added), given).effect, decideWith(spoken, given).effect)).toBe(
          true,
        )
      }),
    )
  })

  test('a project rule relaxes nothing unless a higher rule allows it', () => {
    const strict = rules.map(({ mayRelax: _, ...rule }) => rule)
    fc.assert(
      fc.property(layered(strict), rules, actions, fc.boolean(), (layers, added, given, isBypassing) => {
        const policy = { layers, roots: {}, isBypassing }
        expect(isAtLeast(decideWith(withRule(policy, 'project', added), given).effect, decideWith(policy, given).effect)).toBe(true)
      }),
    )
  })

  test('hints of a server relax nothing', () => {
    fc.assert(
      fc.property(policies, actions, (policy, given) => {
        const silent = { ...given, claimed: {} }
        const grants = [grantFor(given)]
        const [loud, quiet] = [decideWith(policy, given, grants), decideWith(policy, silent, grants)]
        expect(isAtLeast(loud.effect, quiet.effect)).toBe(true)
        if (quiet.isForced && loud.effect === 'ask') expect(loud.isForced).toBe(true)
      }),
    )
  })

  test('an allow rule based on hints never changes a decision', () => {
    fc.assert(
      fc.property(policies, rules, hints, actions, (policy, rule, claimed, given) => {
        const believing = withRule(policy, 'user', { ...rule, effect: 'allow', match: { ...rule.match, claimed } })
        expect(decideWith(believing, given)).toEqual(decideWith(policy, given))
      }),
    )
  })

  test('bypass lifts no denial, no quarantine and no forced question', () => {
    fc.assert(
      fc.property(policies, actions, (policy, given) => {
        const plain = decideWith({ ...policy, isBypassing: false }, given)
        const bypassed = decideWith({ ...policy, isBypassing: true }, given)
        if (plain.effect !== 'ask' || plain.isForced) expect(bypassed).toEqual(plain)
        else expect(['ask', 'allow']).toContain(bypassed.effect)
      }),
    )
  })

  test('a grant answers only questions that are not forced', () => {
    fc.assert(
      fc.property(policies, actions, (policy, given) => {
        const without = decideWith({ ...policy, isBypassing: false }, given)
        const withIt = decideWith({ ...policy, isBypassing: false }, given, [grantFor(given)])
        if (without.effect === 'ask' && !without.isForced) expect(withIt).toMatchObject({ effect: 'allow', grant: 'grant-1' })
        else expect(withIt).toEqual(without)
      }),
    )
  })

  test('a stricter preset relaxes nothing, and no preset lifts a denial, a quarantine or a forced question', () => {
    fc.assert(
      fc.property(policies, actions, (policy, given) => {
        const [trusting, balanced, cautious] = PRESETS.map((preset) => decideWith({ ...policy, presets: { user: preset } }, given))
        expect(isAtLeast(balanced!.effect, trusting!.effect)).toBe(true)
        expect(isAtLeast(cautious!.effect, balanced!.effect)).toBe(true)
        if (cautious!.effect !== 'ask' || cautious!.isForced) expect(trusting!.effect).toBe(cautious!.effect)
      }),
    )
  })

  test('a project cannot loosen the preset', () => {
    fc.assert(
      fc.property(policies, actions, fc.constantFrom(...PRESETS), (policy, given, preset) => {
        const { project: _, ...presets } = policy.presets ?? {}
        const named = { ...policy, presets: { ...presets, project: preset } }
        expect(isAtLeast(decideWith(named, given).effect, decideWith({ ...policy, presets }, given).effect)).toBe(true)
      }),
    )
  })

  test('the same input gives the same decision, with its reasons', () => {
    fc.assert(
      fc.property(policies, actions, (policy, given) => {
        const compiled = compileRules(policy)
        const decision = decide(compiled, given, [])
        expect(decide(compiled, structuredClone(given), [])).toEqual(decision)
        expect(decision.reasons.length).toBeGreaterThan(0)
      }),
    )
  })

  test('no input makes a decision throw, or allow an action that could not be evaluated', () => {
    const junk = fc.anything({ maxDepth: 3 })
    const keys = Object.keys(action()) as (keyof Action)[]
    fc.assert(
      fc.property(
        policies,
        actions,
        fc.constantFrom(...keys),
        junk,
        fc.array(junk, { maxLength: 3 }),
        (policy, given, key, value, grants) => {
          const decision = decideWith({ ...policy, isBypassing: false }, { ...given, [key]: value } as Action, grants as Grant[])
          expect(EFFECTS).toContain(decision.effect)
        },
      ),
    )
    fc.assert(
      fc.property(policies, junk, (policy, given) => {
        expect(['ask', 'deny']).toContain(decideWith(policy, given as Action).effect)
      }),
    )
  })
})

describe('a grant', () => {
  const other = <T>(value: T): unknown => (typeof value === 'number' ? value + 1 : `${String(value)}x`)
  const granted = fc.record({ given: actions, scope: fc.constantFrom(...GRANT_SCOPES) }).map(({ given, scope }) => ({
    given,
    grant: grantFor(given, {
      scope,
      usesLeft: 1,
      bind: { run: given.run, turn: given.turn, project: given.project },
    }),
  }))

  test('a grant with any bound field changed does not hold', () => {
    fc.assert(
      fc.property(
        granted,
        fc.constantFrom('server', 'fingerprint', 'primitive', 'pin', 'principal', 'run', 'turn', 'project'),
        ({ given, grant }, field) => {
          expect(grantMatches(grant, given)).toBe(true)
          const altered = { ...grant, bind: { ...grant.bind, [field]: other(grant.bind[field as 'server']) } }
          expect(grantMatches(altered, given)).toBe(false)
        },
      ),
    )
  })

  test('a grant for exact arguments holds for no others', () => {
    fc.assert(
      fc.property(granted, fc.dictionary(fc.string(), fc.jsonValue(), { maxKeys: 4 }), ({ given, grant }, args) => {
        fc.pre(JSON.stringify(args) !== JSON.stringify(given.args) && Object.keys(args).length !== Object.keys(given.args).length)
        expect(grantMatches(grant, { ...given, args })).toBe(false)
      }),
    )
  })

  test('a grant for another action, expired or used up does not hold', () => {
    fc.assert(
      fc.property(granted, fc.constantFrom(...ACTION_KINDS), ({ given, grant }, kind) => {
        expect(grantMatches({ ...grant, action: kind }, given)).toBe(kind === given.kind)
        expect(grantMatches({ ...grant, expiresAt: given.at }, given)).toBe(false)
        expect(grantMatches({ ...grant, usesLeft: 0 }, given)).toBe(false)
      }),
    )
  })
})
