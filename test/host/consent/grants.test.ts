import { describe, expect, test } from 'vitest'
import { decide } from '../../../src/host/consent/decide.ts'
import { realPathsOf } from '../../../src/host/consent/gate/real-paths.ts'
import { grantBounds } from '../../../src/host/consent/grant-bounds.ts'
import { grantMatches } from '../../../src/host/consent/grant-match.ts'
import { pathPointers } from '../../../src/host/consent/path-pointers.ts'
import type { Action } from '../../../src/host/model/action.ts'
import type { Grant, GrantScope } from '../../../src/host/model/grant.ts'
import type { ArgumentRules } from '../../../src/host/model/rule.ts'
import { action, grantFor, policy, rule } from './actions.ts'

describe('scopes', () => {
  const scoped = (scope: GrantScope, bind: Partial<Grant['bind']>, usesLeft?: number): Grant =>
    grantFor(action(), { scope, bind, ...(usesLeft === undefined ? {} : { usesLeft }) })

  test.each<[Grant, Action, boolean]>([
    [scoped('once', { run: 'run-1' }, 1), action(), true],
    [scoped('once', { run: 'run-1' }), action(), false],
    [scoped('turn', { run: 'run-1', turn: 1 }), action(), true],
    [scoped('turn', { run: 'run-1', turn: 1 }), action({ turn: 2 }), false],
    [scoped('turn', { run: 'run-1' }), action(), false],
    [scoped('session', { run: 'run-1' }), action({ turn: 9 }), true],
    [scoped('session', { run: 'run-1' }), action({ run: 'run-2' }), false],
    [scoped('session', {}), action(), false],
    [scoped('project', { project: '/home/ada/project' }), action({ run: 'run-2', mode: 'headless' }), true],
    [scoped('project', { project: '/home/ada/project' }), action({ project: '/elsewhere' }), false],
    [scoped('project', {}), action(), false],
    [scoped('always', {}), action({ run: 'run-2', project: '/elsewhere', mode: 'headless' }), true],
    [scoped('for a while' as GrantScope, {}), action(), false],
  ])('a grant matches by its scope (case %#)', (grant, given, isLive) => {
    expect(grantMatches(grant, given)).toBe(isLive)
    expect(decide(policy(), given, [grant]).effect).toBe(isLive ? 'allow' : 'ask')
  })
})

describe('arguments', () => {
  const patterned = (args: ArgumentRules): Grant => grantFor(action(), { bind: { args: { kind: 'pattern', args } } })
  const matches = (args: ArgumentRules, given: Record<string, unknown>): boolean => grantMatches(patterned(args), action({ args: given }))

  test('an exact grant ignores the order of members, and nothing else', () => {
    const grant = grantFor(action({ args: { a: 1, b: [1, 2] } }))
    expect(grantMatches(grant, action({ args: { b: [1, 2], a: 1 } }))).toBe(true)
    expect(grantMatches(grant, action({ args: { b: [2, 1], a: 1 } }))).toBe(false)
    expect(grantMatches(grant, action({ args: { a: 1, b: [1, 2], c: null } }))).toBe(false)
  })

  test('a pattern must match all arguments, and cannot omit one', () => {
    expect(matches({ '/n': { max: 5 } }, { n: 5 })).toBe(true)
    expect(matches({ '/n': { max: 5 } }, { n: 6 })).toBe(false)
    expect(matches({ '/n': { max: 5 } }, {})).toBe(false)
    expect(matches({ '/n': { max: 5 } }, { n: 5, force: true })).toBe(false)
    expect(matches({ '/n': { max: 5 }, '/force': { eq: false } }, { n: 5, force: false })).toBe(true)
    expect(matches({}, {})).toBe(true)
    expect(matches({}, { n: 5 })).toBe(false)
  })

  test('an unreadable pattern matches nothing, and does not affect the decision', () => {
    const broken = patterned({ '/n': { re2: '(' } })
    expect(decide(policy(), action(), [broken, grantFor(action(), { id: 'whole' })])).toMatchObject({ effect: 'allow', grant: 'whole' })
  })
})

