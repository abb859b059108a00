/** The forms of a Host header and an Origin header. */

/** A Host header. Its first group is the name without the port. */
export const HOST_HEADER = /^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::\d{1,5})?$/i

export const isHostHeader = (text: string): boolean => HOST_HEADER.test(text)

/** For errors: the rules of a host name. */
export const HOST_RULES = 'no wildcards; IPv6 in brackets; only ASCII'

/** A scheme and a host. Pages of some schemes, such as `file`, have no host. */
const ORIGIN = /^([a-z][a-z\d+.-]*):\/\/[!-~]*$/
const NOT_IN_ORIGIN = /:\/\/.*[/?#@*]/

/** Whether browsers can send this text as Origin. Case does not matter. Pages without an origin send `null`. */
export function isWebOrigin(text: string): boolean {
  const lower = text.toLowerCase()
  const scheme = ORIGIN.exec(lower)?.[1]
  if (scheme === undefined) return lower === 'null'
  if (NOT_IN_ORIGIN.test(lower)) return false
  if (scheme !== 'http' && scheme !== 'https') return true
  return URL.canParse(lower) && new URL(lower).origin === lower
}

export const ORIGIN_RULES = 'no wildcards, paths or default ports; only ASCII'
