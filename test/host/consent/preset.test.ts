/** What presets allow where no rule decides, and what they never allow. */

import { describe, expect, test } from 'vitest'
import { decide } from '../../../src/host/consent/decide.ts'
import { pathArguments } from '../../../src/host/consent/path-arguments.ts'
import type { Action, Decision, Effect } from '../../../src/host/model/action.ts'
import type { Policy, Preset } from '../../../src/host/model/rule.ts'
import { presetOf } from '../../../src/host/policy/compile-policy.ts'
import { escapeSegment } from '../../../src/host/policy/pointer.ts'
import { lintPolicy } from '../../../src/host/policy-tools/lint.ts'
import { action, grantFor, policy, rule } from './actions.ts'

const decideUnder = (preset: Preset | undefined, given: Action, layers: Policy['layers'] = {}): Decision =>
  decide(policy(layers, preset ? { presets: { user: preset } } : {}), given, [])

const under = (preset: Preset | undefined, given: Action, layers: Policy['layers'] = {}): Effect =>
  decideUnder(preset, given, layers).effect

/** A model calls a tool of an untrusted server that the person accepted as read-only. */
const accepted = (rest: Parameters<typeof action>[0] = {}): Action =>
  action({
    claimed: { readOnlyHint: true },
    asserted: { readOnlyHint: true },
    ...rest,
    server: { tier: 'untrusted', ...rest.server },
    primitive: { isAcceptedReadOnly: true, ...rest.primitive },
  })

describe('the preset balanced', () => {
  test('balanced is the default, and allows the calls of a tool that the person accepted as read-only', () => {
    for (const preset of [undefined, 'balanced'] as const)
      expect(decideUnder(preset, accepted())).toMatchObject({ effect: 'allow', reasons: [{ id: 'accepted' }] })
  })

  test('balanced does not believe a claim that the person did not accept', () => {
    const claims = { readOnlyHint: true, destructiveHint: false, openWorldHint: false }
    expect(under('balanced', action({ claimed: claims, server: { tier: 'untrusted' } }))).toBe('ask')
    expect(under('balanced', action({ claimed: claims, asserted: { readOnlyHint: true }, server: { tier: 'untrusted' } }))).toBe('ask')
  })

  test.each<[string, Parameters<typeof action>[0], Effect]>([
    ['private data would go to an untrusted server', { labels: ['private:mail'] }, 'ask'],
    [
      'private data would go to a server that sends data out',
      { labels: ['private:mail'], server: { tier: 'trusted', labels: ['egress'] } },
      'ask',
    ],
    ['text of another server would go to an untrusted server', { hasTextOfOthers: true }, 'ask'],
    ['text of another server goes to a trusted server', { hasTextOfOthers: true, server: { tier: 'trusted' } }, 'allow'],
    ['private data goes to a trusted server', { labels: ['private:mail'], server: { tier: 'trusted' } }, 'allow'],
    ['untrusted text meets an open-world tool', { labels: ['untrusted'], claimed: { readOnlyHint: true, openWorldHint: true } }, 'ask'],
    ['untrusted text meets a tool that is not open-world', { labels: ['untrusted'] }, 'allow'],
    ['the tool also declares that it destroys', { claimed: { destructiveHint: true }, asserted: {} }, 'ask'],
    ['the definition changed', { primitive: { state: 'changed' } }, 'quarantine'],
    ['a path is not granted', { args: { path: '/etc/passwd' }, realPaths: { '/path': '/etc/passwd' } }, 'ask'],
    ['a path cannot be resolved', { args: { path: 'notes.txt' } }, 'ask'],
    ['a path is granted', { args: { path: '/home/a/x' }, realPaths: { '/path': '/home/a/x' }, server: { roots: ['/home/a'] } }, 'allow'],
    [
      'a path only begins like a granted one',
      { args: { path: '/home/ab' }, realPaths: { '/path': '/home/ab' }, server: { roots: ['/home/a'] } },
      'ask',
    ],
    [
      'a path leads out of the granted folder',
      { args: { path: '/home/a/link' }, realPaths: { '/path': '/etc' }, server: { roots: ['/home/a'] } },
      'ask',
    ],
    [
      'one of several paths is not granted',
      {
        args: { paths: ['/home/a/x', '/etc'] },
        realPaths: { '/paths/0': '/home/a/x', '/paths/1': '/etc' },
        server: { roots: ['/home/a'] },
      },
      'ask',
    ],
  ])('balanced, if %s', (_name, rest, effect) => {
    expect(under('balanced', accepted(rest))).toBe(effect)
  })

  test('balanced lifts no denial, no rule that asks, no limit and no forced question', () => {
    const given = accepted()
    for (const layer of ['managed', 'user', 'project', 'session'] as const) {
      expect(under('balanced', given, { [layer]: [rule('deny')] })).toBe('deny')
      expect(under('balanced', given, { [layer]: [rule('ask')] })).toBe('ask')
    }
    const leaking = accepted({ labels: ['untrusted', 'private:mail'] })
    expect(decide(policy(), leaking, [grantFor(leaking)])).toMatchObject({ effect: 'ask', isForced: true })
    expect(decideUnder('trusting', accepted({ usage: { identicalInARow: 3 } }))).toMatchObject({ effect: 'ask', isForced: true })
  })
})

