/**
 * Checks a URL that came from a peer before a request is sent to it. Our requests come from this machine and this network,
 * where an attacker usually has no access, so a peer must not choose their destination freely.
 */

import { type Reach, reachOf } from '../../base/address/ip-address.ts'
import { McpError } from '../../protocol/errors.ts'

/** Which private hosts and ports may be contacted. Default: public addresses only. */
export interface ForeignUrlOptions {
  /** The URL of the MCP server as the user gave it. Its host may be private. If it is this machine, other URLs on this machine are allowed too. */
  userUrl?: string | URL | undefined
  /** Private hosts that may be contacted, such as an authorization server in the same network. */
  allowHosts?: readonly string[] | undefined
  /** Ports that may be contacted in addition to 443 and the port of `userUrl`. */
  allowPorts?: readonly number[] | undefined
}

/** Why a URL was refused: `error.data.reason` of `ERR_URL_REFUSED`. */
export type UrlRefusal =
  | 'malformed' // not a URL
  | 'scheme' // neither https, nor http between programs of this machine
  | 'userinfo' // contains a user name or a password
  | 'port' // a port that is not allowed
  | 'address' // an address, or a name for one, that is not public
  | 'redirect' // a redirect that is not followed, or too many of them

/** Which addresses the host of a URL may resolve to. */
export type AllowedReach = Reach | 'any'

export interface ForeignUrl {
  url: URL
  reach: AllowedReach
}

/** Throws `ERR_URL_REFUSED` for a URL that must not be contacted. */
export type UrlCheck = (url: string | URL) => ForeignUrl

export function foreignUrlCheck({ userUrl, allowHosts = [], allowPorts = [] }: ForeignUrlOptions): UrlCheck {
  const user = userUrl === undefined ? undefined : new URL(userUrl)
  const isLocalUser = user !== undefined && isLoopbackHost(hostOf(user))
  const hosts = new Set(allowHosts.map((host) => hostOf(new URL(`https://${host}`))))
  if (user && !isLocalUser) hosts.add(hostOf(user))
  const ports = new Set([443, ...allowPorts])
  if (user) ports.add(portOf(user))

  return (given) => {
    const url = parse(given)
    const host = hostOf(url)
    if (url.username !== '' || url.password !== '') throw urlRefused('userinfo', url)
    const isLocal = isLocalUser && isLoopbackHost(host)
    if (url.protocol !== 'https:' && !(isLocal && url.protocol === 'http:')) throw urlRefused('scheme', url)
    if (!isLocal && !ports.has(portOf(url))) throw urlRefused('port', url)
    return { url, reach: isLocal ? 'loopback' : checkHost(host, hosts, url) }
  }
}

function checkHost(host: string, hosts: ReadonlySet<string>, url: URL): AllowedReach {
  if (hosts.has(host)) return 'any'
  const isPublic = isIpAddress(host) ? reachOf(host) === 'public' : !isPrivateName(host)
  if (!isPublic) throw urlRefused('address', url)
  return 'public'
}

/** Names that only a private network resolves. The addresses of all other names are checked when they are resolved. */
const isPrivateName = (host: string): boolean => !host.includes('.') || /\.(localhost|local|internal|intranet|lan|home\.arpa)$/.test(host)

const isLoopbackHost = (host: string): boolean =>
  isIpAddress(host) ? reachOf(host) === 'loopback' : host === 'localhost' || host.endsWith('.localhost')

/** The URL parser has already normalised every spelling of an IPv4 address to four numbers. */
const isIpAddress = (host: string): boolean => host.includes(':') || /^\d+\.\d+\.\d+\.\d+$/.test(host)

const hostOf = (url: URL): string => url.hostname.replace(/^\[|\]$/g, '').replace(/\.+$/, '')

const portOf = (url: URL): number => Number(url.port || (url.protocol === 'http:' ? 80 : 443))

function parse(url: string | URL): URL {
  try {
    return new URL(url)
  } catch {
    throw new McpError('ERR_URL_REFUSED', 'Expected a URL, got text that cannot be parsed as one', {
      data: { reason: 'malformed' satisfies UrlRefusal },
    })
  }
}

const REASONS = {
  malformed: 'it is not a URL',
  scheme: 'it is not https',
  userinfo: 'it contains a user name or a password',
  port: 'its port is not allowed (see allowPorts)',
  address: 'it is not on the public internet (see allowHosts)',
  redirect: 'it redirects somewhere else',
} satisfies Record<UrlRefusal, string>

/** The message contains neither the response nor the resolved address: both could reveal the private network to the peer. */
export const urlRefused = (reason: UrlRefusal, url: URL): McpError =>
  new McpError('ERR_URL_REFUSED', `Refused to contact ${url.protocol}//${url.host}: ${REASONS[reason]}`, { data: { reason } })
