/** The settings of `portico serve`. Each has one name in a file, and a flag and a variable that follow from it. */

import { HOST_RULES, isHostHeader, isWebOrigin, ORIGIN_RULES } from '../../base/address/names.ts'
import { MAX_TIMER_MS } from '../../base/clock.ts'
import { MAX_PROXIES, MAX_WORKERS } from '../../base/serving-maxima.ts'
import type { HttpLimits } from '../../http/index.ts'
import type { ServerLimits } from '../../server/index.ts'
import {
  ADDRESS,
  API_KEYS,
  either,
  KEY_PREFIX,
  KEYS,
  LIST,
  listOfTexts,
  METRICS_TOKEN,
  numberFrom,
  OFF,
  oneOf,
  PATH,
  RATE,
  type SettingKind,
  TEXT,
  textOf,
  YES_NO,
} from './setting-kinds.ts'

export interface Setting {
  /** The name in a file. Names of limits begin with `limits.`. */
  readonly name: string
  readonly kind: SettingKind
  readonly help: string
  readonly default: unknown
  /** Never shown. It can also be read from a file of its own, with the suffix `File`. */
  readonly isSecret?: boolean
  /** A secret that may be given on the command line, where other users of the machine can see it. */
  readonly hasFlag?: boolean
}

const setting = (name: string, kind: SettingKind, fallback: unknown, help: string): Setting => ({ name, kind, help, default: fallback })

const secret = (name: string, kind: SettingKind, help: string, hasFlag = false): Setting => ({
  ...setting(name, kind, undefined, help),
  isSecret: true,
  hasFlag,
})

const PORT = numberFrom(0, 65_535, 'a port')
const COUNT = numberFrom(1)
const COUNT_OR_OFF = either(OFF, COUNT)

/** The name of the setting that has the path of a secret. */
export const fileNameOf = ({ name }: Setting): string => `${name}File`

export const DEFAULT_PORT = 3000

/** In the order of the documentation. */
export const SETTINGS: readonly Setting[] = [
  setting('server', textOf('file'), undefined, 'the module that exports the server, or the name of a bundled server'),
  setting('http', YES_NO, false, 'serve over HTTP. All settings below are for HTTP'),
  setting('host', ADDRESS, '127.0.0.1', 'the address to listen on; 0.0.0.0 for all'),
  setting('port', PORT, DEFAULT_PORT, 'the port for --http; 0 picks a free port'),
  setting('path', PATH, '/mcp', 'the path of the endpoint'),
  setting(
    'workers',
    either(oneOf('auto'), numberFrom(0, MAX_WORKERS)),
    0,
    'processes that serve; auto: one for each core; 0: this process serves alone',
  ),
  setting(
    'allowedHosts',
    listOfTexts(`host names such as mcp.example.com; ${HOST_RULES}`, isHostHeader),
    undefined,
    'host names that clients use',
  ),
  setting(
    'allowedOrigins',
    listOfTexts(`origins such as https://app.example.com; ${ORIGIN_RULES}`, isWebOrigin),
    undefined,
    'origins of web pages that may call the server',
  ),
  setting('dangerouslyAllowAnyHost', YES_NO, false, 'accept every Host header, so that any web page can call the server'),
  setting('trustProxy', either(numberFrom(0, MAX_PROXIES), YES_NO), false, 'how many proxies are in front; true: one'),
  setting('tlsCertFile', textOf('file'), undefined, 'the certificate, for https'),
  setting('tlsKeyFile', textOf('file'), undefined, 'the key of the certificate'),
  setting('authIssuers', LIST, undefined, 'issuers whose access tokens are accepted'),
  setting('authResource', textOf('url'), undefined, 'the public URL of the endpoint, which tokens must be for'),
  setting('authScopes', LIST, undefined, 'scopes that every request needs'),
  setting('authAudience', TEXT, undefined, 'the audience of the tokens, if it is not the resource'),
  setting('cardName', TEXT, undefined, 'the name in the server card, such as com.example/weather; without it there is no card'),
  setting('cardDescription', TEXT, undefined, 'what the server does, for its card'),
  setting('cardTitle', TEXT, undefined, 'the name for people, for its card'),
  setting('cardUrl', textOf('url'), undefined, 'the public URL of the endpoint, for its card. Default: authResource'),
  setting('cardCatalog', YES_NO, true, 'list the card in the catalog of the domain'),
  secret('apiKeys', API_KEYS, 'API keys of callers, as name=key'),
  secret('store', textOf('url'), 'the Redis or Valkey that replicas share, such as redis://host:6379', true),
  setting('storePrefix', KEY_PREFIX, 'portico:', 'the start of every key in the store'),
  setting('storeTaskBytes', COUNT, 1024 ** 3, 'bytes of all tasks in the store'),
  setting('storeTaskBytesPerCaller', COUNT, 256 * 1024 ** 2, 'bytes of the tasks of one caller in the store'),
  secret('keys', KEYS, 'secrets that all replicas share; the first seals, all open'),
  setting('health', YES_NO, false, 'serve /healthz and /readyz'),
  setting('metrics', YES_NO, false, 'serve /metrics'),
  secret('metricsToken', METRICS_TOKEN, 'the bearer token of scrapers; needs metrics: true'),
  setting('logFormat', oneOf('none', 'text', 'json'), 'none', 'write a line for each request to standard error'),
  setting('graceMs', numberFrom(0, MAX_TIMER_MS), 10_000, 'how long requests and tasks may take after the server was asked to end'),
  setting(
    'drainDelayMs',
    numberFrom(0, MAX_TIMER_MS),
    0,
    'how long to serve new requests after that, while /readyz already says that the server is not ready',
  ),
  setting('sessions', YES_NO, true, 'give sessions to clients of older revisions'),
  setting('legacySse', YES_NO, true, 'serve the transport of the oldest revision at /sse and /messages'),
  setting('responses', oneOf('auto', 'json', 'sse'), 'auto', 'answer with JSON, with streams, or with a stream if one is needed (auto)'),
  setting('requireMcpHeaders', YES_NO, false, 'require the headers of the protocol in all revisions'),
  setting('browserPage', YES_NO, true, 'show a page to browsers that open the endpoint'),
  setting('maxConnections', COUNT, 12_000, 'open connections of one process'),
  setting('maxConnectionsPerAddress', COUNT_OR_OFF, undefined, 'open connections from one address. Default: 256; false behind a proxy'),
]

