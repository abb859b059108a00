import { describe, expect, test } from 'vitest'
import { decide } from '../../../src/host/consent/decide.ts'
import { DEFAULTS } from '../../../src/host/consent/defaults.ts'
import type { Action, Effect } from '../../../src/host/model/action.ts'
import { ACTION_KINDS } from '../../../src/host/model/action.ts'
import type { PolicyLayer, Rule } from '../../../src/host/model/rule.ts'
import { proves } from '../../support/proves.ts'
import { action, grantFor, policy, rule } from './actions.ts'

type Layers = Partial<Record<PolicyLayer, readonly Rule[]>>

const effectOf = (layers: Layers, given: Action = action()): Effect => decide(policy(layers), given, []).effect

/** The decisive reason. */
const startingWith = (id: string): unknown => expect.objectContaining({ 0: expect.objectContaining({ id }) })

const relaxable = (effect: Effect): Rule => rule(effect, {}, { mayRelax: true })

describe('layers and effects', () => {
  const table: [string, Layers, Effect][] = [
    ['no rule at all', {}, 'ask'],
    ['one that allows', { user: [rule('allow')] }, 'allow'],
    ['one that allows and one that asks', { user: [rule('allow'), rule('ask')] }, 'ask'],
    ['one that asks and one that quarantines', { user: [rule('ask'), rule('quarantine')] }, 'quarantine'],
    ['one that quarantines and one that denies', { user: [rule('deny'), rule('quarantine')] }, 'deny'],
    ['a denial above an allowance', { managed: [rule('deny')], user: [rule('allow')] }, 'deny'],
    ['a denial below an allowance', { managed: [rule('allow')], session: [rule('deny')] }, 'deny'],
    ['a question above an allowance', { managed: [rule('ask')], user: [rule('allow')] }, 'ask'],
    ['a denial that may be relaxed, and nothing below', { managed: [relaxable('deny')] }, 'deny'],
    ['a denial that may be relaxed, and an allowance below', { managed: [relaxable('deny')], user: [rule('allow')] }, 'allow'],
    ['a denial that may be relaxed, and an allowance beside it', { managed: [relaxable('deny'), rule('allow')] }, 'deny'],
    [
      'a denial that may be relaxed and a question that may not, and an allowance below',
      { managed: [relaxable('deny')], user: [rule('ask')], session: [rule('allow')] },
      'ask',
    ],
    [
      'a denial that may be relaxed, and a question below about what the server claims',
      { managed: [relaxable('deny')], user: [rule('ask', { claimed: { idempotentHint: true } })] },
      'deny',
    ],
    ['an allowance of a project', { project: [rule('allow')] }, 'ask'],
    ['an allowance of a project that the person lets relax', { user: [relaxable('ask')], project: [rule('allow')] }, 'allow'],
    ['an allowance of a project below one of the person', { user: [rule('allow')], project: [rule('allow')] }, 'allow'],
    ['an allowance of a session', { session: [rule('allow')] }, 'allow'],
    ['an allowance of a session against a question of the project', { project: [rule('ask')], session: [rule('allow')] }, 'ask'],
    ['a rule about another server', { user: [rule('allow', { server: 'mail' })] }, 'ask'],
  ]
  test.each(table)('layers combine as in the table: %s', (_name, layers, effect) => {
    expect(effectOf(layers, action({ claimed: { idempotentHint: true } }))).toBe(effect)
  })

  test('without a rule the reason names the action and the default effect', () => {
    const textOf = (kind: Action['kind']): string | undefined =>
      decide(policy({}), action({ kind, initiator: 'model' }), []).reasons.find(({ id }) => id === 'default')?.text
    expect(textOf('server.launch')).toBe('You have no rule for starting a server')
    expect(textOf('tool.call')).toBe('You have no rule for this tool')
    expect(textOf('tool.result')).toBe('You have no rule for using the result of this tool, so it is allowed')
    for (const kind of ACTION_KINDS) {
      expect(textOf(kind)).toMatch(/^You have no rule for [a-z ]+(?:, so it is allowed)?$/)
      expect(textOf(kind)).not.toContain(kind)
    }
  })

  test('a project cannot allow the start of its own servers', () => {
    for (const kind of ['server.launch', 'server.connect', 'server.approve', 'roots.expose'] as const) {
      expect(effectOf({ project: [rule('allow')] }, action({ kind, mode: 'headless' }, true))).toBe('ask')
    }
  })

  test('a relaxable rule about hints relaxes nothing else', () => {
    const user = [rule('ask', { claimed: { readOnlyHint: true } }, { mayRelax: true })]
    expect(effectOf({ user, project: [rule('allow')] }, action({ claimed: { readOnlyHint: true } }))).toBe('ask')
  })

  test('a refused permission of a project is in the reasons', () => {
    const { reasons } = decide(policy({ project: [rule('allow')] }), action(), [])
    expect(reasons[0]).toMatchObject({ id: 'default', effect: 'ask', text: expect.stringMatching(/only tighten/) })
  })
})

