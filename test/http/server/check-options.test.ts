import { describe, expect, test } from 'vitest'
import { httpHandler, listen } from '../../../src/http/index.ts'
import { redis } from '../../../src/redis/index.ts'
import { memoryStore } from '../../../src/store/index.ts'
import { askModern, callTool, serve, testServer } from '../../support/http-service.ts'

const HOSTS = 'allowedHosts must be a list of host names such as "mcp.example.com" (no wildcards; IPv6 in brackets; only ASCII)'
/** A list that contains itself. */
const CYCLE: unknown[] = []
CYCLE.push(CYCLE)
const ORIGINS =
  'allowedOrigins must be a list of origins such as "https://app.example.com" (no wildcards, paths or default ports; only ASCII)'

describe('options with a wrong value are refused before the server starts', () => {
  test.each([
    [{ sessions: 'no' }, 'sessions must be true or false, not "no"'],
    [{ authenticate: { principal: 'anna' } }, 'authenticate must be a function, not an object'],
    [{ onRequest: 1 }, 'onRequest must be a function, not a number'],
    [{ auth: null }, 'auth must be resourceServer(...), apiKeys(...) or the like, not null'],
    [{ auth: {} }, 'not an object'],
    [{ allowedHosts: 'a.example' }, `${HOSTS}, not "a.example"`],
    [{ allowedHosts: ['b.example', 'https://a.example/'] }, `${HOSTS}, not ["b.example", "https://a.example/"]`],
    [{ allowedOrigins: ['a.example'] }, `${ORIGINS}, not ["a.example"]`],
    [{ responses: 'xml' }, 'responses must be "auto", "json" or "sse", not "xml"'],
    [{ store: redis }, 'store must be a store, such as redis(url) of portico/redis, not a function'],
    [{ store: {} }, 'not an object'],
    [{ limits: { maxSessions: '5' } }, 'limits.maxSessions must be a number that is not negative, not "5"'],
    [{ limits: { maxSessions: -1 } }, 'not -1'],
    [{ health: null }, 'health must be true, false or { checks }, not null'],
    [{ metrics: { token: '' } }, 'metrics.token is missing or empty: set it, or write metrics: true to require no token'],
    [{ metrics: {} }, 'metrics.token is missing or empty: set it, or write metrics: true to require no token'],
    [{ limits: [] }, 'limits must be an object such as { maxStreams: 100 }, not []'],
    [{ health: [] }, 'health must be true, false or { checks }, not a list'],
    [{ health: new Map() }, 'health must be true, false or { checks }, not an object'],
    [{ health: { checks: [() => undefined] } }, 'health.checks must be an object with a function for each check, not a list'],
    [{ metrics: [] }, 'metrics must be true, false or { token }, not a list'],
    [{ metrics: { token: 'short' } }, 'metrics.token must have at least 16 characters, only visible ASCII'],
    [{ metrics: { token: 'secret-of-scraper\n' } }, 'metrics.token must have at least 16 characters, only visible ASCII'],
    [{ health: { checks: { capacity: () => undefined } } }, 'health.checks.capacity is a check of Portico: choose another name'],
    [{ health: { checks: { keys: (): undefined => undefined } }, store: memoryStore() }, 'health.checks.keys is a check of Portico'],
    // Workers have a store, also without this option.
    [{ health: { checks: { store: (): undefined => undefined } } }, 'health.checks.store is a check of Portico'],
    [{ health: { checks: { keys: (): undefined => undefined } } }, 'health.checks.keys is a check of Portico'],
    [{ health: { checks: { workers: (): undefined => undefined } } }, 'health.checks.workers is a check of Portico'],
    [{ health: { checks: 5 } }, 'health.checks must be an object with a function for each check, not a number'],
    [{ card: { name: 'x' } }, 'card must be what serverCard(server, ...) returns, not an object'],
    [{ trustProxy: 100 }, 'trustProxy must be true, false or the number of proxies, at most 16, not 100'],
    // As process.env gives it.
    [{ metrics: { token: undefined } }, 'metrics.token is missing or empty'],
  ] as const)('%j', async (options, message) => {
    await refuses(options, message)
  })

  test('right values, and undefined, are accepted', async () => {
    const handler = httpHandler(testServer(), {
      allowedHosts: ['mcp.example.com:8443', '[::1]'],
      allowedOrigins: ['https://app.example.com:8443', 'chrome-extension://abc', 'null'],
      responses: 'auto',
      store: memoryStore(),
      limits: { maxSessions: 0, maxStreams: Infinity, maxSessionsPerAddress: false, failedLogins: { perSecond: 1, burst: 1 } },
      health: { checks: { cache: () => undefined } },
      metrics: { token: 'secret-of-scraper' },
    })
    await handler.close()
    await httpHandler(testServer(), { health: undefined, limits: { maxSessions: undefined } } as object).close()
  })
})

