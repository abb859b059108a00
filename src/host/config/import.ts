/** The servers that the other clients of this machine have: found and read, and neither started nor changed. */

import { withDefaults } from '../../protocol/with-defaults.ts'
import type { ServerSpec } from '../model/server-spec.ts'
import { DEFAULT_CONFIG_LIMITS } from './limits.ts'
import { mergeServers } from './merge.ts'
import { type FoundConfig, findClientConfigs, type MachinePlaces } from './places.ts'
import { type PlainSecret, plainSecrets } from './plain-secrets.ts'
import type { ConfigProblem } from './problem.ts'
import { readConfig } from './read.ts'

export interface ImportedServer {
  spec: ServerSpec
  /** Where values stand in the open that look like secrets; `moveSecrets` takes them to the vault. */
  plainSecrets: PlainSecret[]
}

export interface ClientConfigs {
  found: FoundConfig[]
  servers: ImportedServer[]
  problems: ConfigProblem[]
}

/** The servers in the configurations of all clients on this machine. */
export async function readClientConfigs(places: MachinePlaces = {}): Promise<ClientConfigs> {
  const { maxServers } = withDefaults(DEFAULT_CONFIG_LIMITS, places.limits)
  const found = await findClientConfigs(places)
  const problems: ConfigProblem[] = []
  let specs: ServerSpec[] = []
  for (const source of found) {
    const one = await readConfig(source, places)
    problems.push(...one.problems)
    specs = mergeServers(specs, one.servers)
    if (specs.length > maxServers) {
      problems.push({ file: source.file, where: '', text: `More than ${maxServers} servers are left out (maxServers)` })
      specs.length = maxServers
    }
  }
  return { found, servers: specs.map((spec) => ({ spec, plainSecrets: plainSecrets(spec) })), problems }
}
