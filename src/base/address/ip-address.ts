/** The reach of an IP address: this machine, the public internet, or a private network. */

import ipaddr from 'ipaddr.js'

export type Reach = 'public' | 'loopback' | 'private'

/** Reads any spelling of an IPv4 or IPv6 address that resolvers return. Text that is not an address is `private`. */
export function reachOf(address: string): Reach {
  if (!ipaddr.isValid(address)) return 'private'
  const inner = innerAddress(ipaddr.parse(address))
  const range = inner.range()
  if (range === 'loopback') return 'loopback'
  // The library reports unassigned addresses as `unicast`. Only 2000::/3 is the public internet of IPv6.
  if (inner instanceof ipaddr.IPv6 && (inner.parts[0] ?? 0) >> 13 !== 1) return 'private'
  return range === 'unicast' ? 'public' : 'private'
}

/** The address that packets reach: for an IPv6 address with an IPv4 address inside it, that IPv4 address. */
export const innerAddress = (address: ipaddr.IPv4 | ipaddr.IPv6): ipaddr.IPv4 | ipaddr.IPv6 =>
  address instanceof ipaddr.IPv6 ? (embedded(address) ?? address) : address

/** The IPv4 address inside an IPv6 address of a translator or a tunnel. */
function embedded(address: ipaddr.IPv6): ipaddr.IPv4 | undefined {
  const { parts } = address
  const range = address.range()
  const isCompatible = range === 'unicast' && parts.slice(0, 6).every((part) => part === 0)
  // 64:ff9b:1::/48, which the library also calls rfc6052, is for use inside one network and is not unwrapped.
  const isTranslated = range === 'rfc6052' && parts[2] === 0
  const isTunnelled = (parts[4] === 0 || parts[4] === 0x200) && parts[5] === 0x5efe
  if (range === 'ipv4Mapped' || range === 'rfc6145' || isCompatible || isTranslated || isTunnelled) return v4(parts[6], parts[7])
  return range === '6to4' ? v4(parts[1], parts[2]) : undefined
}

const v4 = (high = 0, low = 0): ipaddr.IPv4 => new ipaddr.IPv4([high >> 8, high & 255, low >> 8, low & 255])
