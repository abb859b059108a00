/** From a person's answer to what is then allowed, and no more than that. */

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { GrantBounds } from '../../../../src/host/consent/grant-bounds.ts'
import { grantMatches } from '../../../../src/host/consent/grant-match.ts'
import { makeGrant } from '../../../../src/host/consent/grants/make-grant.ts'
import { proposePattern } from '../../../../src/host/consent/grants/proposed-pattern.ts'
import type { Action } from '../../../../src/host/model/action.ts'
import { GRANT_SCOPES, type GrantScope } from '../../../../src/host/model/grant.ts'
import type { Answer } from '../../../../src/host/model/question.ts'

type Allow = Extract<Answer, { kind: 'allow' }>

const NOW = 1_000_000
const DAY_MS = 24 * 60 * 60_000
const BOUNDS: GrantBounds = { scopes: GRANT_SCOPES, wideScopes: GRANT_SCOPES, maxTtlMs: undefined, maxUses: undefined }

const action = (changes: Partial<Action> = {}): Action => ({
  kind: 'tool.call',
  principal: 'me',
  run: 'r',
  turn: 3,
  mode: 'interactive',
  project: '/p',
  initiator: 'model',
  server: { id: 'notes', fingerprint: 'f', tier: 'untrusted', isKnown: true, labels: [] },
  primitive: { kind: 'tool', name: 'read', pin: 'p', state: 'pinned' },
  claimed: {},
  asserted: {},
  args: { id: 'a' },
  realPaths: {},
  labels: [],
  usage: { identicalInARow: 1, concurrent: 0, lastMinute: 0, lastHour: 0, lastDay: 0, tokensToday: 0 },
  at: NOW,
  ...changes,
})

const made = (
  answer: Partial<Allow>,
  { of = action(), bounds = {}, isForced = false }: { of?: Action; bounds?: Partial<GrantBounds>; isForced?: boolean } = {},
) =>
  makeGrant(
    of,
    { kind: 'allow', scope: 'once', ...answer },
    { bounds: { ...BOUNDS, ...bounds }, isForced, now: NOW, by: 'me', scrub: (text) => text.replaceAll('hunter2', '[secret vault/pin]') },
  )

describe('the arguments that a grant shows', () => {
  const shownOf = (args: Record<string, unknown>): string | undefined => {
    const { args: predicate } = made({ scope: 'always', width: 'exact' }, { of: action({ args }) }).bind
    return predicate.kind === 'exact' ? predicate.shown : undefined
  }

  test('exact arguments are in words, and quoted so that none looks like another', () => {
    expect(shownOf({ to: 'bob', count: 2, 'a = 1, b': 'x", y = "z' })).toBe('to = "bob", count = 2, "a = 1, b" = "x\\", y = \\"z"')
    expect(shownOf({})).toBe('no arguments')
  })

  test('registered secrets, and those that a name or their look gives away, are not stored', () => {
    const shown = shownOf({ text: 'the pin is hunter2', password: 'open sesame', key: 'sk-abcdefghijklmnop12345' }) ?? ''
    expect(shown).toContain('[secret vault/pin]')
    for (const secret of ['hunter2', 'open sesame', 'abcdefghijklmnop']) expect(shown).not.toContain(secret)
  })

  test('long arguments are cut, also in the middle of a secret', () => {
    const shown = shownOf({ text: `${'a'.repeat(990)}hunter2${'b'.repeat(100_000)}` }) ?? ''
    expect(shown.length).toBeLessThanOrEqual(1_001)
    expect(shown.endsWith('…')).toBe(true)
    expect(shown).not.toContain('hunter')
  })

  test('a grant for once, for a pattern or for any arguments stores none', () => {
    expect(made({ scope: 'once' }).bind.args).not.toHaveProperty('shown')
    expect(made({ scope: 'always', width: 'any' }).bind.args).toEqual({ kind: 'any' })
  })
})

