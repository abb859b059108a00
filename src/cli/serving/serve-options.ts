/** Turns settings into the options of `listen`. */

import { readFile } from 'node:fs/promises'
import { createSecureContext } from 'node:tls'
import type { ResourceServerOptions } from '../../auth/index.ts'
import { pathFault } from '../../base/address/endpoint-path.ts'
import { isLoopbackHost } from '../../base/address/loopback.ts'
import type { HttpLimits, ListenOptions, ServerCardOptions } from '../../http/index.ts'
import type { KeyRing, Server, Service } from '../../server/index.ts'
import type { SharedStore } from '../../store/index.ts'
import type { Output } from '../shared-terminal.ts'
import { problemOf, type Settings } from './read-settings.ts'
import { requestLines } from './request-lines.ts'
import { HTTP_LIMITS, nameBeside, SERVER_LIMITS, type Setting } from './settings.ts'

/** Settings that are options of the same name. */
const SAME = [
  'host',
  'port',
  'path',
  'allowedHosts',
  'allowedOrigins',
  'dangerouslyAllowAnyHost',
  'trustProxy',
  'health',
  'graceMs',
  'drainDelayMs',
  'sessions',
  'legacySse',
  'responses',
  'requireMcpHeaders',
  'browserPage',
  'maxConnections',
  'maxConnectionsPerAddress',
] as const satisfies readonly (keyof ListenOptions)[]

/** @param close frees what the options use */
export interface ServeOptions {
  options: ListenOptions
  close(): Promise<void>
}

/** A setting that does nothing without another one. */
function needs({ sourceOf }: Settings, name: string, missing: string, value?: string): Error {
  const source = sourceOf(name)
  const given = source.startsWith('--') || source.startsWith('PORTICO_') ? source : `${source}: ${name}`
  return problemOf([`${given} needs ${nameBeside(source, missing, value)}`])
}

/** The limits that are set, by their names. */
const limitsIn = ({ get }: Settings, limits: readonly Setting[]): Record<string, unknown> =>
  Object.fromEntries(limits.filter(({ name }) => get(name) !== undefined).map(({ name }) => [name.slice('limits.'.length), get(name)]))

/** Gives the server the limits that it enforces itself. */
export function limitServer(service: Service, name: string, settings: Settings): void {
  const limits = limitsIn(settings, SERVER_LIMITS)
  const [first] = Object.keys(limits)
  if (first === undefined) return
  if (!service.useLimits)
    throw problemOf([`${settings.sourceOf(`limits.${first}`)}: ${name} exports a wrapped server, whose limits cannot be set`])
  service.useLimits(limits)
}

export async function serveOptions(
  settings: Settings,
  { service, keys, stderr }: { service: Service; keys: KeyRing | undefined; stderr: Output },
): Promise<ServeOptions> {
  const { get } = settings
  const same = Object.fromEntries(SAME.filter((name) => get(name) !== undefined).map((name) => [name, get(name)]))
  const store = await storeOf(settings, keys)
  const workers = get('workers') as number | 'auto'
  const token = get('metricsToken') as string | undefined
  // A token without metrics is a mistake, unless metrics is set to false.
  if (token !== undefined && settings.sourceOf('metrics') === 'default') throw needs(settings, 'metricsToken', 'metrics', 'true')
  const auth = await authOf(settings)
  checkPath(settings)
  checkPublicAddress(settings, auth !== undefined)
  const tls = await tlsOf(settings)
  const card = await cardOf(settings, service)
  const format = get('logFormat') as 'none' | 'text' | 'json'
  return {
    options: {
      ...same,
      limits: limitsIn(settings, HTTP_LIMITS) as Partial<HttpLimits>,
      metrics: get('metrics') === true && token !== undefined ? { token } : get('metrics') === true,
      ...(workers !== 0 && { workers }),
      ...(store && { store }),
      ...(auth && { auth }),
      ...(tls && { tls }),
      ...(card && { card }),
      ...(format !== 'none' && (await requestLines(format, stderr))),
    },
    close: async () => store?.close(),
  }
}

async function storeOf({ get, sourceOf }: Settings, keys: KeyRing | undefined): Promise<SharedStore | undefined> {
  const url = get('store') as string | undefined
  if (url === undefined) return undefined
  const { redis } = await import('../../redis/index.ts')
  try {
    const tasks = { maxBytes: get('storeTaskBytes') as number, maxBytesPerCaller: get('storeTaskBytesPerCaller') as number }
    return redis(url, { ...(keys && { keys }), prefix: get('storePrefix') as string, tasks })
  } catch (error) {
    throw problemOf([`${sourceOf('store')}: ${(error as Error).message}`], error)
  }
}

async function authOf(settings: Settings): Promise<ListenOptions['auth']> {
  const { get, sourceOf } = settings
  const issuers = get('authIssuers') as readonly string[] | undefined
  const resource = get('authResource') as string | undefined
  const given = ['authIssuers', 'authResource', 'authScopes', 'authAudience'].find((name) => get(name) !== undefined)
  const apiKeys = get('apiKeys') as readonly string[] | undefined
  if (given === undefined) return apiKeys && (await apiKeysOf(apiKeys, sourceOf('apiKeys')))
  if (apiKeys) throw problemOf([`${sourceOf('apiKeys')} and ${sourceOf(given)} cannot be used together`])
  if (issuers === undefined || resource === undefined) {
    throw needs(settings, given, issuers === undefined ? 'authIssuers' : 'authResource')
  }
  const { resourceServer } = await import('../../auth/index.ts')
  const right: ResourceServerOptions = { issuers: ['https://login.example.com'], resource: 'https://mcp.example.com/mcp' }
  const parts = {
    authIssuers: { issuers },
    authResource: { resource },
    authScopes: { scopes: (get('authScopes') ?? []) as readonly string[] },
    authAudience: get('authAudience') === undefined ? {} : { audience: get('authAudience') as string },
  }
  return madeFrom(parts, right, resourceServer, sourceOf)
}

