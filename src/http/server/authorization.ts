/** Who a caller is, and whether the scopes of the caller suffice. */

import type { Incoming } from '../../jsonrpc/message.ts'
import { type AuthenticatedCaller, type HttpAuth, permits } from '../../protocol/interfaces/access.ts'
import type { Service } from '../../protocol/interfaces/service.ts'
import { about, type Refusal } from './refusal.ts'

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
