/** The types that a response may have. */

import { acceptsOf } from './guard.ts'
import type { HttpOptions } from './options.ts'
import type { HttpRequestView } from './runtime/request-reply.ts'

const ONLY_JSON = { json: true, events: false }
const ONLY_EVENTS = { json: false, events: true }

/** The response types that both the client and the option `responses` allow; undefined for none. */
export function acceptedTypes(
  request: HttpRequestView,
  responses: HttpOptions['responses'] = 'auto',
): { json: boolean; events: boolean } | undefined {
  const accepts = acceptsOf(request.header('accept'))
  if (responses === 'auto') return accepts.json || accepts.events ? accepts : undefined
  if (responses === 'json') return accepts.json ? ONLY_JSON : undefined
  return accepts.events ? ONLY_EVENTS : undefined
}
