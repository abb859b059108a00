/** The checks of requests of the revisions with sessions, before the session is looked up. */

import type { Incoming } from '../../../jsonrpc/message.ts'
import type { Outlet } from '../../../jsonrpc/outlet.ts'
import type { Service } from '../../../protocol/interfaces/service.ts'
import { revisionOf } from '../../../revisions/index.ts'
import type { Revision } from '../../../revisions/revision.ts'
import { VERSION_WITHOUT_HEADER } from '../../../revisions/route.ts'
import { checkMirroredHeaders } from '../mirrored-headers.ts'
import { about, type Refusal, refuse } from '../refusal.ts'
import type { HttpRequestView } from '../runtime/request-reply.ts'

export const NOT_FOUND = refuse(404, 'Session not found')
export const NO_SESSION_ID = refuse(400, 'Mcp-Session-Id is missing; open a session with initialize')
export const NO_EVENTS = refuse(406, 'The Accept header of a GET must allow text/event-stream')

/** The outlet of messages that get no answer. */
export const SILENT: Outlet = { push: () => undefined, answer: () => {}, drop: () => {}, canPush: false }

/** Gives errors about headers their code. The codes are the same in all revisions with sessions. */
const REVISION_WITHOUT_HEADER = revisionOf(VERSION_WITHOUT_HEADER) as Revision

export function checkSessionHeaders(
  message: Incoming,
  request: HttpRequestView,
  service: Service,
  isRequired: boolean,
): Refusal | undefined {
  const version = checkSessionVersion(request, service)
  if (version) return version
  if (message.kind !== 'request' && message.kind !== 'notification') return undefined
  return checkMirroredHeaders(request, message, service, isRequired, REVISION_WITHOUT_HEADER)
}

export function checkSessionVersion(request: HttpRequestView, { versions }: Service): Refusal | undefined {
  const requested = request.header('mcp-protocol-version')
  if (requested === undefined || versions.includes(requested)) return undefined
  const data = { supported: versions, requested }
  return refuse(400, `Unsupported protocol version: ${JSON.stringify(requested.slice(0, 100))}`, { data })
}

/** Refuses malformed messages. */
export function checkShape(message: Incoming): Refusal | undefined {
  if (message.kind === 'malformed') return about(refuse(400, message.error.message, { code: message.error.code }), message.id)
  return message.kind === 'ignored' ? refuse(400, message.reason) : undefined
}

/** Refuses a batch without requests in a revision without batches. The channel refuses the others. */
export function checkBatch(message: Incoming, version: string | undefined): Refusal | undefined {
  if (message.kind !== 'batch' || revisionOf(version)?.hasBatches) return undefined
  return refuse(400, 'Batches are not part of this protocol revision')
}
