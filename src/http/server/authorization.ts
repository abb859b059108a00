/** Who a caller is, and whether the scopes of the caller suffice. */

import type { Incoming } from '../../jsonrpc/message.ts'
import { type AuthenticatedCaller, type AuthRefusal, type HttpAuth, permits } from '../../protocol/interfaces/access.ts'
import type { Service } from '../../protocol/interfaces/service.ts'
import type { HttpOptions } from './options.ts'
import { about, type Refusal } from './refusal.ts'
import type { HttpRequestView } from './runtime/request-reply.ts'

/** Rejects a malformed return value (possible from untyped callers), so that a bug in `authenticate` never admits anyone. */
export async function authenticated(
  request: HttpRequestView,
  authenticate: NonNullable<HttpOptions['authenticate']>,
): Promise<AuthenticatedCaller | AuthRefusal> {
  const outcome: AuthenticatedCaller | AuthRefusal = await authenticate(request)
  const isValid =
    'principal' in outcome
      ? typeof outcome.principal === 'string' && outcome.principal !== ''
      : outcome.status >= 400 && outcome.status < 600
  if (!isValid) throw new TypeError('authenticate must return a principal, or the status of a refusal')
  return outcome
}

/** Missing scopes are refused with a status before anything is done. */
export function checkScopes(
  message: Incoming,
  caller: AuthenticatedCaller | undefined,
  auth: HttpAuth | undefined,
  service: Pick<Service, 'requiredScopes'>,
): Refusal | undefined {
  if (!auth || !caller) return undefined
  const requests = message.kind === 'batch' ? message.messages : [message]
  const needed = requests.flatMap((each) => (each.kind === 'request' ? service.requiredScopes(each) : []))
  if (permits(caller.auth ?? null, needed)) return undefined
  return about(auth.forbid([...new Set(needed)], caller), message.kind === 'request' ? message.id : undefined)
}
