/**
 * Judges a URL that somebody else named, before anything is sent to it. Somebody who names a URL chooses where our request
 * comes out, and we stand where they do not: on this machine, in this network.
 */

import { type Reach, reachOf } from '../../base/address/ip-address.ts'
import { McpError } from '../../protocol/errors.ts'

export interface ForeignUrlOptions {
  /** The URL of the MCP server as the user gave it. Its host may be private, and if it is this machine, others may be on it too. */
  userUrl?: string | URL | undefined
  /** Hosts that may be asked although they are private, such as an authorization server in the same network. */
  allowHosts?: readonly string[] | undefined
  /** Ports that may be asked besides 443 and that of `userUrl`. */
  allowPorts?: readonly number[] | undefined
}

export type UrlRefusal =
  | 'malformed' // no URL at all
  | 'scheme' // neither https, nor http between programs of this machine
  | 'userinfo' // carries a name or password
  | 'port' // a port that is not for this
  | 'address' // an address, or a name for one, that is not public
  | 'redirect' // leads elsewhere where that is not followed, or too often

/** Which addresses the host of a URL may turn out to have. */
export type AllowedReach = Reach | 'any'

export interface ForeignUrl {
  url: URL
  reach: AllowedReach
}

export type UrlCheck = (url: string | URL) => ForeignUrl

/** Makes a judge by what the user said; it throws ERR_URL_REFUSED. */
export function foreignUrlCheck({ userUrl, allowHosts = [], allowPorts = [] }: ForeignUrlOptions): UrlCheck {
  const user = userUrl === undefined ? undefined : new URL(userUrl)
  const isLocalUser = user !== undefined && isLoopbackHost(hostOf(user))
  const hosts = new Set(allowHosts.map((host) => hostOf(new URL(`https://${host}`))))
  if (user && !isLocalUser) hosts.add(hostOf(user))
  const ports = new Set([443, ...allowPorts])
  if (user) ports.add(portOf(user))

  return (given) => {
    const url = parsed(given)
    const host = hostOf(url)
    if (url.username !== '' || url.password !== '') throw urlRefused('userinfo', url)
    const isLocal = isLocalUser && isLoopbackHost(host)
    if (url.protocol !== 'https:' && !(isLocal && url.protocol === 'http:')) throw urlRefused('scheme', url)
    if (!isLocal && !ports.has(portOf(url))) throw urlRefused('port', url)
    return { url, reach: isLocal ? 'loopback' : reachAllowed(host, hosts, url) }
  }
}

function reachAllowed(host: string, hosts: ReadonlySet<string>, url: URL): AllowedReach {
  if (hosts.has(host)) return 'any'
  const isPublic = isLiteral(host) ? reachOf(host) === 'public' : !isInsideName(host)
  if (!isPublic) throw urlRefused('address', url)
  return 'public'
}

/** Names that mean something inside of a network only; what other names lead to is known when they are looked up. */
const isInsideName = (host: string): boolean => !host.includes('.') || /\.(localhost|local|internal|intranet|lan|home\.arpa)$/.test(host)

const isLoopbackHost = (host: string): boolean =>
  isLiteral(host) ? reachOf(host) === 'loopback' : host === 'localhost' || host.endsWith('.localhost')

/** The URL parser has brought every spelling of an IPv4 address to four numbers, and IPv6 into brackets. */
const isLiteral = (host: string): boolean => host.includes(':') || /^\d+\.\d+\.\d+\.\d+$/.test(host)

const hostOf = (url: URL): string => url.hostname.replace(/^\[|\]$/g, '').replace(/\.+$/, '')

const portOf = (url: URL): number => Number(url.port || (url.protocol === 'http:' ? 80 : 443))

function parsed(url: string | URL): URL {
  try {
    return new URL(url)
  } catch {
    throw new McpError('ERR_URL_REFUSED', 'A URL that was named is none', { data: { reason: 'malformed' satisfies UrlRefusal } })
  }
}

const WHY = {
  malformed: 'is not a URL',
  scheme: 'is not https',
  userinfo: 'carries a user name or a password',
  port: 'has a port that is not allowed; allowPorts can allow it',
  address: 'is not on the open internet; allowHosts can allow it',
  redirect: 'leads somewhere else',
} satisfies Record<UrlRefusal, string>

/** Says which host and why, and neither what the host answered nor where its name led: that is nobody's business. */
export const urlRefused = (reason: UrlRefusal, url: URL): McpError =>
  new McpError('ERR_URL_REFUSED', `${url.protocol}//${url.host} is not asked: it ${WHY[reason]}`, { data: { reason } })