describe('the other presets', () => {
  test('cautious asks about every call of a model', () => {
    expect(under('cautious', accepted())).toBe('ask')
    expect(under('cautious', action())).toBe('ask')
    expect(under('cautious', action({ kind: 'server.approve', isFirstOffering: true }, true))).toBe('ask')
    expect(under('balanced', action({ kind: 'server.approve', isFirstOffering: true }, true))).toBe('allow')
  })

  test('trusting allows calls of trusted servers that are neither destructive nor open-world', () => {
    expect(under('trusting', action())).toBe('allow')
    expect(under('balanced', action())).toBe('ask')
    expect(under('trusting', accepted())).toBe('allow')
    expect(under('trusting', action({ server: { tier: 'untrusted' } }))).toBe('ask')
    for (const hint of ['destructiveHint', 'openWorldHint']) {
      expect(under('trusting', action({ claimed: { [hint]: true } }))).toBe('ask')
      expect(under('trusting', action({ asserted: { [hint]: true } }))).toBe('ask')
    }
    expect(under('trusting', action({ primitive: { state: 'new' } }))).toBe('quarantine')
    expect(under('trusting', action({ server: { labels: ['egress'] }, labels: ['untrusted'] }))).toBe('ask')
  })

  test('a first offering is the only thing that isFirstOffering allows', () => {
    expect(under('balanced', action({ isFirstOffering: true }))).toBe('ask')
    expect(under('trusting', action({ kind: 'server.launch', isFirstOffering: true }, true))).toBe('ask')
    expect(under('balanced', action({ kind: 'server.approve', isFirstOffering: true }, true), { user: [rule('ask')] })).toBe('ask')
  })

  test.each<[Policy['presets'], Preset]>([
    [undefined, 'balanced'],
    [{ user: 'trusting' }, 'trusting'],
    [{ project: 'trusting' }, 'balanced'],
    [{ project: 'cautious' }, 'cautious'],
    [{ user: 'trusting', project: 'balanced' }, 'balanced'],
    [{ user: 'trusting', project: 'trusting' }, 'trusting'],
    [{ managed: 'cautious', user: 'trusting' }, 'cautious'],
    [{ managed: 'trusting', user: 'balanced', session: 'trusting' }, 'balanced'],
  ])('of the presets %j the strictest holds, and a project only tightens: %s', (presets, expected) => {
    expect(presetOf({ ...(presets && { presets }) })).toBe(expected)
  })

  test('a preset without effect is reported', () => {
    const found = lintPolicy(policy({}, { presets: { project: 'trusting' } }))
    expect(found).toMatchObject([
      { code: 'cannot-loosen', layer: 'project', text: expect.stringContaining('a project can only name a stricter') },
    ])
  })
})

