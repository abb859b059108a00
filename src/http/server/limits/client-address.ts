/** IP addresses of clients: read from a proxy's header, and grouped for counting. */

const IPV4 = /^(?:\d{1,3}\.){3}\d{1,3}$/
const IPV6 = /^[0-9a-f:]{2,39}(?:\.\d{1,3}){0,3}(?:%[\w.-]{1,32})?$/i
const MAPPED = /^::ffff:((?:\d{1,3}\.){3}\d{1,3})$/i

/**
 * The address of a client behind `proxies` proxies. Each proxy appends the address it sees to X-Forwarded-For. Entries
 * further left come from the client, which can write anything there.
 * @param socket the address to use when the header is missing, too short or invalid
 */
export function forwardedAddress(header: string | undefined, proxies: number, socket: string | undefined): string | undefined {
  const entries = header?.split(',') ?? []
  const entry = entries[entries.length - proxies]?.trim() ?? ''
  return bareAddress(entry) ?? socket
}

/** An address without the brackets and port that some proxies add; undefined when it is invalid. */
function bareAddress(entry: string): string | undefined {
  const [, bracketed] = /^\[([^\]]+)\](?::\d{1,5})?$/.exec(entry) ?? []
  if (bracketed !== undefined) return IPV6.test(bracketed) ? bracketed : undefined
  const [, withPort] = /^([\d.]+):\d{1,5}$/.exec(entry) ?? []
  const address = withPort ?? entry
  return IPV4.test(address) || (address.includes(':') && IPV6.test(address)) ? address : undefined
}

/**
 * The key under which an address is counted. For IPv6 it is the first 64 bits, because a client with one address usually has
 * 2^64 of them. An IPv4 address has the same key in both notations.
 */
export function addressKey(address: string): string {
  if (!address.includes(':')) return address
  const mapped = MAPPED.exec(address)
  if (mapped) return mapped[1] as string
  const [head = '', tail] = (address.split('%')[0] as string).toLowerCase().split('::')
  const first = head === '' ? [] : head.split(':')
  if (tail !== undefined) {
    const last = tail === '' ? [] : tail.split(':')
    // A dotted IPv4 suffix stands for two groups.
    const length = first.length + last.length + (tail.includes('.') ? 1 : 0)
    for (let missing = 8 - length; missing > 0; missing--) first.push('0')
    first.push(...last)
  }
  return `${first
    .slice(0, 4)
    .map((group) => group.replace(/^0+(?=.)/, ''))
    .join(':')}::/64`
}
