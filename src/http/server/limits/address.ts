/** Where a request comes from: the address a proxy tells, and what counts as one address. */

const IPV4 = /^(?:\d{1,3}\.){3}\d{1,3}$/
const IPV6 = /^[0-9a-f:]{2,39}(?:\.\d{1,3}){0,3}(?:%[\w.-]{1,32})?$/i
const MAPPED = /^::ffff:((?:\d{1,3}\.){3}\d{1,3})$/i

/**
 * The address of the client behind `proxies` proxies that each add the address they see to X-Forwarded-For. Entries
 * further left come from the client, who can write anything there.
 * @param socket what to use when the header is missing, too short or no address
 */
export function forwardedAddress(header: string | undefined, proxies: number, socket: string | undefined): string | undefined {
  const entries = header?.split(',') ?? []
  const entry = entries[entries.length - proxies]?.trim() ?? ''
  return bareAddress(entry) ?? socket
}

/** The same without brackets and port, which some proxies add; undefined for what is no address. */
function bareAddress(entry: string): string | undefined {
  const [, bracketed] = /^\[([^\]]+)\](?::\d{1,5})?$/.exec(entry) ?? []
  if (bracketed !== undefined) return IPV6.test(bracketed) ? bracketed : undefined
  const [, withPort] = /^([\d.]+):\d{1,5}$/.exec(entry) ?? []
  const address = withPort ?? entry
  return IPV4.test(address) || (address.includes(':') && IPV6.test(address)) ? address : undefined
}

/**
 * What is counted as one address. Whoever has one IPv6 address has 2^64 of them, so the first half counts; an IPv4
 * address is the same in both notations.
 */
export function addressKey(address: string): string {
  if (!address.includes(':')) return address
  const mapped = MAPPED.exec(address)
  if (mapped) return mapped[1] as string
  const [head = '', tail] = (address.split('%')[0] as string).toLowerCase().split('::')
  const first = head === '' ? [] : head.split(':')
  if (tail !== undefined) {
    const last = tail === '' ? [] : tail.split(':')
    // A dotted end stands for two groups.
    const length = first.length + last.length + (tail.includes('.') ? 1 : 0)
    for (let missing = 8 - length; missing > 0; missing--) first.push('0')
    first.push(...last)
  }
  return `${first
    .slice(0, 4)
    .map((group) => group.replace(/^0+(?=.)/, ''))
    .join(':')}::/64`
}
