import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decide } from '../../../src/host/consent/decide.ts'
import { type Action, EFFECTS } from '../../../src/host/model/action.ts'
import { actionFrom, factsOf } from '../../../src/host/model/facts.ts'
import { POLICY_LAYERS, type PolicyLayer, type Rule } from '../../../src/host/model/rule.ts'
import { type DecisionRecord, type Replayed, replayDecisions } from '../../../src/host/policy-tools/replay.ts'
import { action, policy, rule } from '../consent/actions.ts'

const record = (given: Action, rest: Partial<DecisionRecord> = {}): DecisionRecord => ({
  seq: 7,
  effect: 'ask',
  facts: JSON.parse(JSON.stringify(factsOf(given))),
  ...rest,
})

const replay = (given: DecisionRecord, layers: Parameters<typeof policy>[0]): Replayed | undefined =>
  [...replayDecisions([given], policy(layers))][0]

const SHORT = { '/text': { len: { max: 3 } } }

describe('facts', () => {
  test('facts contain no arguments or paths, and give the action again together with the arguments', () => {
    const given = action({ args: { password: 'canary' }, realPaths: { '/password': 'canary' } })
    expect(JSON.stringify(factsOf(given))).not.toContain('canary')
    expect(actionFrom(factsOf(given), given.args)).toEqual({ ...given, realPaths: {} })
  })
})

describe('a past decision', () => {
  test('a past decision is the same or different under other rules', () => {
    expect(replay(record(action()), {})).toMatchObject({ kind: 'same', seq: 7, before: 'ask', after: 'ask' })
    expect(replay(record(action()), { user: [rule('deny', { tool: 'add' }, { reason: 'No more' })] })).toMatchObject({
      kind: 'changed',
      after: 'deny',
      reasons: ['No more'],
    })
  })

  test('a past decision is unknown only if it depends on unknown arguments', () => {
    const short = rule('deny', {}, { args: SHORT })
    expect(replay(record(action()), { user: [short] })).toEqual({
      kind: 'unknown',
      seq: 7,
      before: 'ask',
      possible: ['ask', 'deny'],
      rules: ['deny-rule'],
    })
    expect(replay(record(action()), { user: [rule('ask', {}, { args: SHORT })] })).toMatchObject({ kind: 'same' })
    expect(replay(record(action()), { managed: [rule('deny')], user: [short] })).toMatchObject({ kind: 'changed', after: 'deny' })
    expect(replay(record(action(), { args: { text: 'milk' } }), { user: [short] })).toMatchObject({ kind: 'same' })
    expect(replay(record(action(), { args: { text: 'tea' } }), { user: [short] })).toMatchObject({ kind: 'changed', after: 'deny' })
  })

  test('a grant answers a past decision again, unless the rules now forbid it', () => {
    const granted = record(action(), { effect: 'allow', grant: 'grant-1' })
    expect(replay(granted, {})).toMatchObject({ kind: 'same', after: 'allow' })
    expect(replay(granted, { user: [rule('deny')] })).toMatchObject({ kind: 'changed', after: 'deny' })
  })

  test('an unreadable past decision is reported', () => {
    for (const facts of [
      undefined,
      '[left out: 99999 bytes]',
      {},
      { ...factsOf(action()), server: { id: 'x', labels: [] }, kind: 'nothing' },
    ]) {
      expect(replay({ seq: 1, effect: 'ask', facts }, {})).toMatchObject({ kind: 'unreadable', seq: 1 })
    }
  })

  test('a past decision is never certain if other arguments could change it', () => {
    const rules = fc.record({
      effect: fc.constantFrom(...EFFECTS),
      layer: fc.constantFrom(...POLICY_LAYERS),
      pointer: fc.constantFrom(undefined, 'a', 'b', 'c'),
      mayRelax: fc.boolean(),
      tier: fc.constantFrom(undefined, 'trusted', 'untrusted'),
    })
    const tiers = fc.constantFrom('trusted', 'untrusted')
    fc.assert(
      fc.property(fc.array(rules, { maxLength: 7 }), fc.subarray(['a', 'b', 'c']), tiers, (given, members, tier) => {
        const layers: Partial<Record<PolicyLayer, Rule[]>> = {}
        for (const [i, { effect, layer, pointer, mayRelax, tier: of }] of given.entries()) {
          const args = pointer === undefined ? {} : { args: { [`/${pointer}`]: { eq: 1 } } }
          layers[layer] = [
            ...(layers[layer] ?? []),
            rule(effect, of === undefined ? {} : { tier: of as 'trusted' }, { id: `r${i}`, mayRelax, ...args }),
          ]
        }
        const wanted = action({ server: { tier: tier as 'trusted' }, args: Object.fromEntries(members.map((member) => [member, 1])) })
        const { effect } = decide(policy(layers), wanted, [])
        const replayed = replay(record(wanted), layers)
        if (replayed?.kind === 'unknown') expect(replayed.possible).toContain(effect)
        else expect(replayed).toMatchObject({ after: effect })
      }),
      { numRuns: 1_000 },
    )
  })
})
