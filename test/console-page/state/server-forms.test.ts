/** What a person types to add a server or to change its settings. */

import { describe, expect, test } from 'vitest'
import { levelHelp } from '../../../console/src/state/log.ts'
import { commandOf, suggestedId, workingFolder } from '../../../console/src/state/new-server.ts'
import { changedSettings, draftOf, revisionChoices, secretHandles } from '../../../console/src/state/server-settings.ts'
import { countsText, originText, pingText, transportText } from '../../../console/src/state/servers.ts'

describe('a typed server', () => {
  test.each([
    ['https://a.example/mcp', { url: 'https://a.example/mcp' }],
    [
      'npx -y @scope/server-files "my docs" \'a b\' c\\ d',
      { command: 'npx', args: ['-y', '@scope/server-files', 'my docs', 'a b', 'c d'] },
    ],
    ['node server.js $HOME ; rm *', { command: 'node', args: ['server.js', '$HOME', ';', 'rm', '*'] }],
    ['npx \\\n  -y x', { command: 'npx', args: ['-y', 'x'] }],
    ['', undefined],
    ['node "open', undefined],
  ])('%j', (text, server) => {
    expect(commandOf(text)).toEqual(server)
  })

  test.each([
    ['npx -y @modelcontextprotocol/server-everything', 'everything'],
    ['uvx mcp-server-git@1.2.3', 'git'],
    ['node ./weather-server.mjs', 'weather'],
    ['https://mcp.notion.com/mcp', 'notion'],
    ['docker', 'docker'],
    ['http://127.0.0.1:4712/mcp', 'local-4712'],
    ['http://localhost/mcp', 'local-80'],
    ['https://10.0.0.7/mcp', 'server-10-0-0-7'],
  ])('%s is called %s', (text, id) => {
    expect(suggestedId(commandOf(text) ?? {})).toBe(id)
  })
})

test('arguments with blanks are quoted, so that they can be told apart', () => {
  expect(transportText({ type: 'stdio', command: 'node', args: ['a b', '-y', '"'], env: {} })).toBe('node "a b" -y "\\""')
})

test('what a server offers and where it comes from are words', () => {
  expect(countsText({ tools: 1, prompts: 0, resources: 2, templates: 0 })).toBe('1 tool, 2 resources')
  expect([
    originText([]),
    originText([{ client: 'Cursor', scope: 'user', file: 'f' }]),
    originText([{ client: 'x', scope: 'ours', file: 'f' }]),
  ]).toEqual(['added by this program', 'from Cursor', 'added by you'])
})

describe('settings', () => {
  const before = draftOf({
    tier: 'untrusted',
    labels: ['a'],
    command: 'node',
    args: ['x'],
    env: { A: '(6 characters)', B: '2' },
    roots: [],
    timeoutMs: 2_000,
  })

  test('only what differs is sent, so hidden values stay', () => {
    expect(changedSettings(before, before)).toEqual({ changes: {}, faults: {} })
    expect(changedSettings(before, { ...before, env: 'A=(6 characters)\nC=3', timeout: '', labels: 'a, b', cwd: '/tmp' }).changes).toEqual({
      env: { B: null, C: '3' },
      timeoutMs: null,
      labels: ['a', 'b'],
      cwd: '/tmp',
    })
  })

  test('folders are one in a line, and secrets are found by the names that stand for them', () => {
    expect(changedSettings(before, { ...before, roots: '/a \n\n/b' }).changes).toEqual({ roots: ['/a', '/b'] })
    const handle = (name: string): string => ['$', `{secret:${name}}`].join('')
    const settings = {
      tier: 'trusted' as const,
      labels: [],
      roots: [],
      args: ['x', handle('k')],
      env: { A: handle('k'), B: `b ${handle('l')}` },
    }
    expect(secretHandles(settings)).toEqual([
      { name: 'k', places: ['argument 2', 'A'] },
      { name: 'l', places: ['B'] },
    ])
  })

  test('a line that is no pair and a time that is no number are faults', () => {
    const { faults, changes } = changedSettings(before, { ...before, env: 'nonsense', timeout: 'soon' })
    expect(faults).toEqual({ env: 'Expected NAME=value, got "nonsense"', timeoutMs: 'Expected a number above 0, got "soon"' })
    expect(changes).toEqual({})
  })
})

test('the working folder belongs to a command only, and an emptied field means the default', () => {
  expect(workingFolder({ command: 'node' }, ' /srv ')).toEqual({ cwd: '/srv' })
  expect(workingFolder({ command: 'node' }, ' ')).toEqual({})
  expect(workingFolder({ url: 'https://a.example' }, '/srv')).toEqual({})
})

test('the protocol revision is one of the known ones, automatic, or the list of a file', () => {
  const known = ['2024-11-05', '2025-11-25']
  expect(revisionChoices(known, '').map(({ value }) => value)).toEqual(['', '2025-11-25', '2024-11-05'])
  expect(revisionChoices(known, '2024-11-05, 2025-11-25').map(({ value }) => value)).toEqual([
    '',
    '2024-11-05, 2025-11-25',
    '2025-11-25',
    '2024-11-05',
  ])
  const before = draftOf({ tier: 'untrusted', labels: [], roots: [], url: 'https://a.example', revisions: known, httpTransport: 'sse' })
  expect(changedSettings(before, { ...before, revisions: '', httpTransport: '' }).changes).toEqual({ revisions: null, httpTransport: null })
  expect(changedSettings(before, { ...before, revisions: '2024-11-05', httpTransport: 'streamable-http' }).changes).toEqual({
    revisions: ['2024-11-05'],
    httpTransport: 'streamable-http',
  })
})

test('a ping says how long it took, and what was sent where there is no ping', () => {
  expect(pingText({ ms: 12, method: 'ping' }, '2025-11-25')).toBe('within 12 ms.')
  expect(pingText({ ms: 1_200, method: 'server/discover' }, '2026-07-28')).toBe(
    'within 1.2 s. Revision 2026-07-28 has no ping: server/discover was sent.',
  )
})

test('the level of a log says how it is set, or why it cannot be', () => {
  expect(levelHelp(undefined)).toContain('while it is connected')
  expect(levelHelp({ revision: '2025-11-25' })).toContain('does not declare logging')
  expect(levelHelp({ revision: '2025-11-25', logging: { level: 'info', method: 'logging/setLevel' } })).toContain('logging/setLevel')
  expect(levelHelp({ revision: '2026-07-28', logging: { level: 'info' } })).toContain('each request names the level')
})