describe('pathPointers', () => {
  test('arguments that rules and grants judge by real path are listed', () => {
    const rules = [
      rule('deny', { tool: 'add' }, { id: 'a', args: { '/paths/*': { within: '/etc' }, '/n': { max: 1 } } }),
      rule('deny', { tool: 'other' }, { id: 'b', args: { '/else': { within: '/etc' } } }),
    ]
    const given = action({ args: { paths: ['/a', 5, '/b'], file: '/c', else: '/d' } })
    const grant = grantFor(given, { bind: { args: { kind: 'pattern', args: { '/file': { within: '/c' } } } } })
    const elsewhere = grantFor(given, { bind: { server: 'mail', args: { kind: 'pattern', args: { '/else': { within: '/c' } } } } })
    expect(pathPointers(policy({ user: rules }), given, [grant, elsewhere])).toEqual(['/paths/0', '/paths/2', '/file'])
  })
})

test('a member called `*` is judged by its own path, not by that of another member', async () => {
  const rules = policy({ user: [rule('allow', {}, { args: { '/paths/*': { within: '/nowhere/area' } } })] })
  const effectOf = async (paths: Record<string, string>): Promise<string> => {
    const given = action({ args: { paths } })
    return decide(rules, { ...given, realPaths: await realPathsOf(given, pathPointers(rules, given)) }, []).effect
  }
  expect(await effectOf({ a: '/nowhere/area/a', '*': '/nowhere/area/b' })).toBe('allow')
  expect(await effectOf({ a: '/nowhere/area/a', '*': '/etc/passwd' })).toBe('ask')
  expect(await effectOf({ '*': '/nowhere/area/a', b: '/etc/passwd' })).toBe('ask')
})

describe('grantBounds', () => {
  const longest = (given: Action, layers: Parameters<typeof policy>[0] = {}): (GrantScope | undefined)[] => {
    const { scopes, wideScopes } = grantBounds(policy(layers), given)
    return [scopes.at(-1), wideScopes.at(-1)]
  }

  test('the longest scope of a grant depends on the action and on whether it covers other arguments', () => {
    expect(longest(action())).toEqual(['always', 'always'])
    expect(longest(action({ claimed: { destructiveHint: true } }))).toEqual(['always', 'turn'])
    expect(longest(action({ asserted: { openWorldHint: true } }))).toEqual(['always', 'session'])
    expect(longest(action({ server: { tier: 'untrusted' } }))).toEqual(['always', 'always'])
    expect(longest(action({ kind: 'elicit.form' }, true))).toEqual(['once', 'once'])
    expect(longest(action({ usage: { identicalInARow: 3 } }))).toEqual(['once', 'once'])
    expect(grantBounds(policy(), action())).toMatchObject({ maxTtlMs: undefined, maxUses: undefined })
  })

  test('rules set the longest scope, the tightest wins, and a project rule only shortens it', () => {
    const user = [
      rule('ask', {}, { id: 'a', grant: { scope: 'always', ttl: '90d', maxUses: 5 } }),
      rule('ask', {}, { id: 'b', grant: { scope: 'project', ttl: '60d' } }),
    ]
    const open = action({ claimed: { openWorldHint: true } })
    expect(grantBounds(policy({ user }), open)).toEqual({
      scopes: ['once', 'turn', 'session', 'project'],
      wideScopes: ['once', 'turn', 'session', 'project'],
      maxTtlMs: 60 * 86_400_000,
      maxUses: 5,
    })
    const project = [rule('ask', {}, { grant: { scope: 'always', ttl: '90d' } })]
    expect(grantBounds(policy({ project }), open)).toMatchObject({
      wideScopes: ['once', 'turn', 'session'],
      maxTtlMs: 90 * 86_400_000,
    })
    const byClaim = [rule('ask', { claimed: { openWorldHint: true } }, { grant: { scope: 'always' } })]
    expect(longest(open, { user: byClaim })).toEqual(['always', 'session'])
    const less = [rule('ask', {}, { grant: { scope: 'once', ttl: '15m' } })]
    expect(grantBounds(policy({ user, project: less }), open)).toMatchObject({ scopes: ['once'], maxTtlMs: 15 * 60_000 })
  })
})