test.each<[unknown, string[]]>([
  ['/etc/passwd', ['/v']],
  ['~/notes', ['/v']],
  ['../x', ['/v']],
  ['a/b', ['/v']],
  ['C:\\x', ['/v']],
  ['file:///etc', ['/v']],
  ['FILE:/etc', ['/v']],
  [
    ['/a', 'plain words', { deep: '/b' }],
    ['/v/0', '/v/2/deep'],
  ],
  ['x://../../home/me/secret', ['/v']],
  ['x://home/me/my secret', ['/v']],
  ['http://../..', ['/v']],
  ['https://', ['/v']],
  ['https://example.com/a/../b', ['/v']],
  ['https://example.com/%2e%2e/b', ['/v']],
  ['git+file:///x', ['/v']],
  ['jar:file:/a b/x', ['/v']],
  ['/a b/../x', ['/v']],
  ['my notes/../../x', ['/v']],
  ['~me/my notes', ['/v']],
  ['\\\\host\\my share', ['/v']],
  ['C:my notes', ['/v']],
  ['  "/my notes/x"', ['/v']],
  ['%2Fetc%2Fpasswd', ['/v']],
  ['%252Fetc%252Fmy%20notes', ['/v']],
  ['%ff%2Fetc', ['/v']],
  ['$HOME', ['/v']],
  [`\${HOME} and more`, ['/v']],
  ['%USERPROFILE% and more', ['/v']],
  ['https://example.com/a', []],
  ['wss://example.com/a?b=c%20d', []],
  ['it costs $5, or 10% less', []],
  ['is:open label:bug', []],
  [{ $filter: 'x', feedback: 'y', report: 'z' }, []],
  ['plain words and/or more', []],
  ['milk', []],
  [5, []],
])('the paths among the arguments: %j', (v, pointers) => {
  expect(pathArguments({ v })).toEqual(pointers)
})

test.each(['/etc/passwd', '../x', '%2Fetc%2Fpasswd', '$HOME', 'a/b'])(
  'a name of an argument that is a path is never granted: %s',
  (key) => {
    expect(pathArguments({ v: [{ [key]: '/home/a/x' }] })).toBeUndefined()
    const args = { v: { [key]: '/home/a/x' } }
    const realPaths = { [`/v/${escapeSegment(key)}`]: '/home/a/x' }
    expect(under('balanced', accepted({ args, realPaths, server: { roots: ['/home/a'] } }))).toBe('ask')
  },
)

test.each(['uri', 'src', 'target', 'docName', 'repo', 'database', 'db', 'userDb', 'db_name', 'image', 'glob', 'filePath'])(
  'an argument that is named like a path is one, also with an address in it: %s',
  (name) => {
    for (const text of ['https://example.com/a', 'notes']) expect(pathArguments({ [name]: text })).toEqual([`/${name}`])
  },
)

test.each<Record<string, unknown>>([
  { command: 'cat a /home/me/.ssh/id_rsa' },
  { command: 'cat id_rsa' },
  { runCommand: 'ls' },
  { select: "SELECT a FROM read_csv('/etc/passwd')" },
  { sql: 'SELECT load_file(0x2f657463)' },
  { q: 'grep root /etc/passwd' },
  { query: 'in dir ~/.ssh/id_rsa' },
  { q: 'My Documents/tax.pdf' },
  { q: 'open a b/c/d' },
  { q: 'cat </etc/passwd now' },
  { q: 'find me $HOME/.ssh' },
  { q: 'a b c:/Users' },
  { q: 'a b%20%2Fetc' },
  { argv: '--config=/etc/passwd a b' },
  { argv: '--config=/etc/passwd' },
  { file: { name: 'id_rsa' } },
  { files: [{ names: ['id_rsa'] }] },
  { path: '/home/a/x /etc/passwd' },
])('a path inside a longer text, code, or an object is seen: %j', (args) => {
  // Only the whole text of an argument has a real path.
  const realPaths = Object.fromEntries(Object.keys(args).map((name) => [`/${name}`, '/home/a/x']))
  const isPathAlone = pathArguments(args) !== undefined
  expect(under('balanced', accepted({ args, realPaths: isPathAlone ? {} : realPaths, server: { roots: ['/home/a'] } }))).toBe('ask')
})

test.each<Record<string, unknown>>([
  { query: 'salary report 2026/08/31' },
  { query: 'from:anna has:attachment' },
  { q: 'is it 24/7, and/or w/o TCP/IP?' },
  { q: 'see https://example.com/a/b.html for more' },
  { description: 'a list of things; with more' },
  { countryCode: 'NO' },
])('ordinary words for a tool that only reads are no path: %j', (args) => {
  expect(under('balanced', accepted({ args }))).toBe('allow')
})

test('an argument that is named like a path is one, and too many texts are not examined', () => {
  expect(pathArguments({ filePath: 'notes', source: 'x y' })).toEqual(['/filePath', '/source'])
  expect(pathArguments({ v: Array.from({ length: 500 }, () => 'x') })).toBeUndefined()
})
