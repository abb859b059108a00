import { describe, expect, test } from 'vitest'
import { REVISIONS, type Revision, selectRevisions } from '../../src/revisions/index.ts'
import {
  answerHandshake,
  chooseStateless,
  isModernError,
  offerHandshake,
  offerStateless,
  versionsIn,
} from '../../src/revisions/negotiate.ts'
import { proves } from '../support/proves.ts'

const versionOf = (revision: Revision | undefined): string | undefined => revision?.version
const SESSION = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25']
const OLD = selectRevisions(['2024-11-05', '2025-03-26'])
const STATELESS = selectRevisions(['2026-07-28'])

describe('a server answers initialize', () => {
  test.each(SESSION)('a server answers initialize with %s when asked for it', (version) => {
    proves('T-VER-004', 'T-VER-009', 'R-VER-001', 'R-VER-006')
    expect(versionOf(answerHandshake(version, REVISIONS))).toBe(version)
  })

  test.each(['1.0.0', '2099-01-01', '2024-10-07', '', 'latest', '2026-07-28'])(
    'a server answers initialize with its newest session revision when asked for %j',
    (version) => {
      proves('T-VER-010', 'T-VER-011')
      expect(versionOf(answerHandshake(version, REVISIONS))).toBe('2025-11-25')
      expect(versionOf(answerHandshake(version, OLD))).toBe('2025-03-26')
    },
  )

  test('a server answers initialize with a revision that it speaks', () => {
    expect(versionOf(answerHandshake('2025-06-18', OLD))).toBe('2025-03-26')
  })

  test('a server without a handshake answers initialize with no revision', () => {
    expect(answerHandshake('2025-06-18', STATELESS)).toBeUndefined()
  })
})

describe('a client offers', () => {
  test('a client offers its newest session revision in initialize', () => {
    proves('T-VER-008')
    expect(versionOf(offerHandshake(REVISIONS))).toBe('2025-11-25')
    expect(versionOf(offerHandshake(OLD))).toBe('2025-03-26')
    expect(offerHandshake(STATELESS)).toBeUndefined()
  })

  test('a client offers its newest stateless revision in its first call', () => {
    expect(versionOf(offerStateless(REVISIONS))).toBe('2026-07-28')
    expect(offerStateless(OLD)).toBeUndefined()
  })
})

describe('by list', () => {
  test.each<[theirs: unknown, chosen: string | undefined]>([
    [['2026-07-28'], '2026-07-28'],
    [['2025-11-25', '2026-07-28', '2099-01-01'], '2026-07-28'],
    [['2025-11-25'], undefined],
    [['2099-01-01'], undefined],
    [[], undefined],
    ['2026-07-28', undefined],
    [undefined, undefined],
    [{ 0: '2026-07-28' }, undefined],
  ])('the list %j leads to %s', (theirs, chosen) => {
    proves('R-DISC-011', 'R-DISC-024')
    expect(versionOf(chooseStateless(theirs, REVISIONS))).toBe(chosen)
  })

  test('no revision is chosen that this side does not speak', () => {
    expect(chooseStateless(['2026-07-28'], OLD)).toBeUndefined()
  })
})

describe('an error about versions', () => {
  test.each<[unknown, string[] | undefined]>([
    [{ supported: ['2024-11-05'], requested: '1.0.0' }, ['2024-11-05']],
    [{ supported: [] }, []],
    [{ supported: '2024-11-05' }, undefined],
    [{ supported: [1] }, undefined],
    [{}, undefined],
    [null, undefined],
    ['2024-11-05', undefined],
    [undefined, undefined],
  ])('the version error %j lists %j', (data, versions) => {
    proves('T-LIFE-041')
    expect(versionsIn(data)).toEqual(versions)
  })

  test('a version error shows by its code whether the server reads request metadata', () => {
    expect([-32020, -32021, -32022].map(isModernError)).toEqual([true, true, true])
    expect([-32601, -32602, -32603, -32600, -32000, -32001, -32002, -32042, 0].some(isModernError)).toBe(false)
  })
})
