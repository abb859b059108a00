/** The scopes that a request needs. The HTTP transport checks them before the request runs, to answer with status 403. */

import { isObject } from '../base/json.ts'
import type { RequestMessage } from '../jsonrpc/message.ts'
import type { Core } from './core.ts'

export function requiredScopes({ method, params }: Pick<RequestMessage, 'method' | 'params'>, core: Core): readonly string[] {
  return (params && needs(method, params, core)) ?? NONE
}

const NONE: readonly string[] = []

function needs(method: string, params: NonNullable<RequestMessage['params']>, core: Core): readonly string[] | undefined {
  switch (method) {
    case 'tools/call':
      return core.tools.scopesOf(params.name)
    case 'prompts/get':
      return core.prompts.scopesOf(params.name)
    case 'resources/read':
    case 'resources/subscribe':
      return core.resources.scopesOf(params.uri)
    case 'completion/complete':
      return core.completions.scopesOf(params.ref)
    case 'subscriptions/listen':
      return isObject(params.notifications) ? scopesOfAll(params.notifications.resourceSubscriptions, core) : undefined
    default:
      return undefined
  }
}

/** The scopes of all these resources. A list over the limit is refused later and ignored here. */
export function scopesOfAll(uris: unknown, core: Core): readonly string[] | undefined {
  if (!Array.isArray(uris) || uris.length > core.limits.maxSubscriptions) return undefined
  return [...new Set(uris.flatMap((uri) => core.resources.scopesOf(uri) ?? NONE))]
}
