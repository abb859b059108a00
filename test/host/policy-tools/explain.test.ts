import fc from 'fast-check'
import { expect, test } from 'vitest'
import { EFFECTS } from '../../../src/host/model/action.ts'
import type { Rule } from '../../../src/host/model/rule.ts'
import { explain } from '../../../src/host/policy-tools/explain.ts'
import { action, grantFor, policy, rule } from '../consent/actions.ts'

const named = (id: string, effect: Rule['effect'], match: Rule['match'] = {}, rest: Partial<Rule> = {}): Rule =>
  rule(effect, match, { id, ...rest })

const POLICY = policy({
  managed: [named('strict', 'deny', { server: 'notes' }, { mayRelax: true })],
  user: [
    named('prompts', 'allow', { action: 'prompt.get' }),
    named('mail', 'allow', { server: 'mail', tool: 'add' }),
    named('short', 'allow', { server: 'notes' }, { args: { '/text': { len: { max: 3 } } } }),
    named('lists', 'allow', {}, { args: { '/items/*': { eq: 1 } } }),
    named('etc', 'deny', {}, { args: { '/text': { within: '/etc' } } }),
    named('calls', 'ask', { server: 'notes' }, { limits: { concurrent: 2 } }),
  ],
})

test('every rule is listed, with the conditions that failed', () => {
  const { rules, decision } = explain(POLICY, action(), [])
  expect(decision).toMatchObject({ effect: 'ask', isForced: true })
  expect(Object.fromEntries(rules.map(({ id, outcome, why }) => [id, [outcome, why]]))).toEqual({
    strict: ['set-aside', 'it has mayRelax, and a rule of a lower layer matches'],
    prompts: ['does-not-match', 'action: expected "prompt.get", got "tool.call"'],
    mail: ['does-not-match', 'server: expected "mail", got "notes"'],
    short: ['does-not-match', 'arguments/text: expected {"len":{"max":3}}, got "milk"'],
    lists: ['does-not-match', 'arguments/items/*: expected {"eq":1}, got no value'],
    etc: ['unsure', 'the value at /text could not be judged'],
    calls: ['holds', 'all its conditions hold'],
  })
})

test('the text contains the decision, its reasons and its limits', () => {
  const given = action({ args: { text: 7 } })
  const { text } = explain(POLICY, given, [grantFor(given)])
  expect(text.split('\n').slice(0, 4)).toEqual([
    'tool.call of notes/add, requested by model: allow',
    '  because of grant-1 (grant, allow): ada approved this (always)',
    '  because of calls (user, ask): Rule calls of the user layer says ask',
    '  limit concurrent: 2',
  ])
  expect(text).toContain('does not match mail (user, allow): server: expected "mail", got "notes"')
})

test('the matching rules are the reasons of the decision', () => {
  const rules = fc.array(
    fc.record({ effect: fc.constantFrom(...EFFECTS), server: fc.constantFrom('notes', 'mail', '*'), mayRelax: fc.boolean() }),
    { maxLength: 6 },
  )
  fc.assert(
    fc.property(rules, rules, (managed, user) => {
      const layer = (name: string, given: typeof managed): Rule[] =>
        given.map(({ effect, server, mayRelax }, i) => named(`${name}${i}`, effect, { server }, { mayRelax }))
      const explained = explain(policy({ managed: layer('m', managed), user: layer('u', user) }), action(), [])
      const holding = explained.rules.filter(({ outcome }) => outcome === 'holds').map(({ id }) => id)
      const reasons = explained.decision.reasons.filter(({ layer: from }) => from !== 'built-in').map(({ id }) => id)
      expect(reasons.sort()).toEqual(holding.sort())
    }),
  )
})
