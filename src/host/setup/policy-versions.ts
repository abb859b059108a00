/** Finds out whether the files of a policy changed. */

import { stat } from 'node:fs/promises'
import type { GivenPolicy } from '../policy/load-policy.ts'

/** A text that changes with the files of the policy. */
export async function versionsOf(policy: GivenPolicy | undefined): Promise<string> {
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
