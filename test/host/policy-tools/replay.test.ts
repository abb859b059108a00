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
  test('facts have neither arguments nor the paths in them, and with the arguments make the action again', () => {
    const given = action({ args: { password: 'canary' }, realPaths: { '/password': 'canary' } })
    expect(JSON.stringify(factsOf(given))).not.toContain('canary')
    expect(actionFrom(factsOf(given), given.args)).toEqual({ ...given, realPaths: {} })
  })
})

describe('a decision of the past', () => {
  test('a decision of the past is the same or another under other rules', () => {
    expect(replay(record(action()), {})).toMatchObject({ kind: 'same', seq: 7, before: 'ask', after: 'ask' })
    expect(replay(record(action()), { user: [rule('deny', { tool: 'add' }, { reason: 'No more' })] })).toMatchObject({
      kind: 'changed',
      after: 'deny',
      reasons: ['No more'],
    })
  })

  test('a decision of the past whose arguments are not known is unknown where they matter, and only there', () => {
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

  test('a decision of the past that a grant answered is answered by it again, unless the rules now forbid it', () => {
    const granted = record(action(), { effect: 'allow', grant: 'grant-1' })
    expect(replay(granted, {})).toMatchObject({ kind: 'same', after: 'allow' })
    expect(replay(granted, { user: [rule('deny')] })).toMatchObject({ kind: 'changed', after: 'deny' })
  })

  test('a decision of the past that cannot be read is said to be', () => {
    for (const facts of [
      undefined,
      '[left out: 99999 bytes]',
      {},
      { ...factsOf(action()), server: { id: 'x', labels: [] }, kind: 'nothing' },
    ]) {
      expect(replay({ seq: 1, effect: 'ask', facts }, {})).toMatchObject({ kind: 'unreadable', seq: 1 })
    }
  })

  test('a decision of the past is never said to be certain when arguments exist under which it is another', () => {
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
