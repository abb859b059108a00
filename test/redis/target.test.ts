/** The URLs that a store in Redis understands. */

import { expect, test } from 'vitest'
import { redis } from '../../src/redis/index.ts'
import { readTarget, shownTarget } from '../../src/redis/target.ts'

const SINGLE = { kind: 'single', isTls: false, username: undefined, password: undefined, database: 0, name: undefined }

test.each([
  ['redis://localhost', { ...SINGLE, nodes: [{ host: 'localhost', port: 6379 }] }],
  ['redis://10.0.0.1:7000/3', { ...SINGLE, nodes: [{ host: '10.0.0.1', port: 7000 }], database: 3 }],
  ['redis://[::1]:7000/', { ...SINGLE, nodes: [{ host: '::1', port: 7000 }] }],
  ['rediss://u:p%40%3Aq@host', { ...SINGLE, nodes: [{ host: 'host', port: 6379 }], isTls: true, username: 'u', password: 'p@:q' }],
  ['redis://:secret@host', { ...SINGLE, nodes: [{ host: 'host', port: 6379 }], password: 'secret' }],
  [
    'rediss-cluster://u:p@a:7000,b,[::2]:1',
    {
      ...SINGLE,
      kind: 'cluster',
      nodes: [
        { host: 'a', port: 7000 },
        { host: 'b', port: 6379 },
        { host: '::2', port: 1 },
      ],
      isTls: true,
      username: 'u',
      password: 'p',
    },
  ],
  [
    'redis-sentinel://a,b:1/main',
    {
      ...SINGLE,
      kind: 'sentinel',
      nodes: [
        { host: 'a', port: 26379 },
        { host: 'b', port: 1 },
      ],
      name: 'main',
    },
  ],
])('the URL %s is understood', (url, target) => {
  expect(readTarget(url)).toEqual(target)
})

test.each([
  ['', 'Expected a URL of Redis such as redis://host:6379'],
  ['http://host', 'Expected a URL of Redis'],
  ['redis://', 'Expected a URL of Redis'],
  ['redis://host?x=1', 'Expected a URL of Redis'],
  [undefined as unknown as string, 'Expected a URL of Redis'],
  ['redis://a,b', 'Several hosts need redis-cluster: or redis-sentinel:'],
  ['redis://a:99999', 'Expected a host and a port'],
  ['redis://a:b', 'Expected a host and a port'],
  ['redis://a/main', 'Expected the number of a database after the host; got "/main"'],
  ['redis://u:a/b@host', 'write / as %2F'],
  ['redis-sentinel://a:1', 'Expected the name of the primary after the sentinels'],
  ['redis-cluster://a:1/2', 'A cluster has no databases; got "/2"'],
  ['redis://u:%ZZ@a', 'The name and the password in the URL of Redis'],
])('the URL "%s" is refused with a reason', (url, message) => {
  expect(() => readTarget(url)).toThrow(message)
})

test.each([
  ['rediss://u:p@host', 'rediss://(hidden)@host:6379/0'],
  ['redis://:p@[::1]:7000/3', 'redis://(hidden)@[::1]:7000/3'],
  ['redis-cluster://a:1,b', 'redis-cluster://a:1,b:6379'],
  ['redis-sentinel://u@a/main', 'redis-sentinel://(hidden)@a:26379/main'],
])('the URL %s is shown to people as %s', (url, shown) => {
  expect(shownTarget(readTarget(url))).toBe(shown)
})

test('an error about a URL does not repeat the password in it', () => {
  for (const url of [
    'http://user:hunter2@host',
    'user:hunter2@host:6379',
    'redis:/u:hunter2@host',
    'redis://user:hunter2',
    'redis://user:hunter2@a,b',
    'redis://user:hunter2@a:99999',
    'redis://u:hunter2%ZZ@a',
    'redis://:ab/hunter2+x=@redis:6379',
    'redis://user:hunter2/ss@host',
    'redis://u:12/hunter2@h',
    'redis-cluster://u:12/hunter2@h:1,h2:2',
    'redis-sentinel://u:12/hunter2@h',
    'redis://u:hunter2\n@h:1/x/y',
  ]) {
    const message = (() => {
      try {
        return shownTarget(readTarget(url))
      } catch (error) {
        return (error as Error).message
      }
    })()
    expect(message).not.toContain('hunter2')
  }
})

test.each([
  [{ leaseMs: 100 }, 'leaseMs must be at least 200; got 100'],
  [{ leaseMs: Number.NaN }, 'leaseMs must be at least 200; got NaN'],
  [{ timeoutMs: 0 }, 'timeoutMs must be at least 1; got 0'],
  [{ prefix: '{a}:' }, 'prefix must not contain braces, which a cluster reads; got "{a}:"'],
  [{ prefix: '' }, 'prefix is empty: leave it out for the default, portico:'],
  [{ keys: null as never }, 'keys must be what keyRing(secret) of portico/server returns'],
])('the options %o are refused with a reason', (options, message) => {
  expect(() => redis('redis://host', options)).toThrow(message)
})

test('a secret in place of keys is refused, and not shown', () => {
  const keys = 'hunter2 hunter2 hunter2 hunter2 hunter2' as never
  expect(() => redis('redis://host', { keys })).toThrow(
    expect.objectContaining({ code: 'ERR_CONFIG', message: 'keys must be what keyRing(secret) of portico/server returns' }),
  )
})
