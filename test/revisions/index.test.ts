import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { ERRORS, type ErrorCode } from '../../src/protocol/errors.ts'
import { METHODS } from '../../src/protocol/methods.ts'
import { describeRevisions, REVISIONS, type Revision, revisionOf, selectRevisions } from '../../src/revisions/index.ts'
import { proves } from '../support/proves.ts'

const VERSIONS = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25', '2026-07-28']
const of = (version: string): Revision => revisionOf(version) as Revision

const BASE = [
  'completion/complete',
  'initialize',
  'logging/setLevel',
  'notifications/cancelled',
  'notifications/initialized',
  'notifications/message',
  'notifications/progress',
  'notifications/prompts/list_changed',
  'notifications/resources/list_changed',
  'notifications/resources/updated',
  'notifications/roots/list_changed',
  'notifications/tools/list_changed',
  'ping',
  'prompts/get',
  'prompts/list',
  'resources/list',
  'resources/read',
  'resources/subscribe',
  'resources/templates/list',
  'resources/unsubscribe',
  'roots/list',
  'sampling/createMessage',
  'tools/call',
  'tools/list',
]

const METHODS_BY_VERSION: Record<string, string[]> = {
  '2024-11-05': BASE,
  '2025-03-26': BASE,
  '2025-06-18': [...BASE, 'elicitation/create'],
  '2025-11-25': [...BASE, 'elicitation/create', 'notifications/elicitation/complete'],
  '2026-07-28': [
    'completion/complete',
    'elicitation/create',
    'notifications/cancelled',
    'notifications/message',
    'notifications/progress',
    'notifications/prompts/list_changed',
    'notifications/resources/list_changed',
    'notifications/resources/updated',
    'notifications/subscriptions/acknowledged',
    'notifications/tools/list_changed',
    'prompts/get',
    'prompts/list',
    'resources/list',
    'resources/read',
    'resources/templates/list',
    'roots/list',
    'sampling/createMessage',
    'server/discover',
    'subscriptions/listen',
    'tools/call',
    'tools/list',
  ],
}

describe('the revisions', () => {
  test('the revisions are five, oldest first, each named by its date', () => {
    proves('T-VER-001', 'T-VER-003', 'T-VER-004')
    expect(REVISIONS.map(({ version }) => version)).toEqual(VERSIONS)
    for (const { version } of REVISIONS) expect(version).toMatch(/^\d{4}-\d{2}-\d{2}$/)
    expect(describeRevisions(REVISIONS)).toBe('2024-11-05, 2025-03-26, 2025-06-18, 2025-11-25, 2026-07-28')
  })

  test.each(VERSIONS)('the revision %s has exactly its methods', (version) => {
    proves('T-VER-016', 'T-ELIC-002', 'R-BASE-068', 'R-BASE-069', 'R-BASE-070', 'R-VER-003')
    expect([...METHODS.keys()].filter((method) => of(version).has(method)).toSorted()).toEqual(METHODS_BY_VERSION[version]?.toSorted())
  })

  test('the revisions differ in what no table of methods can say', () => {
    proves('T-VER-014', 'T-LIFE-022')
    const factsOf = ({
      dialect,
      hasBatches,
      omitsUnreadableId,
      reportsBadArgumentsInResult,
      hasUrlElicitationError,
      completesUnannounced,
    }: Revision): unknown => [
      dialect,
      hasBatches,
      omitsUnreadableId,
      reportsBadArgumentsInResult,
      hasUrlElicitationError,
      completesUnannounced,
    ]
    expect(Object.fromEntries(REVISIONS.map((revision) => [revision.version, factsOf(revision)]))).toEqual({
      '2024-11-05': ['session', false, false, false, false, true],
      '2025-03-26': ['session', true, false, false, false, false],
      '2025-06-18': ['session', false, false, false, false, false],
      '2025-11-25': ['session', false, true, true, true, false],
      '2026-07-28': ['stateless', false, true, true, false, false],
    })
  })
})

