/** Where the arguments of a call go, as far as it can be known from here. */

import { reachOf } from '../../../base/address/ip-address.ts'
import { isLoopback } from '../../../base/address/loopback.ts'
import type { Tool, ToolAnnotations } from '../../../protocol/model/tools.ts'
import { EGRESS } from '../../model/label.ts'
import type { ServerSpec } from '../../model/server-spec.ts'

export type Destination = 'local' | 'private' | 'outside'

/** Names that no resolver of the open internet knows. */
const INSIDE = /(?:^|\.)(?:local|internal|intranet|lan|home|corp|home\.arpa)$/i

/**
 * A server elsewhere has what it is sent. One on this machine can pass it on: that it does not is believed when the
 * operator says so, or of a server that is trusted and does not say that it does.
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

function reachOfUrl(url: string): Destination {
  // With a placeholder in it nobody knows yet where it leads.
  if (!URL.canParse(url)) return 'outside'
  const { hostname } = new URL(url)
  if (isLoopback(hostname)) return 'local'
  const isAddress = /^[\d.]+$/.test(hostname) || hostname.startsWith('[')
  if (!isAddress) return INSIDE.test(hostname) || !hostname.includes('.') ? 'private' : 'outside'
  const reach = reachOf(hostname.replace(/^\[|\]$/g, ''))
  if (reach === 'loopback') return 'local'
  return reach === 'public' ? 'outside' : 'private'
}
