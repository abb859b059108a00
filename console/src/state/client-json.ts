/** A server as other clients write it in their configuration. */

import type { ServerDetails } from '../../../src/console/api.ts'

/** JSON with `mcpServers`. Values of secrets are shown by their length, so the person must fill them in. */
export function clientJson({ id, settings }: Pick<ServerDetails, 'id' | 'settings'>): string {
  const { command, args = [], env = {}, cwd, url, headers = {}, httpTransport = 'http' } = settings
  const entry =
    url === undefined
      ? { command, args, ...(Object.keys(env).length > 0 && { env }), ...(cwd !== undefined && { cwd }) }
      : { type: httpTransport, url, ...(Object.keys(headers).length > 0 && { headers }) }
  return JSON.stringify({ mcpServers: { [id]: entry } }, null, 2)
}
