/** Refuses options with a wrong value. Without TypeScript there is no other warning, and the server would often ignore the option. */

import { HOST_RULES, isHostHeader, isWebOrigin, ORIGIN_RULES } from '../../base/address/names.ts'
import { isMetricsToken, METRICS_TOKEN_RULES } from '../../base/metrics-token.ts'
import { checkMembers } from '../../protocol/check-members.ts'
import { McpError } from '../../protocol/errors.ts'
import { expectOption, expectSecretOption, isFunction, isObject, isPlainObject, isSwitch } from './expect-option.ts'
import { type HttpOptions, httpLimits } from './options.ts'

const SWITCHES = ['dangerouslyAllowAnyHost', 'sessions', 'legacySse', 'requireMcpHeaders', 'browserPage'] as const
const FUNCTIONS = ['authenticate', 'onRequest', 'onRefused'] as const
const RESPONSES: readonly unknown[] = ['auto', 'json', 'sse']

/** Names of Portico's own checks. */
const OWN_CHECKS: readonly string[] = ['capacity', 'workers', 'store', 'keys']

export function checkHttpOptions(options: HttpOptions): void {
  for (const name of SWITCHES) expectOption(name, options[name], isSwitch, 'true or false')
  for (const name of FUNCTIONS) expectSecretOption(name, options[name], isFunction, 'a function')
  expectSecretOption('auth', options.auth, isAuth, 'resourceServer(...), apiKeys(...) or the like')
  expectOption(
    'allowedHosts',
    options.allowedHosts,
    isListOf(isHostHeader),
    `a list of host names such as "mcp.example.com" (${HOST_RULES})`,
  )
  expectOption(
    'allowedOrigins',
    options.allowedOrigins,
    isListOf(isWebOrigin),
    `a list of origins such as "https://app.example.com" (${ORIGIN_RULES})`,
  )
  expectOption('responses', options.responses, (value) => RESPONSES.includes(value), '"auto", "json" or "sse"')
  expectSecretOption('store', options.store, isStore, 'a store, such as redis(url) of portico/redis')
  expectSecretOption('card', options.card, isCard, 'what serverCard(server, ...) returns')
  checkLimits(options.limits)
  checkOperations(options)
}

function checkLimits(limits: HttpOptions['limits']): void {
  expectOption('limits', limits, isPlainObject, 'an object such as { maxStreams: 100 }')
  httpLimits(limits)
}

function checkOperations({ health, metrics }: HttpOptions): void {
  expectSecretOption('health', health, (value) => isSwitch(value) || isPlainObject(value), 'true, false or { checks }')
  expectSecretOption('metrics', metrics, (value) => isSwitch(value) || isPlainObject(value), 'true, false or { token }')
  if (isObject(health)) {
    checkMembers('health', health, { checks: 1 })
    expectSecretOption('health.checks', health.checks, isPlainObject, 'an object with a function for each check')
    for (const [name, check] of Object.entries(health.checks ?? {})) {
      expectSecretOption(`health.checks.${name}`, check, isFunction, 'a function')
      if (OWN_CHECKS.includes(name))
        throw new McpError('ERR_DEFINITION', `health.checks.${name} is a check of Portico: choose another name`)
    }
  }
  if (!isObject(metrics)) return
  checkMembers('metrics', metrics, { token: 1 })
  // A variable that is not set must not make the metrics public.
  if (!metrics.token)
    throw new McpError('ERR_DEFINITION', 'metrics.token is missing or empty: set it, or write metrics: true to require no token')
  expectSecretOption('metrics.token', metrics.token, (value) => typeof value === 'string', 'a text')
  if (!isMetricsToken(metrics.token)) throw new McpError('ERR_DEFINITION', `metrics.token must have ${METRICS_TOKEN_RULES}`)
}

const isAuth = (value: unknown): boolean => isObject(value) && 'authenticate' in value && isFunction(value.authenticate)
const isCard = (value: unknown): boolean => isObject(value) && 'document' in value && isFunction(value.document)
const isStore = (value: unknown): boolean => isObject(value) && 'sessions' in value && 'replica' in value

const isListOf =
  (isRight: (text: string) => boolean) =>
  (value: unknown): boolean =>
    // `every` skips holes in a list.
    Array.isArray(value) && Array.from(value).every((each) => typeof each === 'string' && isRight(each))
