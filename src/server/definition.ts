/** Checks that every definition shares, made when it is given rather than when a client trips over it. */

import { asText } from '../base/as-text.ts'
import { jsonOf } from '../jsonrpc/write.ts'
import { McpError } from '../protocol/errors.ts'
import type { Cacheable, Meta } from '../protocol/model/base.ts'
import { readMetaKey } from '../protocol/model/meta-key.ts'
import { isScope } from '../protocol/seams/access.ts'

/** @param what names the definition in the error */
export function checkMeta(what: string, meta: Meta | undefined): void {
  for (const key of Object.keys(meta ?? {})) {
    const read = readMetaKey(key)
    if (!read.isValid) throw new McpError('ERR_DEFINITION', `${what}: ${read.fault}`)
  }
}

/** One definition that cannot be written would take the whole list with it. */
export function checkWritable(what: string, listed: unknown): void {
  try {
    jsonOf(listed)
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : asText(cause)
    throw new McpError('ERR_DEFINITION', `${what} cannot be written as JSON: ${why}`, { cause })
  }
}

/** How long a result may be kept, as the protocol allows it. */
export function checkCache(what: string, cache: Cacheable | undefined): void {
  const fault = checkCacheMembers(cache ?? {})
  if (fault !== undefined) throw new McpError('ERR_DEFINITION', `${what}: ${fault}`)
}

export function checkCacheMembers({ ttlMs, cacheScope }: Cacheable): string | undefined {
  if (ttlMs !== undefined && !(Number.isSafeInteger(ttlMs) && ttlMs >= 0))
    return `ttlMs must be a whole number of milliseconds, 0 or more, not ${asText(ttlMs)}`
  if (cacheScope !== undefined && cacheScope !== 'public' && cacheScope !== 'private')
    return `cacheScope must be "public" or "private", not ${JSON.stringify(cacheScope)}`
  return undefined
}

export function checkScopes(what: string, scopes: readonly string[] | undefined): void {
  const bad = scopes?.find((scope) => !isScope(scope))
  if (bad !== undefined) throw new McpError('ERR_DEFINITION', `${what}: not a scope: ${JSON.stringify(bad)}`)
  // It would be asked for in a challenge. Whether a client may come back without its user is not for a server to say.
  if (scopes?.includes('offline_access')) throw new McpError('ERR_DEFINITION', `${what}: offline_access is no scope of a resource`)
}
