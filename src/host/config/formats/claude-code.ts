/** Claude Code: `.mcp.json` of a project, a plugin or the administrator, and its state file `~/.claude.json`. */

import { dirname, resolve } from 'node:path'
import { braced } from '../foreign-text.ts'
import type { ConfigFormat, FormatContext } from '../format.ts'
import { within } from '../problem.ts'
import { readEntries, readEntry } from '../read-entry.ts'
import { isObject, type Members, readMembers } from '../read-members.ts'

function readServers(servers: Members | undefined, reading: FormatContext, known: Readonly<Record<string, string>>): void {
  const shape = { translate: braced(known), passed: ['name', 'alwaysLoad'] }
  readEntries(servers, reading, (entry) => readEntry(entry, shape, reading.problem))
}

export const claudeCode: ConfigFormat = {
  client: 'Claude Code',
  read: (document, reading) => {
    readServers(document.inner('mcpServers'), reading, {})
    document.pass('allowedMcpServers', 'deniedMcpServers', '$schema')
    document.finish(reading.problem)
  },
}

/** A plugin may list its servers at the top level, and may refer to its own folder. */
export const claudeCodePlugin: ConfigFormat = {
  client: 'Claude Code',
  read: (document, reading) => {
    const known = { CLAUDE_PLUGIN_ROOT: dirname(reading.file) }
    readServers(document.has('mcpServers') ? document.inner('mcpServers') : document, reading, known)
  },
}

/** `~/.claude.json`: servers of the user, and servers that the user added for single projects. */
export const claudeCodeState: ConfigFormat = {
  client: 'Claude Code',
  read: (document, reading) => {
    readServers(document.inner('mcpServers'), reading, {})
    const { project } = reading.folders
    if (project === undefined) return
    const projects = document.inner('projects')
    for (const [folder, settings] of projects?.entries() ?? []) {
      if (resolve(folder) !== resolve(project) || !isObject(settings)) continue
      readServers(readMembers(settings, within('projects', folder)).inner('mcpServers'), reading, {})
    }
  },
}
