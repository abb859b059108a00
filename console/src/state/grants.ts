/** Grants, newest first, without those for earlier versions of a server. */

import type { GrantView } from '../../../src/console/api.ts'

type Sorted = Pick<GrantView, 'action' | 'at' | 'isExpired' | 'bind'>

/** A grant to start or connect is for one version of the command and its files. Only the newest one of a server fits what it is now. */
export function sortedGrants<Grant extends Sorted>(grants: readonly Grant[]): { current: Grant[]; earlier: Grant[] } {
  const current: Grant[] = []
  const earlier: Grant[] = []
  const seen = new Set<string>()
  for (const grant of grants.filter(({ isExpired }) => !isExpired).sort((a, b) => b.at - a.at)) {
    const key = grant.action === 'server.launch' || grant.action === 'server.connect' ? `${grant.action} ${grant.bind.server}` : undefined
    if (key !== undefined && seen.has(key)) earlier.push(grant)
    else current.push(grant)
    if (key !== undefined) seen.add(key)
  }
  return { current, earlier }
}
