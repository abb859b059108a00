/** Claude Code: `.mcp.json` of a project, a plugin or the administrator, and its state file `~/.claude.json`. */

import { dirname, resolve } from 'node:path'
import type { Dialect, Reading } from '../dialect.ts'
import { readEntries, readEntry } from '../entry.ts'
import { braced } from '../foreign-text.ts'
import { isObject, type Members, membersOf } from '../members.ts'
import { within } from '../problem.ts'

function readServers(servers: Members | undefined, reading: Reading, known: Readonly<Record<string, string>>): void {
  const shape = { translate: braced(known), passed: ['name', 'alwaysLoad'] }
  readEntries(servers, reading, (entry) => readEntry(entry, shape, reading.problem))
}

export const claudeCode: Dialect = {
  client: 'Claude Code',
  read: (document, reading) => {
    readServers(document.inner('mcpServers'), reading, {})
    document.pass('allowedMcpServers', 'deniedMcpServers', '$schema')
    document.finish(reading.problem)
  },
}

/** A plugin may list its servers at the top level, and may refer to its own folder. */
export const claudeCodePlugin: Dialect = {
  client: 'Claude Code',
  read: (document, reading) => {
    const known = { CLAUDE_PLUGIN_ROOT: dirname(reading.file) }
    readServers(document.has('mcpServers') ? document.inner('mcpServers') : document, reading, known)
  },
}

/** `~/.claude.json`: servers of the user, and servers that the user added for single projects. */
export const claudeCodeState: Dialect = {
  client: 'Claude Code',
  read: (document, reading) => {
    readServers(document.inner('mcpServers'), reading, {})
    const { project } = reading.places
    if (project === undefined) return
    const projects = document.inner('projects')
    for (const [folder, settings] of projects?.entries() ?? []) {
      if (resolve(folder) !== resolve(project) || !isObject(settings)) continue
      readServers(membersOf(settings, within('projects', folder)).inner('mcpServers'), reading, {})
    }
  },
}
