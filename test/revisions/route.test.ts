import { describe, expect, test } from 'vitest'
import { META } from '../../src/protocol/model/base.ts'
import { REVISIONS, type Revision, revisionOf, selectRevisions } from '../../src/revisions/index.ts'
import { type Route, route } from '../../src/revisions/route.ts'
import { proves } from '../support/proves.ts'

type Params = Record<string, unknown>

const STATELESS = selectRevisions(['2026-07-28'])
const SESSION = selectRevisions(['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'])
const session = revisionOf('2025-06-18') as Revision

const metaOf = (meta: Params = {}): Params => ({ _meta: { [META.protocolVersion]: '2026-07-28', [META.clientCapabilities]: {}, ...meta } })
const outcome = ({ revision, error }: Route): unknown[] => (error ? [revision.version, error.code, error.message] : [revision.version])
const decide = (method: string, params: Params | undefined, agreed?: Revision, supported: readonly Revision[] = REVISIONS): unknown[] =>
  outcome(route({ method, params }, agreed, supported))

describe('a request that names its version', () => {
  test('a request that names its version speaks it, with or without a session', () => {
    expect(decide('tools/list', metaOf())).toEqual(['2026-07-28'])
    expect(decide('tools/list', metaOf(), session)).toEqual(['2026-07-28'])
    expect(decide('server/discover', metaOf({ [META.clientInfo]: { name: 'c', version: '1' }, [META.logLevel]: 'debug' }))).toEqual([
      '2026-07-28',
    ])
  })

  test.each(['2025-11-25', '2099-01-01', '', 7, null])(
    'a request with the version %j, which is not stateless, gets the list of versions',
    (version) => {
      proves('R-DISC-003')
      const { revision, error } = route({ method: 'tools/list', params: metaOf({ [META.protocolVersion]: version }) }, undefined, REVISIONS)
      expect(revision.version).toBe('2026-07-28')
      expect(error).toMatchObject({
        code: 'ERR_VERSION_UNSUPPORTED',
        message: 'Unsupported protocol version',
        data: { supported: REVISIONS.map((each) => each.version), requested: version },
      })
      expect(revision.errorCode('ERR_VERSION_UNSUPPORTED')).toBe(-32022)
    },
  )

  test('a server with sessions only refuses a versioned request in the words of the newest revision', () => {
    const { revision, error } = route({ method: 'tools/list', params: metaOf() }, undefined, SESSION)
    expect([revision.version, error?.code]).toEqual(['2026-07-28', 'ERR_VERSION_UNSUPPORTED'])
    expect(error?.data).toEqual({ supported: SESSION.map(({ version }) => version), requested: '2026-07-28' })
  })

  test.each<[Params, string]>([
    [{ [META.clientCapabilities]: undefined }, `params._meta must have ${META.clientCapabilities}, an object`],
    [{ [META.clientCapabilities]: [] }, `params._meta must have ${META.clientCapabilities}, an object`],
    [{ [META.clientCapabilities]: 'all' }, `params._meta must have ${META.clientCapabilities}, an object`],
    [{ [META.clientInfo]: 'me' }, `params._meta.${META.clientInfo} must be an object`],
    [{ [META.clientInfo]: null }, `params._meta.${META.clientInfo} must be an object`],
    [{ [META.logLevel]: 'verbose' }, `params._meta.${META.logLevel} is not a log level: "verbose"`],
    [{ [META.logLevel]: 3 }, `params._meta.${META.logLevel} is not a log level: 3`],
  ])('a request with the rest of its metadata as %j is malformed', (meta, message) => {
    expect(decide('tools/list', metaOf(meta))).toEqual(['2026-07-28', 'ERR_INVALID_PARAMS', message])
  })

  test('a request may have unknown keys in its metadata, of any value', () => {
    proves('T-META-002', 'T-META-003', 'R-META-015')
    expect(decide('tools/list', metaOf({ 'com.example/x': 1, 'io.modelcontextprotocol/future': [null], progressToken: 't' }))).toEqual([
      '2026-07-28',
    ])
    expect(decide('tools/list', { _meta: { progressToken: 1, other: {} } }, session)).toEqual(['2025-06-18'])
  })
})