describe('matching of rules', () => {
  const withUri = action({ kind: 'resource.read', primitive: { kind: 'resource', name: 'notes://a/b' } })
  const table: [Rule['match'], Action, boolean][] = [
    [{ action: 'tool.*' }, action(), true],
    [{ action: ['prompt.get', 'tool.call'] }, action(), true],
    [{ action: 'prompt.get' }, action(), false],
    [{ server: 'no*' }, action(), true],
    [{ server: ['mail', 'notes'] }, action(), true],
    [{ tool: 'add' }, action(), true],
    [{ tool: 'ad' }, action(), false],
    [{ tool: '*' }, withUri, true],
    [{ tool: 'notes://*' }, withUri, true],
    [{ tool: 'notes://**' }, withUri, true],
    [{ tool: '*' }, action({}, true), false],
    [{ tier: 'trusted' }, action(), true],
    [{ tier: 'untrusted' }, action(), false],
    [{ initiator: ['app', 'model'] }, action(), true],
    [{ initiator: 'user' }, action(), false],
    [{ mode: 'headless' }, action(), false],
    [{ labels: ['private:*', 'untrusted'] }, action({ labels: ['private:mail'], server: { labels: ['untrusted'] } }), true],
    [{ labels: ['private:mail'] }, action({ labels: ['private:notes'] }), false],
    [{ claimed: { destructiveHint: true } }, action({ claimed: { destructiveHint: true } }), true],
    [{ claimed: { destructiveHint: false } }, action(), false],
    [{ asserted: { readOnlyHint: true } }, action({ asserted: { readOnlyHint: true } }), true],
  ]
  test.each(table)('a rule matches %j', (match, given, isMatch) => {
    expect(effectOf({ user: [rule('deny', match)] }, given) === 'deny').toBe(isMatch)
  })
})