describe('a grant', () => {
  test.each<[GrantScope, Partial<Action>, boolean]>([
    ['once', {}, true],
    ['once', { run: 's' }, false],
    ['turn', {}, true],
    ['turn', { turn: 4 }, false],
    ['session', { turn: 4 }, true],
    ['session', { run: 's' }, false],
    ['project', { run: 's' }, true],
    ['project', { project: '/q' }, false],
    ['always', { run: 's', project: '/q' }, true],
    ['always', { principal: 'you' }, false],
    ['always', { kind: 'tool.result' }, false],
    ['always', { server: { ...action().server, id: 'mail' } }, false],
  ])('a grant for %s and %j holds: %s', (scope, changes, holds) => {
    expect(grantMatches(made({ scope, width: 'any' }), action(scope === 'once' ? changes : { args: { id: 'b' }, ...changes }))).toBe(holds)
  })

  test('a grant ends when the server or the definition changes', () => {
    const grant = made({ scope: 'always', width: 'any' })
    expect(grantMatches(grant, action())).toBe(true)
    expect(grantMatches(grant, action({ server: { ...action().server, fingerprint: 'g' } }))).toBe(false)
    expect(grantMatches(grant, action({ primitive: { kind: 'tool', name: 'read', pin: 'q', state: 'changed' } }))).toBe(false)
    expect(grantMatches(grant, action({ primitive: { kind: 'tool', name: 'write', pin: 'p', state: 'pinned' } }))).toBe(false)
  })

  test('a grant is for exactly these arguments by default', () => {
    for (const width of ['exact', undefined] as const) {
      const grant = made({ scope: 'always', ...(width && { width }) })
      expect(grantMatches(grant, action())).toBe(true)
      expect(grantMatches(grant, action({ args: { id: 'b' } }))).toBe(false)
      expect(grantMatches(grant, action({ args: { id: 'a', force: true } }))).toBe(false)
    }
  })

  test('a grant with an empty pattern is for exactly these arguments', () => {
    const grant = made({ scope: 'always', width: 'pattern', pattern: {} })
    expect(grant.bind.args.kind).toBe('exact')
  })

  test('a grant for once covers these arguments and one use, even if the answer asks for more', () => {
    const grant = made({ scope: 'once', width: 'any' }, { bounds: { maxUses: 9 } })
    expect(grant).toMatchObject({ usesLeft: 1, bind: { args: { kind: 'exact' } } })
  })

  test('a grant of a question that must be asked each time is for once', () => {
    expect(made({ scope: 'always', width: 'any' }, { isForced: true })).toMatchObject({
      scope: 'once',
      usesLeft: 1,
      bind: { args: { kind: 'exact' } },
    })
  })

  test('a grant is limited by the rules in time and number', () => {
    expect(made({ scope: 'always' }, { bounds: { scopes: ['once', 'turn', 'session'] } }).scope).toBe('session')
    expect(made({ scope: 'turn' }, { bounds: { scopes: ['once', 'session'] } }).scope).toBe('once')
    expect(made({ scope: 'always' }, { bounds: { scopes: [] } }).scope).toBe('once')
    expect(made({ scope: 'always' }, { bounds: { maxTtlMs: 5 } }).expiresAt).toBe(NOW + 5)
    expect(made({ scope: 'session' }, { bounds: { maxUses: 7 } }).usesLeft).toBe(7)
  })

  test('a grant for always lasts until it is revoked, and a grant of a conversation a day at most', () => {
    for (const scope of ['always', 'project'] as const) expect(made({ scope })).not.toHaveProperty('expiresAt')
    for (const scope of ['once', 'turn', 'session'] as const) expect(made({ scope }).expiresAt).toBeLessThanOrEqual(NOW + DAY_MS)
    expect(grantMatches(made({ scope: 'always' }), action({ at: NOW + 4000 * DAY_MS }))).toBe(true)
  })

  test('a grant for other arguments lasts no longer than the rules and hints say', () => {
    const bounds = { wideScopes: ['once', 'turn'] as const }
    expect(made({ scope: 'always', width: 'any' }, { bounds })).toMatchObject({ scope: 'turn', bind: { args: { kind: 'any' } } })
    expect(made({ scope: 'always', width: 'exact' }, { bounds })).toMatchObject({ scope: 'always', bind: { args: { kind: 'exact' } } })
  })
})