describe('initialize', () => {
  test.each(SESSION.map(({ version }) => version))('initialize with %s is answered in it', (protocolVersion) => {
    proves('T-VER-009')
    expect(decide('initialize', { protocolVersion })).toEqual([protocolVersion])
  })

  test.each(['2099-01-01', '2026-07-28', '1.0.0', undefined, 7])(
    'initialize with %j is answered in the newest session revision',
    (protocolVersion) => {
      proves('T-VER-010', 'T-VER-011')
      expect(decide('initialize', { protocolVersion })).toEqual(['2025-11-25'])
      expect(decide('initialize', undefined)).toEqual(['2025-11-25'])
    },
  )

  test('initialize does not exist on a stateless server, which lists its versions', () => {
    const { error } = route({ method: 'initialize', params: { protocolVersion: '2025-06-18' } }, undefined, STATELESS)
    expect(error).toMatchObject({
      code: 'ERR_METHOD_NOT_FOUND',
      message: 'This server has no initialize; it supports 2026-07-28',
      data: { supported: ['2026-07-28'], requested: '2025-06-18' },
    })
    expect(route({ method: 'initialize', params: undefined }, undefined, STATELESS).error?.data).toEqual({
      supported: ['2026-07-28'],
      requested: null,
    })
  })

  test('initialize is routed by its version in a session too, which then refuses it', () => {
    expect(decide('initialize', { protocolVersion: '2025-03-26' }, session)).toEqual(['2025-03-26'])
  })
})

describe('a request that says nothing about its version', () => {
  test('a request without a version speaks that of its session', () => {
    for (const method of ['tools/list', 'ping', 'server/discover', 'x/unknown'])
      expect(decide(method, undefined, session)).toEqual(['2025-06-18'])
    expect(decide('tools/list', { _meta: 'odd' }, session)).toEqual(['2025-06-18'])
  })

  test('a request without a version may be a ping before there is a session', () => {
    expect(decide('ping', undefined)).toEqual(['2025-11-25'])
    expect(decide('ping', undefined, undefined, selectRevisions(['2024-11-05']))).toEqual(['2024-11-05'])
  })

  test('a request without a version is refused before the handshake', () => {
    proves('T-LIFE-002')
    expect(decide('tools/list', {})).toEqual([
      '2025-11-25',
      'ERR_INVALID_REQUEST',
      'tools/list arrived before initialize; send initialize first',
    ])
    expect(decide('x/unknown', undefined)).toEqual([
      '2025-11-25',
      'ERR_INVALID_REQUEST',
      'x/unknown arrived before initialize; send initialize first',
    ])
  })

  test.each(['server/discover', 'subscriptions/listen'])(
    'a stateless method without a version, %s, is refused with the name of the missing member',
    (method) => {
      expect(decide(method, {})).toEqual(['2026-07-28', 'ERR_INVALID_PARAMS', `params._meta must have ${META.protocolVersion}`])
      expect(decide(method, {}, undefined, SESSION)).toEqual([
        '2025-11-25',
        'ERR_INVALID_REQUEST',
        `${method} arrived before initialize; send initialize first`,
      ])
    },
  )

  test('a request without a version is refused by a stateless server as well', () => {
    expect(decide('ping', undefined, undefined, STATELESS)).toEqual([
      '2026-07-28',
      'ERR_INVALID_REQUEST',
      'ping arrived before initialize; send initialize first',
    ])
    expect(decide('tools/list', {}, undefined, STATELESS).slice(0, 2)).toEqual(['2026-07-28', 'ERR_INVALID_REQUEST'])
  })
})
