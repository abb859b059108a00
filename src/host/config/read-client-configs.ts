/** Reads the servers that other clients on this machine have configured. Nothing is started or changed. */

import { withDefaults } from '../../protocol/with-defaults.ts'
import type { ServerSpec } from '../model/server-spec.ts'
import { type FindConfigsOptions, type FoundConfig, findClientConfigs } from './find-configs.ts'
import { DEFAULT_CONFIG_LIMITS } from './limits.ts'
import { mergeServers } from './merge.ts'
import { type PlainSecret, plainSecrets } from './plain-secrets.ts'
import type { ConfigProblem } from './problem.ts'
import { readConfig } from './read-config.ts'

export interface ImportedServer {
  spec: ServerSpec
  /** Values in the entry that look like secrets. `moveSecrets` moves those with `isMovable` to the vault. */
  plainSecrets: PlainSecret[]
}

export interface ClientConfigs {
  found: FoundConfig[]
  servers: ImportedServer[]
  problems: ConfigProblem[]
}

/** Reads the servers in the configuration files of all clients on this machine. See `readClientConfigs` in lazy-readers.ts. */
export async function readClientConfigs(places: FindConfigsOptions = {}): Promise<ClientConfigs> {
  const { maxServers } = withDefaults(DEFAULT_CONFIG_LIMITS, places.limits)
  const found = await findClientConfigs(places)
  const problems: ConfigProblem[] = []
  let specs: ServerSpec[] = []
  for (const source of found) {
    const one = await readConfig(source, places)
    problems.push(...one.problems)
    specs = mergeServers(specs, one.servers)
    if (specs.length > maxServers) {
      problems.push({
        file: source.file,
        where: '',
        text: `The files have more than ${maxServers} servers; the others are ignored (maxServers)`,
      })
      specs.length = maxServers
    }
  }
  return { found, servers: specs.map((spec) => ({ spec, plainSecrets: plainSecrets(spec) })), problems }
}