describe('decisions that do not depend on rules', () => {
  const everything: Layers = { managed: [rule('allow')] }

  test('every action of an unconfigured server is denied, except its configuration', () => {
    for (const kind of ACTION_KINDS) {
      const given = action({ kind, server: { isKnown: false } })
      expect(effectOf(everything, given) === 'deny').toBe(kind !== 'config.import')
    }
  })

  test.each(['new', 'changed', 'unseen'] as const)('a definition that is %s is quarantined, but can be approved', (state) => {
    const primitive = { state }
    for (const kind of ['tool.call', 'prompt.get', 'resource.read', 'resource.subscribe', 'app.call', 'app.open'] as const) {
      expect(decide(policy(everything, { isBypassing: true }), action({ kind, primitive, initiator: 'user' }), []).effect).toBe(
        'quarantine',
      )
    }
    for (const kind of ['server.launch', 'server.connect', 'server.approve'] as const) {
      expect(effectOf(everything, action({ kind, primitive }))).toBe('allow')
    }
  })

  test('an unknown tool is quarantined, and a URI outside all lists is asked about', () => {
    expect(effectOf({}, action({}, true))).toBe('quarantine')
    expect(effectOf({}, action({ kind: 'resource.read', initiator: 'user' }, true))).toBe('ask')
  })

  test('readOnlyHint of an untrusted server does not skip the question', () => {
    proves('T-TOOL-024', 'T-HOST-014', 'R-TOOL-006')
    const claims = { readOnlyHint: true, destructiveHint: false, openWorldHint: false }
    const given = action({ server: { tier: 'untrusted' }, claimed: claims })
    expect(effectOf({}, given)).toBe('ask')
    expect(effectOf({ user: [rule('allow', { claimed: { readOnlyHint: true } })] }, given)).toBe('ask')
    expect(decide(policy({ user: [rule('allow')] }), given, [])).toMatchObject({ effect: 'ask', reasons: startingWith('hints') })
    expect(effectOf({ user: [rule('allow', { asserted: { readOnlyHint: true } })] }, given)).toBe('ask')
    expect(effectOf({ user: [rule('allow')] }, { ...given, asserted: { readOnlyHint: true, openWorldHint: false } })).toBe('allow')
    expect(effectOf({ user: [rule('allow', { tier: 'untrusted' })] }, given)).toBe('allow')
  })

  test('a rule that names the server allows it, whatever its hints and the text in the conversation', () => {
    const claims = [{}, { destructiveHint: true }, { openWorldHint: true }]
    for (const claimed of claims) {
      const given = action({ server: { tier: 'untrusted' }, claimed, labels: ['untrusted'] })
      for (const layer of ['managed', 'user', 'session'] as const)
        expect(effectOf({ [layer]: [rule('allow', { server: 'notes' })] }, given)).toBe('allow')
      expect(effectOf({ user: [rule('allow', { server: ['mail', 'notes'] })] }, given)).toBe('allow')
    }
  })

  test('a rule that allows a server by its name does not cover a server of that name in a project', () => {
    const claimed = { destructiveHint: true }
    const known = action({ claimed })
    const stranger = action({ claimed, server: { isOfProject: true } })
    const byName = { user: [rule('allow', { server: known.server.id })] }
    expect(effectOf(byName, known)).toBe('allow')
    expect(effectOf(byName, stranger)).toBe('ask')
    expect(effectOf({ user: [rule('allow', { server: known.server.id, tier: known.server.tier })] }, stranger)).toBe('allow')
  })

  test.each(ACTION_KINDS)('a rule for a server name loosens nothing for a server of a project: %s', (kind) => {
    for (const initiator of ['model', 'server', 'user'] as const) {
      const stranger = action({ kind, initiator, server: { tier: 'untrusted', isOfProject: true } })
      const byDefault = effectOf({}, stranger)
      for (const layer of ['managed', 'user', 'session'] as const)
        for (const match of [{ server: 'notes' }, { server: '*' }, {}])
          expect(effectOf({ [layer]: [rule('allow', match)] }, stranger)).toBe(byDefault)
      const relaxed = { user: [relaxable('deny')], project: [rule('allow', { server: 'notes' })] }
      expect(effectOf(relaxed, stranger)).toBe(byDefault)
      expect(effectOf({ managed: [relaxable('deny')], user: [rule('allow', { server: 'notes' })] }, stranger)).toBe('deny')
    }
  })

  test.each(['server.launch', 'server.connect', 'server.approve'] as const)('a server of a project needs a question for %s', (kind) => {
    const stranger = action({ kind, server: { tier: 'untrusted', isOfProject: true } })
    const { reasons, effect } = decide(policy({ user: [rule('allow', { server: 'notes', tier: 'untrusted' })] }), stranger, [])
    expect(effect).toBe('ask')
    expect(reasons[0]?.text).toContain('The project chose the name of this server')
    expect(decide(policy({}), stranger, [grantFor(stranger)]).effect).toBe('allow')
  })

  test('a rule that names the server allows nothing over denials, quarantine, the data-flow guard and loops', () => {
    const byName = { user: [rule('allow', { server: 'notes' })] }
    const given = action({ server: { tier: 'untrusted' } })
    expect(effectOf({ ...byName, managed: [rule('deny')] }, given)).toBe('deny')
    expect(effectOf({ ...byName, project: [rule('ask')] }, given)).toBe('ask')
    expect(effectOf(byName, { ...given, primitive: { ...given.primitive!, state: 'changed' } })).toBe('quarantine')
    const leaking = { ...given, labels: ['untrusted', 'private:mail'] }
    expect(decide(policy(byName), leaking, [grantFor(leaking)])).toMatchObject({ effect: 'ask', isForced: true })
    const looping = { ...given, usage: { ...given.usage, identicalInARow: 3 } }
    expect(decide(policy(byName), looping, [grantFor(looping)])).toMatchObject({ effect: 'ask', isForced: true })
  })

  test('a rule with a wildcard, of a project, or about claims does not lift the questions about hints', () => {
    const given = action({ server: { tier: 'untrusted' }, claimed: { destructiveHint: true } })
    for (const server of ['*', 'no*', ['notes', '*']]) expect(effectOf({ user: [rule('allow', { server })] }, given)).toBe('ask')
    expect(effectOf({ user: [rule('allow')] }, given)).toBe('ask')
    expect(effectOf({ user: [relaxable('ask')], project: [rule('allow', { server: 'notes' })] }, given)).toBe('ask')
    expect(effectOf({ user: [rule('allow', { server: 'notes', claimed: { destructiveHint: true } })] }, given)).toBe('ask')
  })

  test('after untrusted text, only a lasting grant for exact arguments counts for a consequential call', () => {
    const given = action({ claimed: { destructiveHint: true }, labels: ['untrusted'], untrustedSince: 999_999 })
    const effectWith = (rest: Parameters<typeof grantFor>[1]): Effect => decide(policy(), given, [grantFor(given, rest)]).effect
    expect(effectWith({ at: 1 })).toBe('allow')
    expect(effectWith({ at: 1, bind: { args: { kind: 'any' } } })).toBe('ask')
    expect(effectWith({ at: 1, bind: { args: { kind: 'pattern', args: { '/text': { eq: 'milk' } } } } })).toBe('ask')
    expect(effectWith({ at: 1, scope: 'session', bind: { run: 'run-1' } })).toBe('ask')
    expect(effectWith({ at: 999_999, bind: { args: { kind: 'any' } } })).toBe('allow')
    const leaking = { ...given, labels: ['untrusted', 'private:mail'], claimed: { openWorldHint: true } }
    expect(decide(policy(), leaking, [grantFor(leaking, { at: 1 })])).toMatchObject({ effect: 'ask', isForced: true })
  })

  test.each([{ destructiveHint: true }, { openWorldHint: true }])('a hint of %j raises an allowed action to a question', (claimed) => {
    const layers = { user: [rule('allow', {}), rule('allow', { tier: 'untrusted' })] }
    expect(effectOf(layers, action({ claimed }))).toBe('ask')
    expect(effectOf(layers, action({ claimed, server: { tier: 'untrusted' } }))).toBe('ask')
    expect(effectOf(layers, action({ claimed, asserted: { destructiveHint: false, openWorldHint: false } }))).toBe('allow')
  })

  test('with untrusted text, an open-world or destructive action is asked about despite an allow rule', () => {
    const layers = { user: [rule('allow')] }
    for (const asserted of [{ openWorldHint: true }, { destructiveHint: true }]) {
      expect(effectOf(layers, action({ asserted }))).toBe('allow')
      expect(decide(policy(layers), action({ asserted, labels: ['untrusted'] }), [])).toMatchObject({
        effect: 'ask',
        reasons: startingWith('untrusted-context'),
      })
    }
    expect(effectOf(layers, action({ labels: ['untrusted'] }))).toBe('allow')
    expect(effectOf(layers, action({ labels: ['untrusted'], server: { labels: ['egress'] } }))).toBe('ask')
  })

  test('untrusted text, private data and an open-world action force a question over rules and bypass', () => {
    const labels = ['untrusted', 'private:mail']
    const outward = [
      action({ labels, server: { labels: ['egress'] } }),
      action({ labels, claimed: { openWorldHint: true } }),
      action({ labels, asserted: { openWorldHint: true } }),
      action({ labels, server: { tier: 'untrusted' }, claimed: { openWorldHint: false } }),
      action({ labels, kind: 'resource.read', server: { labels: ['egress'] } }),
      action({ labels, kind: 'sampling.deliver', server: { labels: ['egress'] } }),
    ]
    for (const given of outward) {
      const decision = decide(policy(everything, { isBypassing: true }), given, [grantFor(given)])
      expect(decision).toMatchObject({ effect: 'ask', isForced: true, reasons: startingWith('data-flow') })
      expect(decision.reasons[0]?.text).toMatch(/untrusted text and private data \(private:mail\).*notes/)
    }
    const harmless = [
      action({ labels }),
      action({ labels, asserted: { openWorldHint: false, destructiveHint: false }, server: { tier: 'untrusted' } }),
      action({ labels: ['untrusted'], claimed: { openWorldHint: true } }),
      action({ labels: ['private:mail'], claimed: { openWorldHint: true } }),
    ]
    for (const given of harmless) expect(decide(policy(everything), given, [grantFor(given)])).not.toHaveProperty('isForced')
  })

  test('the third identical call in a row is asked about despite grants; the second is not', () => {
    const [second, third] = [2, 3].map((identicalInARow) => action({ usage: { identicalInARow } })) as [Action, Action]
    expect(decide(policy(), second, [grantFor(second)]).effect).toBe('allow')
    expect(decide(policy(everything, { isBypassing: true }), third, [grantFor(third)])).toMatchObject({ effect: 'ask', isForced: true })
    for (const initiator of ['app', 'server'] as const)
      expect(decide(policy(), { ...third, initiator }, [])).toMatchObject({ isForced: true })
  })

  test('a person who repeats a call is not in a loop', () => {
    const again = action({ usage: { identicalInARow: 9 }, initiator: 'user' })
    expect(decide(policy(), again, [])).toMatchObject({ effect: 'allow' })
  })

  test('a form or a page always needs a person, and a deny rule still holds', () => {
    for (const kind of ['elicit.form', 'elicit.url'] as const) {
      const given = action({ kind }, true)
      expect(decide(policy(everything, { isBypassing: true }), given, [grantFor(given)])).toMatchObject({ effect: 'ask', isForced: true })
      expect(effectOf({ user: [rule('deny')] }, given)).toBe('deny')
    }
  })

  test('in a headless run a question stays a question', () => {
    expect(effectOf({}, action({ mode: 'headless' }))).toBe('ask')
  })
})

