/** Routes for saved calls. */

import { redact, redactText } from '../../base/text/redact.ts'
import type { NewSavedCall } from '../api.ts'
import { invalid } from '../errors.ts'
import type { ConsoleServices } from '../services.ts'
import { input, type Route, route } from '../web/router.ts'

const TEXT = { type: 'string' }
const SAVED = input({
  title: { type: 'string', minLength: 1, maxLength: 200 },
  kind: { enum: ['tool', 'resource', 'prompt'] },
  server: TEXT,
  name: { type: 'string', minLength: 1, maxLength: 2000 },
  'args?': { type: 'object' },
})

/** Bytes of one saved call. */
const MAX_CALL_BYTES = 64 * 1024

export const callRoutes = ({ savedCalls }: ConsoleServices): Route[] => [
  route('GET /api/calls/saved', {}, async () => ({ calls: await savedCalls.list() })),
  route('POST /api/calls/saved', { body: SAVED, status: 201 }, async ({ body }) => ({ call: await savedCalls.add(checked(body)) })),
  route('PUT /api/calls/saved/:id', { body: SAVED }, async ({ params: { id }, body }) => ({
    call: await savedCalls.replace(id, checked(body)),
  })),
  route('DELETE /api/calls/saved/:id', {}, async ({ params: { id } }) => {
    await savedCalls.remove(id)
    return null
  }),
]

/** Values that look like secrets are not stored. */
function checked({ title, kind, server, name, args }: NewSavedCall): NewSavedCall {
  const call = {
    title: redactText(title),
    kind,
    server,
    name: redactText(name),
    ...(args && { args: redact(args) as Record<string, unknown> }),
  }
  const bytes = Buffer.byteLength(JSON.stringify(call))
  if (bytes > MAX_CALL_BYTES) throw invalid(`body: expected at most ${MAX_CALL_BYTES} bytes, got ${bytes}`)
  return call
}
