/** Opens the policy of a host, and reads its files again when they change. */

import { stat } from 'node:fs/promises'
import { type GivenPolicy, type LoadPolicyOptions, loadPolicy } from '../policy/load-policy.ts'
import type { PolicyService } from './host-services.ts'

/**
 * The policy in force. `portico policy use` and your editor change the files while a host runs, so each decision looks whether they
 * changed. A file that became invalid keeps the rules from before in force.
 * @param warn is called once for each version of a file that cannot be read
 */
export async function openPolicy(options: LoadPolicyOptions, warn: (text: string) => void): Promise<PolicyService> {
  let given = options.policy
  let seen = await versionsOf(given)
  let current = await loadPolicy(options)
  let refreshing = Promise.resolve()
  const refresh = async (): Promise<void> => {
    const policy = given
    const found = await versionsOf(policy)
    if (found === seen || policy !== given) return
    seen = found
    try {
      const loaded = await loadPolicy({ ...options, ...(policy !== undefined && { policy }) })
      if (policy === given) current = loaded
    } catch (error) {
      warn(`The policy was changed and cannot be read, so the former rules stay in force: ${(error as Error).message}`)
    }
  }
  return {
    current: () => current,
    replace: async (policy) => {
      const versions = await versionsOf(policy)
      current = await loadPolicy({ ...options, policy })
      given = policy
      seen = versions
    },
    refresh: () => {
      // One after the other, so that an older version never replaces a newer one.
      refreshing = refreshing.then(refresh)
      return refreshing
    },
  }
}

/** A text that changes with the files of the policy. */
async function versionsOf(policy: GivenPolicy | undefined): Promise<string> {
  const versions: string[] = []
  for (const file of filesOf(policy)) {
    const found = await stat(file, { bigint: true }).catch(() => undefined)
    versions.push(found ? `${found.ino} ${found.size} ${found.mtimeNs}` : '-')
  }
  return versions.join('\n')
}

function filesOf(policy: GivenPolicy | undefined): string[] {
  if (policy === undefined) return []
  if (typeof policy === 'string') return [policy]
  return Object.values(policy).filter((layer): layer is string => typeof layer === 'string')
}
