/** Whether a host or an address is this machine. */

/** @param hostname as a parsed URL has it: lower case, IPv6 in brackets */
export const isLoopback = (hostname: string): boolean =>
  hostname === 'localhost' || hostname.endsWith('.localhost') || /^127(?:\.\d{1,3}){3}$/.test(hostname) || hostname === '[::1]'

/** @param host a name or an address to listen on */
export const isLoopbackHost = (host: string): boolean => host === 'localhost' || isLoopbackAddress(host)

/** @param address an IP address as a socket reports it; undefined when the socket is closed */
export const isLoopbackAddress = (address: string | undefined): boolean =>
  address !== undefined && (address.startsWith('127.') || address === '::1' || address.startsWith('::ffff:127.'))
