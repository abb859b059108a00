/** Turns settings into the options of `listen`. */

import { readFile } from 'node:fs/promises'
import { McpError } from '../../client/index.ts'
import type { HttpLimits, ListenOptions } from '../../http/index.ts'
import type { KeyRing } from '../../server/index.ts'
import type { Output } from '../shared-terminal.ts'
import type { Settings } from './read-settings.ts'
import { requestLines } from './request-lines.ts'
import { LIMITS } from './settings.ts'

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

export async function serveOptions(settings: Settings, keys: KeyRing | undefined, stderr: Output): Promise<ServeOptions> {
  const { get } = settings
  const same = Object.fromEntries(SAME.filter((name) => get(name) !== undefined).map((name) => [name, get(name)]))
  const limits = LIMITS.filter(({ name }) => get(name) !== undefined).map(({ name }) => [name.slice('limits.'.length), get(name)])
  const url = get('store') as string | undefined
  const store =
    url === undefined
      ? undefined
      : (await import('../../redis/index.ts')).redis(url, { ...(keys && { keys }), prefix: get('storePrefix') as string })
  const workers = get('workers') as number | 'auto'
  const token = get('metricsToken') as string | undefined
  const auth = await authOf(settings)
  const tls = await tlsOf(settings)
  const format = get('logFormat') as 'none' | 'text' | 'json'
  return {
    options: {
      ...same,
      limits: Object.fromEntries(limits) as Partial<HttpLimits>,
      metrics: get('metrics') === true && token !== undefined ? { token } : get('metrics') === true,
      ...(workers !== 0 && { workers }),
      ...(store && { store }),
      ...(auth && { auth }),
      ...(tls && { tls }),
      ...(format !== 'none' && (await requestLines(format, stderr))),
    },
    close: async () => store?.close(),
  }
}

async function authOf({ get, sourceOf }: Settings): Promise<ListenOptions['auth']> {
  const issuers = get('authIssuers') as readonly string[] | undefined
  const resource = get('authResource') as string | undefined
  const given = ['authIssuers', 'authResource', 'authScopes', 'authAudience'].find((name) => get(name) !== undefined)
  const apiKeys = get('apiKeys') as readonly string[] | undefined
  if (given === undefined) return apiKeys && (await apiKeysOf(apiKeys, sourceOf('apiKeys')))
  if (apiKeys) throw new McpError('ERR_CONFIG', `${sourceOf('apiKeys')}: apiKeys and ${given} cannot be used together`)
  if (issuers === undefined || resource === undefined) {
    throw new McpError('ERR_CONFIG', `${sourceOf(given)}: ${issuers === undefined ? 'authIssuers' : 'authResource'} is missing`)
  }
  const { resourceServer } = await import('../../auth/index.ts')
  return resourceServer({
    issuers,
    resource,
    ...(get('authScopes') !== undefined && { scopes: get('authScopes') as readonly string[] }),
    ...(get('authAudience') !== undefined && { audience: get('authAudience') as string }),
  })
}

async function apiKeysOf(given: readonly string[], source: string): Promise<ListenOptions['auth']> {
  const keys = new Map<string, string>()
  for (const each of given) {
    const end = each.indexOf('=')
    const name = each.slice(0, end).trim()
    if (keys.has(name)) throw new McpError('ERR_CONFIG', `${source}: the name ${JSON.stringify(name)} is there twice`)
    keys.set(name, each.slice(end + 1).trim())
  }
  const { apiKeys } = await import('../../auth/index.ts')
  return apiKeys({ keys: Object.fromEntries(keys) })
}

async function tlsOf({ get, sourceOf }: Settings): Promise<ListenOptions['tls']> {
  const [cert, key] = [get('tlsCertFile') as string | undefined, get('tlsKeyFile') as string | undefined]
  if (cert === undefined && key === undefined) return undefined
  if (cert === undefined || key === undefined) {
    const [given, missing] = cert === undefined ? ['tlsKeyFile', 'tlsCertFile'] : ['tlsCertFile', 'tlsKeyFile']
    throw new McpError('ERR_CONFIG', `${sourceOf(given)}: ${missing} is missing`)
  }
  const read = (name: string, file: string): Promise<Buffer> =>
    readFile(file).catch((error: Error) => {
      throw new McpError('ERR_CONFIG', `${sourceOf(name)}: ${file} cannot be read: ${error.message}`)
    })
  return { cert: await read('tlsCertFile', cert), key: await read('tlsKeyFile', key) }
}