async function apiKeysOf(given: readonly string[], source: string): Promise<ListenOptions['auth']> {
  const keys = new Map<string, string>()
  for (const each of given) {
    const end = each.indexOf('=')
    const name = each.slice(0, end).trim()
    if (keys.has(name)) throw problemOf([`${source}: the name ${JSON.stringify(name)} is there twice`])
    keys.set(name, each.slice(end + 1).trim())
  }
  const { apiKeys } = await import('../../auth/index.ts')
  return apiKeys({ keys: Object.fromEntries(keys) })
}

async function cardOf(settings: Settings, service: Service): Promise<ListenOptions['card']> {
  const { get, sourceOf } = settings
  const texts = { name: 'cardName', description: 'cardDescription', title: 'cardTitle', url: 'cardUrl' } as const
  const given = Object.values(texts).find((each) => get(each) !== undefined)
  if (given === undefined) return undefined
  const [name, description, title] = [texts.name, texts.description, texts.title].map((each) => get(each) as string | undefined)
  const url = (get('cardUrl') ?? get('authResource')) as string | undefined
  if (name === undefined || description === undefined || url === undefined) {
    const missing = name === undefined ? 'cardName' : description === undefined ? 'cardDescription' : 'cardUrl'
    throw needs(settings, given, missing)
  }
  const { serverCard } = await import('../../http/index.ts')
  const right: ServerCardOptions = { name: 'com.example/x', description: 'x', url: 'https://mcp.example.com/mcp' }
  const parts = {
    cardName: { name },
    cardDescription: { description },
    cardTitle: title === undefined ? {} : { title },
    [get('cardUrl') === undefined ? 'authResource' : 'cardUrl']: { url },
    cardCatalog: { catalog: get('cardCatalog') === true },
  }
  return madeFrom(parts, right, (options) => serverCard(service as Server, options), sourceOf)
}

/**
 * Makes something from the options of several settings. If one of them is wrong, the error names that setting.
 *
 * @param right options that `make` accepts. With them each setting is tried alone
 */
function madeFrom<Options extends object, Made>(
  parts: Readonly<Record<string, Partial<Options>>>,
  right: Options,
  make: (options: Options) => Made,
  sourceOf: Settings['sourceOf'],
): Made {
  for (const [name, part] of Object.entries(parts)) {
    try {
      make({ ...right, ...part })
    } catch (error) {
      throw problemOf([`${sourceOf(name)}: ${(error as Error).message}`], error)
    }
  }
  return make(Object.assign({}, right, ...Object.values(parts)) as Options)
}

/** `listen` refuses it, too, but does not know the settings. */
function checkPath({ get, sourceOf }: Settings): void {
  const [health, metrics, legacySse] = [get('health'), get('metrics'), get('legacySse')]
  const fault = pathFault(get('path') as string, { health, metrics, legacySse })
  if (fault !== undefined) throw problemOf([`${sourceOf('path')}: ${fault}`])
}

/** `listen` refuses it, too, but does not know the settings. */
function checkPublicAddress({ get, sourceOf }: Settings, hasAuth: boolean): void {
  const host = get('host') as string
  if (isLoopbackHost(host) || hasAuth || get('allowedHosts') || get('dangerouslyAllowAnyHost')) return
  const source = sourceOf('host')
  const [hosts, issuers, keys] = ['allowedHosts', 'authIssuers', 'apiKeys'].map((name) => nameBeside(source, name))
  throw problemOf([
    `${source}: listening on ${host} makes the server public: set ${hosts} to the host names that clients use, or make callers authenticate (${issuers} or ${keys})`,
  ])
}

async function tlsOf(settings: Settings): Promise<ListenOptions['tls']> {
  const { get, sourceOf } = settings
  const [cert, key] = [get('tlsCertFile') as string | undefined, get('tlsKeyFile') as string | undefined]
  if (cert === undefined && key === undefined) return undefined
  if (cert === undefined || key === undefined) {
    const [given, missing] = cert === undefined ? (['tlsKeyFile', 'tlsCertFile'] as const) : (['tlsCertFile', 'tlsKeyFile'] as const)
    throw needs(settings, given, missing)
  }
  const read = (name: string, file: string): Promise<Buffer> =>
    readFile(file).catch((error: Error) => {
      throw problemOf([`${sourceOf(name)}: ${file} cannot be read: ${error.message}`], error)
    })
  const tls = { cert: await read('tlsCertFile', cert), key: await read('tlsKeyFile', key) }
  try {
    createSecureContext(tls)
  } catch (error) {
    throw problemOf([`${sourceOf('tlsCertFile')}: the certificate and its key cannot be used: ${(error as Error).message}`], error)
  }
  return tls
}
