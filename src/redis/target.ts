/** Reads the URL of a Redis server, a cluster, or a group of sentinels. */

import { McpError } from '../protocol/errors.ts'

export interface RedisTarget {
  kind: 'single' | 'cluster' | 'sentinel'
  nodes: { host: string; port: number }[]
  isTls: boolean
  username: string | undefined
  password: string | undefined
  database: number
  /** The name that the sentinels know the primary by. */
  name: string | undefined
}

const FORM =
  'redis://host:6379, rediss://host:6379 (TLS), redis-cluster://host:7000,host:7001 or redis-sentinel://host:26379,host:26379/name'

const URL_PARTS = /^(rediss?)(?:-(cluster|sentinel))?:\/\/(?:([^@/\s]*)@)?([^/@?#\s]+)(?:\/([^/?#@\s]*))?\/?$/

const DEFAULT_PORTS = { single: 6379, cluster: 6379, sentinel: 26379 }

/**
 * Throws ERR_CONFIG for a URL that it does not understand. The error does not contain the URL, because that may contain a password. A URL
 * with `@` is not quoted in parts either: a password with `/` looks like a host and a path.
 */
export function readTarget(url: string): RedisTarget {
  if (typeof url !== 'string') return readTarget('')
  const [, scheme, special, credentials, hosts, path] = URL_PARTS.exec(url) ?? []
  const isPublic = !url.includes('@')
  const hint = isPublic ? '' : '. In a name or a password, write / as %2F and @ as %40'
  if (hosts === undefined) throw new McpError('ERR_CONFIG', `Expected a URL of Redis such as ${FORM}${hint}`)
  const kind = (special ?? 'single') as RedisTarget['kind']
  const nodes = hosts.split(',').map((host) => readNode(host, DEFAULT_PORTS[kind], hint))
  if (kind === 'single' && nodes.length > 1)
    throw new McpError('ERR_CONFIG', `Several hosts need redis-cluster: or redis-sentinel:, as in ${FORM}`)
  if (kind === 'sentinel' && !path) throw new McpError('ERR_CONFIG', `Expected the name of the primary after the sentinels, as in ${FORM}`)
  const got = isPublic ? `; got "/${path}"` : hint
  if (kind === 'cluster' && path && path !== '0') throw new McpError('ERR_CONFIG', `A cluster has no databases${got}`)
  if (kind === 'single' && !/^\d{0,4}$/.test(path ?? ''))
    throw new McpError('ERR_CONFIG', `Expected the number of a database after the host${got}`)
  const [username, password] = readCredentials(credentials)
  return {
    kind,
    nodes,
    isTls: scheme === 'rediss',
    username,
    password,
    database: kind === 'single' ? Number(path ?? 0) : 0,
    name: kind === 'sentinel' ? path : undefined,
  }
}

/** The target as people may see it. */
export function shownTarget({ kind, nodes, isTls, username, password, database, name }: RedisTarget): string {
  const scheme = `${isTls ? 'rediss' : 'redis'}${kind === 'single' ? '' : `-${kind}`}`
  const hosts = nodes.map(({ host, port }) => `${host.includes(':') ? `[${host}]` : host}:${port}`).join(',')
  const path = kind === 'cluster' ? '' : `/${name ?? database}`
  return `${scheme}://${username === undefined && password === undefined ? '' : '(hidden)@'}${hosts}${path}`
}

/** Does not quote the text, which is a password if the host was forgotten. */
function readNode(text: string, defaultPort: number, hint: string): RedisTarget['nodes'][number] {
  const [, ip6, name, port] = /^(?:\[([0-9a-fA-F:.]+)\]|([\p{L}\p{N}._-]+))(?::(\d{1,5}))?$/u.exec(text) ?? []
  const host = ip6 ?? name
  if (host === undefined || Number(port ?? 1) > 65_535) throw new McpError('ERR_CONFIG', `Expected a host and a port, as in ${FORM}${hint}`)
  return { host, port: port === undefined ? defaultPort : Number(port) }
}

function readCredentials(text = ''): [username: string | undefined, password: string | undefined] {
  const colon = text.indexOf(':')
  try {
    const [username, password] = (colon < 0 ? [text, ''] : [text.slice(0, colon), text.slice(colon + 1)]).map(decodeURIComponent)
    return [username || undefined, password || undefined]
  } catch {
    throw new McpError('ERR_CONFIG', 'The name and the password in the URL of Redis must be percent-encoded: % is written as %25')
  }
}
