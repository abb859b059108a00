import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import { AppBridge } from '../../src/apps/index.ts'
import {
  apiKeys,
  fileTokenStore,
  keychainTokenStore,
  oauth,
  personPages,
  resourceServer,
  safeFetch,
  sharedTokenStore,
  thirdParty,
  tokenExchange,
} from '../../src/auth/index.ts'
import { Client, memoryTarget } from '../../src/client/index.ts'
import { transform } from '../../src/compose/index.ts'
import { consoleAsker, consoleFeed, createConsole } from '../../src/console/index.ts'
import { clientExtension, serverExtension } from '../../src/extensions/index.ts'
import { createHost, fromAiSdk } from '../../src/host/index.ts'
import { httpHandler, httpTarget, listen, serverCard } from '../../src/http/index.ts'
import { connect } from '../../src/index.ts'
import { fromOpenApi } from '../../src/openapi/index.ts'
import { redis } from '../../src/redis/index.ts'
import { createServer } from '../../src/server/index.ts'
import { skillsOf } from '../../src/skills/index.ts'
import { processTarget, serveStdio } from '../../src/stdio/index.ts'
import { memoryStore } from '../../src/store/index.ts'
import { fileTaskStore, memoryTaskStore, tasks } from '../../src/tasks/index.ts'
import { pair, proxyStdio, record, rehearse, replayTranscript, scriptedModel, servePlayback } from '../../src/testing/index.ts'

const about = { name: 'test', version: '1.0.0' }
const server = createServer(about)
const petstore = { openapi: '3.1.0', info: { title: 'Pets', version: '1' }, servers: [{ url: 'https://pets.example' }], paths: {} }
const key = { key: 'a key of 16 characters or more' }
const issuer = 'https://login.example.com'
const resource = 'https://mcp.example.com/mcp'

type Call = (...args: readonly unknown[]) => unknown
/** A function as JavaScript calls it: without the compiler. */
const untyped = (call: unknown): Call => call as Call

