/** What a client says about an extension in its capabilities. */

import { isObject } from '../base/json.ts'
import { McpError } from '../protocol/errors.ts'
import type { Settings } from '../protocol/model/lifecycle.ts'
import type { IncomingCall } from './incoming-call.ts'

/** The settings that the client declared for an extension; undefined if it did not declare it. */
export function declaredSettings(call: IncomingCall, id: string): Settings | undefined {
  const { extensions } = call.caller.capabilities
  // Own members only: the peer chooses the names.
  const settings = isObject(extensions) && Object.hasOwn(extensions, id) ? extensions[id] : undefined
  return isObject(settings) ? settings : undefined
}

/** Throws ERR_CAPABILITY_MISSING if the client could declare the extension and did not. */
export function requireExtension(call: IncomingCall, id: string, what: string = call.method): void {
  if (!call.revision.hasExtensions || declaredSettings(call, id)) return
  throw new McpError('ERR_CAPABILITY_MISSING', `${what} needs the extension ${id}, which this client did not declare`, {
    data: { requiredCapabilities: { extensions: { [id]: {} } } },
  })
}