describe('the proposed pattern', () => {
  test.each<[string, Record<string, unknown>, object, Record<string, unknown>]>([
    ['other files of a folder', { path: '/home/me/notes/a.md' }, {}, { '/path': { within: '/home/me/notes' } }],
    ['a folder', { dir: '/home/me/notes' }, {}, { '/dir': { within: '/home/me/notes' } }],
    ['files in a list', { paths: ['/a/b/c', '/a/b/d', '/a/e/f'] }, {}, { '/paths/*': { within: ['/a/b', '/a/e'] } }],
    ['a path with dots in it', { path: '/home/me/notes/../x/a.md' }, {}, { '/path': { within: '/home/me/x' } }],
    ['no whole disk', { path: '/passwd' }, {}, { '/path': { eq: '/passwd' } }],
    ['no relative path', { path: 'a/b' }, {}, { '/path': { eq: 'a/b' } }],
    [
      'other pages of a site',
      { url: 'https://docs.example.com:8443/a?b' },
      {},
      { '/url': { hostIn: ['docs.example.com:8443'], glob: 'https://**' } },
    ],
    [
      'other pages of a site at the usual port, and no other port',
      { url: 'https://docs.example.com/a?b', plain: 'http://[::1]/x' },
      {},
      { '/url': { hostIn: ['docs.example.com:443'], glob: 'https://**' }, '/plain': { hostIn: ['[::1]:80'], glob: 'http://**' } },
    ],
    ['no address with a user in it', { url: 'https://a@b.example/' }, {}, { '/url': { eq: 'https://a@b.example/' } }],
    [
      'one of a few values',
      { mode: 'read it all now' },
      { properties: { mode: { enum: ['read it all now'] } } },
      { '/mode': { eq: 'read it all now' } },
    ],
    ['numbers up to this one', { limit: 20 }, {}, { '/limit': { min: 0, max: 20 } }],
    ['no other switches', { force: false, x: null, n: -1 }, {}, { '/force': { eq: false }, '/x': { eq: null }, '/n': { eq: -1 } }],
    ['no other words', { message: 'a few words of it' }, {}, { '/message': { eq: 'a few words of it' } }],
    [
      'nothing that is run',
      { sql: 'select a from b', command: 'ls -l -a' },
      {},
      { '/sql': { eq: 'select a from b' }, '/command': { eq: 'ls -l -a' } },
    ],
    ['names as they are', { 'a/b~c': 'x' }, {}, { '/a~1b~0c': { eq: 'x' } }],
    [
      'what is inside',
      { at: { id: 1, dir: '/a/b' } },
      {},
      { '/at': { schema: { propertyNames: { enum: ['id', 'dir'] } } }, '/at/id': { min: 0, max: 1 }, '/at/dir': { within: '/a/b' } },
    ],
    ['a star as it is', { '*': 1, b: 2 }, {}, { '': { eq: { '*': 1, b: 2 } } }],
    ['no arguments', {}, {}, { '': { eq: {} } }],
  ])('the proposed pattern for %s', (_name, args, schema, pattern) => {
    expect(proposePattern(args, { schema })).toEqual(pattern)
  })

  test('the proposed pattern for text of a trusted server is any text of similar length, except code', () => {
    expect(proposePattern({ message: 'a few words of it', script: 'rm -rf ~ now' }, { tier: 'trusted' })).toEqual({
      '/message': { len: { max: 100 } },
      '/script': { eq: 'rm -rf ~ now' },
    })
  })

  test.each<[string, Record<string, unknown>, boolean]>([
    ['another file of the folder', { path: '/a/b/d', url: 'https://x.example/2', note: 'other words of it', n: 1 }, true],
    ['a file outside', { path: '/a/e', url: 'https://x.example/2', note: 'other words of it', n: 1 }, false],
    ['a file whose name begins like the folder', { path: '/a/bc', url: 'https://x.example/2', note: 'other words of it', n: 1 }, false],
    ['another host', { path: '/a/b/d', url: 'https://x.example.evil/2', note: 'other words of it', n: 1 }, false],
    ['the same host in the clear', { path: '/a/b/d', url: 'http://x.example/2', note: 'other words of it', n: 1 }, false],
    ['a longer text', { path: '/a/b/d', url: 'https://x.example/2', note: 'x '.repeat(51), n: 1 }, false],
    ['another port', { path: '/a/b/d', url: 'https://x.example:8443/2', note: 'other words of it', n: 1 }, false],
    ['the usual port written out', { path: '/a/b/d', url: 'https://x.example:443/2', note: 'other words of it', n: 1 }, true],
    ['a larger number', { path: '/a/b/d', url: 'https://x.example/2', note: 'other words of it', n: 6 }, false],
    ['less', { path: '/a/b/d', url: 'https://x.example/2', note: 'other words of it' }, false],
  ])('the proposed pattern, once granted, is for %s: %j %s', (_name, args, holds) => {
    const pattern = proposePattern({ path: '/a/b/c', url: 'https://x.example/1', note: 'some words of it', n: 5 }, { tier: 'trusted' })
    const grant = made({ scope: 'always', width: 'pattern', pattern })
    expect(grantMatches(grant, action({ args, realPaths: { '/path': String(args.path) } }))).toBe(holds)
  })

  test('the proposed pattern for very many arguments is these arguments', () => {
    const args = Object.fromEntries(Array.from({ length: 65 }, (_, i) => [`a${i}`, i]))
    expect(proposePattern(args)).toEqual({ '': { eq: args } })
  })

  test('the proposed pattern for a path of another system is the path itself', () => {
    const args = { file: process.platform === 'win32' ? '/a/b' : 'A:\\b\\c' }
    expect(
      grantMatches(made({ scope: 'always', width: 'pattern', pattern: proposePattern(args) }, { of: action({ args }) }), action({ args })),
    ).toBe(true)
  })

  test('the proposed pattern covers its own call, and no call with more arguments', () => {
    const json = fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 }))
    fc.assert(
      fc.property(json, fc.string(), (args, extra) => {
        const pattern = proposePattern(args)
        const grant = made({ scope: 'always', width: 'pattern', pattern }, { of: action({ args }) })
        // Paths need a real file to be compared with; what has none is asked about.
        const hasPath = JSON.stringify(pattern).includes('"within"')
        expect(grantMatches(grant, action({ args })) || hasPath).toBe(true)
        if (!Object.hasOwn(args, extra)) expect(grantMatches(grant, action({ args: { ...args, [extra]: 1 } }))).toBe(false)
      }),
    )
  })
})