describe('error codes', () => {
  const byVersion = (code: ErrorCode): number[] => REVISIONS.map((revision) => revision.errorCode(code))

  test('a resource that is not found is -32002 up to 2025-11-25 and then -32602', () => {
    proves('T-RES-052', 'T-BASE-035', 'R-BASE-051')
    expect(byVersion('ERR_RESOURCE_NOT_FOUND')).toEqual([-32002, -32002, -32002, -32002, -32602])
  })

  test('a page to be visited first is -32042 in 2025-11-25 only', () => {
    proves('T-ELIC-048', 'T-BASE-035', 'R-BASE-051')
    expect(byVersion('ERR_URL_ELICITATION_REQUIRED')).toEqual([-32603, -32603, -32603, -32042, -32603])
  })

  test('a missing capability is -32021 and an unknown version -32022 in 2026-07-28 only', () => {
    expect(byVersion('ERR_CAPABILITY_MISSING')).toEqual([-32603, -32603, -32603, -32603, -32021])
    expect(byVersion('ERR_VERSION_UNSUPPORTED')).toEqual([-32602, -32602, -32602, -32602, -32022])
  })

  test('mismatching headers are -32001 in revisions with sessions and -32020 in 2026-07-28', () => {
    proves('T-HDR-013')
    expect(byVersion('ERR_HEADER_MISMATCH')).toEqual([-32001, -32001, -32001, -32001, -32020])
  })

  test('all other error codes are the same everywhere, as in the table', () => {
    proves('T-BASE-033')
    const special = [
      'ERR_RESOURCE_NOT_FOUND',
      'ERR_URL_ELICITATION_REQUIRED',
      'ERR_CAPABILITY_MISSING',
      'ERR_VERSION_UNSUPPORTED',
      'ERR_HEADER_MISMATCH',
    ]
    const codes = (Object.keys(ERRORS) as ErrorCode[]).filter((code) => !special.includes(code))
    for (const code of codes) expect(new Set(byVersion(code)), code).toEqual(new Set([ERRORS[code].rpc]))
  })

  test('no code that one revision has for itself is used for anything else', () => {
    proves('T-ELIC-049', 'T-BASE-035', 'R-BASE-049', 'R-BASE-050')
    const all = Object.keys(ERRORS) as ErrorCode[]
    const users = (rpc: number): string[] =>
      REVISIONS.flatMap((revision) => all.filter((code) => revision.errorCode(code) === rpc).map((code) => `${revision.version} ${code}`))
    expect(users(-32042)).toEqual(['2025-11-25 ERR_URL_ELICITATION_REQUIRED'])
    expect(users(-32021)).toEqual(['2026-07-28 ERR_CAPABILITY_MISSING'])
    expect(users(-32022)).toEqual(['2026-07-28 ERR_VERSION_UNSUPPORTED'])
    expect(users(-32002)).toEqual(VERSIONS.slice(0, 4).map((version) => `${version} ERR_RESOURCE_NOT_FOUND`))
    expect(users(-32001)).toEqual(VERSIONS.slice(0, 4).map((version) => `${version} ERR_HEADER_MISMATCH`))
    expect(users(-32020)).toEqual(['2026-07-28 ERR_HEADER_MISMATCH'])
  })
})

describe('codes of 2026-07-28', () => {
  const STANDARD = [-32700, -32600, -32601, -32602, -32603]
  const DEFINED = [-32020, -32021, -32022]
  const used = new Set((Object.keys(ERRORS) as ErrorCode[]).map((code) => of('2026-07-28').errorCode(code)))

  test('the codes of 2026-07-28 are those of JSON-RPC and the three that the revision defines', () => {
    proves('R-BASE-044', 'R-BASE-045', 'R-BASE-046', 'R-BASE-048', 'R-BASE-050', 'R-BASE-051', 'R-BASE-054')
    for (const code of used) expect([...STANDARD, ...DEFINED]).toContain(code)
    for (const code of DEFINED) expect(used.has(code)).toBe(true)
  })

  test('codes from -32000 to -32019 are in the source only for older revisions', () => {
    proves('R-BASE-045', 'R-BASE-046')
    const source = fileURLToPath(new URL('../../src/', import.meta.url))
    const holding = readdirSync(source, { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts') && /-320[01]\d\b/.test(withoutText(readFileSync(`${source}${file}`, 'utf8'))))
      .map((file) => file.replaceAll('\\', '/'))
      .sort()
    // The dialect of views has a code of its own, which stays between a view and its host.
    expect(holding).toEqual(['apps/bridge/bridge.ts', 'revisions/2024-11-05.ts'])
  })

  /** What is written for people may name any code. */
  const withoutText = (code: string): string => code.replace(/\/\*[\s\S]*?\*\/|\/\/.*|'[^'\n]*'|`[^`]*`/g, '')
})

describe('a revision', () => {
  test('a revision is found by its version', () => {
    for (const revision of REVISIONS) expect(revisionOf(revision.version)).toBe(revision)
  })

  test.each(['2025-01-01', '', '1.0.0', null, undefined, 20241105, ['2024-11-05'], 'toString'])(
    'a revision is not found by %j',
    (version) => {
      expect(revisionOf(version)).toBeUndefined()
    },
  )
})

describe('a selection', () => {
  test('a selection is all revisions or the named ones, always oldest first', () => {
    expect(selectRevisions(undefined)).toBe(REVISIONS)
    expect(selectRevisions(['2025-11-25', '2024-11-05', '2025-11-25']).map(({ version }) => version)).toEqual(['2024-11-05', '2025-11-25'])
  })

  test.each([
    [['2023-01-01'], '"2023-01-01"'],
    [['2025-06-18', 'latest'], '"latest"'],
    [[], '[]'],
  ])('a selection of %j is refused, with the possible names', (versions, shown) => {
    expect(() => selectRevisions(versions)).toThrow(
      expect.objectContaining({ code: 'ERR_VERSION_UNSUPPORTED', message: `Unknown revision ${shown}; supported: ${VERSIONS.join(', ')}` }),
    )
  })
})
