/** Checks that every definition shares, made when it is given rather than when a client trips over it. */

import { isScope } from '../protocol/access.ts'
import type { Meta } from '../protocol/base.ts'
import { McpError } from '../protocol/errors.ts'
import { readMetaKey } from '../protocol/meta-key.ts'

/** @param what names the definition in the error */
export function checkMeta(what: string, meta: Meta | undefined): void {
  for (const key of Object.keys(meta ?? {})) {
    const read = readMetaKey(key)
    if (!read.isValid) throw new McpError('ERR_DEFINITION', `${what}: ${read.fault}`)
  }
}

/** An extension is named like metadata, but never without a prefix. */
export function checkExtensions(extensions: Record<string, unknown> | undefined): void {
  for (const id of Object.keys(extensions ?? {})) {
    const read = readMetaKey(id)
    if (!read.isValid || read.prefix === undefined || read.name === '') {
      throw new McpError('ERR_DEFINITION', `An extension is named like "com.example/feature", not ${JSON.stringify(id)}`)
    }
  }
}

export function checkScopes(what: string, scopes: readonly string[] | undefined): void {
  const bad = scopes?.find((scope) => !isScope(scope))
  if (bad !== undefined) throw new McpError('ERR_DEFINITION', `${what}: not a scope: ${JSON.stringify(bad)}`)
  // It would be asked for in a challenge. Whether a client may come back without its user is not for a server to say.
  if (scopes?.includes('offline_access')) throw new McpError('ERR_DEFINITION', `${what}: offline_access is no scope of a resource`)
}
