/** Checks for all definitions, made when the author defines them and not when a client uses them. */

import { asText } from '../base/as-text.ts'
import { jsonOf } from '../jsonrpc/write.ts'
import { McpError } from '../protocol/errors.ts'
import { isScope } from '../protocol/interfaces/access.ts'
import type { Cacheable, Meta } from '../protocol/model/base.ts'
import { readMetaKey } from '../protocol/model/meta-key.ts'

/** @param what the name of the definition in the error */
export function checkMeta(what: string, meta: Meta | undefined): void {
  for (const key of Object.keys(meta ?? {})) {
    const read = readMetaKey(key)
    if (!read.isValid) throw new McpError('ERR_DEFINITION', `${what}: ${read.fault}`)
  }
}

/** One definition that cannot be serialised would break the whole list. */
export function checkWritable(what: string, listed: unknown): void {
  try {
    jsonOf(listed)
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : asText(cause)
    throw new McpError('ERR_DEFINITION', `${what} cannot be written as JSON: ${why}`, { cause })
  }
}

/** Throws ERR_DEFINITION when the cache options are invalid. */
export function checkCache(what: string, cache: Cacheable | undefined): void {
  const fault = checkCacheMembers(cache ?? {})
  if (fault !== undefined) throw new McpError('ERR_DEFINITION', `${what}: ${fault}`)
}

/** Describes what is wrong with the cache members of a result; undefined when they are valid. */
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
  // Scopes are listed in challenges, and offline access is a matter between client and authorization server.
  if (scopes?.includes('offline_access')) throw new McpError('ERR_DEFINITION', `${what}: offline_access cannot be required by a server`)
}