test.each([Infinity, Number.NaN, 2 ** 31, -1])('drain refuses %d, and the handler goes on', async (graceMs) => {
  const handler = httpHandler(testServer())
  const error = { code: 'ERR_DEFINITION', message: `graceMs must be a number from 0 to 2147483647, not ${graceMs}` }
  await expect(handler.drain(graceMs)).rejects.toMatchObject(error)
  expect(handler.isReady).toBe(true)
  await handler.drain(2 ** 31 - 1)
  expect(handler.isReady).toBe(false)
  await handler.close()
})

describe('an error does not show the value of an option that can be a secret', () => {
  test.each([
    [{ store: 'redis://u:p@h' }, 'store must be a store, such as redis(url) of portico/redis, not a text'],
    [{ metrics: 'p' }, 'metrics must be true, false or { token }, not a text'],
    [{ metrics: { token: 12_345 } }, 'metrics.token must be a text, not a number'],
    [{ authenticate: 'p' }, 'authenticate must be a function, not a text'],
    [{ auth: 'p' }, 'auth must be resourceServer(...), apiKeys(...) or the like, not a text'],
    [{ health: 'p' }, 'health must be true, false or { checks }, not a text'],
    [{ health: { checks: { cache: 'p' } } }, 'health.checks.cache must be a function, not a text'],
    [{ onRequest: ['p'] }, 'onRequest must be a function, not a list'],
    [{ onRefused: 'p' }, 'onRefused must be a function, not a text'],
  ] as const)('%j', async (options, message) => {
    const error = await refuses(options, message)
    // The message ends there.
    expect(error.message).toBe(message)
  })
})

describe('an error of a list is readable, and shows no password', () => {
  test.each([
    ['a hole', { allowedHosts: Object.assign(new Array(2), { 1: 'a' }) }, `${HOSTS}, not [undefined, "a"]`],
    ['a list in itself', { allowedHosts: CYCLE }, `${HOSTS}, not [a list]`],
    ['a login', { allowedOrigins: ['https://user:pw@a.example'] }, `${ORIGINS}, not ["https://...@a.example"]`],
    ['a login with @', { allowedOrigins: ['https://user:p@w://@a.example'] }, `${ORIGINS}, not ["https://...@a.example"]`],
    ['a login without a scheme', { allowedHosts: ['user:pw@a.example'] }, `${HOSTS}, not ["...@a.example"]`],
  ] as const)('%s', async (_name, options, message) => {
    const error = await refuses(options, message)
    expect(error).toMatchObject({ code: 'ERR_DEFINITION' })
  })
})

describe('a limit cannot be switched off by a wrong value', () => {
  const RATE = 'limits.failedLogins must be false or { perSecond, burst } with two numbers above 0'
  const NUMBER = 'must be a number that is not negative'
  test.each([
    [{ failedLogins: {} }, RATE],
    [{ failedLogins: 5 }, RATE],
    [{ failedLogins: true }, RATE],
    [{ failedLogins: { perSecond: 1, burst: 0 } }, RATE],
    [{ failedLogins: { perSecond: Infinity, burst: 10 } }, RATE],
    [{ failedLogins: { perSecond: Number.NaN, burst: 10 } }, RATE],
    [{ failedLogins: { perSecond: '1', burst: 10 } }, RATE],
    [{ maxSessions: false }, `limits.maxSessions ${NUMBER}, not false`],
    [{ maxSessions: { perSecond: 1, burst: 1 } }, `limits.maxSessions ${NUMBER}, not { perSecond: 1, burst: 1 }`],
    [{ keepAliveMs: {} }, `limits.keepAliveMs ${NUMBER}, not {}`],
    [{ maxSessionsPerAddress: {} }, `limits.maxSessionsPerAddress ${NUMBER}, or false, not {}`],
    [{ maxStreamsPerAddress: true }, `limits.maxStreamsPerAddress ${NUMBER}, or false, not true`],
  ] as const)('%j', async (limits, message) => {
    await refuses({ limits }, message)
  })

  test('false switches off failedLogins and the limits of one address', async () => {
    const limits = {
      failedLogins: false,
      maxSessionsPerAddress: false,
      maxInFlightPerAddress: false,
      maxBodyBytesInHandPerAddress: false,
      maxStreamsPerAddress: false,
    } as const
    await httpHandler(testServer(), { limits }).close()
  })
})