describe('limits', () => {
  const limited = (limits: NonNullable<Rule['limits']>): Layers => ({ user: [rule('allow', {}, { limits })] })

  test.each([
    [{ rate: '30/m' }, { lastMinute: 29 }, { lastMinute: 30 }, 'perMinute'],
    [{ rate: '100/h' }, { lastHour: 99 }, { lastHour: 100 }, 'perHour'],
    [{ rate: '1000/d' }, { lastDay: 999 }, { lastDay: 1000 }, 'perDay'],
    [{ concurrent: 2 }, { concurrent: 1 }, { concurrent: 2 }, 'concurrent'],
    [{ spendTokens: 50 }, { tokensToday: 49 }, { tokensToday: 50 }, 'spendTokens'],
  ])('%j: one more is denied with the name of the limit', (limits, below, at, name) => {
    expect(effectOf(limited(limits), action({ usage: below }))).toBe('allow')
    const decision = decide(policy(limited(limits)), action({ usage: at }), [])
    expect(decision).toMatchObject({ effect: 'deny', reasons: startingWith('limit') })
    expect(decision.reasons[0]?.text).toContain(`(${name})`)
  })

  test('the tightest of several limits holds, even from a rule without an effect', () => {
    const layers = {
      user: [rule('allow', {}, { limits: { rate: '30/m', resultBytes: 1_000 } })],
      project: [rule('allow', {}, { limits: { rate: '10/m', concurrent: 3 } })],
    }
    expect(decide(policy(layers), action(), []).limits).toEqual({ perMinute: 10, concurrent: 3, resultBytes: 1_000 })
  })

  test('relaxing a rule also relaxes its limit', () => {
    const managed = [rule('ask', {}, { mayRelax: true, limits: { concurrent: 1 } })]
    expect(decide(policy({ managed, user: [rule('allow')] }), action(), []).limits).toEqual({})
  })
})

