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

const URL_PARTS = /^(rediss?)(?:-(cluster|sentinel))?:\/\/(?:([^@/]*)@)?([^/@?#]+)(?:\/([^/?#]*))?\/?$/

const DEFAULT_PORTS = { single: 6379, cluster: 6379, sentinel: 26379 }

/** Throws ERR_CONFIG for a URL that it does not understand. The error does not contain the URL, because that may contain a password. */
export function readTarget(url: string): RedisTarget {
  const [, scheme, special, credentials, hosts, path] = URL_PARTS.exec(url) ?? []
  if (hosts === undefined) throw new McpError('ERR_CONFIG', `Expected a URL of Redis such as ${FORM}`)
  const kind = (special ?? 'single') as RedisTarget['kind']
  const nodes = hosts.split(',').map((host) => readNode(host, DEFAULT_PORTS[kind]))
  if (kind === 'single' && nodes.length > 1)
    throw new McpError('ERR_CONFIG', `Several hosts need redis-cluster: or redis-sentinel:, as in ${FORM}`)
  if (kind === 'sentinel' && !path) throw new McpError('ERR_CONFIG', `Expected the name of the primary after the sentinels, as in ${FORM}`)
  if (kind === 'cluster' && path && path !== '0') throw new McpError('ERR_CONFIG', `A cluster has no databases; got "/${path}"`)
  const [username, password] = readCredentials(credentials)
  return {
    kind,
    nodes,
    isTls: scheme === 'rediss',
    username,
    password,
    database: kind === 'single' ? readDatabase(path) : 0,
    name: kind === 'sentinel' ? path : undefined,
  }
}

function readNode(text: string, defaultPort: number): RedisTarget['nodes'][number] {
  const [, ip6, name, port] = /^(?:\[([0-9a-fA-F:.]+)\]|([^:[\]]+))(?::(\d{1,5}))?$/.exec(text) ?? []
  const host = ip6 ?? name
  if (host === undefined || Number(port ?? 1) > 65_535)
    throw new McpError('ERR_CONFIG', `Expected a host and a port, as in ${FORM}; got "${text}"`)
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

function readDatabase(path = ''): number {
  if (!/^\d{0,4}$/.test(path)) throw new McpError('ERR_CONFIG', `Expected the number of a database after the host; got "/${path}"`)
  return Number(path)
}