/** The function, the arguments with a slip, and the end of the error. */
const SLIPS: readonly [string, unknown, readonly unknown[], string][] = [
  ['createServer', createServer, [{ ...about, keyz: {} }], 'createServer: unknown member "keyz"; did you mean "keys"?'],
  [
    'createServer: limits',
    createServer,
    [{ ...about, limits: { maxActiv: 1 } }],
    'limits: unknown member "maxActiv"; did you mean "maxActive"?',
  ],
  [
    'createServer: listCache',
    createServer,
    [{ ...about, listCache: { ttl: 1 } }],
    'listCache: unknown member "ttl"; did you mean "ttlMs"?',
  ],
  [
    'createServer: logging',
    createServer,
    [{ ...about, logging: { level: 'info' } }],
    'logging: unknown member "level"; expected one of defaultLevel',
  ],
  ['connect', connect, [server, { revision: '2025-11-25' }], 'connect: unknown member "revision"; did you mean "revisions"?'],
  ['connect: its own options', connect, [server, { htp: {} }], 'did you mean "http"?'],
  ['connect: limits', connect, [server, { limits: { timeout: 1 } }], 'did you mean "timeoutMs"?'],
  ['connect: answer', connect, [server, { answer: { elict: () => {} } }], 'answer: unknown member "elict"; did you mean "elicit"?'],
  ['connect: http', connect, ['http://127.0.0.1:9/mcp', { http: { header: {} } }], 'did you mean "headers"?'],
  ['connect: a command', connect, [{ command: 'node', arg: [] }], 'did you mean "args"?'],
  ['Client.connect', Client.connect.bind(Client), [memoryTarget(server), { auth: {} }], 'connect: unknown member "auth"'],
  ['httpTarget', httpTarget, ['http://127.0.0.1:9/mcp', { limits: { maxBody: 1 } }], 'did you mean "maxBodyBytes"?'],
  ['processTarget', processTarget, [{ command: 'node', enviroment: {} }], 'did you mean "env"?'],
  ['listen', listen, [server, { authentcate: () => {} }], 'listen: unknown member "authentcate"; did you mean "authenticate"?'],
  ['listen: workers', listen, [server, { worker: 2 }], 'did you mean "workers"?'],
  ['listen: limits', listen, [server, { limits: { maxSesions: 2 } }], 'limits: unknown member "maxSesions"; did you mean "maxSessions"?'],
  ['listen: health', listen, [server, { health: { check: {} } }], 'health: unknown member "check"; did you mean "checks"?'],
  ['httpHandler', httpHandler, [server, { port: 3000 }], 'httpHandler: unknown member "port"; expected one of allowedHosts'],
  ['httpHandler: limits', httpHandler, [server, { limits: { failedLogin: false } }], 'did you mean "failedLogins"?'],
  ['httpHandler: metrics', httpHandler, [server, { metrics: { tokn: 'x' } }], 'metrics: unknown member "tokn"; did you mean "token"?'],
  ['serverCard', serverCard, [server, { name: 'com.example/a', url: resource, description: 'A', tilte: 'A' }], 'did you mean "title"?'],
  [
    'serveStdio',
    serveStdio,
    [server, { streams: { input: new PassThrough(), output: new PassThrough() }, grace: 1 }],
    'did you mean "graceMs"?',
  ],
  ['apiKeys', apiKeys, [{ keys: { a: key }, headr: 'x-api-key' }], 'apiKeys: unknown member "headr"; did you mean "header"?'],
  [
    'apiKeys: a key',
    apiKeys,
    [{ keys: { a: { ...key, scope: ['read'] } } }],
    'the key of "a": unknown member "scope"; did you mean "scopes"?',
  ],
  ['resourceServer', resourceServer, [{ issuer, resource, scope: ['read'] }], 'did you mean "scopes"?'],
  [
    'resourceServer: dpop',
    resourceServer,
    [{ issuer, resource, dpop: { require: true } }],
    'dpop: unknown member "require"; did you mean "required"?',
  ],
  ['resourceServer: issuer', resourceServer, [{ issuer: { issuer, jwksUrl: 'x' }, resource }], 'did you mean "jwksUri"?'],
  ['resourceServer: limits', resourceServer, [{ issuer, resource, limits: { fetchTimeout: 1 } }], 'did you mean "fetchTimeoutMs"?'],
  ['oauth', oauth, [{ scope: ['read'] }], 'oauth: unknown member "scope"; did you mean "scopes"?'],
  ['tokenExchange', tokenExchange, [{ issuer, clientId: 'a', clientSecrt: 'b' }], 'did you mean "clientSecret"?'],
  ['thirdParty', thirdParty, [{ onConected: () => {} }], 'did you mean "onConnected"?'],
  ['personPages', personPages, [{ tllMs: 1 }], 'did you mean "ttlMs"?'],
  ['safeFetch', safeFetch, [{ allowHost: [] }], 'did you mean "allowHosts"?'],
  ['safeFetch: limits', safeFetch, [{ limits: { fetchTimeout: 1 } }], 'did you mean "fetchTimeoutMs"?'],
  ['fileTokenStore', fileTokenStore, [{ passphrse: 'x' }], 'did you mean "passphrase"?'],
  ['keychainTokenStore', keychainTokenStore, [{ foldr: 'x' }], 'did you mean "folder"?'],
  ['sharedTokenStore', sharedTokenStore, [memoryStore(), { keyz: {} }], 'did you mean "keys"?'],
  ['redis', redis, ['redis://127.0.0.1:9', { leasMs: 1000 }], 'redis: unknown member "leasMs"; did you mean "leaseMs"?'],
  [
    'redis: tasks',
    redis,
    ['redis://127.0.0.1:9', { tasks: { maxByte: 1 } }],
    'tasks of redis: unknown member "maxByte"; did you mean "maxBytes"?',
  ],
  ['memoryStore', memoryStore, [{ maxSession: 1 }], 'did you mean "maxSessions"?'],
  ['tasks', tasks, [{ stor: {} }], 'tasks: unknown member "stor"; did you mean "store"?'],
  ['tasks: limits', () => createServer(about).extend(tasks({ limits: { maxTask: 1 } as object })), [], 'did you mean "maxTasks"?'],
  ['memoryTaskStore', memoryTaskStore, [{ maxByte: 1 }], 'did you mean "maxBytes"?'],
  ['fileTaskStore', fileTaskStore, ['/nowhere', { maxByts: 1 }], 'unknown member "maxByts"'],
  ['createHost', createHost, [{ modle: 'x' }], 'createHost: unknown member "modle"; did you mean "model"?'],
  ['createHost: limits', createHost, [{ limits: { servr: {} } }], 'limits: unknown member "servr"; did you mean "server"?'],
  ['fromAiSdk', fromAiSdk, [{}, { lable: 'x' }], 'did you mean "label"?'],
  ['createConsole', createConsole, [undefined, { prt: 1 }], 'did you mean "port"?'],
  ['createConsole: limits', createConsole, [undefined, { limits: { maxApp: 1 } }], 'did you mean "maxApps"?'],
  ['consoleAsker', consoleAsker, [{ maxWaitng: 1 }], 'did you mean "maxWaiting"?'],
  ['consoleFeed', consoleFeed, [{ maxLogEntrys: 1 }], 'unknown member "maxLogEntrys"'],
  ['fromOpenApi', fromOpenApi, [petstore, { credential: {} }], 'fromOpenApi: unknown member "credential"; did you mean "credentials"?'],
  [
    'fromOpenApi: limits',
    fromOpenApi,
    [petstore, { limits: { maxBytes: 1 } }],
    'limits: unknown member "maxBytes"; expected one of maxResponseBytes',
  ],
  ['fromOpenApi: server', fromOpenApi, [petstore, { server: { keyz: {} } }], 'createServer: unknown member "keyz"'],
  ['transform', transform, [{ tool: { delete: false } }], 'transform: unknown member "tool"; did you mean "tools"?'],
  ['server.skills', server.skills, ['.', { wach: false }], 'server.skills: unknown member "wach"; did you mean "watch"?'],
  ['skillsOf', skillsOf, [{}, { maxSkill: 1 }], 'did you mean "maxSkills"?'],
  ['serverExtension', serverExtension, [{ id: 'com.example/a', method: {} }], 'did you mean "methods"?'],
  ['clientExtension', clientExtension, [{ id: 'com.example/a', notification: {} }], 'did you mean "notifications"?'],
  ['AppBridge', (options: unknown) => new AppBridge(options as never), [{ handler: {} }], 'did you mean "handlers"?'],
  ['pair', pair, [server, { revison: '2025-11-25' }], 'pair: unknown member "revison"; did you mean "revision"?'],
  ['record', record, [server, { onWir: () => {} }, async () => {}], 'did you mean "onWire"?'],
  ['rehearse', rehearse, [server, 'a', {}, {}, { effect: {} }], 'did you mean "effects"?'],
  ['scriptedModel', scriptedModel, [{ ide: 'x' }], 'scriptedModel: unknown member "ide"; did you mean "id"?'],
  ['proxyStdio', proxyStdio, [memoryTarget(server), { inptu: 1 }], 'did you mean "input"?'],
  ['servePlayback', servePlayback, [undefined, { outptu: 1 }], 'did you mean "output"?'],
  ['replayTranscript', replayTranscript, [undefined, undefined, { withCall: true }], 'did you mean "withCalls"?'],
]

test.each(SLIPS)('%s refuses an option that it would ignore', async (_name, call, args, message) => {
  await expect((async () => untyped(call)(...args))()).rejects.toMatchObject({
    code: 'ERR_DEFINITION',
    message: expect.stringContaining(message),
  })
})