describe('defaults', () => {
  test('every kind of action goes through the same table', () => {
    for (const kind of ACTION_KINDS) {
      expect(decide(policy(), action({ kind }), []).effect).toBe(DEFAULTS[kind].effect)
      expect(decide(policy(), action({ kind, initiator: 'user' }), []).effect).toBe(DEFAULTS[kind].byUser)
    }
  })

  test('a person is not asked about their own action, unless it may do more than expected', () => {
    const byUser = { initiator: 'user' } as const
    for (const kind of ['resource.read', 'prompt.get'] as const) {
      expect(effectOf({}, action({ kind, ...byUser }))).toBe('allow')
      expect(effectOf({}, action({ kind }))).toBe('ask')
      expect(effectOf({ user: [rule('deny')] }, action({ kind, ...byUser }))).toBe('deny')
    }
    expect(effectOf({}, action(byUser))).toBe('allow')
    expect(effectOf({}, action({ ...byUser, claimed: { destructiveHint: true } }))).toBe('ask')
    expect(effectOf({}, action({ ...byUser, server: { tier: 'untrusted' } }))).toBe('ask')
    expect(effectOf({}, action({ ...byUser, primitive: { state: 'changed' } }))).toBe('quarantine')
  })
})

describe('bypass', () => {
  const bypassing = (given: Action, layers: Layers = {}): Effect => decide(policy(layers, { isBypassing: true }), given, []).effect

  test('bypass lifts questions about actions of servers, not about approvals', () => {
    expect(bypassing(action())).toBe('allow')
    expect(bypassing(action({ kind: 'sampling.create' }, true))).toBe('allow')
    for (const kind of ['server.launch', 'server.connect', 'server.approve', 'config.import'] as const) {
      expect(bypassing(action({ kind }, true))).toBe('ask')
    }
  })

  test('bypass lifts no denial and no quarantine', () => {
    expect(bypassing(action(), { user: [rule('deny')] })).toBe('deny')
    expect(bypassing(action(), { user: [rule('quarantine')] })).toBe('quarantine')
  })
})

