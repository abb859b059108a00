/** Where the arguments of a call go, as far as the host can know. */

import { reachOf } from '../../../base/address/ip-address.ts'
import { isLoopback } from '../../../base/address/loopback.ts'
import type { Tool, ToolAnnotations } from '../../../protocol/model/tools.ts'
import { EGRESS } from '../../model/label.ts'
import type { ServerSpec } from '../../model/server-spec.ts'

export type Destination = 'local' | 'private' | 'outside'

/** Host names that do not exist on the public internet. */
const INSIDE = /(?:^|\.)(?:local|internal|intranet|lan|home|corp|home\.arpa)$/i

/**
 * A remote server receives the arguments. A server with the label `egress` sends them outside. Any other server can pass them on, unless
 * the operator asserts that the tool is not open-world, or the server is trusted and does not declare the tool open-world.
 */
export function destinationOf(
  { transport, tier, labels = [] }: Pick<ServerSpec, 'transport' | 'tier' | 'labels'>,
  tool: Tool,
  asserted: ToolAnnotations,
): Destination {
  if (labels.includes(EGRESS)) return 'outside'
  const there = transport.type === 'http' ? reachOfUrl(transport.url) : 'local'
  if (there === 'outside') return 'outside'
  const passesOn = asserted.openWorldHint ?? (tool.annotations?.openWorldHint === true || tier === 'untrusted')
  return passesOn ? 'outside' : there
}

/** Whether arguments count as sent outside only because the server is not trusted: a program on this computer may pass them on. */
export const isOutsideByTier = (spec: Parameters<typeof destinationOf>[0], tool: Tool, asserted: ToolAnnotations): boolean =>
  destinationOf(spec, tool, asserted) === 'outside' && destinationOf({ ...spec, tier: 'trusted' }, tool, asserted) === 'local'

function reachOfUrl(url: string): Destination {
  // A URL with a placeholder can lead anywhere.
  if (!URL.canParse(url)) return 'outside'
  const { hostname } = new URL(url)
  if (isLoopback(hostname)) return 'local'
  const isAddress = /^[\d.]+$/.test(hostname) || hostname.startsWith('[')
  if (!isAddress) return INSIDE.test(hostname) || !hostname.includes('.') ? 'private' : 'outside'
  const reach = reachOf(hostname.replace(/^\[|\]$/g, ''))
  if (reach === 'loopback') return 'local'
  return reach === 'public' ? 'outside' : 'private'
}
