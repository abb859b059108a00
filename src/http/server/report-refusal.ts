/** Tells `onRefused` what was refused or cut off, and whose it was. */

import { callObserver } from '../../base/call-observer.ts'
import type { HttpOptions } from './options.ts'
import type { Refusal } from './refusal.ts'
import { kindOfRefusal } from './refusal-kind.ts'
import { pathOf } from './request-path.ts'
import type { RequestOfReply } from './runtime/request-reply.ts'

/** What a client chooses is cut, because refusals are logged. */
const MAX_METHOD = 20
const MAX_PATH = 200

/** A logger that throws must not let any request bring the process down. */
export function reportRefusal({ onRefused }: HttpOptions, { request, principal }: RequestOfReply, refusal: Refusal): void {
  if (!onRefused) return
  const { status, message: reason, limit } = refusal
  const kind = kindOfRefusal(refusal)
  const what = request && { httpMethod: request.method.slice(0, MAX_METHOD), path: pathOf(request.url).slice(0, MAX_PATH) }
  callObserver('onRefused', () => onRefused({ status, reason, kind, ...what, limit, principal, address: request?.remoteAddress }))
}
