/** The refusals of bodies that could not be read. */

import { PARSE_ERROR } from '../../jsonrpc/message.ts'
import { type Refusal, refuse } from './refusal.ts'
import type { BodyBounds, BodyFault } from './runtime/request-reply.ts'

export function bodyRefusal(fault: BodyFault, { maxBodyBytes, minBodyRate, bodyGraceMs }: BodyBounds): Refusal {
  const headers = { connection: 'close' }
  switch (fault) {
    case 'too-slow':
      return refuse(408, `The body arrived more slowly than ${minBodyRate} bytes per second for ${bodyGraceMs} ms (limits.minBodyRate)`, {
        headers,
      })
    case 'gone':
      return refuse(400, 'The connection closed before the body was complete')
    case 'not-utf8':
      return refuse(400, 'The message is not UTF-8', { code: PARSE_ERROR })
    case 'unreadable':
      return refuse(500, 'The body of the Request cannot be read: it was read before, or it has chunks that are neither bytes nor text')
    default:
      return refuse(413, `The message is longer than ${maxBodyBytes} bytes (limits.maxBodyBytes)`, { headers, limit: 'maxBodyBytes' })
  }
}
