/** The scopes that a request needs. The HTTP transport checks them before the request runs, to answer with status 403. */

import { isObject } from '../base/json.ts'
import type { RequestMessage } from '../jsonrpc/message.ts'
import type { ServerState } from './server-state.ts'

export function requiredScopes({ method, params }: Pick<RequestMessage, 'method' | 'params'>, serverState: ServerState): readonly string[] {
  return (params && needs(method, params, serverState)) ?? NONE
}

const NONE: readonly string[] = []

function needs(method: string, params: NonNullable<RequestMessage['params']>, serverState: ServerState): readonly string[] | undefined {
  switch (method) {
    case 'tools/call':
      return serverState.tools.scopesOf(params.name)
    case 'prompts/get':
      return serverState.prompts.scopesOf(params.name)
    case 'resources/read':
    case 'resources/subscribe':
      return serverState.resources.scopesOf(params.uri)
    case 'completion/complete':
      return serverState.completions.scopesOf(params.ref)
    case 'subscriptions/listen':
      return isObject(params.notifications) ? scopesOfAll(params.notifications.resourceSubscriptions, serverState) : undefined
    default:
      return undefined
  }
}

/** The scopes of all these resources. A list over the limit is refused later and ignored here. */
export function scopesOfAll(uris: unknown, serverState: ServerState): readonly string[] | undefined {
  if (!Array.isArray(uris) || uris.length > serverState.limits.maxSubscriptions) return undefined
  return [...new Set(uris.flatMap((uri) => serverState.resources.scopesOf(uri) ?? NONE))]
}