describe('names that no request can have are refused', () => {
  test.each([
    '*',
    '*.example.com',
    '::1',
    'bücher.example',
    'user@h',
    'http:x',
    'a.example:',
    'a.example:123456',
    'a.example/mcp',
    '',
    ' a.example',
  ])('host %j', async (host) => {
    await refuses({ allowedHosts: [host] }, HOSTS)
  })

  test.each([
    'https://*.example.com',
    'https://a?x',
    'https://a#x',
    'https://a/',
    'https://user@a',
    'https://bücher.example',
    'https://a:443',
    'http://a:80',
    'https://[0:0:0:0:0:0:0:1]',
    'https://',
    'chrome-extension://*',
    'app://a/b',
    '*',
    '',
  ])('origin %j', async (origin) => {
    await refuses({ allowedOrigins: [origin] }, ORIGINS)
  })

  test('names that clients and browsers send are accepted', async () => {
    await httpHandler(testServer(), {
      allowedHosts: ['MCP.example.com', 'xn--bcher-kva.example', 'a_b', '10.0.0.1:3000', '[FD00::5]:443'],
      allowedOrigins: [
        'https://App.example.com',
        'http://localhost:5173',
        'http://[::1]:8080',
        'https://xn--bcher-kva.example',
        'file://',
        'tauri://localhost',
        'app://.',
        'vscode-webview://1a2b',
        'null',
      ],
    }).close()
  })
})

describe('options of listen with a wrong value are refused', () => {
  test.each([
    [{ port: '3000' }, 'port must be a whole number from 0 to 65535, not "3000"'],
    [{ port: 65_536 }, 'not 65536'],
    [{ port: Number.NaN }, 'not NaN'],
    [{ host: 5 }, 'host must be an address such as "127.0.0.1", not 5'],
    [{ host: '' }, 'not ""'],
    [{ path: 5 }, 'path must be a text such as "/mcp", not 5'],
    [
      { path: '/a b' },
      'The path must begin with a slash, and have no ?, # or \\, no segments . and .., and nothing that URLs encode, such as spaces',
    ],
    [{ path: '/a b' }, 'not "/a b"'],
    [{ path: '/ü' }, 'not "/ü"'],
    [{ path: '/a/../b' }, 'not "/a/../b"'],
    [{ path: '/a/%2e%2e/b' }, 'not "/a/%2e%2e/b"'],
    [{ path: '/a/.' }, 'not "/a/."'],
    [{ path: '/a\\b' }, 'not "/a\\\\b"'],
    [{ path: '/a"b' }, 'not "/a\\"b"'],
    [{ path: '/a?b' }, 'not "/a?b"'],
    [{ path: '/a#b' }, 'not "/a#b"'],
    [{ path: '/a\tb' }, 'not "/a\\tb"'],
    [{ path: '' }, 'not ""'],
    [{ keys: {} }, 'listen: keys belong to the server: createServer({ keys: keyRing(secret) })'],
    [{ tls: { key: 'x', cert: 'x' } }, 'tls.cert and tls.key cannot be used: error:'],
    [{ tls: 'key' }, 'tls must be { cert, key }, not a text'],
    [{ maxConnections: '5' }, 'maxConnections must be a number that is at least 1, not "5"'],
    [{ maxConnections: false }, 'not false'],
    [{ maxConnectionsPerAddress: 'no' }, 'maxConnectionsPerAddress must be a number that is at least 1, or false, not "no"'],
    [{ graceMs: '10s' }, 'graceMs must be a number from 0 to 2147483647, not "10s"'],
    // A timer with this time would end at once.
    [{ graceMs: Infinity }, 'not Infinity'],
    [{ drainDelayMs: -1 }, 'drainDelayMs must be a number from 0 to 2147483647, not -1'],
    [{ handleSignals: 'no' }, 'handleSignals must be true or false, not "no"'],
    [{ workers: '2' }, `workers must be 'auto' or a number from 1 to 256, not "2"`],
    [{ workers: true }, 'not true'],
    [{ workers: 257 }, 'not 257'],
  ] as const)('%j', async (options, message) => {
    await expect(listen(testServer(), options as object)).rejects.toThrow(message)
  })
})

test.each(['/', '/mcp', '/a/b.c/', '/%C3%BC', '/a%20b', "/~a!$&'()*+,;=:@-_"])('the path %j is accepted, and serves', async (path) => {
  const { url } = await serve(testServer(), { path })
  expect(url.endsWith(path)).toBe(true)
  expect((await askModern(url, callTool('hi'))).status).toBe(200)
})

/** Refused by the handler and by `listen`. A program without types can pass anything. */
async function refuses(options: object, message: string): Promise<Error> {
  expect(() => httpHandler(testServer(), options)).toThrow(message)
  const error = await listen(testServer(), options).then(
    () => new Error('The server listens'),
    (reason: Error) => reason,
  )
  expect(error.message).toContain(message)
  return error
}