/** All limits of the option `limits` of `listen`, so that a new one cannot be forgotten here. */
const LIMIT_KINDS: Readonly<Record<keyof HttpLimits, SettingKind>> = {
  maxBodyBytes: COUNT,
  minBodyRate: COUNT,
  maxValues: COUNT,
  failedLogins: either(OFF, RATE),
  maxSessions: COUNT,
  maxSessionsPerPrincipal: COUNT,
  maxSessionsPerAddress: COUNT_OR_OFF,
  sessionIdleMs: COUNT,
  sessionMaxAgeMs: COUNT,
  maxInFlightPerSession: COUNT,
  maxInFlightPerPrincipal: COUNT,
  maxInFlightPerAddress: COUNT_OR_OFF,
  maxInFlight: COUNT,
  maxBodyBytesInHand: COUNT,
  maxBodyBytesInHandPerAddress: COUNT_OR_OFF,
  maxStreamsPerAddress: COUNT_OR_OFF,
  maxStreams: COUNT,
  keepAliveMs: COUNT,
  maxKeptBytes: COUNT,
}

const RATE_OR_OFF = either(OFF, RATE)

/** The limits of `createServer`. Those of the command count before those in the code. */
const SERVER_LIMIT_KINDS: Readonly<Record<keyof ServerLimits, SettingKind>> = {
  maxActive: COUNT,
  maxWaiting: COUNT,
  toolCalls: RATE_OR_OFF,
  completions: RATE_OR_OFF,
  logMessages: RATE_OR_OFF,
  progressNotices: RATE_OR_OFF,
  handlerTimeoutMs: COUNT,
  askTimeoutMs: COUNT,
  maxSubscriptions: COUNT,
  stateTtlMs: COUNT,
}

const limitSettings = (kinds: Readonly<Record<string, SettingKind>>): Setting[] =>
  Object.entries(kinds).map(([name, kind]) => setting(`limits.${name}`, kind, undefined, 'see docs/limits.md'))

export const HTTP_LIMITS: readonly Setting[] = limitSettings(LIMIT_KINDS)
export const SERVER_LIMITS: readonly Setting[] = limitSettings(SERVER_LIMIT_KINDS)
export const LIMITS: readonly Setting[] = [...HTTP_LIMITS, ...SERVER_LIMITS]

/** `allowedHosts` -> `--allowed-hosts`. Limits have one flag: `--limit name=value`. */
export const flagOf = (name: string): string =>
  name.startsWith('limits.')
    ? `--limit ${name.slice('limits.'.length)}`
    : `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`

/** `allowedHosts` -> `PORTICO_ALLOWED_HOSTS`, `limits.maxSessions` -> `PORTICO_LIMIT_MAX_SESSIONS`. */
export const variableOf = (name: string): string =>
  `PORTICO_${name
    .replace(/^limits\./, 'limit.')
    .replace(/[A-Z]/g, (letter) => `_${letter}`)
    .replace('.', '_')
    .toUpperCase()}`

/**
 * The name of a setting as a person writes it where another setting came from: `--card-url` beside `--card-name`, `PORTICO_CARD_URL` beside a
 * variable, `cardUrl` in a file.
 *
 * @param value the only one that helps, if it is not the person's choice
 */
export function nameBeside(source: string, name: string, value?: string): string {
  const setting = SETTINGS.find((each) => each.name === name)
  if (source.startsWith('--')) return flagOf(setting?.isSecret && !setting.hasFlag ? fileNameOf(setting) : name)
  if (source.startsWith('PORTICO_')) return variableOf(name) + (value === undefined ? '' : `=${value}`)
  return name + (value === undefined ? '' : `: ${value}`)
}