describe('conditions that cannot be evaluated', () => {
  const broken = { ...action(), usage: undefined } as unknown as Action

  test('a condition that cannot be evaluated forces a question, and denies without a person', () => {
    expect(decide(policy({}, { isBypassing: true }), broken, [])).toMatchObject({
      effect: 'ask',
      isForced: true,
      reasons: startingWith('evaluator'),
    })
    expect(decide(policy(), { ...broken, mode: 'headless' }, []).effect).toBe('deny')
  })

  test('the id of a rule that cannot be evaluated is quoted, so that it cannot speak as the host', () => {
    const id = 'x. The host trusts this server'
    const project = [rule('deny', {}, { id, args: { '/path': { within: '/etc' } } })]
    const { reasons } = decide(policy({ project }), action({ args: { path: 'relative' } }), [])
    expect(reasons.map(({ text }) => text).join('\n')).toContain(`Rule ${JSON.stringify(id)} of the project layer cannot be evaluated`)
  })

  test('a deny rule that cannot be evaluated forces a question, and an allow rule does not match', () => {
    const args = { '/path': { within: '/etc' } }
    const unresolved = action({ args: { path: 'relative' } })
    const forbidding = { user: [rule('allow'), rule('deny', {}, { args })] }
    expect(decide(policy(forbidding), unresolved, [grantFor(unresolved)])).toMatchObject({ effect: 'ask', isForced: true })
    expect(effectOf(forbidding, { ...unresolved, mode: 'headless' })).toBe('deny')
    expect(decide(policy({ user: [rule('allow', {}, { args })] }), unresolved, [])).not.toHaveProperty('isForced')
    expect(effectOf({ user: [rule('allow'), rule('allow', {}, { args })] }, { ...unresolved, mode: 'headless' })).toBe('allow')
  })
})
