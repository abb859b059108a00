/** The skills of all servers, with unique names and the state of their approval. */

import type { Skill } from '../../protocol/model/skills.ts'
import { filePath, skillPath } from '../../skills/skill-uri.ts'
import type { HostedServer } from '../servers/hosted-server.ts'

/** A skill of a server, approved or not. */
export interface SkillEntry {
  /** Unique among all servers: the id of the server and the path of the skill, such as `docs/acme/refunds`. */
  exposed: string
  /** The id of the server in the configuration. */
  server: string
  /** Unique within the server. Other servers may have another skill with the same URI. */
  uri: string
  /** `new`: not approved. `changed`: approved, but with other files or another frontmatter. Only approved skills can be loaded. */
  state: 'approved' | 'new' | 'changed'
  /** The paths of its files. */
  files: readonly string[]
  /** The entry, as the server sent it. */
  definition: Skill
}

export function listSkills(servers: Iterable<HostedServer>): SkillEntry[] {
  const entries = [...servers].flatMap((server) => server.skills.map((skill) => entryOf(server, skill)))
  const counts = new Map<string, number>()
  for (const { exposed } of entries) counts.set(exposed, (counts.get(exposed) ?? 0) + 1)
  // The same path under two schemes.
  return entries.map((entry) => (counts.get(entry.exposed) === 1 ? entry : { ...entry, exposed: `${entry.server}/${entry.uri}` }))
}

function entryOf(server: HostedServer, definition: Skill): SkillEntry {
  const { uri, resources } = definition
  const state = server.stateOf('skill', uri)
  return {
    exposed: `${server.id}/${skillPath(uri)}`,
    server: server.id,
    uri,
    state: state === 'pinned' ? 'approved' : state === 'changed' ? 'changed' : 'new',
    files: resources === 'dynamic' ? [] : resources.map((file) => filePath(uri, file.uri)),
    definition,
  }
}
