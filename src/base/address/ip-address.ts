/** Where on the network an address is: on this machine, on the open internet, or somewhere that only we can reach. */

import ipaddr from 'ipaddr.js'

export type Reach = 'public' | 'loopback' | 'private'

/** The reach of an IPv4 or IPv6 address in any spelling that resolvers give; what is no address is `private`. */
export function reachOf(address: string): Reach {
  if (!ipaddr.isValid(address)) return 'private'
  const inner = innerAddress(ipaddr.parse(address))
  const range = inner.range()
  if (range === 'loopback') return 'loopback'
  // What is not assigned is `unicast` for the library; the open internet of IPv6 is 2000::/3 and nothing else.
  if (inner instanceof ipaddr.IPv6 && (inner.parts[0] ?? 0) >> 13 !== 1) return 'private'
  return range === 'unicast' ? 'public' : 'private'
}

/** The address that is reached in the end, which is another where one is written inside the other. */
export const innerAddress = (address: ipaddr.IPv4 | ipaddr.IPv6): ipaddr.IPv4 | ipaddr.IPv6 =>
  address instanceof ipaddr.IPv6 ? (embedded(address) ?? address) : address

/** The IPv4 address that an IPv6 address leads to: through a translator or a tunnel it is that one which is reached. */
function embedded(address: ipaddr.IPv6): ipaddr.IPv4 | undefined {
  const { parts } = address
  const range = address.range()
  const isCompatible = range === 'unicast' && parts.slice(0, 6).every((part) => part === 0)
  // The other half of what the library calls rfc6052, 64:ff9b:1::/48, is for the inside of a network, and stays as it is.
  const isTranslated = range === 'rfc6052' && parts[2] === 0
  const isTunnelled = (parts[4] === 0 || parts[4] === 0x200) && parts[5] === 0x5efe
  if (range === 'ipv4Mapped' || range === 'rfc6145' || isCompatible || isTranslated || isTunnelled) return v4(parts[6], parts[7])
  return range === '6to4' ? v4(parts[1], parts[2]) : undefined
}

const v4 = (high = 0, low = 0): ipaddr.IPv4 => new ipaddr.IPv4([high >> 8, high & 255, low >> 8, low & 255])
